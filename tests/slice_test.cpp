// SPDX-License-Identifier: GPL-2.0-only
#include "core/slice.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/print.h"

namespace vlag {
namespace {

TEST(ClampSlice, KeepsRequestsFrom100UsTo100Ms) {
  EXPECT_EQ(clamp_slice<Words>(100'000), 100'000);
  EXPECT_EQ(clamp_slice<Words>(3'000'000), 3'000'000);
  EXPECT_EQ(clamp_slice<Words>(100'000'000), 100'000'000);
}

TEST(ClampSlice, TakesTheNearestOtherwise) {
  EXPECT_EQ(clamp_slice<Words>(1), 100'000);
  EXPECT_EQ(clamp_slice<Words>(99'999), 100'000);
  EXPECT_EQ(clamp_slice<Words>(100'000'001), 100'000'000);
  EXPECT_EQ(clamp_slice<Words>(std::numeric_limits<std::int64_t>::max()), 100'000'000);
}

}  // namespace
}  // namespace vlag
