// SPDX-License-Identifier: GPL-2.0-only
// Tasks 0, 1, ... of nice 0 with requests of 700 us, all forked at virtual time 0 unless a test
// says otherwise; a tick is 4 ms, so no lag in here is limited.
#include "core/cpu.h"

#include <gtest/gtest.h>

#include "tests/support/small_numbers.h"

namespace vlag {
namespace {

using tests::ms;
using tests::SmallCpu;
using tests::start_two;
using tests::us;

TEST(Cpu, StartsIdle) {
  const SmallCpu cpu;
  EXPECT_EQ(cpu.running(), -1);
  EXPECT_FALSE(cpu.need_resched());
  EXPECT_EQ(cpu.task(0).state, TaskState::dead);
}

TEST(Cpu, SchedulingWithNobodyStaysIdle) {
  SmallCpu cpu;
  cpu.schedule();
  EXPECT_EQ(cpu.running(), -1);
  EXPECT_FALSE(cpu.pick_failed());
}

// --- Fork.

TEST(Fork, OnAnIdleCpuAsksForAReschedule) {
  SmallCpu cpu;
  cpu.fork(0);
  EXPECT_TRUE(cpu.need_resched());
  EXPECT_EQ(cpu.running(), -1);
  cpu.schedule();
  EXPECT_EQ(cpu.running(), 0);
  EXPECT_FALSE(cpu.need_resched());
}

TEST(Fork, TheFirstRequestIsHalf) {
  SmallCpu cpu;
  Features all = cpu.features();
  all.set(Feature::PLACE_DEADLINE_INITIAL, true);
  cpu.set_features(all);
  cpu.fork(0);
  cpu.fork(1, 300 * us);
  EXPECT_EQ(cpu.d(0), 350'000);
  EXPECT_EQ(cpu.d(1), 150'000);
  EXPECT_EQ(cpu.se(0).slice, 700'000);
}

TEST(Fork, JoinsAtTheAverage) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(200 * us);
  cpu.fork(2);
  // (200 + 0) / 2
  EXPECT_EQ(cpu.v(2), 100'000);
  EXPECT_EQ(cpu.d(2), 800'000);
}

TEST(Fork, AnIdAfterItsTaskExitedIsANewTask) {
  SmallCpu cpu;
  cpu.fork(0, 300 * us, 5);
  cpu.schedule();
  cpu.tick(ms);
  cpu.exit();
  EXPECT_EQ(cpu.task(0).state, TaskState::dead);
  cpu.fork(0);
  EXPECT_EQ(cpu.task(0).nice, 0);
  EXPECT_FALSE(cpu.se(0).custom_slice);
  EXPECT_EQ(cpu.se(0).sum_exec_runtime, 0U);
}

// --- Who runs.

TEST(Schedule, EqualTasksRunInOrderOfArrival) {
  SmallCpu cpu;
  start_two(cpu);
  EXPECT_EQ(cpu.running(), 0);
}

TEST(Schedule, TheCurrentTaskLosesATie) {
  SmallCpu cpu({}, {Feature::RUN_TO_PARITY});
  cpu.fork(0);
  cpu.schedule();
  cpu.fork(1);
  cpu.schedule();
  EXPECT_EQ(cpu.running(), 1);
}

TEST(Schedule, RunToParityKeepsTheCurrentTask) {
  SmallCpu cpu;
  cpu.fork(0);
  cpu.schedule();
  cpu.fork(1);
  EXPECT_FALSE(cpu.need_resched());
  cpu.schedule();
  EXPECT_EQ(cpu.running(), 0);
}

TEST(Schedule, AnIneligibleCurrentTaskGivesWay) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(100 * us);
  // V = 50 us
  cpu.schedule();
  EXPECT_EQ(cpu.running(), 1);
}

TEST(Schedule, TheEarlierDeadlineGoesFirst) {
  SmallCpu cpu;
  cpu.fork(0);
  cpu.fork(1, 300 * us);
  cpu.schedule();
  EXPECT_EQ(cpu.running(), 1);
}

TEST(Schedule, PickingTheRunningTaskAgainRenewsNothing) {
  SmallCpu cpu;
  cpu.fork(0);
  cpu.schedule();
  cpu.tick(300 * us);
  cpu.schedule();
  EXPECT_EQ(cpu.se(0).prev_sum_exec_runtime, 0U);
}

TEST(Schedule, TimeOffTheCpuIsNotCharged) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(100 * us);
  cpu.schedule();
  cpu.tick(300 * us);
  cpu.schedule();
  cpu.tick(10 * us);
  EXPECT_EQ(cpu.running(), 0);
  EXPECT_EQ(cpu.v(0), 110'000);
  EXPECT_EQ(cpu.v(1), 300'000);
}

// --- Ticks.

TEST(Tick, ARequestThatIsUsedUpAsksForAReschedule) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(699 * us);
  EXPECT_FALSE(cpu.need_resched());
  cpu.tick(1 * us);
  EXPECT_TRUE(cpu.need_resched());
  EXPECT_EQ(cpu.d(0), 1'400'000);
  cpu.schedule();
  EXPECT_FALSE(cpu.need_resched());
  EXPECT_EQ(cpu.running(), 1);
}

TEST(Tick, WhatRanOverIsNotCredited) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(900 * us);
  EXPECT_EQ(cpu.d(0), 1'600'000);
}

TEST(Tick, OneAloneIsNeverRescheduled) {
  SmallCpu cpu;
  cpu.fork(0);
  cpu.schedule();
  cpu.tick(10 * ms);
  EXPECT_FALSE(cpu.need_resched());
  EXPECT_EQ(cpu.d(0), 10'700'000);
}

TEST(Tick, OnAnIdleCpuOnlyTimePasses) {
  SmallCpu cpu;
  cpu.tick(4 * ms);
  EXPECT_EQ(cpu.clock(), 4'000'000U);
}

TEST(Advance, ChargesLater) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.advance(100 * us);
  EXPECT_EQ(cpu.v(0), 0);
  cpu.tick(0);
  EXPECT_EQ(cpu.v(0), 100'000);
}

TEST(Tick, ALighterTaskRunsUpMoreVirtualTime) {
  SmallCpu cpu;
  cpu.fork(0, 0, 5);
  cpu.schedule();
  cpu.tick(ms);
  // 10^6 * 1024 / 335
  EXPECT_EQ(cpu.v(0), 3'056'716);
}

// --- Waking.

TEST(Wake, AShorterRequestPreempts) {
  SmallCpu cpu;
  cpu.fork(0);
  cpu.schedule();
  cpu.fork(1, 100 * us);
  EXPECT_TRUE(cpu.need_resched());
  cpu.schedule();
  EXPECT_EQ(cpu.running(), 1);
}

TEST(Wake, WithoutPreemptShortItWaitsForTheRequest) {
  SmallCpu cpu({}, {Feature::PREEMPT_SHORT});
  cpu.fork(0);
  cpu.schedule();
  cpu.fork(1, 100 * us);
  EXPECT_FALSE(cpu.need_resched());
}

TEST(Wake, WithoutWakeupPreemptionNobodyPreempts) {
  SmallCpu cpu({}, {Feature::WAKEUP_PREEMPTION});
  cpu.fork(0);
  cpu.schedule();
  cpu.fork(1, 100 * us);
  EXPECT_FALSE(cpu.need_resched());
}

TEST(Wake, ANormalTaskPreemptsAnIdleOne) {
  SmallCpu cpu;
  cpu.fork(0, SchedPolicy::idle);
  cpu.schedule();
  cpu.fork(1);
  EXPECT_TRUE(cpu.need_resched());
  cpu.schedule();
  EXPECT_EQ(cpu.running(), 1);
}

TEST(Wake, AnIdleTaskPreemptsNobody) {
  SmallCpu cpu;
  cpu.fork(0);
  cpu.schedule();
  cpu.fork(1, SchedPolicy::idle, 100 * us);
  EXPECT_FALSE(cpu.need_resched());
}

TEST(Wake, ABatchTaskPreemptsNobody) {
  SmallCpu cpu;
  cpu.fork(0);
  cpu.schedule();
  cpu.fork(1, SchedPolicy::batch, 100 * us);
  EXPECT_FALSE(cpu.need_resched());
}

TEST(Wake, ASleeperComesBackWithItsLag) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.block(false);
  // 0 slept eligible, with lag 0; 1 runs.
  EXPECT_EQ(cpu.task(0).state, TaskState::sleeping);
  cpu.tick(500 * us);
  cpu.wake(0);
  EXPECT_EQ(cpu.v(0), 500'000);
  EXPECT_EQ(cpu.d(0), 1'200'000);
}

TEST(Wake, OfAQueuedTaskOnlyAsksWhetherItPreempts) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(100 * us);
  cpu.wake(1);
  // 0 is protected, but no longer eligible.
  EXPECT_TRUE(cpu.need_resched());
  EXPECT_EQ(cpu.v(1), 0);
  EXPECT_EQ(cpu.d(1), 700'000);
}

TEST(Wake, ChargesTheRunningTaskBeforeTheyAreCompared) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.advance(100 * us);
  cpu.wake(1);
  EXPECT_EQ(cpu.v(0), 100'000);
}

TEST(Wake, ComparesNothingIfARescheduleIsDueAnyway) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(700 * us);
  EXPECT_TRUE(cpu.need_resched());
  cpu.advance(100 * us);
  cpu.wake(1);
  EXPECT_EQ(cpu.v(0), 700'000);
}

TEST(Wake, OfTheRunningTaskDoesNothing) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.advance(100 * us);
  cpu.wake(0);
  EXPECT_FALSE(cpu.need_resched());
  EXPECT_EQ(cpu.v(0), 0);
}

// --- Delayed dequeue: 0 runs 400 us of its 700 and blocks at V = 200, so it stays. 1 runs.

class DelayedDequeue : public testing::Test {
 protected:
  void block_ahead(SmallCpu& cpu) {
    start_two(cpu);
    cpu.advance(400 * us);
    cpu.block(false);
  }
};

TEST_F(DelayedDequeue, AnIneligibleTaskStaysQueued) {
  SmallCpu cpu;
  block_ahead(cpu);
  EXPECT_TRUE(cpu.se(0).sched_delayed);
  EXPECT_EQ(cpu.task(0).state, TaskState::queued);
  EXPECT_EQ(cpu.queue().nr_running(), 2U);
  EXPECT_EQ(cpu.delayed_tasks(), 1U);
  EXPECT_EQ(cpu.average(), 200'000);
  EXPECT_EQ(cpu.running(), 1);
}

TEST_F(DelayedDequeue, WokenInDebtItGoesOnWhereItWas) {
  SmallCpu cpu;
  block_ahead(cpu);
  cpu.tick(300 * us);
  cpu.wake(0);
  // V = (400 + 300) / 2 = 350, so its lag is -50.
  EXPECT_EQ(cpu.se(0).vlag, -50'000);
  EXPECT_EQ(cpu.v(0), 400'000);
  EXPECT_EQ(cpu.d(0), 700'000);
  EXPECT_FALSE(cpu.se(0).sched_delayed);
  EXPECT_EQ(cpu.delayed_tasks(), 0U);
}

TEST_F(DelayedDequeue, WokenInCreditItLosesIt) {
  SmallCpu cpu;
  block_ahead(cpu);
  cpu.tick(500 * us);
  cpu.wake(0);
  // V = (400 + 500) / 2 = 450, so its lag is 50; V of the other is 500.
  EXPECT_EQ(cpu.v(0), 500'000);
  EXPECT_EQ(cpu.d(0), 1'200'000);
  EXPECT_EQ(cpu.queue().nr_running(), 2U);
}

TEST_F(DelayedDequeue, WithoutDelayZeroItKeepsItsPlace) {
  SmallCpu cpu({}, {Feature::DELAY_ZERO});
  block_ahead(cpu);
  cpu.tick(500 * us);
  cpu.wake(0);
  EXPECT_EQ(cpu.v(0), 400'000);
  EXPECT_EQ(cpu.d(0), 700'000);
}

TEST_F(DelayedDequeue, APickCompletesItAndTheNext) {
  SmallCpu cpu;
  block_ahead(cpu);
  cpu.advance(500 * us);
  cpu.block(false);
  // V = 450: 1 at 500 is delayed too. 0 is picked, leaves, and 1, alone, is picked and leaves.
  EXPECT_EQ(cpu.running(), -1);
  EXPECT_EQ(cpu.task(0).state, TaskState::sleeping);
  EXPECT_EQ(cpu.task(1).state, TaskState::sleeping);
  EXPECT_EQ(cpu.se(0).vlag, 0);
  EXPECT_EQ(cpu.se(1).vlag, 0);
  EXPECT_EQ(cpu.queue().nr_running(), 0U);
  EXPECT_EQ(cpu.delayed_tasks(), 0U);
}

TEST_F(DelayedDequeue, WithoutItATaskLeavesInDebt) {
  SmallCpu cpu({}, {Feature::DELAY_DEQUEUE});
  block_ahead(cpu);
  EXPECT_EQ(cpu.task(0).state, TaskState::sleeping);
  EXPECT_EQ(cpu.se(0).vlag, -200'000);
  EXPECT_EQ(cpu.queue().nr_running(), 1U);
}

TEST_F(DelayedDequeue, ASpecialSleeperLeavesAtOnce) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.advance(400 * us);
  cpu.block(true);
  EXPECT_EQ(cpu.task(0).state, TaskState::sleeping);
  EXPECT_EQ(cpu.se(0).vlag, -200'000);
}

TEST_F(DelayedDequeue, AnExitIsNeverDelayed) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.advance(400 * us);
  cpu.exit();
  EXPECT_EQ(cpu.task(0).state, TaskState::dead);
  EXPECT_EQ(cpu.queue().nr_running(), 1U);
  EXPECT_EQ(cpu.running(), 1);
}

TEST_F(DelayedDequeue, OneAloneIsNeverDelayed) {
  SmallCpu cpu;
  cpu.fork(0);
  cpu.schedule();
  cpu.advance(400 * us);
  cpu.block(false);
  EXPECT_EQ(cpu.task(0).state, TaskState::sleeping);
  EXPECT_EQ(cpu.running(), -1);
}

TEST_F(DelayedDequeue, SurvivesAChangeOfNice) {
  SmallCpu cpu;
  block_ahead(cpu);
  cpu.set_nice(0, 5);
  EXPECT_TRUE(cpu.se(0).sched_delayed);
  EXPECT_TRUE(cpu.se(0).on_rq);
  EXPECT_EQ(cpu.delayed_tasks(), 1U);
}

TEST_F(DelayedDequeue, IsNoBuddy) {
  SmallCpu cpu({Feature::NEXT_BUDDY}, {});
  block_ahead(cpu);
  cpu.set_nice(0, 5);
  // The change is followed by the test for preemption, which would make it one.
  EXPECT_EQ(cpu.queue().next(), nullptr);
}

TEST_F(DelayedDequeue, IsABuddyUnderTheRuleThatAcceptsIt) {
  SmallCpu cpu({Feature::NEXT_BUDDY}, {}, Rules{.delayed_buddy = DelayedBuddy::accepted});
  block_ahead(cpu);
  cpu.set_nice(0, 5);
  EXPECT_EQ(cpu.queue().next(), &cpu.se(0));
}

// --- Buddies.

TEST(Buddy, IsWhoWokeIfNextBuddyIsOn) {
  SmallCpu cpu({Feature::NEXT_BUDDY}, {});
  start_two(cpu);
  cpu.block(false);
  cpu.wake(0);
  EXPECT_EQ(cpu.queue().next(), &cpu.se(0));
}

TEST(Buddy, IsNobodyOtherwise) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.block(false);
  cpu.wake(0);
  EXPECT_EQ(cpu.queue().next(), nullptr);
}

TEST(Buddy, IsNotWhoWasForked) {
  SmallCpu cpu({Feature::NEXT_BUDDY}, {});
  start_two(cpu);
  cpu.fork(2);
  EXPECT_EQ(cpu.queue().next(), nullptr);
}

// --- Yield.

TEST(Yield, AnEligibleTaskForfeitsItsRequest) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.yield();
  EXPECT_EQ(cpu.v(0), 700'000);
  EXPECT_EQ(cpu.d(0), 1'400'000);
  EXPECT_EQ(cpu.running(), 1);
}

TEST(Yield, AnIneligibleTaskForfeitsNothing) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.advance(100);
  cpu.yield();
  EXPECT_EQ(cpu.v(0), 100);
  EXPECT_EQ(cpu.d(0), 700'000);
  EXPECT_EQ(cpu.running(), 1);
}

TEST(Yield, OneAloneForfeitsNothing) {
  SmallCpu cpu;
  cpu.fork(0);
  cpu.schedule();
  cpu.yield();
  EXPECT_EQ(cpu.v(0), 0);
  EXPECT_EQ(cpu.running(), 0);
}

TEST(YieldTo, TheNamedTaskGoesFirst) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.fork(2);
  cpu.yield_to(2);
  // 1 and 2 are both at 0, due at 700; 1 came first.
  EXPECT_EQ(cpu.running(), 2);
}

TEST(YieldTo, WithoutPickBuddyItIsAYield) {
  SmallCpu cpu({}, {Feature::PICK_BUDDY});
  start_two(cpu);
  cpu.fork(2);
  cpu.yield_to(2);
  EXPECT_EQ(cpu.running(), 1);
}

}  // namespace
}  // namespace vlag
