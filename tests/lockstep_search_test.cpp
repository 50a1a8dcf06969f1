// SPDX-License-Identifier: GPL-2.0-only
// Lockstep: against machines that misbehave in known ways, and against real kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "props/combinations.h"
#include "props/kernel_backend.h"
#include "props/kernel_build.h"
#include "props/lockstep.h"
#include "props/relation.h"
#include "spec/divergences.h"
#include "tests/support/fake_backend.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

using spec::Operation;
using spec::Sequence;
using testing::HasSubstr;
using tests::FakeBackend;
using tests::Script;
using Kind = Outcome::Kind;
using SoFar = std::span<const Operation>;

const Meter silent = [](std::uint64_t, std::uint64_t) {};

BackendMaker maker(const Policy& policy, Script script) {
  return [policy, script]() -> spec::Result<std::unique_ptr<Backend>> {
    return std::unique_ptr<Backend>(std::make_unique<FakeBackend>(policy, script));
  };
}

LockstepPlan plan_of(std::uint64_t operations = 20'000) {
  LockstepPlan plan;
  plan.combinations = covering_combinations(eevdf_6_12().features, 1);
  plan.operations_per_combination = operations;
  plan.asked = unconditional_properties();
  return plan;
}

LockstepReport against(const Script& script, const LockstepPlan& plan = plan_of()) {
  return lockstep(eevdf_6_12(), maker(eevdf_6_12(), script), plan, silent);
}

int count(SoFar operations, vlag_code code) {
  return static_cast<int>(
      std::count_if(operations.begin(), operations.end(),
                    [&](const Operation& operation) { return operation.code == code; }));
}

// --- A machine that agrees.

TEST(LockstepFake, AgreementIsAPass) {
  std::uint64_t last = 0;
  const LockstepPlan plan = plan_of();
  const LockstepReport report =
      lockstep(eevdf_6_12(), maker(eevdf_6_12(), {}), plan,
               [&](std::uint64_t done, std::uint64_t total) { last = done == total ? 1 : 0; });
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.inconclusive, "");
  EXPECT_EQ(report.combinations, plan.combinations.size());
  EXPECT_GE(report.operations, 2 * plan.operations_per_combination);
  ASSERT_EQ(report.tallies.size(), plan.asked.size());
  for (const PropertyTally& tally : report.tallies) {
    EXPECT_TRUE(tally.held);
    EXPECT_GT(tally.operations, report.operations * 9 / 10);
    EXPECT_LE(tally.operations, report.operations);
  }
  EXPECT_EQ(last, 1U);
}

// What fails on both is judged once, and found.
TEST(LockstepFake, APropertyThatFailsOnBothIsAFinding) {
  const Policy policy = tests::with_rule(eevdf_6_12(), "tie=lifo");
  const LockstepReport report = lockstep(policy, maker(policy, {}), plan_of(), silent);
  ASSERT_FALSE(report.findings.empty());
  const auto at = std::find_if(report.findings.begin(), report.findings.end(),
                               [](const Finding& f) { return f.rule == "ties_are_fifo"; });
  ASSERT_NE(at, report.findings.end());
  EXPECT_EQ(at->divergence, "");
  EXPECT_THAT(at->summary, HasSubstr("came later"));
  EXPECT_LE(at->sequence.size(), 5U);
  for (const PropertyTally& tally : report.tallies) {
    const bool found = std::any_of(report.findings.begin(), report.findings.end(),
                                   [&](const auto& f) { return f.rule == tally.property->name; });
    EXPECT_EQ(tally.held, !found) << tally.property->name;
  }
  EXPECT_EQ(report.inconclusive, "");
}

// More fail than are shrunk and reported: none of them held.
TEST(LockstepFake, WhatFailedDidNotHoldThoughItIsNotReported) {
  const Policy policy = tests::with_rule(eevdf_6_12(), "reweight_sums=stale");
  LockstepPlan plan = plan_of();
  plan.most_findings = 1;
  const LockstepReport report = lockstep(policy, maker(policy, {}), plan, silent);
  EXPECT_EQ(report.findings.size(), 1U);
  for (const PropertyTally& tally : report.tallies) {
    const auto& name = tally.property->name;
    if (name == "sums_match" || name == "counters_count") {
      EXPECT_FALSE(tally.held) << name;
    }
  }
}

