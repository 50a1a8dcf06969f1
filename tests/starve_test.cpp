// SPDX-License-Identifier: GPL-2.0-only
// The player of scenarios, and what is measured of them, by hand.
#include "props/starve.h"

#include <gtest/gtest.h>

#include "tests/support/judged.h"
#include "tests/support/small_numbers.h"

namespace vlag::props {
namespace {

using Kind = Move::Kind;
using tests::ms;
using tests::us;

constexpr Move wake(int task) { return {.kind = Kind::wake, .task = task, .value = 0, .share = 1}; }
constexpr Move sleep(std::uint32_t share = 1) {
  return {.kind = Kind::sleep, .task = 0, .value = 0, .share = share};
}

/// The victim and so many sleepers, all of nice 0 with the default request.
Scenario alike(int sleepers, std::vector<Move> round) {
  return {.members = std::vector<Member>(static_cast<std::size_t>(sleepers) + 1),
          .first_tick = 4 * ms,
          .round = std::move(round)};
}

TEST(Player, StartsWhenTheVictimHasRun) {
  const Scenario scenario = alike(2, {});
  Player player(eevdf_6_12(), scenario, nullptr);
  ASSERT_TRUE(player.start());
  // It ran to the first tick: V = 4 ms / 3.
  EXPECT_EQ(player.cpu().clock(), 4 * ms);
  EXPECT_EQ(player.excess(), 4'000'000 - 1'333'333);
  EXPECT_EQ(player.cpu().current()->se.id, 1);
}

TEST(Player, WritesALegalSequence) {
  spec::Sequence sequence;
  const Scenario scenario = alike(3, {sleep(),
                                      wake(1),
                                      sleep(3000),
                                      {.kind = Kind::away, .task = 2, .value = 0, .share = 1},
                                      {.kind = Kind::nice, .task = 3, .value = 5, .share = 1},
                                      {.kind = Kind::back, .task = 2, .value = 0, .share = 1},
                                      {.kind = Kind::yield, .task = 0, .value = 0, .share = 1},
                                      {.kind = Kind::nice, .task = 3, .value = 0, .share = 1},
                                      wake(2),
                                      wake(3)});
  Policy policy = eevdf_6_12();
  policy.features.set(Feature::HRTICK, true);
  Player player(policy, scenario, &sequence);
  ASSERT_TRUE(player.start());
  for (int i = 0; i < 20 && player.play(us); ++i) {
  }
  EXPECT_EQ(player.operations(), sequence.size());
  EXPECT_TRUE(tests::legal_under(sequence, eevdf_6_12()));
}

// A tick every 4 ms, however long the runs are.
TEST(Player, TicksOnTime) {
  spec::Sequence sequence;
  const Scenario scenario = alike(3, {sleep(10), wake(1), wake(2), wake(3)});
  Player player(eevdf_6_12(), scenario, &sequence);
  ASSERT_TRUE(player.start());
  for (int i = 0; i < 5 && player.play(ms); ++i) {
  }
  Nanos clock = 0;
  Nanos ticked = 0;
  for (const spec::Operation& operation : sequence) {
    if (operation.code != VLAG_TICK && operation.code != VLAG_ADVANCE) continue;
    clock += operation.arg;
    EXPECT_LE(clock - ticked, 4 * ms);
    if (operation.code != VLAG_TICK) continue;
    EXPECT_EQ(clock % (4 * ms), 0U);
    ticked = clock;
  }
  EXPECT_GT(ticked, 4 * ms);
}

TEST(Player, LeavesTheLastSleeperAwake) {
  const Scenario scenario = alike(2, {sleep(), sleep(), sleep()});
  Player player(eevdf_6_12(), scenario, nullptr);
  ASSERT_TRUE(player.start());
  EXPECT_TRUE(player.play(us));
  EXPECT_EQ(player.cpu().queue().nr_running(), 2U);
}

// 3 (2 * 0.7 + 4) + 4.7 + 3 * 4 ms
TEST(LongestFixedWait, IsThatOfTheTheorem) {
  EXPECT_EQ(longest_fixed_wait(eevdf_6_12(), alike(3, {})), 32'900 * us);
}

// Who sleeps away what little it ran gains nothing.
TEST(HoldOf, AnHonestSleeperDoesNotStarveAnyone) {
  std::uint64_t operations = 0;
  EXPECT_FALSE(hold_of(eevdf_6_12(), alike(2, {wake(1), sleep(), wake(2), sleep()}), operations));
  EXPECT_GT(operations, 0U);
}

TEST(HoldOf, ARoundThatTakesNoTimeIsNone) {
  std::uint64_t operations = 0;
  EXPECT_FALSE(hold_of(eevdf_6_12(), alike(3, {wake(1)}), operations));
}

TEST(Growth, IsTheRootOfWhatItGrewBy) {
  EXPECT_NEAR((Growth{1'000, 8'000, 3}.gain()), 2.0, 1e-9);
  EXPECT_EQ((Growth{0, 0, 0}.gain()), 1.0);
}

}  // namespace
}  // namespace vlag::props
