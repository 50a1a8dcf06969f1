// SPDX-License-Identifier: GPL-2.0-only
// The limits that solvers find, against what one can work out by hand.
#include <gtest/gtest.h>

#include "core/lag.h"
#include "core/slice.h"
#include "smt/bounds.h"

namespace vlag::smt {
namespace {

Bound bound_of(std::string_view name, std::string_view where, unsigned hz = 250) {
  Policy policy = eevdf_6_12();
  policy.tunables.hz = hz;
  static std::vector<Limit> limits;
  limits = limits_of(policy);
  for (const Limit& limit : limits) {
    if (limit.name == name && limit.where == where) return find_bound(limit, {}, 60);
  }
  ADD_FAILURE() << name << " " << where;
  return {};
}

TEST(Bounds, AProductBreaksAtTwoToThe63) {
  const Bound bound = bound_of("products", "1000 tasks of nice -20");
  ASSERT_TRUE(bound.found());
  EXPECT_EQ(bound.safe, INT64_MAX / (1000 * 88'761LL));
  EXPECT_NE(bound.fails.find("a product fits in 64 bits"), std::string::npos) << bound.fails;
  EXPECT_EQ(bound.beyond.z3, Status::sat);
  EXPECT_EQ(bound.beyond.cvc5, Status::sat);
}

TEST(Bounds, TheDivisorBreaksAtTwoToThe31) {
  const Bound bound = bound_of("divisor", "tasks of nice -20");
  ASSERT_TRUE(bound.found());
  EXPECT_EQ(bound.safe, INT32_MAX / 88'761);
}

TEST(Bounds, InflationBreaksByTheLagOfTheLight) {
  const Bound bound = bound_of("inflation", "one of nice 19 joins tasks of nice -20");
  ASSERT_TRUE(bound.found());
  const Word lag = lag_limit<Words>(slice_max, 4'000'000, nice_weight(19));
  EXPECT_EQ(bound.safe, (INT64_MAX / lag.value - 15) / 88'761);
}

// A rule that never breaks has no limit: that is no result.
TEST(Bounds, WhatNeverBreaksIsNotFound) {
  const Limit never{
      .name = "never",
      .where = "anyone",
      .what = "tasks",
      .rule = "none",
      .beyond = 1'000,
      .body = [](Scene& scene, std::int64_t number) { Number(number) + scene.number("a", 0, 1); },
      .sequence = nullptr};
  EXPECT_FALSE(find_bound(never, {}, 60).found());
}

TEST(Bounds, AnUndecidedSearchIsNotFound) {
  const Limit crash{.name = "crash",
                    .where = "anyone",
                    .what = "tasks",
                    .rule = "none",
                    .beyond = 1'000,
                    .body = [](Scene&, std::int64_t) { throw std::runtime_error("crash"); },
                    .sequence = nullptr};
  testing::internal::CaptureStderr();
  EXPECT_FALSE(find_bound(crash, {}, 60).found());
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace vlag::smt
