// SPDX-License-Identifier: GPL-2.0-only
#include "core/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace vlag {
namespace {

bool rejected(std::string_view text) { return !parse_feature(text).has_value(); }

void expect_toggle(std::string_view text, Feature feature, bool on) {
  const auto toggle = parse_feature(text);
  ASSERT_TRUE(toggle.has_value()) << text;
  EXPECT_EQ(toggle->feature, feature) << text;
  EXPECT_EQ(toggle->on, on) << text;
}

TEST(ParseFeature, StopsAtANulAndStripsTheNoBreakSpaceAsTheKernelDoes) {
  EXPECT_TRUE(parse_feature(std::string_view("PLACE_LAG\0x", 11)).has_value());
  EXPECT_TRUE(parse_feature("\xa0PLACE_LAG\xa0").has_value());
  EXPECT_FALSE(parse_feature("PLACE_LAG\x01").has_value());
}

TEST(ParseFeature, ANameTurnsOnAndNoTurnsOff) {
  expect_toggle("PLACE_LAG", Feature::PLACE_LAG, true);
  expect_toggle("NO_PLACE_LAG", Feature::PLACE_LAG, false);
}

TEST(ParseFeature, EveryFeatureBothWays) {
  for (std::size_t i = 0; i < feature_count; ++i) {
    const auto feature = static_cast<Feature>(i);
    const std::string name(feature_name(feature));
    expect_toggle(name, feature, true);
    expect_toggle("NO_" + name, feature, false);
    EXPECT_EQ(find_feature(name), feature);
  }
}

TEST(ParseFeature, OnlyOneNoIsTaken) { EXPECT_TRUE(rejected("NO_NO_PLACE_LAG")); }

TEST(ParseFeature, ANameThatStartsWithNoIsNotNegated) {
  expect_toggle("NONTASK_CAPACITY", Feature::NONTASK_CAPACITY, true);
  expect_toggle("NO_NONTASK_CAPACITY", Feature::NONTASK_CAPACITY, false);
}

TEST(ParseFeature, BlanksAreStrippedAtBothEnds) {
  expect_toggle("PLACE_LAG\n", Feature::PLACE_LAG, true);
  expect_toggle(" \t\r\n\v\fNO_PLACE_LAG \n\n", Feature::PLACE_LAG, false);
  EXPECT_TRUE(rejected("NO_ PLACE_LAG"));
  EXPECT_TRUE(rejected("PLACE LAG"));
}

TEST(ParseFeature, ANameIsExact) {
  EXPECT_TRUE(rejected("PLACE_LA"));
  EXPECT_TRUE(rejected("PLACE_LAGS"));
  EXPECT_TRUE(rejected("HRTICK_"));
  EXPECT_TRUE(rejected("HRTICK_D"));
  // One name is a prefix of the other.
  expect_toggle("HRTICK", Feature::HRTICK, true);
  expect_toggle("HRTICK_DL", Feature::HRTICK_DL, true);
}

TEST(ParseFeature, ByPrefixTakesTheFirstNameThatTheTextBeginsWith) {
  const auto parsed = [](std::string_view text) {
    return parse_feature(text, FeatureParse::prefix);
  };
  // HRTICK stands before HRTICK_DL in the table.
  ASSERT_TRUE(parsed("HRTICK_DL").has_value());
  EXPECT_EQ(parsed("HRTICK_DL")->feature, Feature::HRTICK);
  EXPECT_FALSE(parsed("NO_HRTICK_DL")->on);
  EXPECT_EQ(parsed("PLACE_LAGGARD")->feature, Feature::PLACE_LAG);
  EXPECT_FALSE(parsed(" PLACE_LAG").has_value());
  EXPECT_EQ(parse_feature("HRTICK_DL", FeatureParse::exact)->feature, Feature::HRTICK_DL);
}

TEST(WrittenFeatures, FollowTheRules) {
  const auto bit = [](Feature feature) {
    Features one;
    one.set(feature, true);
    return one.bits();
  };
  const std::uint64_t both = bit(Feature::HRTICK) | bit(Feature::HRTICK_DL);
  Rules rules;
  EXPECT_EQ(written_features({}, both, bit(Feature::HRTICK), rules).bits(), bit(Feature::HRTICK));
  // HRTICK on, and then off again by the name that was meant for the other.
  rules.feature_parse = FeatureParse::prefix;
  EXPECT_EQ(written_features({}, both, bit(Feature::HRTICK), rules).bits(), 0U);
  rules.feature_write = FeatureWrite::reported;
  EXPECT_EQ(written_features({}, both, both, rules).bits(), 0U);
}

TEST(ParseFeature, CaseMatters) {
  EXPECT_TRUE(rejected("place_lag"));
  EXPECT_TRUE(rejected("no_PLACE_LAG"));
}

TEST(ParseFeature, UnknownIsRejected) {
  EXPECT_TRUE(rejected(""));
  EXPECT_TRUE(rejected("\n"));
  EXPECT_TRUE(rejected("NO_"));
  EXPECT_TRUE(rejected("GENTLE_FAIR_SLEEPERS"));
  EXPECT_TRUE(rejected("PLACE_LAG NO_HRTICK"));
}

TEST(ParseFeature, TheWriteIsCutTo63Bytes) {
  // 54 + 9 = 63 bytes fit; one blank more, and PLACE_LA is left.
  expect_toggle(std::string(54, ' ') + "PLACE_LAG", Feature::PLACE_LAG, true);
  EXPECT_TRUE(rejected(std::string(55, ' ') + "PLACE_LAG"));
  // What follows the 63rd byte is not seen.
  expect_toggle("PLACE_LAG" + std::string(54, ' ') + "garbage", Feature::PLACE_LAG, true);
  EXPECT_TRUE(rejected("PLACE_LAG" + std::string(53, ' ') + "garbage"));
}

TEST(Features, NamesDiffer) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < feature_count; ++i) {
    names.insert(feature_name(static_cast<Feature>(i)));
  }
  EXPECT_EQ(names.size(), feature_count);
}

