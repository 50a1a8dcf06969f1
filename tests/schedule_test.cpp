// SPDX-License-Identifier: GPL-2.0-only
// Who ran when, by hand; and a schedule in which one task waits for ever.
#include "props/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "props/model_backend.h"
#include "spec/sequence.h"
#include "spec/view.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t ms = 1'000'000;

spec::Trace run(const spec::Sequence& sequence) {
  EXPECT_TRUE(tests::legal_under(sequence, eevdf_6_12()));
  ModelBackend model(eevdf_6_12());
  spec::Trace trace;
  EXPECT_TRUE(model.run(sequence, trace).completed());
  return trace;
}

Schedule schedule(const std::string& text) {
  const auto parsed = spec::parse_text(text, "test");
  EXPECT_TRUE(parsed) << parsed.error().message();
  return schedule_of(run(parsed->operations));
}

// "0:0-4 -:4-6" in ms; "-" is nobody.
std::string runs_of(const Schedule& schedule) {
  std::string text;
  for (const Run& run : schedule.runs) {
    if (!text.empty()) text += " ";
    text += run.task == VLAG_NO_ENTITY ? "-" : std::to_string(run.task);
    text += ":" + std::to_string(run.start / ms) + "-" + std::to_string(run.end / ms);
  }
  return text;
}

TEST(Schedule, TimeOfNobodyIsAStretchToo) {
  const Schedule empty = schedule("reset clock 3ms\nadvance 2ms\n");
  EXPECT_EQ(runs_of(empty), "-:3-5") << "time in which nobody ran";
  EXPECT_EQ(empty.start, 3 * ms);
  EXPECT_EQ(empty.end, 5 * ms);
  EXPECT_TRUE(empty.tasks.empty());
}

TEST(Schedule, StretchesOfOneTaskJoin) {
  const Schedule one = schedule(
      "reset\nfork 0\nschedule\ntick 2ms\nadvance 1ms\nschedule\nadvance 3ms\nblock\n"
      "advance 4ms\nwake 0\nschedule\ntick 1ms\n");
  EXPECT_EQ(runs_of(one), "0:0-6 -:6-10 0:10-11");
  ASSERT_EQ(one.tasks.size(), 1U);
  EXPECT_EQ(one.tasks[0].service, 7 * ms);
  EXPECT_EQ(one.tasks[0].longest_wait, 0U) << "asleep is not waiting";
  EXPECT_FALSE(one.tasks[0].waiting);
}

// Requests of 2 ms. Task 0 comes first and is picked among equals. At 3 ms its request is over, and
// it has lag (0 + 3)/2 - 3 < 0: task 1 runs, for 3 ms; then both have v = 3 ms, and d = 5 ms.
TEST(Schedule, TwoTakeTurns) {
  const Schedule two = schedule(
      "reset\ntunable base_slice 2ms\nfork 0\nfork 1 nice 0\nschedule\n"
      "tick 3ms\nschedule\ntick 3ms\nschedule\nadvance 1ms\n");
  ASSERT_EQ(two.tasks.size(), 2U);
  EXPECT_EQ(runs_of(two).substr(0, 11), "0:0-3 1:3-6");
  EXPECT_EQ(two.tasks[0].service + two.tasks[1].service, 7 * ms);
  EXPECT_EQ(two.tasks[0].longest_wait, 3 * ms);
  EXPECT_EQ(two.tasks[1].longest_wait, 3 * ms);
  EXPECT_NE(two.tasks[0].waiting, two.tasks[1].waiting);
  EXPECT_EQ(two.end, 7 * ms);
}

TEST(Schedule, TheWaitIsNotOver) {
  const Schedule waits =
      schedule("reset\nfork 0\nschedule\nadvance 1ms\nfork 1\nadvance 500us\nadvance 700us\n");
  ASSERT_EQ(waits.tasks.size(), 2U);
  EXPECT_EQ(waits.tasks[1].service, 0U);
  EXPECT_EQ(waits.tasks[1].longest_wait, 1200 * us);
  EXPECT_TRUE(waits.tasks[1].waiting);
  EXPECT_EQ(waits.tasks[0].service, 2200 * us) << "the time that is not charged yet counts";
}

