// SPDX-License-Identifier: GPL-2.0-only
// What happens to a task that is reniced, asks for another request or policy, or migrates; and the
// high-resolution tick. Tasks are as in tests/cpu_test.cpp: nice 0, 700 us, forked at 0.
#include <gtest/gtest.h>

#include "core/cpu.h"
#include "tests/support/small_numbers.h"

namespace vlag {
namespace {

using tests::base_slice;
using tests::ms;
using tests::SmallCpu;
using tests::start_two;
using tests::us;

// --- Nice.

TEST(SetNice, KeepsWeightTimesLag) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(200 * us);
  EXPECT_EQ(cpu.average(), 100'000);
  cpu.set_nice(1, 5);
  // 1 left with 100000, which is 100000 * 1024 / 335 = 305671 at nice 5. V of the other is 200000,
  // and 305671 (1024 + 335) / 1024 = 405670.
  EXPECT_EQ(cpu.v(1), 200'000 - 405'670);
  // (1024 * 200000 - 335 * 205670) / 1359 = 100000.4
  EXPECT_EQ(cpu.average(), 100'000);
}

TEST(SetNice, KeepsTheRelativeDeadline) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(200 * us);
  cpu.set_nice(1, 5);
  EXPECT_EQ(cpu.d(1) - cpu.v(1), 700'000);
}

TEST(SetNice, ToTheSameDoesNothing) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.advance(200 * us);
  cpu.set_nice(0, 0);
  EXPECT_EQ(cpu.v(0), 0);
}

TEST(SetNice, LoweringTheRunningTaskAsksForAReschedule) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.set_nice(0, 5);
  EXPECT_TRUE(cpu.need_resched());
}

TEST(SetNice, RaisingItDoesNot) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.set_nice(0, -5);
  EXPECT_FALSE(cpu.need_resched());
  EXPECT_EQ(cpu.running(), 0);
}

TEST(SetNice, TheRunningTaskStaysOutsideTheTimeline) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.set_nice(0, 5);
  EXPECT_EQ(cpu.queue().curr(), &cpu.se(0));
  EXPECT_EQ(cpu.queue().timeline().root(), &cpu.se(1));
  EXPECT_EQ(cpu.queue().sums().sum_weight, 1024);
  EXPECT_EQ(cpu.queue().load(), nice_weight(0).load + nice_weight(5).load);
}

TEST(SetNice, OneAloneIsNotRescheduled) {
  SmallCpu cpu;
  cpu.fork(0);
  cpu.schedule();
  cpu.set_nice(0, 5);
  EXPECT_FALSE(cpu.need_resched());
  EXPECT_EQ(cpu.queue().load(), nice_weight(5).load);
}

