// SPDX-License-Identifier: GPL-2.0-only
#include "core/machine.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/print.h"

namespace vlag {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t half = std::uint64_t{1} << 63;

bool comes_before(std::uint64_t a, std::uint64_t b) { return before<Words>(VTime(a), VTime(b)); }

TEST(Word, WrapsAroundAsTheKernelsWordsDo) {
  EXPECT_EQ(Word(highest) + Word(1), lowest);
  EXPECT_EQ(Word(lowest) - Word(1), highest);
  EXPECT_EQ(-Word(lowest), lowest);
  // 2^32 * 2^32 = 2^64 = 0
  EXPECT_EQ(Word(std::int64_t{1} << 32) * Word(std::int64_t{1} << 32), 0);
  EXPECT_EQ(Word(-3) * Word(5), -15);
}

TEST(Word, ComparesWithItsSign) {
  EXPECT_LT(Word(-1), Word(0));
  EXPECT_LT(Word(lowest), Word(highest));
}

TEST(VTime, DifferencesAreSignedAcrossTheWrap) {
  EXPECT_EQ(VTime(3) - VTime(0 - std::uint64_t{2}), 5);
  EXPECT_EQ(VTime(0 - std::uint64_t{2}) - VTime(3), -5);
  EXPECT_EQ(VTime(3) - Word(5), VTime(0 - std::uint64_t{2}));
  EXPECT_EQ(VTime(0 - std::uint64_t{2}) + Word(5), VTime(3));
}

TEST(Before, HoldsAcrossTheWrap) {
  EXPECT_TRUE(comes_before(0 - std::uint64_t{1}, 0));
  EXPECT_FALSE(comes_before(0, 0 - std::uint64_t{1}));
  EXPECT_FALSE(comes_before(7, 7));
}

TEST(Before, TurnsAroundHalfwayAcrossTheCircle) {
  EXPECT_TRUE(comes_before(0, half - 1));
  EXPECT_FALSE(comes_before(half - 1, 0));
  // At exactly half each is before the other: wrapping order is no order.
  EXPECT_TRUE(comes_before(0, half));
  EXPECT_TRUE(comes_before(half, 0));
}

TEST(DivS64, TruncatesTowardZero) {
  EXPECT_EQ(div_s64(7, 2), 3);
  EXPECT_EQ(div_s64(-7, 2), -3);
  EXPECT_EQ(div_s64(7, -2), -3);
  EXPECT_EQ(div_s64(-7, -2), 3);
}

TEST(DivS64, TakesTheDividendWhole) { EXPECT_EQ(div_s64(lowest, 2), lowest / 2); }

TEST(DivS64, CutsTheDivisorTo32Bits) {
  EXPECT_EQ(div_s64(100, (std::int64_t{1} << 32) + 5), 20);
  // 2^31 reads as -2^31.
  EXPECT_EQ(div_s64(std::int64_t{1} << 40, std::int64_t{1} << 31), -512);
}

TEST(DivS64, DoesNotTrap) {
  EXPECT_EQ(div_s64(100, 0), 0);
  EXPECT_EQ(div_s64(100, std::int64_t{1} << 32), 0);
  EXPECT_EQ(div_s64(lowest, -1), lowest);
}

TEST(DivU64, HasNoSign) {
  EXPECT_EQ(div_u64(7, 2), 3);
  // (2^64 - 2) / 2, and a divisor of more than 32 bits.
  EXPECT_EQ(div_u64(-2, 2), highest);
  EXPECT_EQ(div_u64(std::int64_t{1} << 40, (std::int64_t{1} << 32) + 1), 255);
  EXPECT_EQ(div_u64(100, 0), 0);
}

TEST(Scale, HasA128BitProduct) {
  // 2^40 * 2^31 >> 32 = 2^39, though 2^71 does not fit in 64 bits.
  EXPECT_EQ(scale(std::int64_t{1} << 40, std::uint32_t{1} << 31, 32), std::int64_t{1} << 39);
  EXPECT_EQ(scale(7, 1, 1), 3);
}

TEST(Clamp, KeepsWhatIsBetweenTheBounds) {
  EXPECT_EQ(clamp<Word>(5, -10, 10), 5);
  EXPECT_EQ(clamp<Word>(10, -10, 10), 10);
  EXPECT_EQ(clamp<Word>(11, -10, 10), 10);
  EXPECT_EQ(clamp<Word>(-11, -10, 10), -10);
  EXPECT_EQ(clamp<Word>(lowest, -10, 10), -10);
}

TEST(LeastAndGreatest, AreOneOfTheTwo) {
  EXPECT_EQ(least<Word>(-1, 1), -1);
  EXPECT_EQ(least<Word>(1, -1), -1);
  EXPECT_EQ(greatest<Word>(-1, 1), 1);
  EXPECT_EQ(greatest<Word>(1, -1), 1);
}

TEST(Stash, KeepsEveryBitOfAPoint) {
  EXPECT_EQ(stash(VTime(0 - std::uint64_t{1})), -1);
  EXPECT_EQ(stash(VTime(half)), lowest);
}

}  // namespace
}  // namespace vlag