TEST(Features, SetAndAssignTouchOnlyTheirBits) {
  Features features;
  features.set(Feature::HRTICK, true);
  EXPECT_TRUE(features.has(Feature::HRTICK));
  EXPECT_FALSE(features.has(Feature::HRTICK_DL));
  features.set(Feature::HRTICK, false);
  EXPECT_EQ(features, Features());

  // Bits 0 and 1 are touched: 0b1110 -> 0b1101.
  Features assigned(0b1110);
  assigned.assign(0b0011, 0b1101);
  EXPECT_EQ(assigned.bits(), 0b1101U);
}

TEST(Features, TenDecide) {
  const auto deciding = deciding_features();
  EXPECT_EQ(deciding.size(), 10U);
  EXPECT_EQ(std::set<Feature>(deciding.begin(), deciding.end()).size(), 10U);
  EXPECT_EQ(std::count(deciding.begin(), deciding.end(), Feature::HRTICK), 0);
}

TEST(Presets, Eevdf612HasTheDefaultsOfDebians612) {
  const Policy policy = eevdf_6_12();
  for (const Feature on :
       {Feature::PLACE_LAG, Feature::PLACE_DEADLINE_INITIAL, Feature::PLACE_REL_DEADLINE,
        Feature::RUN_TO_PARITY, Feature::PREEMPT_SHORT, Feature::PICK_BUDDY,
        Feature::CACHE_HOT_BUDDY, Feature::DELAY_DEQUEUE, Feature::DELAY_ZERO,
        Feature::WAKEUP_PREEMPTION, Feature::SIS_UTIL}) {
    EXPECT_TRUE(policy.features.has(on)) << feature_name(on);
  }
  for (const Feature off :
       {Feature::NEXT_BUDDY, Feature::HRTICK, Feature::HRTICK_DL, Feature::DOUBLE_TICK}) {
    EXPECT_FALSE(policy.features.has(off)) << feature_name(off);
  }
  EXPECT_EQ(policy.rules, Rules());
  EXPECT_EQ(policy.tunables.base_slice, 700'000U);
}

TEST(Presets, AreFoundByName) {
  ASSERT_TRUE(find_preset("eevdf-6.12").has_value());
  EXPECT_EQ(find_preset("eevdf-6.12")->features, eevdf_6_12().features);
  EXPECT_FALSE(find_preset("eevdf-6.1").has_value());
  EXPECT_FALSE(find_preset("").has_value());
  for (const Policy& preset : presets()) EXPECT_TRUE(find_preset(preset.name).has_value());
}

TEST(Tunables, ATickIsASecondOverHzToTheNearest) {
  const auto tick_nsec = [](std::uint32_t hz) {
    return Tunables{.hz = hz, .base_slice = 0}.tick_nsec();
  };
  EXPECT_EQ(tick_nsec(100), 10'000'000U);
  EXPECT_EQ(tick_nsec(250), 4'000'000U);
  EXPECT_EQ(tick_nsec(300), 3'333'333U);
  EXPECT_EQ(tick_nsec(1000), 1'000'000U);
}

}  // namespace
}  // namespace vlag
