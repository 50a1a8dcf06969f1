// SPDX-License-Identifier: GPL-2.0-only
#include "core/deadline.h"

#include <gtest/gtest.h>

#include "tests/support/print.h"

namespace vlag {
namespace {

TEST(RequestUsedUp, WhenVruntimeReachesTheDeadline) {
  EXPECT_FALSE(request_used_up<Words>(VTime(99), VTime(100)));
  EXPECT_TRUE(request_used_up<Words>(VTime(100), VTime(100)));
  EXPECT_TRUE(request_used_up<Words>(VTime(101), VTime(100)));
}

TEST(RequestUsedUp, IsTheSameAcrossTheWrap) {
  const VTime end(0 - std::uint64_t{1});
  EXPECT_FALSE(request_used_up<Words>(end, VTime(1)));
  EXPECT_TRUE(request_used_up<Words>(VTime(1), end));
}

TEST(DeadlineAfter, IsTheRequestOverTheWeight) {
  EXPECT_EQ(deadline_after<Words>(VTime(1000), 700'000, nice_weight(0)), VTime(701'000));
  // 3 ms at nice 5: 3 * 10^6 * 1024 / 335 = 9170149.3
  EXPECT_EQ(deadline_after<Words>(VTime(1000), 3'000'000, nice_weight(5)), VTime(9'171'149));
}

TEST(DeadlineAfter, WrapsAround) {
  const VTime end(0 - std::uint64_t{10});
  EXPECT_EQ(deadline_after<Words>(end, 30, nice_weight(0)), VTime(20));
}

TEST(DeadlineAfter, IsLaterForEveryWeightEvenWithTheShortestRequest) {
  for (int nice = nice_min; nice <= nice_max; ++nice) {
    const VTime from(1000);
    const VTime deadline = deadline_after<Words>(from, 100'000, nice_weight(nice));
    EXPECT_TRUE(before<Words>(from, deadline)) << nice;
  }
}

TEST(YieldedVruntime, IsTheDeadlineIfEligible) {
  EXPECT_EQ(yielded_vruntime<Words>(true, VTime(100), VTime(700'100)), VTime(700'100));
  EXPECT_EQ(yielded_vruntime<Words>(false, VTime(100), VTime(700'100)), VTime(100));
}

TEST(YieldedVruntime, UsesUpTheRequest) {
  const VTime vruntime = yielded_vruntime<Words>(true, VTime(100), VTime(700'100));
  EXPECT_TRUE(request_used_up<Words>(vruntime, VTime(700'100)));
  EXPECT_EQ(deadline_after<Words>(vruntime, 700'000, nice_weight(0)), VTime(1'400'100));
}

}  // namespace
}  // namespace vlag
