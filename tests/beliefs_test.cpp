// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "props/search.h"
#include "tests/support/golden.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

using spec::Sequence;
namespace op = spec::op;

const Property& lag_belief() {
  return *find_property("lag_on_the_queue_is_within_two_requests_and_a_tick");
}
const Property& wait_belief() { return *find_property("every_runnable_task_runs_in_bounded_time"); }

TEST(Beliefs, AreNoneOfTheProperties) {
  for (const Property& belief : beliefs()) {
    for (const Property& property : properties()) EXPECT_NE(belief.name, property.name);
    EXPECT_EQ(find_property(belief.name), &belief);
  }
}

TEST(Beliefs, StarvationBreaksTheOneAboutWaits) {
  const auto source = spec::read_sequence(tests::golden_path("starvation.seq"));
  ASSERT_TRUE(source.ok());
  const std::string what = tests::violation(wait_belief(), source->operations, eevdf_6_12());
  EXPECT_TRUE(what.starts_with("task 3 waits for ")) << what;
}

// Two tasks of the same weight that run in turn, however long.
TEST(Beliefs, TurnsBreakNeither) {
  Sequence sequence = {op::reset(), op::fork(0), op::fork(1), op::schedule()};
  for (int turn = 0; turn < 100; ++turn) {
    sequence.push_back(op::tick(4'000'000));
    sequence.push_back(op::schedule());
  }
  for (const Property& belief : beliefs()) {
    EXPECT_EQ(tests::violation(belief, sequence, eevdf_6_12()), "") << belief.name;
  }
}

// (2 - 1) (2 * 0.7 + 4) + 4.7 + 4 ms, three times: 42.3 ms.
TEST(Beliefs, AWaitIsJudgedByTheFixedSet) {
  const auto waiting_for = [](std::uint64_t ms) {
    return Sequence{op::reset(), op::fork(0), op::fork(1), op::schedule(),
                    op::advance(ms * 1'000'000)};
  };
  EXPECT_EQ(tests::violation(wait_belief(), waiting_for(42), eevdf_6_12()), "");
  EXPECT_EQ(tests::violation(wait_belief(), waiting_for(43), eevdf_6_12()),
            "task 1 waits for 43000000 ns; if no one slept it would be 14100000 ns at most");
}

// A task that is new may have to be waited for: the wait counts from then.
TEST(Beliefs, ANewTaskStartsTheWaitsAnew) {
  EXPECT_EQ(tests::violation(wait_belief(),
                             {op::reset(), op::fork(0), op::fork(1), op::schedule(),
                              op::advance(40'000'000), op::fork(2), op::advance(40'000'000)},
                             eevdf_6_12()),
            "");
}

// One tick of 20 ms: the other one is owed half of it; 2 * 0.7 + 4 ms are 5.4 ms.
TEST(Beliefs, AnOwedLagIsJudgedInService) {
  const auto ran_for = [](std::uint64_t ms) {
    return Sequence{op::reset(), op::fork(0), op::fork(1), op::schedule(),
                    op::tick(ms * 1'000'000)};
  };
  EXPECT_EQ(tests::violation(lag_belief(), ran_for(10), eevdf_6_12()), "");
  EXPECT_EQ(tests::violation(lag_belief(), ran_for(20), eevdf_6_12()),
            "task 1 is owed 10000000 ns; twice its request and a tick are 5400000 ns");
}

// 1 leaves 0 and 2, is owed a third of a tick, and joins 0 alone.
TEST(Beliefs, ATripFromAHeavyQueueToALightOnePumps) {
  const Sequence trip = {op::reset(),    op::fork(0),         op::fork(1),    op::fork(2),
                         op::schedule(), op::tick(4'000'000), op::schedule(), op::block(),
                         op::block(),    op::wake(1)};
  const Property& belief = *find_property("a_round_trip_never_pumps");
  // w^2 l^2 (1/B - 1/A) = 1024 l^2 / 2 with l = 1333333 is 910221766898688, less some rounding.
  EXPECT_EQ(tests::violation(belief, trip, eevdf_6_12()),
            "task 1 left others of weight 2048 with a lag of 1333333 ns and joined others of "
            "weight 1024: the energy grew by 910220401778005");
  for (const char* rule : {"none", "capped", "geometric"}) {
    const Policy policy = tests::with_rule(eevdf_6_12(), std::string("lag_inflation=") + rule);
    EXPECT_EQ(tests::violation(belief, trip, policy), "") << rule;
  }
}

class RoundTrips : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Beliefs, RoundTrips, testing::Values("none", "capped", "geometric"));

TEST_P(RoundTrips, NeverPumpUnderTheProposals) {
  const Property* const only[] = {find_property("a_round_trip_never_pumps")};
  const Policy policy = tests::with_rule(eevdf_6_12(), std::string("lag_inflation=") + GetParam());
  const Campaign campaign{.seed = 1, .operations = 100'000, .jobs = 1, .scope = {}};
  const CheckReport report = check(policy, only, campaign, [](std::uint64_t, std::uint64_t) {});
  EXPECT_TRUE(report.findings.empty()) << report.findings.front().summary;
}

// The second implementation places as the first does.
TEST_P(RoundTrips, FollowTheReference) {
  const Property* const only[] = {find_property("follows_the_reference")};
  const Policy policy = tests::with_rule(eevdf_6_12(), std::string("lag_inflation=") + GetParam());
  const Campaign campaign{.seed = 1, .operations = 50'000, .jobs = 1, .scope = {}};
  const CheckReport report = check(policy, only, campaign, [](std::uint64_t, std::uint64_t) {});
  EXPECT_TRUE(report.findings.empty()) << report.findings.front().summary;
}

}  // namespace
}  // namespace vlag::props
