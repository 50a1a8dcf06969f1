// SPDX-License-Identifier: GPL-2.0-only
#include "core/average.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/print.h"

namespace vlag {
namespace {

using Members = std::vector<std::pair<std::uint64_t, std::int64_t>>;  // vruntime, weight

Sums<Words> sums_of(std::uint64_t zero_vruntime, const Members& members) {
  Sums<Words> sums{VTime(zero_vruntime), 0, 0};
  for (const auto& [vruntime, weight] : members) sums.add(VTime(vruntime), weight);
  return sums;
}

VTime average(const Sums<Words>& sums, AverageRounding rounding = AverageRounding::floor) {
  return sums.zero_vruntime + average_key(sums, rounding);
}

TEST(Sums, RemoveUndoesAdd) {
  Sums<Words> sums = sums_of(100, {{110, 2}});
  sums.add(VTime(97), 5);
  // 2 * 10 + 5 * -3 = 5
  EXPECT_EQ(sums.sum_w_vruntime, 5);
  EXPECT_EQ(sums.sum_weight, 7);
  sums.remove(VTime(97), 5);
  EXPECT_EQ(sums.sum_w_vruntime, 20);
  EXPECT_EQ(sums.sum_weight, 2);
}

TEST(Average, IsWeighted) {
  // (3 * 10 + 1 * 50) / 4 = 20
  EXPECT_EQ(average(sums_of(0, {{10, 3}, {50, 1}})), VTime(20));
}

TEST(Average, IsFlooredWhereverTheReferenceIs) {
  const Members two = {{1000, 1024}, {1001, 1024}};
  // 1000.5: with the reference at 1001 the sum is -1024, and floor(-1024 / 2048) = -1.
  for (const std::uint64_t zero : {0U, 1000U, 1001U, 5000U}) {
    EXPECT_EQ(average(sums_of(zero, two)), VTime(1000)) << zero;
  }
}

TEST(Average, AWholeNegativeQuotientStays) {
  // (-3 - 5) / 2 = -4
  EXPECT_EQ(average_key(sums_of(100, {{97, 1}, {95, 1}}), AverageRounding::floor), -4);
}

TEST(Average, TruncationRoundsUpBelowTheReference) {
  const Members two = {{1000, 1024}, {1001, 1024}};
  EXPECT_EQ(average(sums_of(1001, two), AverageRounding::truncate), VTime(1001));
  EXPECT_EQ(average(sums_of(1000, two), AverageRounding::truncate), VTime(1000));
  // So one who joins at V would not be eligible.
  EXPECT_FALSE(eligible(sums_of(1001, two), VTime(1001)));
}

TEST(Eligible, UpToTheAverageAndNotBeyond) {
  const Sums<Words> sums = sums_of(1001, {{1000, 1024}, {1001, 1024}});
  EXPECT_TRUE(eligible(sums, VTime(999)));
  EXPECT_TRUE(eligible(sums, VTime(1000)));
  EXPECT_FALSE(eligible(sums, VTime(1001)));
}

TEST(Eligible, ALagOfExactly0IsEnough) {
  const Sums<Words> sums = sums_of(0, {{10, 1}, {20, 1}});
  EXPECT_TRUE(eligible(sums, VTime(15)));
  EXPECT_FALSE(eligible(sums, VTime(16)));
}

TEST(Eligible, OneAloneAlwaysIs) { EXPECT_TRUE(eligible(sums_of(0, {{12345, 3}}), VTime(12345))); }

TEST(Eligible, IsNotAfterTheFlooredAverage) {
  // All pairs of vruntimes -3..3 around a reference of 100, with weights 1..3.
  for (int a = -3; a <= 3; ++a) {
    for (int b = -3; b <= 3; ++b) {
      for (int weight = 1; weight <= 3; ++weight) {
        const auto va = static_cast<std::uint64_t>(100 + a);
        const auto vb = static_cast<std::uint64_t>(100 + b);
        const Sums<Words> sums = sums_of(100, {{va, weight}, {vb, 1}});
        for (std::uint64_t v = 96; v <= 104; ++v) {
          EXPECT_EQ(eligible(sums, VTime(v)), VTime(v) - average(sums) <= Word(0))
              << a << " " << b << " weight " << weight << " at " << v;
        }
      }
    }
  }
}

TEST(Rebase, MovesNeitherTheAverageNorWhoIsEligible) {
  const Sums<Words> original = sums_of(1001, {{1000, 1024}, {1001, 1024}});
  for (const std::int64_t delta : {-1, 0, 1, -1000, 1000}) {
    Sums<Words> sums = original;
    sums.rebase(delta);
    EXPECT_EQ(sums.zero_vruntime, VTime(1001) + Word(delta));
    EXPECT_EQ(average(sums), VTime(1000)) << delta;
    EXPECT_TRUE(eligible(sums, VTime(1000))) << delta;
    EXPECT_FALSE(eligible(sums, VTime(1001))) << delta;
  }
}

TEST(Rebase, ToTheAverageLeavesLessThanOneWeight) {
  Sums<Words> sums = sums_of(0, {{1000, 1024}, {1001, 1024}});
  sums.rebase(average_key(sums, AverageRounding::floor));
  EXPECT_EQ(sums.zero_vruntime, VTime(1000));
  // 1024 * 0 + 1024 * 1, of a whole 2048
  EXPECT_EQ(sums.sum_w_vruntime, 1024);
}

// Two of equal weight at p - 1 and p + 4: the keys are -1 and 4, so V = p + floor(1.5) = p + 1.
void expect_nothing_special_at(std::uint64_t p) {
  const Sums<Words> sums = sums_of(p, {{p - 1, 1024}, {p + 4, 1024}});
  EXPECT_EQ(average(sums), VTime(p + 1));
  EXPECT_TRUE(eligible(sums, VTime(p - 1)));
  EXPECT_TRUE(eligible(sums, VTime(p + 1)));
  EXPECT_FALSE(eligible(sums, VTime(p + 2)));
  EXPECT_FALSE(eligible(sums, VTime(p + 4)));
}

TEST(Average, NothingHappensAt2To64) {
  for (std::uint64_t p = 0 - std::uint64_t{6}; p != 6; ++p) expect_nothing_special_at(p);
}

TEST(Average, NothingHappensAt2To63) {
  const std::uint64_t half = std::uint64_t{1} << 63;
  for (std::uint64_t p = half - 6; p != half + 6; ++p) expect_nothing_special_at(p);
}

}  // namespace
}  // namespace vlag
