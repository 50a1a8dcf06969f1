// SPDX-License-Identifier: GPL-2.0-only
// Kernels with a fault of the catalogue put back (props/kernel/edits/): the properties notice it by
// what the kernel shows alone, and the lockstep with the model notices it too. The kernel without
// the fault passes the same searches.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "props/combinations.h"
#include "props/kernel_backend.h"
#include "props/kernel_build.h"
#include "props/lockstep.h"
#include "spec/bugs.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

constexpr std::size_t most_operations = 12;

std::vector<KernelEdit> faults() {
  std::vector<KernelEdit> edits = kernel_edits();
  std::erase_if(edits, [](const KernelEdit& edit) { return edit.bug.empty(); });
  return edits;
}

LockstepReport searched(const Kernel& kernel, bool compares) {
  LockstepPlan plan;
  plan.combinations = all_combinations(eevdf_6_12().features);
  plan.operations_per_combination = 200;
  plan.asked = unconditional_properties();
  plan.most_findings = 3;
  plan.compares = compares;
  const BackendMaker make = [&]() -> spec::Result<std::unique_ptr<Backend>> {
    auto started = KernelBackend::start(kernel);
    if (!started) return started.error();
    return std::unique_ptr<Backend>(std::move(*started));
  };
  return lockstep(eevdf_6_12(), make, plan, [](std::uint64_t, std::uint64_t) {});
}

TEST(KernelEdits, AreOfTheCatalogueAndSayWhy) {
  std::set<std::string> bugs;
  for (const KernelEdit& edit : faults()) {
    EXPECT_NE(spec::find_bug(edit.bug), nullptr) << edit.name;
    EXPECT_FALSE(edit.text.empty()) << edit.name;
    bugs.insert(edit.bug);
  }
  EXPECT_GE(bugs.size(), 8U);
}

class KernelFaults : public testing::TestWithParam<KernelEdit> {};

INSTANTIATE_TEST_SUITE_P(Edits, KernelFaults, testing::ValuesIn(faults()), [](const auto& edit) {
  std::string name = edit.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(KernelFaults, AreNoticedByPropertiesAndByTheModel) {
  const auto kernel = ensure_kernel({.hz = 250, .edits = {GetParam().name}});
  ASSERT_TRUE(kernel) << kernel.error().message();
  const LockstepReport judged = searched(*kernel, false);
  EXPECT_EQ(judged.inconclusive, "");
  ASSERT_FALSE(judged.findings.empty());
  std::size_t shortest = SIZE_MAX;
  for (const Finding& finding : judged.findings) {
    shortest = std::min(shortest, finding.sequence.size());
    const Property* property = find_property(finding.rule);
    if (property == nullptr) continue;  // The kernel itself said so.
    EXPECT_EQ(tests::violation(*property, finding.sequence, eevdf_6_12()), "")
        << finding.rule << " fails without the fault, too";
  }
  EXPECT_LE(shortest, most_operations);
  const LockstepReport compared = searched(*kernel, true);
  EXPECT_EQ(compared.inconclusive, "");
  ASSERT_FALSE(compared.findings.empty());
  EXPECT_EQ(compared.findings.front().rule, "divergence");
  EXPECT_LE(compared.findings.front().sequence.size(), most_operations);
}

TEST(KernelWithoutFaults, PassesTheSame) {
  const auto kernel = ensure_kernel({.hz = 250});
  ASSERT_TRUE(kernel) << kernel.error().message();
  for (const bool compares : {false, true}) {
    const LockstepReport report = searched(*kernel, compares);
    EXPECT_EQ(report.inconclusive, "");
    EXPECT_TRUE(report.findings.empty()) << report.findings.front().summary;
  }
}

}  // namespace
}  // namespace vlag::props
