// SPDX-License-Identifier: GPL-2.0-only
#include "core/reweight.h"

#include <gtest/gtest.h>

#include "core/weight.h"
#include "tests/support/print.h"

namespace vlag {
namespace {

Word load(int nice) { return static_cast<std::int64_t>(nice_weight(nice).load); }

TEST(ReweightedLag, KeepsWeightTimesLag) {
  // 10^5 * 1024 / 335 = 305671.6
  EXPECT_EQ(reweighted_lag<Words>(100'000, load(0), load(5)), 305'671);
  // 305671 * 335 / 1024 = 99999.8
  EXPECT_EQ(reweighted_lag<Words>(305'671, load(5), load(0)), 99'999);
}

TEST(ReweightedLag, TruncatesTowardZero) {
  EXPECT_EQ(reweighted_lag<Words>(-100'000, load(0), load(5)), -305'671);
}

TEST(ReweightedLag, IsTheLagIfTheWeightIsTheSame) {
  for (const std::int64_t vlag : {-4'000'000, -1, 0, 1, 4'000'000}) {
    EXPECT_EQ(reweighted_lag<Words>(vlag, load(3), load(3)), vlag);
  }
}

TEST(ReweightedLag, HoldsForTheLargestLagAndStep) {
  // The limit at nice 19 with a request of 100 ms is 13653333331; 15 / 88761 of it is 2307319.7.
  EXPECT_EQ(reweighted_lag<Words>(13'653'333'331, load(19), load(-20)), 2'307'319);
}

}  // namespace
}  // namespace vlag
