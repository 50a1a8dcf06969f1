// SPDX-License-Identifier: GPL-2.0-only
// vlag finds every fault of the catalogue that can be expressed, by itself, and none where the rule
// is right; and spec/bugs.md is what the properties say today.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "props/bugs.h"
#include "props/search.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

using spec::Bug;

std::vector<const Bug*> expressible() {
  std::vector<const Bug*> some;
  for (const Bug& bug : spec::bugs()) {
    if (bug.expressible()) some.push_back(&bug);
  }
  return some;
}

class BugProps : public testing::TestWithParam<const Bug*> {};

INSTANTIATE_TEST_SUITE_P(All, BugProps, testing::ValuesIn(expressible()), [](const auto& test) {
  std::string name(test.param->id);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(BugProps, is_found_shrunk_and_gone_without_the_fault) {
  const Bug& bug = *GetParam();
  const Catch caught = hunt(bug, Hunt{});
  ASSERT_TRUE(caught.found) << caught.operations << " operations";
  EXPECT_EQ(caught.still_wrong, "");
  EXPECT_FALSE(caught.summary.empty());
  EXPECT_LE(caught.sequence.size(), 16U) << spec::to_text(caught.sequence);
  EXPECT_TRUE(tests::legal_under(caught.sequence, spec::faulty_policy(bug)));

  if (caught.property == breakdown_name) return;
  const Property* property = find_property(caught.property);
  ASSERT_NE(property, nullptr);
  EXPECT_EQ(tests::violation(*property, caught.sequence, spec::faulty_policy(bug)), caught.summary);
  EXPECT_EQ(tests::violation(*property, caught.sequence, spec::right_policy(bug)), "");
}

TEST(BugHunt, IsTheSameForTheSameSeed) {
  const Bug& bug = *spec::find_bug("place-lag-wsum");
  const Catch one = hunt(bug, Hunt{.seed = 7});
  const Catch two = hunt(bug, Hunt{.seed = 7});
  EXPECT_EQ(one.sequence, two.sequence);
  EXPECT_EQ(one.property, two.property);
  EXPECT_EQ(one.operations, two.operations);
  EXPECT_NE(hunt(bug, Hunt{.seed = 8}).sequence.size(), 0U);
}

// Where nothing is wrong nothing is found.
TEST(BugHunt, FindsNothingInAPolicyThatIsRight) {
  Bug sound = *spec::find_bug("avg-vruntime-ceil");
  sound.change = "average=floor";
  const Catch caught = hunt(sound, Hunt{.operations = 50'000});
  EXPECT_FALSE(caught.found) << caught.property << ": " << caught.summary;
  EXPECT_GE(caught.operations, 50'000U);
}

// A policy that is wrong itself is not taken for right.
TEST(BugHunt, SaysSoIfThePolicyIsStillWrong) {
  Bug wrong = *spec::find_bug("avg-vruntime-ceil");
  wrong.base = {};
  wrong.change = "lag_inflation=none";
  const Catch once = hunt(wrong, Hunt{});
  EXPECT_TRUE(once.good());
  wrong.base = "lag_inflation=none";
  wrong.change = "idle_protection=kept";
  const Catch twice = hunt(wrong, Hunt{});
  EXPECT_TRUE(twice.good()) << twice.still_wrong;
  EXPECT_FALSE(twice.not_kept.empty());
}

// Other versions' rules that have no fault of their own keep all that is asked.
class RightProps : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Bases, RightProps,
                         testing::Values("order=vruntime",
                                         "protection=shortest subtree_slice=handed_over",
                                         "short_preemption=if_picked", "delayed_renice=waits",
                                         "hrtick=until_deadline", "reweight_request=service"));

TEST_P(RightProps, keeps_what_is_asked_of_its_entries) {
  Bug bug = *spec::find_bug("avg-vruntime-ceil");
  bug.base = GetParam();
  const Campaign campaign{.seed = 1, .operations = 100'000, .jobs = 1, .scope = {}};
  const CheckReport report = check(spec::right_policy(bug), properties_for(bug), campaign,
                                   [](std::uint64_t, std::uint64_t) {});
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << finding.rule << ": " << finding.summary << "\n"
                  << spec::to_text(finding.sequence);
  }
}

TEST(KillMatrix, IsTheOneInTheTree) {
  std::stringstream file;
  file << std::ifstream(VLAG_SOURCE_DIR "/spec/bugs.md").rdbuf();
  const std::vector<KillRow> rows = kill_matrix(matrix_hunt, 2);
  EXPECT_EQ(matrix_text(rows, matrix_hunt), file.str()) << "run vlag bugs --all --matrix";
  for (const KillRow& row : rows) {
    EXPECT_NE(std::count(row.killed.begin(), row.killed.end(), true), 0) << row.bug->id;
  }
}

}  // namespace
}  // namespace vlag::props
