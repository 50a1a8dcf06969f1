// SPDX-License-Identifier: GPL-2.0-only
// Task 0 runs, 1 is queued, 2 is queued but delayed, 3 sleeps, 4 migrates; 5 is not alive.
#include "spec/legal.h"

#include <gtest/gtest.h>

#include <vector>

#include "spec/sequence.h"
#include "tests/support/observations.h"

namespace vlag::spec {
namespace {

using tests::delayed;
using tests::migrating;
using tests::one_observation;
using tests::queued;
using tests::sleeping;

class Legal : public testing::Test {
 protected:
  std::string_view why(const Operation& operation) const {
    const Observation before = busy_.back();
    return why_illegal(&before, operation);
  }
  std::string_view why_while_idle(const Operation& operation) const {
    const Observation before = idle_.back();
    return why_illegal(&before, operation);
  }

 private:
  Trace busy_ = one_observation(
      0, {{0, queued}, {1, queued}, {2, delayed}, {3, sleeping}, {4, migrating}}, 1000);
  Trace idle_ = one_observation(VLAG_NO_ENTITY, {{1, queued}, {3, sleeping}}, 1000);
};

TEST_F(Legal, ResetComesFirstAndOnlyFirst) {
  EXPECT_EQ(why_illegal(nullptr, op::reset()), "");
  EXPECT_EQ(why_illegal(nullptr, op::schedule()), "a sequence starts with reset");
  EXPECT_EQ(why(op::reset()), "reset can only be the first operation");
}

TEST_F(Legal, TimeAndTunablesAlwaysAre) {
  for (const Operation& operation : {op::tick(1), op::advance(1), op::schedule(),
                                     op::features(1, 1), op::base_slice(1'000'000)}) {
    EXPECT_EQ(why(operation), "") << to_text(operation);
    EXPECT_EQ(why_while_idle(operation), "") << to_text(operation);
  }
}

TEST_F(Legal, ForkNeedsAFreeId) {
  EXPECT_EQ(why(op::fork(5)), "");
  for (int id = 0; id < 5; ++id) EXPECT_EQ(why(op::fork(id)), "the task exists already") << id;
}

TEST_F(Legal, WakingAndChangingNeedATaskThatIsSettled) {
  for (int id = 0; id < 4; ++id) {
    EXPECT_EQ(why(op::wake(id)), "") << id;
    EXPECT_EQ(why(op::nice(id, 1)), "") << id;
    EXPECT_EQ(why(op::slice(id, 1)), "") << id;
    EXPECT_EQ(why(op::policy(id, VLAG_BATCH)), "") << id;
  }
  for (const auto& make : {op::wake, op::yield_to, op::dequeue}) {
    EXPECT_EQ(why(make(4)), "the task is migrating");
    EXPECT_EQ(why(make(5)), "there is no such task");
  }
  EXPECT_EQ(why(op::nice(4, 1)), "the task is migrating");
  EXPECT_EQ(why(op::slice(5, 1)), "there is no such task");
  EXPECT_EQ(why(op::policy(5, VLAG_IDLE)), "there is no such task");
}

TEST_F(Legal, OnlyARunningTaskCanBlockExitOrYield) {
  for (const Operation& operation : {op::block(), op::block(true), op::exit(), op::yield()}) {
    EXPECT_EQ(why(operation), "") << to_text(operation);
    EXPECT_EQ(why_while_idle(operation), "no task is running") << to_text(operation);
  }
}

TEST_F(Legal, OnlyAQueuedTaskThatDoesNotRunCanMigrate) {
  EXPECT_EQ(why(op::dequeue(1)), "");
  EXPECT_EQ(why(op::dequeue(2)), "");
  EXPECT_EQ(why(op::dequeue(0)), "the task is running");
  EXPECT_EQ(why(op::dequeue(3)), "the task is not queued");
}

TEST_F(Legal, OnlyAMigratingTaskCanArrive) {
  EXPECT_EQ(why(op::enqueue(4)), "");
  for (int id = 0; id < 4; ++id) EXPECT_EQ(why(op::enqueue(id)), "the task is not migrating") << id;
  EXPECT_EQ(why(op::enqueue(5)), "there is no such task");
}

TEST_F(Legal, YieldToNeedsSomeoneWhoIsReadyToRun) {
  EXPECT_EQ(why(op::yield_to(1)), "");
  EXPECT_EQ(why(op::yield_to(0)), "the task is running");
  EXPECT_EQ(why(op::yield_to(2)), "the task is asleep");
  EXPECT_EQ(why(op::yield_to(3)), "the task is not queued");
  EXPECT_EQ(why_while_idle(op::yield_to(1)), "no task is running");
}

TEST_F(Legal, HrtickNeedsToBeArmed) {
  EXPECT_EQ(why(op::hrtick()), "");
  EXPECT_EQ(why_while_idle(op::hrtick()), "no task is running");
  const Trace unarmed = one_observation(0, {{0, queued}});
  const Observation before = unarmed.back();
  EXPECT_EQ(why_illegal(&before, op::hrtick()), "the high-resolution tick is not armed");
}

}  // namespace
}  // namespace vlag::spec
