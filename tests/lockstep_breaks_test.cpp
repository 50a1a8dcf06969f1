// SPDX-License-Identifier: GPL-2.0-only
// The four deliberate breaks of the model against a real kernel: each is a divergence, and shrinks
// to 8 operations or fewer, the reset included.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "props/combinations.h"
#include "props/kernel_backend.h"
#include "props/kernel_build.h"
#include "props/lockstep.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

class LockstepBreaks : public testing::Test {
 protected:
  void SetUp() override {
    const auto kernel = ensure_kernel({.hz = 250});
    ASSERT_TRUE(kernel) << kernel.error().message();
    kernel_ = *kernel;
  }

  void expect_caught(const Policy& broken) {
    const LockstepReport report =
        lockstep(broken, make(), plan(), [](std::uint64_t, std::uint64_t) {});
    EXPECT_EQ(report.inconclusive, "");
    // Where the two have gone apart, what is legal on one may even be a fault on the other.
    const auto found = std::find_if(report.findings.begin(), report.findings.end(),
                                    [](const Finding& f) { return f.rule == "divergence"; });
    ASSERT_NE(found, report.findings.end());
    const Finding& finding = *found;
    EXPECT_LE(finding.sequence.size(), 8U) << spec::to_text(finding.sequence);
    RecordProperty("operations", static_cast<int>(finding.sequence.size()));
    EXPECT_EQ(compare_with_kernel(broken, finding.sequence), Comparison::Kind::differs);
    EXPECT_EQ(compare_with_kernel(eevdf_6_12(), finding.sequence), Comparison::Kind::equal);
  }

 private:
  BackendMaker make() const {
    return [kernel = kernel_]() -> spec::Result<std::unique_ptr<Backend>> {
      auto started = KernelBackend::start(kernel);
      if (!started) return started.error();
      return std::unique_ptr<Backend>(std::move(*started));
    };
  }

  static LockstepPlan plan() {
    LockstepPlan plan;
    plan.combinations = covering_combinations(eevdf_6_12().features, 1);
    plan.operations_per_combination = 20'000;
    return plan;
  }

  Comparison::Kind compare_with_kernel(const Policy& policy, const spec::Sequence& sequence) {
    ModelBackend model(policy);
    spec::Trace left;
    spec::Trace right;
    const auto kernel = std::move(*make()());
    const Outcome of_model = model.run(sequence, left);
    const Outcome of_kernel = kernel->run(sequence, right);
    return compare(sequence, left, of_model, right, of_kernel).kind;
  }

  Kernel kernel_;
};

TEST_F(LockstepBreaks, TruncatingInsteadOfFlooringTheAverage) {
  expect_caught(tests::with_rule(eevdf_6_12(), "average=truncate"));
}

// A tick is 1 ms instead of 4: it decides wherever twice the request is less.
TEST_F(LockstepBreaks, WrongHzInTheLagClamp) {
  Policy wrong = eevdf_6_12();
  wrong.tunables.hz = 1000;
  expect_caught(wrong);
}

TEST_F(LockstepBreaks, LessForLessOrEqualInTheTieRule) {
  expect_caught(tests::with_rule(eevdf_6_12(), "tie=lifo"));
}

TEST_F(LockstepBreaks, SkippingASumUpdateOnNice) {
  expect_caught(tests::with_rule(eevdf_6_12(), "reweight_sums=stale"));
}

}  // namespace
}  // namespace vlag::props
