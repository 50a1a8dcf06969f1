// SPDX-License-Identifier: GPL-2.0-only
// Small scope, all of it: how deep a budget reaches, what is found there, and that the past does
// not decide.
#include <gtest/gtest.h>

#include "props/exhaustive.h"
#include "spec/legal.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

const Meter silent = [](std::uint64_t, std::uint64_t) {};

TEST(Exhaustive, ThePresetHoldsToTheDepthThatItSays) {
  const ExhaustiveReport report =
      exhaustive(eevdf_6_12(), unconditional_properties(), 400'000, silent);
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << finding.rule << ": " << finding.summary << "\n"
                  << spec::to_text(finding.sequence);
  }
  EXPECT_EQ(report.history, "");
  ASSERT_EQ(report.depths.size(), 2U);
  for (const Depth& depth : report.depths) {
    EXPECT_GE(depth.complete, 6) << depth.tasks;
    EXPECT_GT(depth.states, 5'000U) << depth.tasks;
    EXPECT_GT(depth.twins, 0U) << depth.tasks;
    EXPECT_LT(depth.operations, 210'000U) << depth.tasks;
  }
}

TEST(Exhaustive, AMoreThoroughBudgetGoesDeeper) {
  const ExhaustiveReport less = exhaustive(eevdf_6_12(), {}, 20'000, silent);
  const ExhaustiveReport more = exhaustive(eevdf_6_12(), {}, 400'000, silent);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LT(less.depths[i].complete, more.depths[i].complete);
    EXPECT_LT(less.depths[i].states, more.depths[i].states);
  }
}

// Breadth first: there is none that is shorter.
TEST(Exhaustive, AFaultIsFoundByAShortestSequence) {
  const Policy policy = tests::with_rule(eevdf_6_12(), "tie=lifo");
  const Property* const only[] = {find_property("ties_are_fifo")};
  const ExhaustiveReport report = exhaustive(policy, only, 100'000, silent);
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& finding = report.findings.front();
  EXPECT_TRUE(tests::legal_under(finding.sequence, policy));
  EXPECT_EQ(tests::violation(*only[0], finding.sequence, policy), finding.summary);
  EXPECT_LE(finding.sequence.size(), 6U) << spec::to_text(finding.sequence);
}

// V that is truncated toward where the keys are counted from depends on what that was.
TEST(Exhaustive, AVThatDependsOnThePastIsNoticed) {
  const Policy policy = tests::with_rule(eevdf_6_12(), "average=truncate");
  const ExhaustiveReport report = exhaustive(policy, {}, 1'000'000, silent);
  EXPECT_NE(report.history, "");
}

TEST(Exhaustive, TheAlphabetIsWithinItsRanges) {
  for (const int tasks : {2, 3}) {
    for (const spec::Operation& letter : alphabet(tasks)) {
      EXPECT_EQ(spec::out_of_range(letter), "") << spec::to_text(letter);
    }
  }
}

}  // namespace
}  // namespace vlag::props
