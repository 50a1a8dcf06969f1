// SPDX-License-Identifier: GPL-2.0-only
#include "spec/result.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/check_failure.h"

namespace vlag::spec {
namespace {

TEST(Result, IsAValueOrAnError) {
  const Result<int> good = 7;
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(static_cast<bool>(good));
  EXPECT_EQ(*good, 7);

  const Result<int> bad = Error{"seven is expected", {}};
  EXPECT_FALSE(bad.ok());
  EXPECT_FALSE(static_cast<bool>(bad));
  EXPECT_EQ(bad.error().what, "seven is expected");
}

TEST(Result, AskingForWhatIsNotThereIsOurBug) {
  const Result<int> good = 7;
  const Result<int> bad = Error{"seven is expected", {}};
  EXPECT_THROW(good.error(), tests::CheckFailure);
  EXPECT_THROW(bad.value(), tests::CheckFailure);
}

TEST(Result, TheValueCanBeChangedAndMovedOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  **result = 8;
  const std::unique_ptr<int> taken = std::move(*result);
  EXPECT_EQ(*taken, 8);
}

TEST(ErrorMessage, NamesThePlaceAsFarAsItIsKnown) {
  EXPECT_EQ((Error{"no", {"a.vlag", 3, 14}}.message()), "a.vlag:3:14: no");
  EXPECT_EQ((Error{"no", {"a.vlag", 3, 0}}.message()), "a.vlag:3: no");
  EXPECT_EQ((Error{"no", {"a.vlag", 0, 0}}.message()), "a.vlag: no");
  EXPECT_EQ((Error{"no", {}}.message()), "no");
}

TEST(ErrorMessage, AColumnWithoutALineIsNoPlace) {
  EXPECT_EQ((Error{"no", {"a.vlag", 0, 14}}.message()), "a.vlag: no");
}

}  // namespace
}  // namespace vlag::spec
