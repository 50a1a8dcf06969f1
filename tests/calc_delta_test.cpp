// SPDX-License-Identifier: GPL-2.0-only
#include "core/calc_delta.h"

#include <gtest/gtest.h>

#include "tests/support/print.h"

namespace vlag {
namespace {

Word rounded(std::int64_t delta, int nice) {
  return calc_delta_fair_rounded<Words>(delta, nice_weight(nice));
}
Word divided(std::int64_t delta, int nice) {
  return calc_delta_fair_divided<Words>(delta, nice_weight(nice));
}

// The slice of one of two tasks of nice 0 in a period.
Word half_of(std::int64_t period) {
  return calc_delta_mine<Words>(period, 1024, computed_inverse<Words>(2048));
}

TEST(ShiftRightRounded, RoundsHalfUp) {
  EXPECT_EQ(shift_right_rounded<Words>(7, 2), 2);  // 1.75
  EXPECT_EQ(shift_right_rounded<Words>(6, 2), 2);  // 1.5
  EXPECT_EQ(shift_right_rounded<Words>(5, 2), 1);  // 1.25
}

TEST(ComputedInverse, IsALittleLow) {
  // 2^32 / 1024 = 4194304, 2^32 / 2048 = 2097152, 2^32 / 3072 = 1398101.3
  EXPECT_EQ(computed_inverse<Words>(1024), 4'190'212);
  EXPECT_EQ(computed_inverse<Words>(2048), 2'096'129);
  EXPECT_EQ(computed_inverse<Words>(3072), 1'397'646);
  EXPECT_EQ(computed_inverse<Words>(std::int64_t{1} << 32), 1);
}

TEST(CalcDeltaMine, MakesSlicesALittleShort) {
  EXPECT_EQ(half_of(24'000'000), 11'994'146);
  EXPECT_EQ(half_of(6'000'000), 2'998'537);
}

TEST(CalcDeltaMine, IsTheVirtualClockOfAQueue) {
  const auto in = [](std::int64_t load) {
    return calc_delta_mine<Words>(1'000'000, 1024, computed_inverse<Words>(load));
  };
  EXPECT_EQ(in(1024), 999'024);
  EXPECT_EQ(in(2048), 499'756);
  EXPECT_EQ(in(3072), 333'225);
}

TEST(CalcDeltaRounded, OneMillisecond) {
  constexpr std::int64_t delta = 1'000'000;
  EXPECT_EQ(rounded(delta, -20), 11'537);  // 11536.6
  EXPECT_EQ(rounded(delta, -5), 328'100);
  EXPECT_EQ(rounded(delta, 0), delta);
  EXPECT_EQ(rounded(delta, 1), 1'248'780);
  EXPECT_EQ(rounded(delta, 5), 3'056'716);
  EXPECT_EQ(rounded(delta, 19), 68'266'667);  // 68266666.7
}

TEST(CalcDeltaRounded, RoundsASingleNanosecond) {
  // 1024 / 1277 = 0.8, and 1024 / 3121 = 0.3.
  EXPECT_EQ(rounded(1, -1), 1);
  EXPECT_EQ(rounded(1, -5), 0);
}

TEST(CalcDeltaRounded, IsCoarseAboveTwoTo32) {
  // 2^22 * 1024 = 2^32 is the last that is rounded once: 2^22 * 1024 / 335 = 12820798.5.
  EXPECT_EQ(rounded(1 << 22, 5), 12'820'798);
  // 32 ns more round up to 65537 * 2^16: 12820994.1 instead of 12820896.3.
  EXPECT_EQ(rounded((1 << 22) + 31, 5), 12'820'798);
  EXPECT_EQ(rounded((1 << 22) + 32, 5), 12'820'994);
}

TEST(CalcDeltaDivided, IsTheQuotient) {
  EXPECT_EQ(divided(3'000'000, 19), 204'800'000);
  EXPECT_EQ(calc_delta_fair_divided<Words>(3'000'000, idle_weight()), 1'024'000'000);
  // 10^8 * 1024 / 335 = 305671641.8
  EXPECT_EQ(divided(100'000'000, 5), 305'671'641);
  EXPECT_EQ(divided(1'000'000, 0), 1'000'000);
}

TEST(CalcDeltaDivided, TakesAGroupsWeightAsItIs) {
  // 10^6 * 2^20 / 2, where the division by scaled-down weights gives 511999999.
  EXPECT_EQ(calc_delta_fair_divided<Words>(1'000'000, make_weight(2, 0)), 524'288'000'000);
}

TEST(CalcDeltaDivided, WrapsAtTwoTo44) {
  EXPECT_EQ(divided((std::int64_t{1} << 44) - 1, 19), 1'200'959'900'632'064);
  EXPECT_EQ(divided(std::int64_t{1} << 44, 19), 0);
}

}  // namespace
}  // namespace vlag