TEST(LockstepFake, AKnownDivergenceIsExplained) {
  LockstepPlan plan = plan_of();
  plan.asked = {find_property("subtree_slices_match")};
  const LockstepReport report = against({}, plan);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings.front().divergence, "min-slice-handover");
}

// --- A machine that shows something else.

const Script off_by_one_after_yield = {
    .alter =
        [](SoFar so_far, const spec::Trace::Slot& slot) {
          if (so_far.back().code == VLAG_YIELD && slot.head->entities > 0) ++slot.entities[0].vlag;
        },
    .end = {},
};

TEST(LockstepFake, ADifferenceIsFoundAndShrunk) {
  const LockstepReport report = against(off_by_one_after_yield);
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& finding = report.findings.front();
  EXPECT_EQ(finding.rule, "divergence");
  EXPECT_EQ(spec::to_text(finding.sequence), "reset\nfork 0\nschedule\nyield\n");
  EXPECT_THAT(finding.summary, HasSubstr("after operation 3 (yield): entity.vlag of task 0 is"));
  EXPECT_EQ(report.inconclusive, "");
}

TEST(LockstepFake, ADifferenceInAnyRecordCounts) {
  const Script head = {.alter =
                           [](SoFar so_far, const spec::Trace::Slot& slot) {
                             if (so_far.back().code == VLAG_TICK) slot.head->need_resched ^= 1U;
                           },
                       .end = {}};
  const LockstepReport first = against(head);
  ASSERT_EQ(first.findings.size(), 1U);
  EXPECT_THAT(first.findings.front().summary, HasSubstr("need_resched"));
  EXPECT_EQ(spec::to_text(first.findings.front().sequence), "reset\ntick 0\n");

  const Script queue = {.alter =
                            [](SoFar so_far, const spec::Trace::Slot& slot) {
                              if (so_far.back().code == VLAG_BLOCK) ++slot.queue->zero_vruntime;
                            },
                        .end = {}};
  const LockstepReport second = against(queue);
  ASSERT_EQ(second.findings.size(), 1U);
  EXPECT_THAT(second.findings.front().summary, HasSubstr("queue.zero_vruntime"));
  EXPECT_EQ(spec::to_text(second.findings.front().sequence), "reset\nfork 0\nschedule\nblock\n");
}

TEST(LockstepFake, JobsDoNotChangeTheFinding) {
  LockstepPlan plan = plan_of();
  plan.jobs = 3;
  const LockstepReport one = against(off_by_one_after_yield);
  const LockstepReport three = against(off_by_one_after_yield, plan);
  ASSERT_EQ(three.findings.size(), one.findings.size());
  EXPECT_EQ(three.findings.front().summary, one.findings.front().summary);
  EXPECT_EQ(spec::to_text(three.findings.front().sequence),
            spec::to_text(one.findings.front().sequence));
}

// --- A machine that does not survive.

TEST(LockstepFake, AFaultIsAFindingWithItsText) {
  const Script script = {
      .alter = {},
      .end =
          [](SoFar so_far) {
            const bool twice = count(so_far, VLAG_BLOCK) >= 2 && so_far.back().code == VLAG_WAKE;
            return twice ? Outcome{Kind::faulted, "WARNING: CPU: 0 PID: 1 at kernel/sched/fair.c"}
                         : Outcome{};
          },
  };
  const LockstepReport report = against(script);
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& finding = report.findings.front();
  EXPECT_EQ(finding.rule, "kernel-fault");
  EXPECT_THAT(finding.summary, HasSubstr("WARNING: CPU: 0 PID: 1 at kernel/sched/fair.c"));
  // Two blocks, each of a task that was picked, and a wake. Each try costs a boot, so there are
  // fewer of them than for anything else.
  EXPECT_LE(finding.sequence.size(), 9U) << spec::to_text(finding.sequence);
  EXPECT_EQ(count(finding.sequence, VLAG_BLOCK), 2);
  EXPECT_EQ(finding.sequence.back().code, VLAG_WAKE);
  EXPECT_EQ(report.inconclusive, "");
}

