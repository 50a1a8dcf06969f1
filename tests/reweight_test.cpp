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

TEST(ReweightedDeadline, ScalesWhatIsLeftOfTheRequest) {
  // 700000 * 1024 / 335 = 2139701.5
  EXPECT_EQ(reweighted_deadline<Words>(VTime(900'000), VTime(1'600'000), load(0), load(5)),
            VTime(900'000 + 2'139'701));
}

TEST(ReweightedAround, ScalesLagAndDeadlineRelativeToTheAverage) {
  const VTime average(1'000'000);
  const auto lighter =
      reweighted_around<Words>(average, VTime(1'600'000), 100'000, load(0), load(5));
  EXPECT_EQ(lighter.vruntime, VTime(694'329));    // 10^6 - 305671
  EXPECT_EQ(lighter.deadline, VTime(2'834'029));  // 10^6 + 1834029, from 1834029.9
}

TEST(ReweightedAround, LeavesAnEntityAtTheAverageThere) {
  const VTime average(1'000'000);
  const auto heavier = reweighted_around<Words>(average, VTime(1'024'000), 0, load(5), load(0));
  EXPECT_EQ(heavier.vruntime, average);
  EXPECT_EQ(heavier.deadline, VTime(1'007'851));  // 24000 * 335 / 1024 = 7851.6
}

TEST(ReweightedAround, ScalesADeadlineThatIsPast) {
  const auto one = reweighted_around<Words>(VTime(1000), VTime(900), -200, load(0), load(5));
  EXPECT_EQ(one.vruntime, VTime(1611));  // -200 * 1024 / 335 = -611.3
  EXPECT_EQ(one.deadline, VTime(695));   // -100 * 1024 / 335 = -305.7
}

}  // namespace
}  // namespace vlag
