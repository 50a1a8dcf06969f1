// SPDX-License-Identifier: GPL-2.0-only
#include "core/cfs.h"

#include <gtest/gtest.h>

#include "tests/support/print.h"

namespace vlag {
namespace {

constexpr std::uint64_t half = std::uint64_t{1} << 63;

TEST(LaterAndEarlier, HoldAcrossTheWrap) {
  const VTime end(0 - std::uint64_t{2});
  EXPECT_EQ(later<Words>(end, VTime(3)), VTime(3));
  EXPECT_EQ(later<Words>(VTime(3), end), VTime(3));
  EXPECT_EQ(earlier<Words>(end, VTime(3)), end);
  EXPECT_EQ(earlier<Words>(VTime(3), end), end);
}

TEST(SleeperThreshold, IsHalvedIfGentle) {
  EXPECT_EQ(sleeper_threshold<Words>(6'000'000, true), 3'000'000);
  EXPECT_EQ(sleeper_threshold<Words>(6'000'000, false), 6'000'000);
}

TEST(PlaceSleeper, GivesACreditBehindTheQueue) {
  EXPECT_EQ(place_sleeper<Words>(VTime(10'000'000), VTime(2'000'000), 3'000'000, false),
            VTime(7'000'000));
  EXPECT_EQ(place_sleeper<Words>(VTime(10'000'000), VTime(2'000'000), 6'000'000, false),
            VTime(4'000'000));
}

TEST(PlaceSleeper, NeverMovesBackward) {
  EXPECT_EQ(place_sleeper<Words>(VTime(10'000'000), VTime(9'000'000), 3'000'000, false),
            VTime(9'000'000));
}

TEST(PlaceSleeper, HasARuleForALongSleep) {
  const VTime queue(half + 4'000'000);
  // The credited place is more than half the circle ahead of 0, and so looks behind it.
  EXPECT_EQ(place_sleeper<Words>(queue, VTime(0), 3'000'000, false), VTime(0));
  EXPECT_EQ(place_sleeper<Words>(queue, VTime(0), 3'000'000, true), VTime(half + 1'000'000));
}

TEST(LongSleeper, SleptFor104Days) {
  constexpr std::int64_t days_104 = 104LL * 24 * 3600 * 1'000'000'000;
  EXPECT_FALSE(long_sleeper<Words>(days_104));
  EXPECT_TRUE(long_sleeper<Words>(days_104 + 24LL * 3600 * 1'000'000'000));
  EXPECT_FALSE(long_sleeper<Words>(std::int64_t{1} << 53));
  EXPECT_TRUE(long_sleeper<Words>((std::int64_t{1} << 53) + 1));
}

TEST(PlaceForked, WaitsForItsTurn) {
  EXPECT_EQ(place_forked<Words>(VTime(10'000'000), VTime(9'000'000), 2'998'537), VTime(12'998'537));
  EXPECT_EQ(place_forked<Words>(VTime(10'000'000), VTime(20'000'000), 2'998'537),
            VTime(20'000'000));
}

TEST(WakeupPreempts, BeyondTheGranularity) {
  // 10.5 ms - 7 ms = 3.5 ms.
  EXPECT_TRUE(wakeup_preempts<Words>(VTime(10'500'000), VTime(7'000'000), 1'000'000));
  EXPECT_FALSE(wakeup_preempts<Words>(VTime(10'500'000), VTime(10'000'000), 1'000'000));
  EXPECT_FALSE(wakeup_preempts<Words>(VTime(10'500'000), VTime(9'500'000), 1'000'000));
  EXPECT_FALSE(wakeup_preempts<Words>(VTime(7'000'000), VTime(10'500'000), 1'000'000));
}

TEST(MinVruntime, NeverGoesBack) {
  EXPECT_EQ(advanced_min_vruntime<Words>(VTime(100), VTime(90)), VTime(100));
  EXPECT_EQ(advanced_min_vruntime<Words>(VTime(100), VTime(110)), VTime(110));
}

using Picks = BuddyPick<Words>;

Picks picks(Candidate<Words> second, Candidate<Words> next, Candidate<Words> last) {
  return pick_buddy<Words>({second, next, last}, VTime(1000), 50);
}

constexpr Candidate<Words> absent = {false, VTime(0)};
constexpr Candidate<Words> close = {true, VTime(1050)};
constexpr Candidate<Words> far = {true, VTime(1051)};

TEST(PickBuddy, TakesNextBeforeLastBeforeTheSecond) {
  EXPECT_TRUE(picks(close, close, close).next);
  EXPECT_FALSE(picks(close, close, close).last);
  EXPECT_FALSE(picks(close, close, close).skips);
  EXPECT_TRUE(picks(close, absent, close).last);
  EXPECT_TRUE(picks(close, absent, absent).skips);
}

TEST(PickBuddy, TakesNoneBeyondTheGranularityOfTheLeftmost) {
  EXPECT_FALSE(picks(far, far, far).next);
  EXPECT_FALSE(picks(far, far, far).last);
  EXPECT_FALSE(picks(far, far, far).skips);
  EXPECT_TRUE(picks(absent, far, close).last);
}

}  // namespace
}  // namespace vlag
