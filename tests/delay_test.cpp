// SPDX-License-Identifier: GPL-2.0-only
#include "core/delay.h"

#include <gtest/gtest.h>

#include "tests/support/print.h"

namespace vlag {
namespace {

TEST(DelayedLag, KeepsADebtAndForgetsACredit) {
  EXPECT_EQ(delayed_lag<Words>(-50'000), -50'000);
  EXPECT_EQ(delayed_lag<Words>(0), 0);
  EXPECT_EQ(delayed_lag<Words>(50'000), 0);
}

TEST(RequeuePlaces, OnlyOneWithACredit) {
  EXPECT_FALSE(requeue_places<Words>(-50'000));
  EXPECT_FALSE(requeue_places<Words>(0));
  EXPECT_TRUE(requeue_places<Words>(1));
}

TEST(RemainingDebt, ShrinksAndNeverGrows) {
  EXPECT_EQ(remaining_debt<Words>(-30, -50), -30);
  EXPECT_EQ(remaining_debt<Words>(-70, -50), -50);
  EXPECT_EQ(remaining_debt<Words>(20, -50), 0);
}

}  // namespace
}  // namespace vlag
