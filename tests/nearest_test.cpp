// SPDX-License-Identifier: GPL-2.0-only
#include "spec/nearest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/support/check_failure.h"

namespace vlag::spec {
namespace {

constexpr std::array<std::string_view, 4> words = {"tick", "nice", "slice", "schedule"};

TEST(Nearest, FindsTheWordItself) {
  for (const std::string_view word : words) EXPECT_EQ(nearest(word, words), word);
}

TEST(Nearest, ForgivesALetterMoreOrLessOrOther) {
  EXPECT_EQ(nearest("tic", words), "tick");
  EXPECT_EQ(nearest("ticks", words), "tick");
  EXPECT_EQ(nearest("rick", words), "tick");
  EXPECT_EQ(nearest("schedlue", words), "schedule");
}

TEST(Nearest, IgnoresCase) { EXPECT_EQ(nearest("SLICE", words), "slice"); }

TEST(Nearest, TakesTheFirstAmongEquals) {
  constexpr std::array<std::string_view, 2> close = {"at", "it"};
  EXPECT_EQ(nearest("ot", close), "at");
}

TEST(Nearest, AnEmptyWordIsNearestToTheShortest) { EXPECT_EQ(nearest("", words), "tick"); }

TEST(Nearest, TakesAWordOfAnyLength) {
  EXPECT_EQ(nearest("schedule" + std::string(1'000'000, 'x'), words), "schedule");
}

TEST(Nearest, NeedsSomethingToChooseFrom) {
  EXPECT_THROW(nearest("tick", {}), tests::CheckFailure);
}

}  // namespace
}  // namespace vlag::spec
