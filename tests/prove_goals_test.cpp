// SPDX-License-Identifier: GPL-2.0-only
// Every goal, with both solvers: one test each.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "smt/prove.h"

namespace vlag::smt {
namespace {

class EveryGoal : public testing::TestWithParam<std::string> {};

TEST_P(EveryGoal, Holds) {
  const std::array<const Goal*, 1> one = {find_goal(GetParam())};
  Options options;
  options.seconds = 240;  // Beside other tests; alone, none takes 20.
  ASSERT_EQ(missing_package(options.solvers), "");
  const Report report = prove(one, options, [](std::size_t, std::size_t) {}).front();

  const bool falsehood = one[0]->kind == Kind::falsehood;
  EXPECT_EQ(report.verdict, falsehood ? Verdict::refuted : Verdict::proved)
      << report.counterexample << report.trouble;
  EXPECT_EQ(report.assumptions, Status::sat);
  EXPECT_NE(report.model, "");
  EXPECT_EQ(report.canary, Verdict::refuted);
  EXPECT_NE(falsehood ? report.counterexample : report.canary_shown, "");
  EXPECT_FALSE(report.disagreement);
  EXPECT_GT(report.queries, 0);
  EXPECT_EQ(verdict_of(report), "pass");
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Goal& goal : goals()) all.emplace_back(goal.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Prove, EveryGoal, testing::ValuesIn(names()),
                         [](const auto& one) { return one.param; });

TEST(Goals, AreNamedOnceAndSayWhatTheyClaim) {
  std::set<std::string_view> seen;
  for (const Goal& goal : goals()) {
    EXPECT_TRUE(seen.insert(goal.name).second) << goal.name;
    EXPECT_TRUE(goal.claim.ends_with(".")) << goal.name;
    EXPECT_NE(goal.source, "") << goal.name;
    EXPECT_NE(goal.bounds, "") << goal.name;
    ASSERT_NE(goal.body, nullptr) << goal.name;
    EXPECT_EQ(goal.canary == nullptr, goal.kind == Kind::falsehood) << goal.name;
    EXPECT_EQ(find_goal(goal.name), &goal);
  }
}

TEST(Goals, CoverFortyNiceLevelsAndIdle) {
  ASSERT_EQ(all_weights().size(), 41);
  EXPECT_EQ(all_weights().front().down(), 88761);
  EXPECT_EQ(all_weights().back().down(), 3);
}

}  // namespace
}  // namespace vlag::smt
