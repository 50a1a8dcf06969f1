// SPDX-License-Identifier: GPL-2.0-only
#include "core/preempt.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/print.h"

namespace vlag {
namespace {

constexpr VTime earlier(100);
constexpr VTime later(200);

TEST(SliceProtection, LastsWhileTheDeadlineIsTheOneItWasPickedWith) {
  const Word vlag = stash(earlier);
  EXPECT_TRUE(slice_protected<Words>(vlag, earlier));
  EXPECT_FALSE(slice_protected<Words>(vlag, later));
}

TEST(SliceProtection, IsLostWhenCancelled) {
  EXPECT_EQ(cancelled_protection<Words>(earlier), 101);
  EXPECT_FALSE(slice_protected<Words>(cancelled_protection<Words>(earlier), earlier));
}

TEST(SliceProtection, CanBeCancelledAtTheWrap) {
  const VTime last(std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(slice_protected<Words>(-1, last));
  EXPECT_EQ(cancelled_protection<Words>(last), 0);
}

TEST(PreemptShort, TakesAShorterRequestWithAnEarlierDeadline) {
  EXPECT_TRUE(preempts_short<Words>(1, 2, true, true, earlier, later));
}

TEST(PreemptShort, TakesAnyShorterRequestFromOneThatIsNotEligible) {
  EXPECT_TRUE(preempts_short<Words>(1, 2, true, false, later, earlier));
}

TEST(PreemptShort, NeedsAShorterRequest) {
  EXPECT_FALSE(preempts_short<Words>(2, 2, true, true, earlier, later));
  EXPECT_FALSE(preempts_short<Words>(3, 2, true, false, earlier, later));
}

TEST(PreemptShort, NeedsTheWokenToBeEligible) {
  EXPECT_FALSE(preempts_short<Words>(1, 2, false, false, earlier, later));
}

TEST(PreemptShort, NeedsAnEarlierDeadlineIfBothAreEligible) {
  EXPECT_FALSE(preempts_short<Words>(1, 2, true, true, later, earlier));
  EXPECT_FALSE(preempts_short<Words>(1, 2, true, true, earlier, earlier));
}

}  // namespace
}  // namespace vlag