TEST(SetNice, OfASleeperScalesItsLag) {
  SmallCpu cpu({}, {Feature::DELAY_DEQUEUE});
  start_two(cpu);
  cpu.advance(200 * us);
  cpu.block(false);
  EXPECT_EQ(cpu.se(0).vlag, -100'000);
  cpu.set_nice(0, 5);
  EXPECT_EQ(cpu.se(0).vlag, -305'671);
  EXPECT_EQ(cpu.queue().nr_running(), 1U);
}

TEST(SetNice, OfAnIdlePolicyTaskKeepsItsWeight) {
  SmallCpu cpu;
  cpu.fork(0, SchedPolicy::idle);
  cpu.set_nice(0, -20);
  EXPECT_EQ(cpu.se(0).weight.down(), 3);
  EXPECT_EQ(cpu.task(0).nice, -20);
}

TEST(SetNice, StaleSumsMissTheNewWeight) {
  SmallCpu cpu({}, {}, Rules{.reweight_sums = ReweightSums::stale});
  start_two(cpu);
  cpu.set_nice(1, 5);
  EXPECT_EQ(cpu.queue().sums().sum_weight, 1024);
}

// --- Requests.

TEST(SetSlice, IsClamped) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.set_slice(0, 1);
  EXPECT_EQ(cpu.se(0).slice, 100'000);
  EXPECT_TRUE(cpu.se(0).custom_slice);
  cpu.set_slice(0, 1'000 * ms);
  EXPECT_EQ(cpu.se(0).slice, 100'000'000);
}

TEST(SetSlice, IsTakenAsItIsUnderTheRuleThatDoesNotClamp) {
  SmallCpu cpu({}, {}, Rules{.slice_clamp = SliceClamp::unclamped});
  start_two(cpu);
  cpu.set_slice(0, 1);
  EXPECT_EQ(cpu.se(0).slice, 1);
}

TEST(SetSlice, TheOneItHasIsNoChange) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(100 * us);
  cpu.set_slice(0, base_slice);
  EXPECT_FALSE(cpu.se(0).custom_slice);
  // A change would have put it back and picked it again.
  EXPECT_EQ(cpu.se(0).prev_sum_exec_runtime, 0U);
}

TEST(SetSlice, NoneIsAChangeEvenForADefaultTask) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(100 * us);
  cpu.set_slice(0, 0);
  EXPECT_FALSE(cpu.se(0).custom_slice);
  EXPECT_EQ(cpu.se(0).slice, 700'000);
  EXPECT_EQ(cpu.se(0).prev_sum_exec_runtime, 100'000U);
}

TEST(SetSlice, NoneGoesBackToTheDefault) {
  SmallCpu cpu;
  cpu.fork(0, 300 * us);
  cpu.schedule();
  EXPECT_TRUE(cpu.se(0).custom_slice);
  cpu.set_slice(0, 0);
  EXPECT_FALSE(cpu.se(0).custom_slice);
  EXPECT_EQ(cpu.se(0).slice, 700'000);
}

TEST(SetSlice, MovesTheDeadlineOnlyAtTheNextRequest) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.set_slice(0, 300 * us);
  EXPECT_EQ(cpu.d(0), 700'000);
  cpu.tick(700 * us);
  EXPECT_EQ(cpu.d(0), 1'000'000);
}

TEST(SetSlice, ACustomRequestSurvivesAPolicyChange) {
  SmallCpu cpu;
  cpu.fork(0, 300 * us);
  cpu.set_policy(0, SchedPolicy::batch);
  EXPECT_EQ(cpu.se(0).slice, 300'000);
  EXPECT_TRUE(cpu.se(0).custom_slice);
}

TEST(BaseSlice, IsTakenUpAtTheNextRequest) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.set_base_slice(ms);
  EXPECT_EQ(cpu.se(0).slice, 700'000);
  EXPECT_EQ(cpu.d(0), 700'000);
  cpu.tick(700 * us);
  EXPECT_EQ(cpu.se(0).slice, 1'000'000);
  EXPECT_EQ(cpu.d(0), 1'700'000);
}

// --- Policy.

TEST(SetPolicy, IdleWeighs3) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.set_policy(1, SchedPolicy::idle);
  EXPECT_EQ(cpu.se(1).weight.down(), 3);
  EXPECT_TRUE(cpu.se(1).idle);
  EXPECT_EQ(cpu.idle_tasks(), 1U);
  cpu.set_policy(1, SchedPolicy::normal);
  EXPECT_EQ(cpu.se(1).weight.down(), 1024);
  EXPECT_EQ(cpu.idle_tasks(), 0U);
}

TEST(SetPolicy, BatchWeighsAsItsNice) {
  SmallCpu cpu;
  cpu.fork(0, 0, 5);
  cpu.set_policy(0, SchedPolicy::batch);
  EXPECT_EQ(cpu.se(0).weight.down(), 335);
  EXPECT_FALSE(cpu.se(0).idle);
}

// --- Migration.

TEST(Migration, KeepsLagAndRelativeDeadline) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.tick(300 * us);
  cpu.schedule();
  EXPECT_EQ(cpu.running(), 1);
  // 0 is at 300, due at 700; V = 150.
  cpu.dequeue(0);
  EXPECT_EQ(cpu.task(0).state, TaskState::migrating);
  EXPECT_EQ(cpu.se(0).vlag, -150'000);
  EXPECT_EQ(cpu.se(0).deadline, VTime(400'000));

  cpu.tick(100 * us);
  cpu.enqueue(0);
  // V of the other is 100; 2 * 150 behind it is 400, and V = 250 again leaves -150.
  EXPECT_EQ(cpu.v(0), 400'000);
  EXPECT_EQ(cpu.d(0), 800'000);
}

TEST(Migration, WithoutRelativeDeadlinesStartsANewRequest) {
  SmallCpu cpu({}, {Feature::PLACE_REL_DEADLINE});
  start_two(cpu);
  cpu.tick(300 * us);
  cpu.schedule();
  cpu.dequeue(0);
  cpu.enqueue(0);
  EXPECT_EQ(cpu.v(0), 300'000);
  EXPECT_EQ(cpu.d(0), 1'000'000);
}

TEST(Migration, ADelayedTaskArrivesDelayed) {
  SmallCpu cpu;
  start_two(cpu);
  cpu.advance(400 * us);
  cpu.block(false);
  cpu.dequeue(0);
  EXPECT_EQ(cpu.delayed_tasks(), 0U);
  cpu.enqueue(0);
  EXPECT_TRUE(cpu.se(0).sched_delayed);
  EXPECT_EQ(cpu.delayed_tasks(), 1U);
}

// --- The high-resolution tick.

TEST(Hrtick, IsArmedForTheEndOfTheRequest) {
  SmallCpu cpu({Feature::HRTICK}, {});
  start_two(cpu);
  EXPECT_EQ(cpu.hrtick(), 700'000U);
}

TEST(Hrtick, IsNotArmedWithoutTheFeature) {
  SmallCpu cpu;
  start_two(cpu);
  EXPECT_EQ(cpu.hrtick(), 0U);
}

TEST(Hrtick, IsNotArmedForOneAlone) {
  SmallCpu cpu({Feature::HRTICK}, {});
  cpu.fork(0);
  cpu.schedule();
  EXPECT_EQ(cpu.hrtick(), 0U);
  cpu.tick(100 * us);
  cpu.fork(1);
  // 100 of 700 are over.
  EXPECT_EQ(cpu.hrtick(), 700'000U);
}

TEST(Hrtick, IsNeverArmedForLessThan10Us) {
  SmallCpu cpu({Feature::HRTICK}, {});
  cpu.fork(0);
  cpu.schedule();
  cpu.tick(695 * us);
  cpu.fork(1);
  EXPECT_EQ(cpu.hrtick(), 705'000U);
}

TEST(Hrtick, ForAnOverdueRequestAsksForAReschedule) {
  SmallCpu cpu({Feature::HRTICK}, {});
  cpu.fork(0);
  cpu.schedule();
  cpu.tick(800 * us);
  EXPECT_FALSE(cpu.need_resched());
  cpu.fork(1);
  EXPECT_TRUE(cpu.need_resched());
  EXPECT_EQ(cpu.hrtick(), 0U);
}

TEST(Hrtick, ExpiresAtItsTime) {
  SmallCpu cpu({Feature::HRTICK}, {});
  start_two(cpu);
  cpu.tick(100 * us);
  cpu.expire_hrtick();
  EXPECT_EQ(cpu.clock(), 700'000U);
  EXPECT_EQ(cpu.v(0), 700'000);
  EXPECT_EQ(cpu.hrtick(), 0U);
  EXPECT_TRUE(cpu.need_resched());
}

TEST(Hrtick, ExpiresLateIfTimeHasPassed) {
  SmallCpu cpu({Feature::HRTICK}, {});
  start_two(cpu);
  cpu.advance(900 * us);
  cpu.expire_hrtick();
  EXPECT_EQ(cpu.clock(), 900'000U);
  EXPECT_EQ(cpu.v(0), 900'000);
}

TEST(Hrtick, IsArmedAnewForTheNextTask) {
  SmallCpu cpu({Feature::HRTICK}, {});
  start_two(cpu);
  cpu.expire_hrtick();
  cpu.schedule();
  EXPECT_EQ(cpu.running(), 1);
  EXPECT_EQ(cpu.hrtick(), 1'400'000U);
}

TEST(Hrtick, IsClearedWhenTheCpuSchedules) {
  SmallCpu cpu({Feature::HRTICK}, {});
  start_two(cpu);
  EXPECT_NE(cpu.hrtick(), 0U);
  // 0 is protected and goes on.
  cpu.schedule();
  EXPECT_EQ(cpu.running(), 0);
  EXPECT_EQ(cpu.hrtick(), 0U);
}

}  // namespace
}  // namespace vlag
