// SPDX-License-Identifier: GPL-2.0-only
#include "core/weight.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/print.h"

namespace vlag {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t idle = 1000;  // Stands for SCHED_IDLE among the nice values.

Weight weight_of(std::int64_t nice) {
  return nice == idle ? idle_weight() : nice_weight(static_cast<int>(nice));
}

std::vector<std::int64_t> all_levels() {
  std::vector<std::int64_t> levels = {idle};
  for (int nice = nice_min; nice <= nice_max; ++nice) levels.push_back(nice);
  return levels;
}

Word at(std::int64_t delta, std::int64_t nice) {
  return calc_delta_fair<Words>(delta, weight_of(nice));
}

TEST(Weight, ScaleLoadDownDividesBy1024ButNeverBelow2) {
  EXPECT_EQ(scale_load_down<Words>(0), 0);
  EXPECT_EQ(scale_load_down<Words>(1), 2);
  EXPECT_EQ(scale_load_down<Words>(2047), 2);
  EXPECT_EQ(scale_load_down<Words>(3071), 2);
  EXPECT_EQ(scale_load_down<Words>(3072), 3);
  EXPECT_EQ(scale_load_down<Words>(Word::wrapped(nice_0_load)), 1024);
}

TEST(Weight, NiceLevelsHaveTheTablesWeights) {
  EXPECT_EQ(nice_weight(-20).down(), 88761);
  EXPECT_EQ(nice_weight(-10).down(), 9548);
  EXPECT_EQ(nice_weight(0).down(), 1024);
  EXPECT_EQ(nice_weight(5).down(), 335);
  EXPECT_EQ(nice_weight(19).down(), 15);
  EXPECT_EQ(idle_weight().down(), 3);
}

TEST(Weight, EachNiceStepIsAboutAQuarter) {
  for (int nice = nice_min; nice < nice_max; ++nice) {
    // 1.2 <= heavier / lighter <= 1.3
    const std::int64_t heavier = nice_weight(nice).down().value;
    const std::int64_t lighter = nice_weight(nice + 1).down().value;
    EXPECT_GE(10 * heavier, 12 * lighter) << nice;
    EXPECT_LE(10 * heavier, 13 * lighter) << nice;
  }
}

// The nearest, or at nice 13, 14, 16 and 17 the one below.
TEST(Weight, InversesAre2To32OverTheWeight) {
  for (const std::int64_t nice : all_levels()) {
    const Weight weight = weight_of(nice);
    const auto down = static_cast<std::uint64_t>(weight.down().value);
    const std::uint64_t product = down * weight.inverse;
    const std::uint64_t whole = std::uint64_t{1} << 32;
    EXPECT_LT(product > whole ? product - whole : whole - product, down) << nice;
  }
}

TEST(CalcDeltaFair, IsTheIdentityAtNice0) {
  for (const std::int64_t delta : {0L, 1L, 999L, 1L << 62}) EXPECT_EQ(at(delta, 0), delta);
}

TEST(CalcDeltaFair, OneMillisecond) {
  constexpr std::int64_t delta = 1'000'000;
  EXPECT_EQ(at(delta, -20), 11'536);
  EXPECT_EQ(at(delta, -10), 107'247);
  EXPECT_EQ(at(delta, -5), 328'099);
  EXPECT_EQ(at(delta, -1), 801'879);
  EXPECT_EQ(at(delta, 1), 1'248'780);
  EXPECT_EQ(at(delta, 5), 3'056'716);
  EXPECT_EQ(at(delta, 10), 9'309'090);
  EXPECT_EQ(at(delta, 19), 68'266'666);
  EXPECT_EQ(at(delta, idle), 341'333'333);
}

TEST(CalcDeltaFair, ThreeMilliseconds) {
  constexpr std::int64_t delta = 3'000'000;
  EXPECT_EQ(at(delta, -20), 34'609);
  EXPECT_EQ(at(delta, 5), 9'170'149);
  // Exactly 204'800'000 and 1'024'000'000: the inverse is a little small.
  EXPECT_EQ(at(delta, 19), 204'799'999);
  EXPECT_EQ(at(delta, idle), 1'023'999'999);
}

TEST(CalcDeltaFair, HundredMilliseconds) {
  constexpr std::int64_t delta = 100'000'000;
  // Exactly 305'671'641.8: the inverse of 335 is a little large.
  EXPECT_EQ(at(delta, 5), 305'671'644);
  EXPECT_EQ(at(delta, 19), 6'826'666'665);
  EXPECT_EQ(at(delta, idle), 34'133'333'325);
}

TEST(CalcDeltaFair, TruncatesASingleNanosecond) {
  // 1024/1277 = 0.8 and 1024/820 = 1.2.
  EXPECT_EQ(at(1, -1), 0);
  EXPECT_EQ(at(1, 1), 1);
}

// Truncation takes less than 1 away; the inverse is right to 10^-8.
TEST(CalcDeltaFair, IsTheQuotientToWithin1AndOneIn100Million) {
  for (const std::int64_t nice : all_levels()) {
    const auto down = static_cast<std::uint64_t>(weight_of(nice).down().value);
    for (std::uint64_t delta = 1; delta < std::uint64_t{1} << 52; delta = delta * 3 / 2 + 1) {
      const Wide result = at(static_cast<std::int64_t>(delta), nice).bits();
      const Wide exact_times_down = Wide{delta} * 1024;
      const Wide error_times_down = result * down > exact_times_down
                                        ? result * down - exact_times_down
                                        : exact_times_down - result * down;
      EXPECT_TRUE(error_times_down <= down + exact_times_down / 100'000'000)
          << "nice " << nice << " delta " << delta;
    }
  }
}

// Where the inverse is not too large, nothing is ever charged that was not served.
TEST(CalcDeltaFair, IsNeverAboveTheQuotientIfTheInverseIsNot) {
  for (const std::int64_t nice : all_levels()) {
    const Weight weight = weight_of(nice);
    const auto down = static_cast<std::uint64_t>(weight.down().value);
    if (down * weight.inverse > std::uint64_t{1} << 32) continue;
    for (std::uint64_t delta = 1; delta < std::uint64_t{1} << 52; delta = delta * 3 / 2 + 1) {
      const Wide result = at(static_cast<std::int64_t>(delta), nice).bits();
      EXPECT_TRUE(result * down <= Wide{delta} * 1024) << "nice " << nice << " delta " << delta;
    }
  }
}

TEST(CalcDeltaFair, IsMonotone) {
  for (const std::int64_t nice : all_levels()) {
    EXPECT_EQ(at(0, nice), 0);
    for (std::int64_t delta = 1; delta < std::int64_t{1} << 52; delta = delta * 3 / 2 + 1) {
      EXPECT_LE(at(delta - 1, nice), at(delta, nice)) << "nice " << nice << " delta " << delta;
    }
  }
}

TEST(CalcDeltaFair, HeavierIsChargedLess) {
  for (int nice = nice_min; nice < nice_max; ++nice) {
    EXPECT_LT(at(1'000'000, nice), at(1'000'000, nice + 1)) << nice;
  }
  EXPECT_LT(at(1'000'000, nice_max), at(1'000'000, idle));
}

}  // namespace
}  // namespace vlag
