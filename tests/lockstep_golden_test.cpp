// SPDX-License-Identifier: GPL-2.0-only
// The golden sequences on real kernels: every observation equals the model's.
#include <gtest/gtest.h>

#include "props/kernel_backend.h"
#include "props/lockstep.h"
#include "props/model_backend.h"
#include "tests/support/golden.h"

namespace vlag::props {
namespace {

void expect_equal_on(unsigned hz) {
  KernelSpec wanted;
  wanted.hz = hz;
  const auto kernel = ensure_kernel(wanted);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message();
  const auto backend = KernelBackend::start(*kernel);
  ASSERT_TRUE(backend.ok()) << backend.error().message();
  Policy policy = eevdf_6_12();
  policy.tunables.hz = hz;
  ModelBackend model(policy);
  for (const std::string& name : tests::golden_names()) {
    const auto source = spec::read_sequence(tests::golden_path(name + ".seq"));
    ASSERT_TRUE(source.ok()) << source.error().message();
    spec::Trace left;
    spec::Trace right;
    const Outcome on_model = model.run(source->operations, left);
    const Outcome on_kernel = (*backend)->run(source->operations, right);
    const Comparison comparison = compare(source->operations, left, on_model, right, on_kernel);
    EXPECT_EQ(comparison.kind, Comparison::Kind::equal)
        << name << ": " << describe(comparison, source->operations);
  }
}

TEST(LockstepGolden, EqualAt250Hz) { expect_equal_on(250); }
TEST(LockstepGolden, EqualAt1000Hz) { expect_equal_on(1000); }

}  // namespace
}  // namespace vlag::props
