// SPDX-License-Identifier: GPL-2.0-only
#include "core/lag.h"

#include <gtest/gtest.h>

#include "tests/support/print.h"

namespace vlag {
namespace {

constexpr std::int64_t tick_nsec = 4'000'000;  // HZ=250

Word limit(std::int64_t slice, const Weight& weight) {
  return lag_limit<Words>(slice, tick_nsec, weight);
}

TEST(LagLimit, IsTwiceTheRequestInVirtualTime) {
  // 2 * 3 ms * 1024 / w
  EXPECT_EQ(limit(3'000'000, nice_weight(0)), 6'000'000);
  EXPECT_EQ(limit(3'000'000, nice_weight(-20)), 69'219);
  EXPECT_EQ(limit(3'000'000, nice_weight(5)), 18'340'298);
  EXPECT_EQ(limit(3'000'000, nice_weight(19)), 409'599'999);
  EXPECT_EQ(limit(3'000'000, idle_weight()), 2'047'999'999);
}

TEST(LagLimit, IsAtLeastATick) {
  EXPECT_EQ(limit(700'000, nice_weight(0)), 4'000'000);
  EXPECT_EQ(limit(2'000'000, nice_weight(0)), 4'000'000);
  EXPECT_EQ(limit(2'000'001, nice_weight(0)), 4'000'002);
}

TEST(EntityLag, IsTheDistanceToTheAverage) {
  EXPECT_EQ(entity_lag<Words>(VTime(100), VTime(70), 50), 30);
  EXPECT_EQ(entity_lag<Words>(VTime(100), VTime(130), 50), -30);
}

TEST(EntityLag, IsLimitedOnBothSides) {
  EXPECT_EQ(entity_lag<Words>(VTime(100), VTime(50), 50), 50);
  EXPECT_EQ(entity_lag<Words>(VTime(100), VTime(49), 50), 50);
  EXPECT_EQ(entity_lag<Words>(VTime(100), VTime(151), 50), -50);
}

TEST(EntityLag, IsTheSameAcrossTheWrap) {
  EXPECT_EQ(entity_lag<Words>(VTime(10), VTime(0 - std::uint64_t{20}), 50), 30);
  EXPECT_EQ(entity_lag<Words>(VTime(0 - std::uint64_t{20}), VTime(10), 50), -30);
}

}  // namespace
}  // namespace vlag