TEST(LockstepFake, AHangIsAFinding) {
  const Script script = {
      .alter = {},
      .end =
          [](SoFar so_far) {
            return so_far.back().code == VLAG_YIELD ? Outcome{Kind::hung, "no answer within 20 s"}
                                                    : Outcome{};
          },
  };
  const LockstepReport report = against(script);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings.front().rule, "kernel-fault");
  EXPECT_THAT(report.findings.front().summary, HasSubstr("no answer within 20 s"));
  EXPECT_EQ(spec::to_text(report.findings.front().sequence), "reset\nfork 0\nschedule\nyield\n");
}

// --- A machine that is lost.

TEST(LockstepFake, ALossIsNeverAPass) {
  const Script script = {
      .alter = {},
      .end =
          [](SoFar so_far) {
            return so_far.back().code == VLAG_EXIT ? Outcome{Kind::lost, "killed by signal 9"}
                                                   : Outcome{};
          },
  };
  const LockstepReport report = against(script);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_THAT(report.inconclusive, HasSubstr("killed by signal 9"));
  EXPECT_EQ(report.combinations, 0U) << "none was run in full";
}

// Killed once by someone else: the batch was not compared, so it is not a pass either.
TEST(LockstepFake, ALossThatDoesNotComeAgainIsInconclusive) {
  const auto lost = std::make_shared<bool>(false);
  const Script script = {
      .alter = {},
      .end =
          [lost](SoFar so_far) {
            if (*lost || so_far.back().code != VLAG_EXIT) return Outcome{};
            *lost = true;
            return Outcome{Kind::lost, "killed by signal 9"};
          },
  };
  const LockstepReport report = against(script);
  EXPECT_TRUE(*lost);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_THAT(report.inconclusive, HasSubstr("killed by signal 9"));
}

TEST(LockstepFake, WhatCannotStartIsInconclusive) {
  const LockstepReport report = lockstep(
      eevdf_6_12(),
      []() -> spec::Result<std::unique_ptr<Backend>> {
        return spec::Error{"the kernel could not be built", {}};
      },
      plan_of(), silent);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.inconclusive, "the kernel could not be built");
  EXPECT_EQ(report.operations, 0U);
}

