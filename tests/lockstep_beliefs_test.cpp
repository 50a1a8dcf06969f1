// SPDX-License-Identifier: GPL-2.0-only
// What is believed and false: the solver's counterexamples on a real kernel.
#include <gtest/gtest.h>

#include "props/kernel_backend.h"
#include "props/lockstep.h"
#include "props/model_backend.h"
#include "smt/prove.h"

namespace vlag::props {
namespace {

// The same violation, after the same operation.
void expect_shown_on_both(const Property& belief, const spec::Sequence& sequence, Backend& kernel) {
  ModelBackend model(eevdf_6_12());
  spec::Trace left;
  spec::Trace right;
  const Outcome on_model = model.run(sequence, left);
  const Outcome on_kernel = kernel.run(sequence, right);
  const Comparison comparison = compare(sequence, left, on_model, right, on_kernel);
  ASSERT_EQ(comparison.kind, Comparison::Kind::equal) << describe(comparison, sequence);
  const std::array<const Property*, 1> asked = {&belief};
  const Verdict of_model = judge(sequence, left, model.info(), asked, Claimed::everywhere);
  const Verdict of_kernel = judge(sequence, right, kernel.info(), asked, Claimed::everywhere);
  ASSERT_EQ(of_model.violations.size(), 1) << belief.name;
  ASSERT_EQ(of_kernel.violations.size(), 1) << belief.name;
  EXPECT_EQ(of_model.violations[0].index, of_kernel.violations[0].index);
  EXPECT_EQ(of_model.violations[0].what, of_kernel.violations[0].what);
}

TEST(LockstepBeliefs, AreRefutedOnTheKernelToo) {
  const auto kernel = ensure_kernel(KernelSpec{});
  ASSERT_TRUE(kernel.ok()) << kernel.error().message();
  const auto backend = KernelBackend::start(*kernel);
  ASSERT_TRUE(backend.ok()) << backend.error().message();
  int shown = 0;
  for (const smt::Goal& goal : smt::goals()) {
    if (goal.kind != smt::Kind::falsehood || goal.sequence == nullptr) continue;
    smt::Options options;
    options.solvers.cvc5 = false;
    const spec::Sequence sequence = smt::sequence_of(smt::prove_here(goal, options));
    ASSERT_FALSE(sequence.empty()) << goal.name;
    expect_shown_on_both(*find_property(goal.breaks), sequence, **backend);
    ++shown;
  }
  EXPECT_GE(shown, 5);
}

}  // namespace
}  // namespace vlag::props