TEST(Schedule, WhoExitsIsKeptAsLastSeen) {
  const Schedule gone = schedule("reset\nfork 2 nice 5\nschedule\ntick 2ms\nexit\nadvance 1ms\n");
  ASSERT_EQ(gone.tasks.size(), 1U);
  EXPECT_EQ(gone.tasks[0].task, 2);
  EXPECT_EQ(gone.tasks[0].nice, 5);
  EXPECT_EQ(gone.tasks[0].weight, 335U << 10);
  EXPECT_EQ(gone.tasks[0].service, 2 * ms);
  EXPECT_EQ(runs_of(gone), "2:0-2 -:2-3");
}

// One of two runs for 1 ms: V is half of it, so the lags are -500 us and 500 us.
TEST(Schedule, LagIsMeasuredFromV) {
  const Schedule two = schedule("reset\nfork 0\nfork 1\nschedule\ntick 1ms\n");
  ASSERT_EQ(two.tasks.size(), 2U);
  EXPECT_EQ(two.tasks[0].lag + two.tasks[1].lag, 0);
  EXPECT_EQ(std::max(two.tasks[0].lag, two.tasks[1].lag), 500 * std::int64_t{us});
}

TEST(Schedule, StretchesAddUp) {
  const auto parsed =
      spec::read_sequence(std::string(VLAG_SOURCE_DIR) + "/tests/golden/starvation.seq");
  ASSERT_TRUE(parsed) << parsed.error().message();
  const Schedule all = schedule_of(run(parsed->operations));
  std::uint64_t at = all.start;
  std::map<int, std::uint64_t> service;
  for (const auto& stretch : all.runs) {
    EXPECT_EQ(stretch.start, at);
    EXPECT_LT(stretch.start, stretch.end);
    service[stretch.task] += stretch.end - stretch.start;
    at = stretch.end;
  }
  EXPECT_EQ(at, all.end);
  for (const TaskSummary& task : all.tasks) EXPECT_EQ(task.service, service[task.task]);
}

// Task 3 is a hog at nice 0 that is never asleep, beside tasks of nice 0, 3 and -6 that sleep and
// wake: it is entitled to 1024/6480 of the time whenever all four are queued, and to more when they
// are not. It had 1.5 ms, and has nothing more.
TEST(Starvation, TheHogIsRunnableAndNeverPicked) {
  const auto parsed =
      spec::read_sequence(std::string(VLAG_SOURCE_DIR) + "/tests/golden/starvation.seq");
  ASSERT_TRUE(parsed) << parsed.error().message();
  const spec::Trace trace = run(parsed->operations);
  const Schedule all = schedule_of(trace);

  ASSERT_EQ(all.tasks.size(), 4U);
  const TaskSummary& hog = all.tasks[3];
  EXPECT_EQ(hog.task, 3);
  EXPECT_EQ(hog.nice, 0);
  EXPECT_EQ(hog.service, 1500 * us);
  EXPECT_TRUE(hog.waiting);
  EXPECT_EQ(hog.longest_wait, all.end - all.start - hog.service) << "in one go";
  EXPECT_GT(hog.longest_wait, 280 * ms);
  EXPECT_LT(hog.longest_wait, 330 * ms);

  // Queued after every operation since it was forked, never delayed.
  bool forked = false;
  std::uint64_t last_tick = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const auto* state = trace[i].find(3);
    forked = forked || state != nullptr;
    if (!forked) continue;
    ASSERT_TRUE(spec::has(*state, VLAG_ON_RQ)) << i;
    ASSERT_FALSE(spec::has(*state, VLAG_DELAYED)) << i;
    // A tick comes at least every 4 ms, so nothing rests on the ticks' being late.
    if (parsed->operations[i].code != VLAG_TICK) continue;
    ASSERT_LE(trace[i].head->clock - last_tick, 4 * ms) << i;
    last_tick = trace[i].head->clock;
  }
}

// It is the fault of no invariant: all properties hold along the way.
TEST(Starvation, KeepsEveryProperty) {
  const auto parsed =
      spec::read_sequence(std::string(VLAG_SOURCE_DIR) + "/tests/golden/starvation.seq");
  ASSERT_TRUE(parsed) << parsed.error().message();
  const spec::Trace trace = run(parsed->operations);
  const ModelBackend model(eevdf_6_12());
  for (const Property& property : properties()) {
    EXPECT_EQ(tests::violation(property, parsed->operations, trace, model.info()), "")
        << property.name;
  }
}

}  // namespace
}  // namespace vlag::props
