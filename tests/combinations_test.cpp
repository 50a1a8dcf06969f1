// SPDX-License-Identifier: GPL-2.0-only
#include "props/combinations.h"

#include <gtest/gtest.h>

#include <set>

namespace vlag::props {
namespace {

const Features base = eevdf_6_12().features;

std::set<std::uint64_t> bits_of(const std::vector<Features>& combinations) {
  std::set<std::uint64_t> bits;
  for (const Features& features : combinations) bits.insert(features.bits());
  return bits;
}

std::uint64_t deciding_mask() {
  Features mask;
  for (const Feature feature : deciding_features()) mask.set(feature, true);
  return mask.bits();
}

// In how many of the 2^n ways these features meet.
std::size_t ways(const std::vector<Features>& combinations, std::initializer_list<Feature> which) {
  Features mask;
  for (const Feature feature : which) mask.set(feature, true);
  std::set<std::uint64_t> seen;
  for (const Features& features : combinations) seen.insert(features.bits() & mask.bits());
  return seen.size();
}

TEST(Combinations, AllAreTheThousandAndTwentyFour) {
  const auto all = all_combinations(base);
  EXPECT_EQ(all.size(), 1024U);
  EXPECT_EQ(bits_of(all).size(), 1024U);
  EXPECT_TRUE(bits_of(all).contains(base.bits()));
}

TEST(Combinations, OnlyTheDecidingFeaturesVary) {
  for (const auto& combinations : {all_combinations(base), covering_combinations(base, 2)}) {
    for (const Features& features : combinations) {
      EXPECT_EQ(features.bits() & ~deciding_mask(), base.bits() & ~deciding_mask());
    }
  }
}

TEST(Combinations, OneByOneTakesTwo) {
  const auto covering = covering_combinations(base, 1);
  EXPECT_EQ(covering.size(), 2U);
  for (const Feature feature : deciding_features()) EXPECT_EQ(ways(covering, {feature}), 2U);
}

TEST(Combinations, EveryPairMeetsInAllWays) {
  const auto covering = covering_combinations(base, 2);
  for (const Feature a : deciding_features()) {
    for (const Feature b : deciding_features()) {
      if (a >= b) continue;
      EXPECT_EQ(ways(covering, {a, b}), 4U);
    }
  }
  EXPECT_LT(covering.size(), 16U);
  EXPECT_EQ(bits_of(covering).size(), covering.size());
}

TEST(Combinations, EveryTripleMeetsInAllWays) {
  const auto covering = covering_combinations(base, 3);
  for (const Feature a : deciding_features()) {
    for (const Feature b : deciding_features()) {
      for (const Feature c : deciding_features()) {
        if (a >= b || b >= c) continue;
        EXPECT_EQ(ways(covering, {a, b, c}), 8U);
      }
    }
  }
  EXPECT_LT(covering.size(), 64U);
  EXPECT_EQ(bits_of(covering).size(), covering.size());
}

TEST(Combinations, AreTheSameForEveryone) {
  EXPECT_EQ(covering_combinations(base, 3), covering_combinations(base, 3));
}

}  // namespace
}  // namespace vlag::props
