// SPDX-License-Identifier: GPL-2.0-only
// Entities 1, 2, ... are put at chosen vruntimes and deadlines. All are of nice 0 with a request of
// 10 ns unless a test says otherwise. Joining and leaving: tests/runqueue_members_test.cpp.
#include "core/runqueue.h"

#include <gtest/gtest.h>

#include "tests/support/check_failure.h"
#include "tests/support/runqueue_fixture.h"

namespace vlag {
namespace {

using tests::entity;
using tests::near_zero;
using tests::RunqueueTest;
using tests::sleeps;

// --- The average.

TEST_F(RunqueueTest, AnEmptyQueuesAverageIsWhereItWas) {
  EXPECT_EQ(near_zero(queue().average()), 0);
  queue().set_zero_vruntime(VTime(77));
  EXPECT_EQ(near_zero(queue().average()), 77);
}

TEST_F(RunqueueTest, VirtualTimeStartsShortlyBeforeTheWrap) {
  const Rules rules;
  CpuState cpu;
  const Runqueue fresh(rules, cpu);
  EXPECT_EQ(near_zero(fresh.average()), -(1 << 20));
}

TEST_F(RunqueueTest, TheAverageCountsTheCurrentOne) {
  small.put(one, 0, 10);
  small.put(two, 30, 40);
  current(two);
  EXPECT_EQ(near_zero(queue().average()), 15);
  EXPECT_EQ(queue().sums().sum_weight, 1024);
}

TEST_F(RunqueueTest, TheAverageOfTheCurrentOneAloneIsItsVruntime) {
  small.put(one, 30, 40);
  current(one);
  EXPECT_EQ(near_zero(queue().average()), 30);
}

TEST_F(RunqueueTest, ReadingTheAverageMovesNothing) {
  small.put(one, 0, 10);
  small.put(two, 30, 40);
  const VTime zero = queue().sums().zero_vruntime;
  EXPECT_EQ(near_zero(queue().average()), 15);
  EXPECT_EQ(queue().sums().zero_vruntime, zero);
}

TEST_F(RunqueueTest, AnEnqueueMovesZeroVruntimeToTheAverage) {
  small.put(one, 0, 10);
  small.put(two, 30, 40);
  small.put(three, 15, 40);
  EXPECT_EQ(near_zero(queue().sums().zero_vruntime), 15);
  // (0 - 15) + (30 - 15) + (15 - 15), each times 1024
  EXPECT_EQ(queue().sums().sum_w_vruntime, 0);
}

TEST_F(RunqueueTest, ZeroVruntimeThatStaysGivesTheSameAverage) {
  small.rules.zero_vruntime = ZeroVruntime::stays;
  small.put(one, 0, 10);
  small.put(two, 30, 40);
  small.put(three, 15, 40);
  EXPECT_EQ(near_zero(queue().sums().zero_vruntime), 0);
  EXPECT_EQ(near_zero(queue().average()), 15);
}

TEST_F(RunqueueTest, ZeroVruntimeThatMovesAloneTakesTheAverageAlong) {
  small.put(one, 0, 10);
  small.put(two, 30, 40);
  small.rules.zero_vruntime = ZeroVruntime::moves_alone;
  small.put(three, 15, 40);
  // Three was placed at 15 and has key 0; the keys of the others still sum to 30 * 1024, so that
  // V = 15 + 30 / 3.
  EXPECT_EQ(near_zero(queue().average()), 25);
}

// --- Pick.

TEST_F(RunqueueTest, IneligibleEntityWaitsDespiteEarlierDeadline) {
  small.put(one, 0, 30);
  small.put(two, 10, 20);
  // V = (0 + 10) / 2 = 5, so 2 has lag -5 and may not run yet.
  EXPECT_EQ(picked(), 1);
}

TEST_F(RunqueueTest, TheEarlierDeadlineGoesFirstIfBothAreEligible) {
  small.put(one, 0, 30);
  small.put(two, 0, 20);
  EXPECT_EQ(picked(), 2);
}

TEST_F(RunqueueTest, EqualDeadlinesGoInOrderOfArrival) {
  small.put(two, 0, 20);
  small.put(one, 0, 20);
  EXPECT_EQ(picked(), 2);
}

TEST_F(RunqueueTest, PickChangesNothing) {
  small.put(one, 0, 30);
  small.put(two, 0, 20);
  EXPECT_EQ(picked(), picked());
  EXPECT_EQ(queue().nr_running(), 2U);
  EXPECT_EQ(queue().curr(), nullptr);
}

TEST_F(RunqueueTest, TheCurrentOneLosesATie) {
  turn(Feature::RUN_TO_PARITY, false);
  small.put(one, 0, 20);
  small.put(two, 0, 20);
  current(one);
  EXPECT_EQ(picked(), 2);
}

TEST_F(RunqueueTest, TheCurrentOneGoesOnIfItsDeadlineIsEarlier) {
  turn(Feature::RUN_TO_PARITY, false);
  small.put(one, 0, 19);
  small.put(two, 0, 20);
  current(one);
  EXPECT_EQ(picked(), 1);
}

TEST_F(RunqueueTest, RunToParityProtectsTheCurrentRequest) {
  small.put(one, 0, 20);
  small.put(two, 0, 10);
  current(one);
  EXPECT_EQ(picked(), 1);
  turn(Feature::RUN_TO_PARITY, false);
  EXPECT_EQ(picked(), 2);
}

TEST_F(RunqueueTest, ProtectionEndsWhenTheCurrentOneIsNotEligible) {
  small.put(one, 10, 20);
  small.put(two, 0, 40);
  current(one);
  // V = 5
  EXPECT_EQ(picked(), 2);
}

TEST_F(RunqueueTest, ProtectionEndsWithTheRequest) {
  small.put(one, 0, 5);
  small.put(two, 10, 11);
  current(one);
  small.run(5);
  // 1 is at 5, due at 5 + 10; V = 7, so that 2, due at 11, is not eligible.
  EXPECT_EQ(near_zero(one.deadline), 15);
  EXPECT_EQ(picked(), 1);
  small.run(5);
  // 1 is at 10; V = 10.
  EXPECT_EQ(picked(), 2);
}

TEST_F(RunqueueTest, CancelledProtectionIsOnlyCancelledOnce) {
  small.put(one, 0, 20);
  small.put(two, 0, 10);
  current(one);
  queue().cancel_protect_slice(one);
  EXPECT_EQ(one.vlag, 21);
  queue().cancel_protect_slice(one);
  EXPECT_EQ(one.vlag, 21);
  EXPECT_EQ(picked(), 2);
}

TEST_F(RunqueueTest, OneAloneIsPickedWhetherItRunsOrNot) {
  small.put(one, 5, 10);
  EXPECT_EQ(picked(), 1);
  current(one);
  EXPECT_EQ(picked(), 1);
}

TEST_F(RunqueueTest, ACurrentOneThatLeftIsNotPicked) {
  small.put(one, 0, 10);
  small.put(two, 0, 20);
  current(one);
  queue().dequeue_entity(one, sleeps);
  EXPECT_EQ(picked(), 2);
}

// --- Buddies.

TEST_F(RunqueueTest, AnEligibleBuddyGoesFirst) {
  small.put(one, 0, 10);
  small.put(two, 0, 20);
  queue().set_next_buddy(two);
  EXPECT_EQ(queue().pick_next_entity()->id, 2);
  EXPECT_EQ(picked(), 1);
}

TEST_F(RunqueueTest, ABuddyMustBeEligible) {
  small.put(one, 0, 30);
  small.put(two, 10, 20);
  queue().set_next_buddy(two);
  EXPECT_EQ(queue().pick_next_entity()->id, 1);
}

TEST_F(RunqueueTest, WithoutPickBuddyNobodyAsksForIt) {
  turn(Feature::PICK_BUDDY, false);
  small.put(one, 0, 10);
  small.put(two, 0, 20);
  queue().set_next_buddy(two);
  EXPECT_EQ(queue().pick_next_entity()->id, 1);
}

TEST_F(RunqueueTest, AnIdleEntityIsNoBuddy) {
  small.put(one, 0, 10);
  one.idle = true;
  queue().set_next_buddy(one);
  EXPECT_EQ(queue().next(), nullptr);
}

TEST_F(RunqueueTest, ABuddyThatIsPickedIsABuddyNoMore) {
  small.put(one, 0, 10);
  queue().set_next_buddy(one);
  current(one);
  EXPECT_EQ(queue().next(), nullptr);
}

TEST_F(RunqueueTest, ABuddyThatBlocksIsABuddyNoMoreEvenIfDelayed) {
  small.put(one, 10, 20);
  small.put(two, 0, 20);
  queue().set_next_buddy(one);
  EXPECT_FALSE(queue().dequeue_entity(one, sleeps));
  EXPECT_EQ(queue().next(), nullptr);
}

TEST_F(RunqueueTest, OnlyTheBuddyItselfClearsIt) {
  small.put(one, 0, 10);
  small.put(two, 0, 20);
  queue().set_next_buddy(two);
  current(one);
  EXPECT_EQ(queue().next(), &two);
}

// --- Service.

TEST_F(RunqueueTest, ServiceMovesVruntimeByTheWeight) {
  Entity light = entity(4, 1000, 5);
  small.put(light, 0, 100'000'000);
  current(light);
  small.run(1'000'000);
  // 10^6 * 1024 / 335
  EXPECT_EQ(near_zero(light.vruntime), 3'056'716);
  EXPECT_EQ(light.sum_exec_runtime, 1'000'000U);
}

TEST_F(RunqueueTest, NoTimeIsNoService) {
  small.put(one, 0, 10);
  current(one);
  small.run(0);
  EXPECT_EQ(near_zero(one.vruntime), 0);
}

TEST_F(RunqueueTest, NoTimeAsksForNothing) {
  small.put(one, 10, 20);
  small.put(two, 0, 30);
  current(one);
  // Neither protected nor eligible, but already charged.
  queue().cancel_protect_slice(one);
  small.run(0);
  EXPECT_FALSE(small.cpu.need_resched);
}

TEST_F(RunqueueTest, AClockThatGoesBackIsIgnored) {
  small.cpu.clock = 100;
  small.put(one, 0, 10);
  current(one);
  small.cpu.clock = 90;
  queue().update_curr();
  EXPECT_EQ(near_zero(one.vruntime), 0);
  EXPECT_EQ(one.exec_start, 100U);
}

TEST_F(RunqueueTest, AUsedUpRequestIsRenewedFromWhereItGotTo) {
  small.put(one, 0, 10);
  small.put(two, 0, 10);
  current(one);
  small.run(13);
  // Not from 10: what ran over is not credited.
  EXPECT_EQ(near_zero(one.deadline), 23);
  EXPECT_TRUE(small.cpu.need_resched);
}

TEST_F(RunqueueTest, ARenewalMovesZeroVruntimeToTheAverage) {
  small.put(one, 0, 10);
  small.put(two, 30, 40);
  current(one);
  small.run(4);
  EXPECT_EQ(near_zero(queue().sums().zero_vruntime), 0);
  small.run(6);
  // (10 + 30) / 2
  EXPECT_EQ(near_zero(queue().sums().zero_vruntime), 20);
}

TEST_F(RunqueueTest, CountedFromTheDeadlineTheOverrunIsCredited) {
  small.rules.deadline_from = DeadlineFrom::deadline;
  small.put(one, 0, 10);
  current(one);
  small.run(13);
  EXPECT_EQ(near_zero(one.deadline), 20);
}

TEST_F(RunqueueTest, ARequestThatLastsAsksForNothing) {
  small.put(one, 0, 10);
  small.put(two, 0, 10);
  current(one);
  small.run(9);
  EXPECT_EQ(near_zero(one.deadline), 10);
  EXPECT_FALSE(small.cpu.need_resched);
}

TEST_F(RunqueueTest, OneAloneIsRenewedWithoutAReschedule) {
  small.put(one, 0, 10);
  current(one);
  small.run(10);
  EXPECT_EQ(near_zero(one.deadline), 20);
  EXPECT_FALSE(small.cpu.need_resched);
}

TEST_F(RunqueueTest, ASilentRequestEndAsksForNothing) {
  small.rules.request_end = RequestEnd::silent;
  turn(Feature::PREEMPT_SHORT, false);
  small.put(one, 0, 10);
  small.put(two, 0, 10);
  current(one);
  small.run(10);
  EXPECT_EQ(near_zero(one.deadline), 20);
  EXPECT_FALSE(small.cpu.need_resched);
}

TEST_F(RunqueueTest, ARenewedRequestTakesTheBaseSliceOfTheDay) {
  one.custom_slice = false;
  small.put(one, 0, 10);
  current(one);
  small.cpu.tunables.base_slice = 55;
  small.run(10);
  EXPECT_EQ(one.slice, 55);
  EXPECT_EQ(near_zero(one.deadline), 65);
}

TEST_F(RunqueueTest, ACustomRequestIsKept) {
  small.put(one, 0, 10);
  current(one);
  small.cpu.tunables.base_slice = 55;
  small.run(10);
  EXPECT_EQ(one.slice, 10);
}

// --- PREEMPT_SHORT.

TEST_F(RunqueueTest, AShortRequestCancelsProtectionEvenIfAnotherIsPicked) {
  Entity brief = entity(4, 5);
  small.put(one, 0, 20);
  small.put(two, 0, 10);
  small.put(brief, 0, 15);
  current(one);
  EXPECT_EQ(picked(), 1);
  queue().check_preempt_short(brief);
  EXPECT_EQ(picked(), 2);
}

TEST_F(RunqueueTest, ARequestAsLongCancelsNothing) {
  small.put(one, 0, 20);
  small.put(two, 0, 10);
  current(one);
  queue().check_preempt_short(two);
  EXPECT_EQ(picked(), 1);
}

TEST_F(RunqueueTest, WithoutPreemptShortNothingIsCancelled) {
  turn(Feature::PREEMPT_SHORT, false);
  Entity brief = entity(4, 5);
  small.put(one, 0, 20);
  small.put(brief, 0, 15);
  current(one);
  queue().check_preempt_short(brief);
  EXPECT_EQ(picked(), 1);
}

TEST_F(RunqueueTest, UnprotectedAndIneligibleAsksForAReschedule) {
  small.put(one, 0, 20);
  small.put(two, 0, 30);
  current(one);
  queue().cancel_protect_slice(one);
  small.run(1);
  // 1 is at 1, V = floor(0.5) = 0.
  EXPECT_TRUE(small.cpu.need_resched);
}

TEST_F(RunqueueTest, ProtectedAndIneligibleDoesNot) {
  small.put(one, 0, 20);
  small.put(two, 0, 30);
  current(one);
  small.run(1);
  EXPECT_FALSE(small.cpu.need_resched);
}

// --- Current.

TEST_F(RunqueueTest, TheCurrentOneIsOutsideTimelineAndSums) {
  small.put(one, 0, 10);
  current(one);
  EXPECT_TRUE(queue().timeline().empty());
  EXPECT_EQ(queue().sums().sum_weight, 0);
  EXPECT_EQ(queue().nr_running(), 1U);
  EXPECT_EQ(queue().load(), nice_0_load);
}

TEST_F(RunqueueTest, PickingStartsProtectionAndMeasurement) {
  small.cpu.clock = 100;
  small.put(one, 0, 10);
  one.sum_exec_runtime = 7;
  current(one);
  EXPECT_EQ(one.vlag, stash(one.deadline));
  EXPECT_EQ(one.exec_start, 100U);
  EXPECT_EQ(one.prev_sum_exec_runtime, 7U);
}

TEST_F(RunqueueTest, PuttingBackChargesAndQueuesAgain) {
  small.put(one, 0, 10);
  current(one);
  small.cpu.clock += 4;
  queue().put_prev_entity(one);
  EXPECT_EQ(queue().curr(), nullptr);
  EXPECT_EQ(near_zero(one.vruntime), 4);
  EXPECT_EQ(queue().timeline().leftmost(), &one);
  EXPECT_EQ(queue().sums().sum_weight, 1024);
}

TEST_F(RunqueueTest, OnlyTheCurrentOneCanBePutBack) {
  small.put(one, 0, 10);
  EXPECT_THROW(queue().put_prev_entity(one), tests::CheckFailure);
}

// --- Yield.

TEST_F(RunqueueTest, AnEligibleYielderForfeitsItsRequest) {
  small.put(one, 0, 7);
  small.put(two, 0, 20);
  current(one);
  queue().yield_entity();
  // v = d = 7, and a new request of 10.
  EXPECT_EQ(near_zero(one.vruntime), 7);
  EXPECT_EQ(near_zero(one.deadline), 17);
}

TEST_F(RunqueueTest, AnIneligibleYielderForfeitsNothing) {
  small.put(one, 2, 7);
  small.put(two, 0, 20);
  current(one);
  queue().yield_entity();
  EXPECT_EQ(near_zero(one.vruntime), 2);
  EXPECT_EQ(near_zero(one.deadline), 7);
}

TEST_F(RunqueueTest, AYieldThatDoesNothingStillCharges) {
  small.rules.yield = YieldRule::nothing;
  small.put(one, 0, 7);
  small.put(two, 10, 20);
  current(one);
  small.cpu.clock += 3;
  queue().yield_entity();
  EXPECT_EQ(near_zero(one.vruntime), 3);
  EXPECT_EQ(near_zero(one.deadline), 7);
}

// --- Numbers next to where words wrap.

TEST_F(RunqueueTest, PicksAcrossTheWrap) {
  small.put(one, -4, 30);
  small.put(two, 6, 20);
  // V = 1
  EXPECT_EQ(near_zero(queue().average()), 1);
  EXPECT_EQ(picked(), 1);
  current(one);
  small.run(12);
  // 1 is at 8, V = 7.
  EXPECT_EQ(picked(), 2);
}

}  // namespace
}  // namespace vlag