// A difference, and then the machine is gone for good: it is reported though it cannot be shrunk.
TEST(LockstepFake, FindingsMadeBeforeALossAreKept) {
  const auto resets = std::make_shared<int>(0);
  const Script script = {
      .alter =
          [](SoFar so_far, const spec::Trace::Slot& slot) {
            if (so_far.back().code == VLAG_YIELD) ++slot.queue->load;
          },
      .end =
          [resets](SoFar so_far) {
            if (so_far.back().code == VLAG_RESET) ++*resets;
            return *resets > 200 ? Outcome{Kind::lost, "killed by signal 9"} : Outcome{};
          },
  };
  LockstepPlan plan = plan_of(50'000);
  plan.asked.clear();
  const LockstepReport report = against(script, plan);
  EXPECT_THAT(report.inconclusive, HasSubstr("killed by signal 9"));
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& finding = report.findings.front();
  EXPECT_EQ(finding.rule, "divergence");
  EXPECT_FALSE(finding.sequence.empty());
  EXPECT_NE(finding.summary, "");
  EXPECT_GE(count(finding.sequence, VLAG_YIELD), 1);
}

// --- Comparing two streams.

TEST(Compare, SaysWhichEndedAndWhere) {
  const Sequence sequence = {spec::op::reset(), spec::op::fork(0), spec::op::schedule()};
  ModelBackend model(eevdf_6_12());
  spec::Trace left;
  model.run(sequence, left);
  spec::Trace shorter;
  model.run(std::span(sequence).first(2), shorter);
  const Outcome completed;

  EXPECT_EQ(compare(sequence, left, completed, left, completed).kind, Comparison::Kind::equal);
  EXPECT_EQ(describe(compare(sequence, left, completed, left, completed), sequence),
            "3 operations agree");
  const Outcome faulted{Kind::faulted, "BUG: here"};
  const Comparison fault = compare(sequence, left, completed, shorter, faulted);
  EXPECT_EQ(fault.kind, Comparison::Kind::faulted);
  EXPECT_EQ(fault.index, 2U);
  EXPECT_EQ(describe(fault, sequence), "BUG: here");
  const Outcome lost{Kind::lost, "gone"};
  EXPECT_EQ(compare(sequence, left, completed, shorter, lost).kind, Comparison::Kind::lost);
  // An end that nobody explains is a loss.
  EXPECT_EQ(compare(sequence, left, completed, shorter, completed).kind, Comparison::Kind::lost);
}

// --- Real kernels.

struct RealKernel {
  unsigned hz;
};

class LockstepKernel : public testing::TestWithParam<RealKernel> {
 protected:
  void SetUp() override {
    const auto kernel = ensure_kernel({.hz = GetParam().hz});
    ASSERT_TRUE(kernel) << kernel.error().message();
    kernel_ = *kernel;
    policy_.tunables.hz = GetParam().hz;
  }

  std::unique_ptr<Backend> start() const { return std::move(*make()()); }

  BackendMaker make() const {
    return [kernel = kernel_]() -> spec::Result<std::unique_ptr<Backend>> {
      auto started = KernelBackend::start(kernel);
      if (!started) return started.error();
      return std::unique_ptr<Backend>(std::move(*started));
    };
  }

  // Both streams; they must be the same.
  spec::Trace run_on_both(const Sequence& sequence) {
    ModelBackend model(policy_);
    spec::Trace of_model;
    spec::Trace of_kernel;
    const Outcome left = model.run(sequence, of_model);
    const auto kernel = start();
    info_ = kernel->info();
    const Outcome right = kernel->run(sequence, of_kernel);
    const Comparison comparison = compare(sequence, of_model, left, of_kernel, right);
    EXPECT_EQ(comparison.kind, Comparison::Kind::equal) << describe(comparison, sequence);
    return of_kernel;
  }

  Kernel kernel_;
  Policy policy_ = eevdf_6_12();
  BackendInfo info_;
};

INSTANTIATE_TEST_SUITE_P(Kernels, LockstepKernel,
                         testing::Values(RealKernel{250}, RealKernel{1000}),
                         [](const auto& test) { return "hz_" + std::to_string(test.param.hz); });

TEST_P(LockstepKernel, AgreesAndKeepsTheProperties) {
  LockstepPlan plan = plan_of(1'000);
  plan.combinations = covering_combinations(policy_.features, 2);
  plan.jobs = 2;
  const LockstepReport report = lockstep(policy_, make(), plan, silent);
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << finding.rule << ": " << finding.summary << "\n"
                  << spec::to_text(finding.sequence);
  }
  EXPECT_EQ(report.inconclusive, "");
  EXPECT_EQ(report.combinations, plan.combinations.size());
  EXPECT_GE(report.operations, 1'000 * plan.combinations.size());
  for (const PropertyTally& tally : report.tallies) {
    EXPECT_TRUE(tally.held) << tally.property->name;
    EXPECT_GT(tally.operations, 0U);
  }
}

TEST_P(LockstepKernel, EachDivergenceShows) {
  for (const spec::Divergence& divergence : spec::divergences()) {
    const auto parsed = spec::parse_text(divergence.sequence, std::string(divergence.id));
    ASSERT_TRUE(parsed) << parsed.error().message();
    const Sequence& sequence = parsed->operations;
    run_on_both(sequence);
    const auto kernel = make()();
    ASSERT_TRUE(kernel) << kernel.error().message();
    EXPECT_NE(violation_on(**kernel, divergence.property, sequence), "") << divergence.id;
  }
}

TEST_P(LockstepKernel, TheHogStarvesThere) {
  const auto parsed =
      spec::read_sequence(std::string(VLAG_SOURCE_DIR) + "/tests/golden/starvation.seq");
  ASSERT_TRUE(parsed) << parsed.error().message();
  const spec::Trace trace = run_on_both(parsed->operations);
  ASSERT_EQ(trace.size(), parsed->operations.size());
  const auto* hog = trace.back().find(3);
  ASSERT_NE(hog, nullptr);
  EXPECT_TRUE(spec::has(*hog, VLAG_ON_RQ));
  EXPECT_EQ(hog->sum_exec_runtime, 1'500'000U);
  EXPECT_GT(trace.back().head->clock, 280'000'000U);
}

}  // namespace
}  // namespace vlag::props
