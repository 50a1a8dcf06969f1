// SPDX-License-Identifier: GPL-2.0-only
// Who joins the queue and who leaves it, with what lag and what deadline; at once or delayed.
// All are of nice 0 with a request of 10 ns unless a test says otherwise.
#include <gtest/gtest.h>

#include "core/runqueue.h"
#include "tests/support/check_failure.h"
#include "tests/support/runqueue_fixture.h"

namespace vlag {
namespace {

using tests::completes;
using tests::moves;
using tests::near_zero;
using tests::RunqueueTest;
using tests::sleeps;
using tests::sleeps_at_once;

// --- Placement.

TEST_F(RunqueueTest, ANewEntityIsPlacedAtTheAverage) {
  small.put(one, 0, 10);
  small.put(two, 30, 40);
  queue().enqueue_entity(three, EnqueueFlags{});
  EXPECT_EQ(near_zero(three.vruntime), 15);
  EXPECT_EQ(near_zero(three.deadline), 25);
  EXPECT_EQ(queue().nr_running(), 3U);
  EXPECT_EQ(queue().load(), 3 * nice_0_load);
}

TEST_F(RunqueueTest, TheFirstRequestIsHalf) {
  queue().enqueue_entity(one, EnqueueFlags{.initial = true});
  EXPECT_EQ(near_zero(one.deadline), 5);
  turn(Feature::PLACE_DEADLINE_INITIAL, false);
  queue().enqueue_entity(two, EnqueueFlags{.initial = true});
  EXPECT_EQ(near_zero(two.deadline), 10);
}

TEST_F(RunqueueTest, TheSavedLagIsWhatIsLeftAfterJoining) {
  small.put(one, 100, 110);
  two.vlag = 8;
  queue().enqueue_entity(two, EnqueueFlags{});
  // 8 (1024 + 1024) / 1024 = 16 before V; V becomes (100 + 84) / 2 = 92 = 84 + 8.
  EXPECT_EQ(near_zero(two.vruntime), 84);
  EXPECT_EQ(near_zero(queue().average()), 92);
}

TEST_F(RunqueueTest, PlainPlacementLosesHalfOfIt) {
  small.put(one, 100, 110);
  small.rules.lag_inflation = LagInflation::none;
  two.vlag = 8;
  queue().enqueue_entity(two, EnqueueFlags{});
  EXPECT_EQ(near_zero(two.vruntime), 92);
  EXPECT_EQ(near_zero(queue().average()), 96);
}

TEST_F(RunqueueTest, WithoutPlaceLagItIsForgotten) {
  turn(Feature::PLACE_LAG, false);
  small.put(one, 100, 110);
  two.vlag = 8;
  queue().enqueue_entity(two, EnqueueFlags{});
  EXPECT_EQ(near_zero(two.vruntime), 100);
}

TEST_F(RunqueueTest, OnAnEmptyQueueItIsForgotten) {
  one.vlag = 8;
  queue().enqueue_entity(one, EnqueueFlags{});
  EXPECT_EQ(near_zero(one.vruntime), 0);
}

TEST_F(RunqueueTest, ADefaultRequestFollowsTheBaseSlice) {
  one.custom_slice = false;
  small.cpu.tunables.base_slice = 55;
  queue().enqueue_entity(one, EnqueueFlags{});
  EXPECT_EQ(one.slice, 55);
}

// --- Leaving.

TEST_F(RunqueueTest, AnEligibleEntityLeavesWithItsLag) {
  small.put(one, 0, 10);
  small.put(two, 30, 40);
  EXPECT_TRUE(queue().dequeue_entity(one, sleeps));
  // V = 15 while it still counts.
  EXPECT_EQ(one.vlag, 15);
  EXPECT_FALSE(one.on_rq);
  EXPECT_EQ(queue().nr_running(), 1U);
  EXPECT_EQ(queue().load(), nice_0_load);
  EXPECT_EQ(near_zero(queue().average()), 30);
}

TEST_F(RunqueueTest, TheLagIsLimitedToTwoRequestsOrATick) {
  small.cpu.tunables.hz = 1000;
  small.put(one, 0, 10);
  small.put(two, 6'000'000, 6'000'010);
  queue().dequeue_entity(one, sleeps);
  // V = 3 ms; a tick is 1 ms.
  EXPECT_EQ(one.vlag, 1'000'000);
}

TEST_F(RunqueueTest, WithoutTheLimitItIsAllKept) {
  small.cpu.tunables.hz = 1000;
  small.rules.lag_clamp = LagClamp::unlimited;
  small.put(one, 0, 10);
  small.put(two, 6'000'000, 6'000'010);
  queue().dequeue_entity(one, sleeps);
  EXPECT_EQ(one.vlag, 3'000'000);
}

TEST_F(RunqueueTest, AMoveMakesTheDeadlineRelative) {
  small.put(one, 10, 25);
  small.put(two, 0, 25);
  EXPECT_TRUE(queue().dequeue_entity(one, moves));
  EXPECT_TRUE(one.rel_deadline);
  EXPECT_EQ(one.deadline, VTime(15));
  EXPECT_EQ(one.vlag, -5);

  queue().enqueue_entity(one, EnqueueFlags{});
  // V = 0 and -5 * 2 = -10.
  EXPECT_FALSE(one.rel_deadline);
  EXPECT_EQ(near_zero(one.vruntime), 10);
  EXPECT_EQ(near_zero(one.deadline), 25);
}

TEST_F(RunqueueTest, WithoutRelativeDeadlinesAMoveStartsANewRequest) {
  turn(Feature::PLACE_REL_DEADLINE, false);
  small.put(one, 10, 25);
  small.put(two, 0, 25);
  queue().dequeue_entity(one, moves);
  EXPECT_FALSE(one.rel_deadline);
  queue().enqueue_entity(one, EnqueueFlags{});
  EXPECT_EQ(near_zero(one.deadline), 20);
}

TEST_F(RunqueueTest, ASleeperStartsANewRequest) {
  small.put(one, 0, 4);
  small.put(two, 0, 25);
  queue().dequeue_entity(one, sleeps);
  EXPECT_FALSE(one.rel_deadline);
  queue().enqueue_entity(one, EnqueueFlags{});
  EXPECT_EQ(near_zero(one.deadline), 10);
}

TEST_F(RunqueueTest, TheCurrentOneIsPlacedBeforeItIsCharged) {
  small.put(one, 0, 10);
  small.put(two, 0, 10);
  current(one);
  queue().dequeue_entity(one, moves);
  small.cpu.clock += 3;
  queue().enqueue_entity(one, EnqueueFlags{});
  // At V = 0, and then the 3.
  EXPECT_EQ(near_zero(one.vruntime), 3);
  EXPECT_EQ(queue().sums().sum_weight, 1024);
}

// --- Delayed dequeue.

TEST_F(RunqueueTest, AnIneligibleSleeperStaysAndCompetes) {
  small.put(one, 10, 25);
  small.put(two, 0, 25);
  EXPECT_FALSE(queue().dequeue_entity(one, sleeps));
  EXPECT_TRUE(one.sched_delayed);
  EXPECT_TRUE(one.on_rq);
  EXPECT_EQ(queue().nr_running(), 2U);
  EXPECT_EQ(near_zero(queue().average()), 5);
}

TEST_F(RunqueueTest, WithoutDelayDequeueItLeavesInDebt) {
  turn(Feature::DELAY_DEQUEUE, false);
  small.put(one, 10, 25);
  small.put(two, 0, 25);
  EXPECT_TRUE(queue().dequeue_entity(one, sleeps));
  EXPECT_EQ(one.vlag, -5);
}

TEST_F(RunqueueTest, ASpecialSleeperLeavesAtOnce) {
  small.put(one, 10, 25);
  small.put(two, 0, 25);
  EXPECT_TRUE(queue().dequeue_entity(one, sleeps_at_once));
  EXPECT_EQ(one.vlag, -5);
}

TEST_F(RunqueueTest, CompletionForgetsWhatWasEarnedAsleep) {
  small.put(one, 10, 25);
  small.put(two, 0, 100);
  queue().dequeue_entity(one, sleeps);
  current(two);
  small.run(30);
  // V = 20, so 1 is owed 10.
  EXPECT_TRUE(queue().dequeue_entity(one, completes));
  EXPECT_EQ(one.vlag, 0);
  EXPECT_FALSE(one.sched_delayed);
  EXPECT_FALSE(one.on_rq);
}

TEST_F(RunqueueTest, WithoutDelayZeroItIsKept) {
  turn(Feature::DELAY_ZERO, false);
  small.put(one, 10, 25);
  small.put(two, 0, 100);
  queue().dequeue_entity(one, sleeps);
  current(two);
  small.run(30);
  EXPECT_TRUE(queue().dequeue_entity(one, completes));
  EXPECT_EQ(one.vlag, 10);
}

TEST_F(RunqueueTest, CompletionKeepsDebt) {
  small.put(one, 10, 25);
  small.put(two, 0, 100);
  queue().dequeue_entity(one, sleeps);
  EXPECT_TRUE(queue().dequeue_entity(one, completes));
  EXPECT_EQ(one.vlag, -5);
}

TEST_F(RunqueueTest, AWokenDebtorGoesOnWhereItWas) {
  small.put(one, 10, 25);
  small.put(two, 0, 100);
  queue().dequeue_entity(one, sleeps);
  queue().requeue_delayed_entity(one);
  EXPECT_FALSE(one.sched_delayed);
  EXPECT_EQ(one.vlag, -5);
  EXPECT_EQ(near_zero(one.vruntime), 10);
  EXPECT_EQ(near_zero(one.deadline), 25);
}

TEST_F(RunqueueTest, AWokenOneWithALagOf0GoesOnWhereItWas) {
  small.put(one, 10, 25);
  small.put(two, 0, 100);
  queue().dequeue_entity(one, sleeps);
  current(two);
  small.run(10);
  queue().requeue_delayed_entity(one);
  EXPECT_EQ(near_zero(one.vruntime), 10);
  EXPECT_EQ(near_zero(one.deadline), 25);
}

TEST_F(RunqueueTest, AWokenCreditorIsPlacedAnew) {
  small.put(one, 10, 25);
  small.put(two, 0, 100);
  queue().dequeue_entity(one, sleeps);
  current(two);
  small.run(30);
  queue().requeue_delayed_entity(one);
  // V of the others is 30.
  EXPECT_EQ(one.vlag, 0);
  EXPECT_EQ(near_zero(one.vruntime), 30);
  EXPECT_EQ(near_zero(one.deadline), 40);
  EXPECT_EQ(queue().nr_running(), 2U);
}

TEST_F(RunqueueTest, WithoutDelayZeroAWokenOneNeverMoves) {
  turn(Feature::DELAY_ZERO, false);
  small.put(one, 10, 25);
  small.put(two, 0, 100);
  queue().dequeue_entity(one, sleeps);
  current(two);
  small.run(30);
  queue().requeue_delayed_entity(one);
  EXPECT_FALSE(one.sched_delayed);
  EXPECT_EQ(near_zero(one.vruntime), 10);
  EXPECT_EQ(near_zero(one.deadline), 25);
}

TEST_F(RunqueueTest, OnlyADelayedEntityCanBeRequeued) {
  small.put(one, 10, 25);
  EXPECT_THROW(queue().requeue_delayed_entity(one), tests::CheckFailure);
}

// --- Weight.

TEST_F(RunqueueTest, ReweightingKeepsWeightTimesLag) {
  one.vlag = 100'000;
  queue().reweight_entity(one, nice_weight(5));
  // 10^5 * 1024 / 335 = 305671.6
  EXPECT_EQ(one.vlag, 305'671);
  EXPECT_EQ(one.weight.down(), 335);
}

TEST_F(RunqueueTest, StaleSumsMissTheNewWeight) {
  small.put(one, 0, 10);
  small.put(two, 0, 10);
  const Weight old = one.weight;
  queue().dequeue_entity(one, moves);
  queue().reweight_entity(one, nice_weight(5));
  queue().enqueue_entity(one, EnqueueFlags{});
  queue().after_reweight(one, old);
  EXPECT_EQ(queue().sums().sum_weight, 1024 + 335);

  small.rules.reweight_sums = ReweightSums::stale;
  queue().after_reweight(one, old);
  EXPECT_EQ(queue().sums().sum_weight, 1024 + 1024);
}

}  // namespace
}  // namespace vlag
