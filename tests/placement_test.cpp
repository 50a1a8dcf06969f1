// SPDX-License-Identifier: GPL-2.0-only
#include "core/placement.h"

#include <gtest/gtest.h>

#include "core/average.h"
#include "tests/support/print.h"

namespace vlag {
namespace {

constexpr std::uint64_t average = 10'000'000;

/// What is left of `lag` once the entity has joined a queue of weight `load` with all at V.
Word lag_after_joining(std::int64_t lag, std::int64_t load, std::int64_t weight) {
  const VTime vruntime = VTime(average) - inflated_lag<Words>(lag, load, weight);
  Sums<Words> sums{VTime(average), 0, load};
  sums.add(vruntime, weight);
  return sums.zero_vruntime + average_key(sums, AverageRounding::floor) - vruntime;
}

TEST(InflatedLag, IsDoubledAmongEquals) {
  // 10^6 (1024 + 1024) / 1024
  EXPECT_EQ(inflated_lag<Words>(1'000'000, 1024, 1024), 2'000'000);
}

TEST(InflatedLag, IsHardlyInflatedForALightOne) {
  // 10^6 * 1039 / 1024 = 1014648.4
  EXPECT_EQ(inflated_lag<Words>(1'000'000, 1024, 15), 1'014'648);
}

TEST(InflatedLag, TruncatesTowardZero) {
  EXPECT_EQ(inflated_lag<Words>(-1'000'000, 1024, 15), -1'014'648);
  // -10^6 * 1359 / 335 = -4056716.4
  EXPECT_EQ(inflated_lag<Words>(-1'000'000, 335, 1024), -4'056'716);
}

TEST(InflatedLag, OfNothingIsNothing) { EXPECT_EQ(inflated_lag<Words>(0, 1024, 88761), 0); }

TEST(InflatedLag, SurvivesTheJoin) {
  EXPECT_EQ(lag_after_joining(1'000'000, 1024, 1024), 1'000'000);
  EXPECT_EQ(lag_after_joining(-1'000'000, 1024, 1024), -1'000'000);
  // 1014648 is a little short of 1014648.4, and V' is floored.
  EXPECT_EQ(lag_after_joining(1'000'000, 1024, 15), 999'999);
}

/// 10^6 ns, left others of weight `left`, joins others of weight `joined`, weighs 1024.
Word placed(LagInflation rule, std::int64_t left, std::int64_t joined,
            std::int64_t lag = 1'000'000) {
  return placed_lag<Words>(rule, lag, left, joined, 1024);
}

TEST(PlacedLag, AsLinuxLooksAtTheJoinedOnly) {
  EXPECT_EQ(placed(LagInflation::as_linux, 4096, 1024), 2'000'000);
  EXPECT_EQ(placed(LagInflation::as_linux, 1024, 4096), 1'250'000);
}

TEST(PlacedLag, UninflatedStaysAsItIs) {
  EXPECT_EQ(placed(LagInflation::none, 4096, 1024), 1'000'000);
}

TEST(PlacedLag, CappedTakesTheHeavier) {
  EXPECT_EQ(placed(LagInflation::capped, 4096, 1024), 1'250'000);
  EXPECT_EQ(placed(LagInflation::capped, 1024, 4096), 1'250'000);
  EXPECT_EQ(placed(LagInflation::capped, 0, 1024), 2'000'000);  // It left no one.
}

TEST(PlacedLag, TheGeometricMeanIsOfBoth) {
  // sqrt(1.25 * 2) = 1.58113883
  EXPECT_EQ(placed(LagInflation::geometric, 4096, 1024), 1'581'138);
  EXPECT_EQ(placed(LagInflation::geometric, 1024, 4096), 1'581'138);
  EXPECT_EQ(placed(LagInflation::geometric, 4096, 1024, -1'000'000), -1'581'138);
  EXPECT_EQ(placed(LagInflation::geometric, 0, 1024), 2'000'000);
}

TEST(GeometricMean, IsFlooredAndHas128Bits) {
  EXPECT_EQ(geometric_mean(8, 2), 4);
  EXPECT_EQ(geometric_mean(-8, -1), 2);
  EXPECT_EQ(geometric_mean(0, 5), 0);
  EXPECT_EQ(geometric_mean(INT64_MAX, INT64_MAX), INT64_MAX);
}

TEST(InitialRequest, IsHalf) {
  EXPECT_EQ(initial_request<Words>(700'000), 350'000);
  EXPECT_EQ(initial_request<Words>(7), 3);
}

}  // namespace
}  // namespace vlag
