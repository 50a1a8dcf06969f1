// SPDX-License-Identifier: GPL-2.0-only
// Each relation kills the mutant that it names, and holds of the preset, or is excused by a known
// divergence whose intended value keeps it.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "props/relation_search.h"
#include "spec/divergences.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

using tests::with_rule;

const Meter silent = [](std::uint64_t, std::uint64_t) {};

constexpr Campaign campaign{.seed = 1, .operations = 200'000, .jobs = 1, .scope = {}};

RelationReport check_alone(const Policy& policy, const Relation& relation,
                           const Campaign& how = campaign) {
  const Relation* const only[] = {&relation};
  return check_relations(policy, only, how, silent);
}

Policy as_intended(const Relation& relation) {
  Policy policy = eevdf_6_12();
  if (const auto* divergence = spec::find_divergence(relation.divergence)) {
    VLAG_CHECK(set_rule(policy.rules, divergence->rule, divergence->intended));
  }
  return policy;
}

class RelationProps : public testing::TestWithParam<Relation> {};

INSTANTIATE_TEST_SUITE_P(Relations, RelationProps,
                         testing::ValuesIn(relations().begin(), relations().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(RelationProps, kills_its_mutant_and_holds_as_intended) {
  const Relation& relation = *find_relation(GetParam().name);
  const Policy mutant = with_rule(eevdf_6_12(), relation.mutant);
  const Policy intended = as_intended(relation);
  ASSERT_NE(mutant.rules, intended.rules);

  const RelationReport killed = check_alone(mutant, relation);
  ASSERT_EQ(killed.findings.size(), 1U) << relation.mutant << " survives";
  EXPECT_FALSE(killed.tallies.front().held);
  const Finding& finding = killed.findings.front();
  EXPECT_EQ(finding.rule, relation.name);
  EXPECT_EQ(finding.divergence, relation.divergence);
  EXPECT_FALSE(finding.summary.empty());
  EXPECT_LE(finding.sequence.size(), 12U) << spec::to_text(finding.sequence);
  EXPECT_TRUE(tests::legal_under(finding.sequence, mutant));
  ModelBackend faulty(mutant);
  ModelBackend sound(intended);
  EXPECT_EQ(violation_on(faulty, relation.name, finding.sequence), finding.summary);
  EXPECT_EQ(violation_on(sound, relation.name, finding.sequence), "");

  const RelationReport holds = check_alone(intended, relation);
  for (const Finding& one : holds.findings) {
    ADD_FAILURE() << one.summary << "\n" << spec::to_text(one.sequence);
  }
  EXPECT_TRUE(holds.tallies.front().held);
  EXPECT_GT(holds.tallies.front().compared, 1'000U);
}

TEST(RelationSearch, jobs_do_not_change_the_report) {
  const std::vector<const Relation*> asked = all_relations();
  Campaign how = campaign;
  how.operations = 100'000;
  const RelationReport one = check_relations(eevdf_6_12(), asked, how, silent);
  how.jobs = 3;
  const RelationReport three = check_relations(eevdf_6_12(), asked, how, silent);
  EXPECT_EQ(one.operations, three.operations);
  ASSERT_EQ(one.findings.size(), three.findings.size());
  for (std::size_t i = 0; i < one.findings.size(); ++i) {
    EXPECT_EQ(one.findings[i].summary, three.findings[i].summary);
    EXPECT_EQ(one.findings[i].sequence, three.findings[i].sequence);
  }
  for (std::size_t i = 0; i < one.tallies.size(); ++i) {
    EXPECT_EQ(one.tallies[i].compared, three.tallies[i].compared);
  }
}

TEST(Relations, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Relation& relation : relations()) {
    EXPECT_TRUE(names.insert(relation.name).second) << relation.name;
    EXPECT_EQ(find_property(relation.name), nullptr) << relation.name;
    EXPECT_FALSE(relation.claim.empty());
  }
  EXPECT_EQ(find_relation("no_such_relation"), nullptr);
}

TEST(Relations, HoldOfAPlainSequence) {
  using namespace spec::op;
  const spec::Sequence sequence = {reset(), fork(0), fork(1), schedule(), tick(1'000'000)};
  ModelBackend model(eevdf_6_12());
  for (const Relation& relation : relations()) {
    if (!relation.divergence.empty()) continue;
    EXPECT_EQ(violation_on(model, relation.name, sequence), "") << relation.name;
  }
}

}  // namespace
}  // namespace vlag::props
