// SPDX-License-Identifier: GPL-2.0-only
// Each known divergence on the model. On real kernels: lockstep_search_test.cpp.
#include "spec/divergences.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "props/relation_search.h"
#include "tests/support/judged.h"

namespace vlag::spec {
namespace {

using props::Property;

class DivergenceTest : public testing::TestWithParam<Divergence> {
 protected:
  void SetUp() override {
    const auto parsed = parse_text(GetParam().sequence, std::string(GetParam().id));
    ASSERT_TRUE(parsed) << parsed.error().message();
    sequence_ = parsed->operations;
    const auto* property = props::find_property(GetParam().property);
    const auto* relation = props::find_relation(GetParam().property);
    ASSERT_TRUE(property != nullptr || relation != nullptr) << GetParam().property;
    named_ = property != nullptr ? property->divergence : relation->divergence;
  }

  // The preset with that value of the divergence's rule.
  static Policy policy(std::string_view value) {
    return tests::with_rule(eevdf_6_12(), std::string(GetParam().rule) + "=" + std::string(value));
  }

  // What is wrong with a sequence under that policy.
  static std::string violation(const Sequence& sequence, const Policy& policy) {
    props::ModelBackend model(policy);
    return props::violation_on(model, GetParam().property, sequence);
  }

  Sequence sequence_;
  std::string_view named_;  // the divergence that the property or relation names
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
  EXPECT_LE(sequence_.size(), 10U);
  EXPECT_EQ(to_text(sequence_), GetParam().sequence);
}

TEST_P(DivergenceTest, AsLinuxBreaksThePropertyAtTheLastOperation) {
  EXPECT_NE(violation(sequence_, policy(GetParam().as_linux)), "");
  sequence_.pop_back();
  EXPECT_EQ(violation(sequence_, policy(GetParam().as_linux)), "");
}

TEST_P(DivergenceTest, NoOperationCanBeLeftOut) {
  for (std::size_t i = 1; i < sequence_.size(); ++i) {
    Sequence shorter = sequence_;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(violation(shorter, policy(GetParam().as_linux)), "") << to_text(shorter);
  }
}

TEST_P(DivergenceTest, AsIntendedKeepsIt) {
  EXPECT_EQ(violation(sequence_, policy(GetParam().intended)), "");
}

TEST_P(DivergenceTest, ThePresetIsAsLinux) {
  EXPECT_EQ(policy(GetParam().as_linux).rules, eevdf_6_12().rules);
  EXPECT_NE(policy(GetParam().intended).rules, eevdf_6_12().rules);
}

TEST_P(DivergenceTest, ThePropertyKnowsOfIt) {
  EXPECT_EQ(named_, GetParam().id);
  EXPECT_EQ(props::explanation(named_, policy(GetParam().as_linux)), GetParam().id);
  EXPECT_EQ(props::explanation(named_, policy(GetParam().intended)), "");
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
  for (const props::Relation& relation : props::relations()) {
    if (relation.divergence.empty()) continue;
    const Divergence* divergence = find_divergence(relation.divergence);
    ASSERT_NE(divergence, nullptr) << relation.name;
    EXPECT_EQ(divergence->property, relation.name);
  }
}

}  // namespace
}  // namespace vlag::spec
