// SPDX-License-Identifier: GPL-2.0-only
// The long sequences of tests/golden/ that show what 6.12.117 lets happen, by numbers.
#include <gtest/gtest.h>

#include "props/schedule.h"
#include "tests/support/golden.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

constexpr std::uint64_t ms = 1'000'000;

Schedule schedule_under(const std::string& name, const Policy& policy) {
  const auto source = spec::read_sequence(tests::golden_path(name + ".seq"));
  VLAG_CHECK(source.ok());
  ModelBackend model(policy);
  spec::Trace trace;
  EXPECT_TRUE(model.run(source->operations, trace).completed());
  return schedule_of(trace);
}

TEST(GoldenFindings, TwoCallsMakeFiveSixths) {
  const Schedule linux_rule = schedule_under("slice_forgives_debt", eevdf_6_12());
  EXPECT_EQ(linux_rule.tasks[0].service, 4'044 * ms);
  EXPECT_EQ(linux_rule.tasks[1].service, 804 * ms);
  const Policy kept = tests::with_rule(eevdf_6_12(), "change_lag=kept");
  const Schedule fair = schedule_under("slice_forgives_debt", kept);
  EXPECT_EQ(fair.tasks[0].service, 2'444 * ms);
  EXPECT_EQ(fair.tasks[1].service, 2'404 * ms);
}

TEST(GoldenFindings, WhoComesBackFromIdleKeepsTheCpu) {
  const Schedule schedule = schedule_under("idle_comes_back", eevdf_6_12());
  EXPECT_EQ(schedule.tasks[1].service, 0U);
  EXPECT_EQ(schedule.tasks[1].longest_wait, 16'800 * ms);
}

TEST(GoldenFindings, ARelayStarvesAHog) {
  const Schedule schedule = schedule_under("fork_relay", eevdf_6_12());
  EXPECT_EQ(schedule.tasks[0].service, 1 * ms);
  EXPECT_EQ(schedule.tasks[0].longest_wait, 1'200 * ms);
}

}  // namespace
}  // namespace vlag::props
