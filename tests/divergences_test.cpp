// SPDX-License-Identifier: GPL-2.0-only
// Each known divergence on the model. On real kernels: lockstep_search_test.cpp.
#include "spec/divergences.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "props/search.h"
#include "tests/support/judged.h"

namespace vlag::spec {
namespace {

using props::Property;
using tests::violation;

class DivergenceTest : public testing::TestWithParam<Divergence> {
 protected:
  void SetUp() override {
    const auto parsed = parse_text(GetParam().sequence, std::string(GetParam().id));
    ASSERT_TRUE(parsed) << parsed.error().message();
    sequence_ = parsed->operations;
    property_ = props::find_property(GetParam().property);
    ASSERT_NE(property_, nullptr) << GetParam().property;
  }

  // The preset with that value of the divergence's rule.
  static Policy policy(std::string_view value) {
    return tests::with_rule(eevdf_6_12(), std::string(GetParam().rule) + "=" + std::string(value));
  }

  Sequence sequence_;
  const Property* property_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(All, DivergenceTest,
                         testing::ValuesIn(divergences().begin(), divergences().end()),
                         [](const auto& test) {
                           std::string name(test.param.id);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(DivergenceTest, TheSequenceIsLegalAndShort) {
  EXPECT_TRUE(tests::legal_under(sequence_, eevdf_6_12()));
  EXPECT_LE(sequence_.size(), 8U);
  EXPECT_EQ(to_text(sequence_), GetParam().sequence);
}

TEST_P(DivergenceTest, AsLinuxBreaksThePropertyAtTheLastOperation) {
  EXPECT_NE(violation(*property_, sequence_, policy(GetParam().as_linux)), "");
  sequence_.pop_back();
  EXPECT_EQ(violation(*property_, sequence_, policy(GetParam().as_linux)), "");
}

TEST_P(DivergenceTest, NoOperationCanBeLeftOut) {
  for (std::size_t i = 1; i < sequence_.size(); ++i) {
    Sequence shorter = sequence_;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(violation(*property_, shorter, policy(GetParam().as_linux)), "") << to_text(shorter);
  }
}

TEST_P(DivergenceTest, AsIntendedKeepsIt) {
  EXPECT_EQ(violation(*property_, sequence_, policy(GetParam().intended)), "");
}

TEST_P(DivergenceTest, ThePresetIsAsLinux) {
  EXPECT_EQ(policy(GetParam().as_linux).rules, eevdf_6_12().rules);
  EXPECT_NE(policy(GetParam().intended).rules, eevdf_6_12().rules);
}

TEST_P(DivergenceTest, ThePropertyKnowsOfIt) {
  EXPECT_EQ(property_->divergence, GetParam().id);
  EXPECT_EQ(props::explanation(*property_, policy(GetParam().as_linux)), GetParam().id);
  EXPECT_EQ(props::explanation(*property_, policy(GetParam().intended)), "");
}

TEST_P(DivergenceTest, IsExplained) {
  EXPECT_FALSE(GetParam().title.empty());
  EXPECT_FALSE(GetParam().explanation.empty());
}

TEST(Divergences, AreFoundById) {
  std::set<std::string_view> ids;
  for (const Divergence& divergence : divergences()) {
    EXPECT_TRUE(ids.insert(divergence.id).second) << divergence.id;
    EXPECT_EQ(find_divergence(divergence.id)->title, divergence.title);
  }
  EXPECT_EQ(find_divergence("none"), nullptr);
  EXPECT_EQ(find_divergence(""), nullptr);
}

// A property that nothing excuses must not name a divergence that does not exist.
TEST(Divergences, AreTheOnesThatPropertiesName) {
  for (const Property& property : props::properties()) {
    if (property.divergence.empty()) continue;
    const Divergence* divergence = find_divergence(property.divergence);
    ASSERT_NE(divergence, nullptr) << property.name;
    EXPECT_EQ(divergence->property, property.name);
  }
}

}  // namespace
}  // namespace vlag::spec
