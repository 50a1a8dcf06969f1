// SPDX-License-Identifier: GPL-2.0-only
// Campaigns: the same report for any number of jobs, the first failure, and honest tallies.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include "props/search.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

const Meter silent = [](std::uint64_t, std::uint64_t) {};

Check start_always_false(const BackendInfo&) {
  return [](const Step&) { return std::string("as it always is"); };
}
Check start_always_true(const BackendInfo&) {
  return [](const Step&) { return std::string(); };
}
std::string nobody_is_delayed(const Step& step) {
  return step.after.queue->h_nr_delayed == 0 ? "" : "someone is delayed";
}

constexpr Property always_false{"always_false", "nothing is right", "none", start_always_false};
constexpr Property always_true{"always_true", "all is well", "none", start_always_true};
const Property no_delay{"nobody_is_delayed", "a sleep is at once", "none",
                        stateless<nobody_is_delayed>};

std::string text_of(const CheckReport& report) {
  std::string text = std::to_string(report.operations) + " operations\n";
  for (const PropertyTally& tally : report.tallies) {
    text += std::string(tally.property->name) + " " + std::to_string(tally.operations) +
            (tally.held ? " held\n" : " failed\n");
  }
  for (const Finding& finding : report.findings) {
    text += finding.rule + " (" + finding.divergence + "): " + finding.summary + "\n" +
            spec::to_text(finding.sequence);
  }
  return text;
}

Campaign campaign_of(std::uint64_t operations, unsigned jobs = 1, std::uint64_t seed = 1) {
  return {.seed = seed, .operations = operations, .jobs = jobs, .scope = {}};
}

TEST(CheckProps, jobs_do_not_change_the_report) {
  for (const char* rule : {"reweight_sums=stale", "tie=lifo", "average=floor"}) {
    const Policy policy = tests::with_rule(eevdf_6_12(), rule);
    const CheckReport one = check(policy, all_properties(), campaign_of(100'000, 1), silent);
    const CheckReport three = check(policy, all_properties(), campaign_of(100'000, 3), silent);
    EXPECT_EQ(text_of(one), text_of(three)) << rule;
    EXPECT_FALSE(one.findings.empty()) << rule;
  }
}

TEST(CheckProps, another_seed_gives_another_campaign) {
  const Policy policy = eevdf_6_12();
  const Property* const only[] = {&always_true};
  const CheckReport one = check(policy, only, campaign_of(1, 1, 1), silent);
  const CheckReport two = check(policy, only, campaign_of(1, 1, 2), silent);
  EXPECT_NE(one.operations, two.operations);
}

TEST(CheckProps, what_is_always_false_is_found_at_once) {
  const Property* const only[] = {&always_false};
  const CheckReport report = check(eevdf_6_12(), only, campaign_of(1'000'000), silent);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings.front().rule, "always_false");
  EXPECT_EQ(report.findings.front().summary, "as it always is");
  EXPECT_EQ(spec::to_text(report.findings.front().sequence), "reset\n");
  EXPECT_FALSE(report.tallies.front().held);
  // Nothing is left to ask, so the campaign ends.
  EXPECT_LT(report.operations, 100'000U);
}

TEST(CheckProps, a_failed_property_does_not_stop_the_others) {
  const Property* const asked[] = {&always_false, &always_true, &no_delay};
  const CheckReport report = check(eevdf_6_12(), asked, campaign_of(120'000), silent);
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].rule, "always_false");
  EXPECT_EQ(report.findings[1].rule, "nobody_is_delayed");
  EXPECT_EQ(report.findings[1].summary, "someone is delayed");
  ASSERT_EQ(report.tallies.size(), 3U);
  EXPECT_TRUE(report.tallies[1].held);
  EXPECT_GE(report.operations, 120'000U);
  // Only what is out of bounds is not judged.
  EXPECT_LE(report.tallies[1].operations, report.operations);
  EXPECT_GT(report.tallies[1].operations, report.operations * 9 / 10);
  EXPECT_LT(report.tallies[0].operations, report.tallies[1].operations);
}

// A task that is not eligible sleeps: the smallest way to a delayed entity.
TEST(CheckProps, a_finding_is_shrunk) {
  const Property* const only[] = {&no_delay};
  const CheckReport report = check(eevdf_6_12(), only, campaign_of(1), silent);
  ASSERT_EQ(report.findings.size(), 1U);
  const spec::Sequence& sequence = report.findings.front().sequence;
  EXPECT_LE(sequence.size(), 6U) << spec::to_text(sequence);
  EXPECT_EQ(sequence.back().code, VLAG_BLOCK);
}

TEST(CheckProps, the_meter_reaches_the_end) {
  std::uint64_t last = 0;
  const Property* const only[] = {&always_true};
  check(eevdf_6_12(), only, campaign_of(150'000), [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GE(done, last);
    EXPECT_EQ(total, 150'000U);
    last = done;
  });
  EXPECT_EQ(last, 150'000U);
}

TEST(CheckProps, the_preset_explains_what_it_does_as_linux) {
  const CheckReport report = check(eevdf_6_12(), all_properties(), campaign_of(400'000), silent);
  for (const Finding& finding : report.findings) {
    EXPECT_NE(finding.divergence, "") << finding.rule;
  }
  EXPECT_EQ(report.findings.size(), all_properties().size() - unconditional_properties().size());
}

TEST(Judge, RefusedOperationsAreNotSteps) {
  using namespace spec::op;
  const spec::Sequence sequence = {reset(), block(), fork(0), wake(3), schedule()};
  ModelBackend model(eevdf_6_12());
  spec::Trace trace;
  model.run(sequence, trace);
  const Property* const only[] = {&always_true};
  EXPECT_EQ(judge(sequence, trace, model.info(), only).steps, 3U);
}

TEST(Judge, TheFirstViolationOfEachProperty) {
  using namespace spec::op;
  // One ns at nice 0 puts task 0 behind V, so its sleep is delayed.
  const spec::Sequence sequence = {reset(), fork(0), fork(1), schedule(), tick(1), block()};
  ModelBackend model(eevdf_6_12());
  spec::Trace trace;
  model.run(sequence, trace);
  const Property* const asked[] = {&no_delay, &always_false};
  const Verdict verdict = judge(sequence, trace, model.info(), asked);
  ASSERT_EQ(verdict.violations.size(), 2U);
  EXPECT_EQ(verdict.violations[0].property, &always_false);
  EXPECT_EQ(verdict.violations[0].index, 0U);
  EXPECT_EQ(verdict.violations[1].property, &no_delay);
  EXPECT_EQ(verdict.violations[1].index, 5U);
}

TEST(InParallel, EachWorkerWorksOnce) {
  for (const unsigned jobs : {1U, 2U, 5U}) {
    std::atomic<unsigned> sum{0};
    in_parallel(jobs, [&](unsigned worker) { sum += worker + 1; });
    EXPECT_EQ(sum, jobs * (jobs + 1) / 2);
  }
}

TEST(InParallel, AnExceptionComesOut) {
  std::atomic<int> finished{0};
  EXPECT_THROW(in_parallel(3,
                           [&](unsigned worker) {
                             if (worker == 2) throw std::runtime_error("worker 2");
                             ++finished;
                           }),
               std::runtime_error);
  EXPECT_EQ(finished, 2);
}

}  // namespace
}  // namespace vlag::props
