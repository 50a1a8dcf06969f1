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

TEST(InitialRequest, IsHalf) {
  EXPECT_EQ(initial_request<Words>(700'000), 350'000);
  EXPECT_EQ(initial_request<Words>(7), 3);
}

}  // namespace
}  // namespace vlag
