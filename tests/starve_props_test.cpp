// SPDX-License-Identifier: GPL-2.0-only
// The search: finds starvation from nothing under 6.12's rules, and none where lags cannot be
// pumped.
#include <gtest/gtest.h>

#include "props/starve.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

using tests::legal_under;
using tests::with_rule;

StarveReport search(const Policy& policy, std::uint64_t seed, std::uint64_t budget,
                    unsigned jobs = 1) {
  StarveOptions options;
  options.seed = seed;
  options.budget = budget;
  options.jobs = jobs;
  options.default_slices = true;
  return find_starvation(policy, options, [](std::uint64_t, std::uint64_t) {});
}

class StarveProps : public testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Seeds, StarveProps, testing::Values(1, 2, 3));

TEST_P(StarveProps, finds_a_cycle_of_6_12_from_nothing) {
  const Policy policy = eevdf_6_12();
  const StarveReport report = search(policy, GetParam(), 20'000'000);
  ASSERT_TRUE(report.found);
  const Starvation& found = *report.found;
  EXPECT_TRUE(found.default_slices);
  EXPECT_LE(found.scenario.round.size(), 12U);
  EXPECT_GE(found.hold.rounds, 1'000U);
  EXPECT_GE(found.growth.gain(), 1.0);  // It may be one whose lead lasts without growing.

  // The victim waits from the start of the rounds to the end, on the model as it is observed.
  const Recording recording = recording_of(policy, found.scenario, found.hold);
  EXPECT_TRUE(legal_under(recording.sequence, policy));
  ModelBackend model(policy);
  spec::Trace trace;
  ASSERT_TRUE(model.run(recording.sequence, trace).completed());
  for (std::size_t i = recording.start; i < trace.size(); ++i) {
    ASSERT_NE(trace[i].head->current, victim) << i;
  }
  const Property& belief = *find_property("every_runnable_task_runs_in_bounded_time");
  if (!found.hold.recurs_at) {
    EXPECT_NE(tests::violation(belief, recording.sequence, policy), "");
  }
}

TEST(StarveProps, the_jobs_do_not_decide_what_is_found) {
  const StarveReport one = search(eevdf_6_12(), 2, 20'000'000, 1);
  const StarveReport two = search(eevdf_6_12(), 2, 20'000'000, 2);
  ASSERT_TRUE(one.found && two.found);
  EXPECT_EQ(one.found->scenario, two.found->scenario);
  EXPECT_EQ(one.operations, two.operations);
}

// The attempts that look for growth; those for what does not shrink come later.
TEST(StarveProps, finds_no_pump_where_the_lag_is_capped_or_not_inflated) {
  for (const char* rule : {"lag_inflation=capped", "lag_inflation=none"}) {
    const StarveReport report = search(with_rule(eevdf_6_12(), rule), 1, 3'000'000);
    EXPECT_FALSE(report.found) << rule;
    EXPECT_GE(report.operations, 3'000'000U);
  }
}

// What the search found under the capped rule: 1 runs 300 us past V and is delayed; 4 and 2 leave
// with what they are owed, which moves V past 1, so that it is let go without its debt.
Scenario debt_forgiven() {
  const auto wake = [](int task) { return Move{Move::Kind::wake, task, 0, 1}; };
  const auto sleep = [](std::uint32_t us) { return Move{Move::Kind::sleep, 0, 0, us}; };
  return {.members = {{0, 0}, {-13, 0}, {-4, 0}, {-11, 0}, {-11, 0}},
          .first_tick = 338'000,
          .round = {wake(1), sleep(1), wake(3), wake(4), wake(2), sleep(300), sleep(1), sleep(1),
                    wake(2)}};
}

TEST(StarveProps, a_capped_lag_starves_by_forgiven_debts) {
  std::uint64_t operations = 0;
  const Policy capped = with_rule(eevdf_6_12(), "lag_inflation=capped");
  const auto hold = hold_of(capped, debt_forgiven(), operations);
  ASSERT_TRUE(hold);
  EXPECT_TRUE(hold->recurs_at);
  const Policy none = with_rule(eevdf_6_12(), "lag_inflation=none");
  EXPECT_FALSE(hold_of(none, debt_forgiven(), operations));
}

}  // namespace
}  // namespace vlag::props
