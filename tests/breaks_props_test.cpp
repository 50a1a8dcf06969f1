// SPDX-License-Identifier: GPL-2.0-only
// Deliberate breaks of the model, which a campaign must notice and shrink to 8 operations or fewer,
// the reset included. The fourth, a wrong HZ in the lag's limit, takes a kernel to notice: see
// lockstep_breaks_test.cpp, where all four meet one.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "props/search.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

constexpr std::size_t most_operations = 8;

// The finding of one property under a broken policy.
Finding caught(std::string_view assignment, std::string_view property_name, std::uint64_t seed) {
  const Property* property = find_property(property_name);
  const Policy broken = tests::with_rule(eevdf_6_12(), assignment);
  // All are asked, as a user would: the one that we wait for is among the findings.
  const CheckReport report = check(broken, unconditional_properties(),
                                   {.seed = seed, .operations = 50'000, .jobs = 1, .scope = {}},
                                   [](std::uint64_t, std::uint64_t) {});
  for (const Finding& finding : report.findings) {
    if (finding.rule != property_name) continue;
    EXPECT_NE(tests::violation(*property, finding.sequence, broken), "");
    EXPECT_EQ(tests::violation(*property, finding.sequence, eevdf_6_12()), "");
    return finding;
  }
  ADD_FAILURE() << assignment << " is not caught by " << property_name;
  return {};
}

class BreakProps : public testing::TestWithParam<std::uint64_t> {
 protected:
  void expect_caught(std::string_view assignment, std::string_view property) {
    const Finding finding = caught(assignment, property, GetParam());
    EXPECT_LE(finding.sequence.size(), most_operations) << spec::to_text(finding.sequence);
    RecordProperty("operations", static_cast<int>(finding.sequence.size()));
  }
};

INSTANTIATE_TEST_SUITE_P(Seeds, BreakProps, testing::Values(1, 2, 3));

// V of a queue whose sum is negative goes up instead of down.
TEST_P(BreakProps, truncating_instead_of_flooring_the_average) {
  expect_caught("average=truncate", "average_is_floored");
  expect_caught("average=truncate", "follows_the_reference");
}

// entity_before() with `<` for `<=`, or the other way about: the last of equals goes first.
TEST_P(BreakProps, less_for_less_or_equal_in_the_tie_rule) {
  expect_caught("tie=lifo", "ties_are_fifo");
}

// The weight of a queued task changes, and the sums of the queue stay.
TEST_P(BreakProps, skipping_a_sum_update_on_nice) {
  expect_caught("reweight_sums=stale", "sums_match");
  expect_caught("reweight_sums=stale", "counters_count");
}

}  // namespace
}  // namespace vlag::props
