// SPDX-License-Identifier: GPL-2.0-only
// vlag bugs as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "props/cli/common.h"
#include "spec/bugs.h"
#include "tests/support/process.h"

namespace vlag::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::Process;
using tests::run_shell;
using tests::TemporaryDirectory;

class CliBugsTest : public testing::Test {
 protected:
  Process bugs(const std::string& arguments) const {
    return run_shell("env XDG_CACHE_HOME=" + (scratch_.path() / "cache").string() +
                     " " VLAG_BINARY " bugs " + arguments);
  }
  void expect_bad(const std::string& arguments, const std::string& message) {
    const Process process = bugs(arguments);
    EXPECT_EQ(process.exit_code, exit_bad_input) << arguments;
    EXPECT_THAT(process.out, IsEmpty());
    EXPECT_THAT(process.err, HasSubstr(message));
  }
  TemporaryDirectory scratch_;
};

TEST_F(CliBugsTest, BadInputIsNamed) {
  expect_bad("avg-vruntime-cell", "the nearest is avg-vruntime-ceil");
  expect_bad("--all avg-vruntime-ceil", "--all already names every entry");
  expect_bad("--matrix", "--matrix is of --all entries");
  expect_bad("avg-vruntime-ceil --steps 0", "--steps");
  expect_bad("avg-vruntime-ceil --seed -1", "--seed");
  expect_bad("--al", "'--al' is not an option of vlag bugs; the nearest is --all");
}

TEST_F(CliBugsTest, WithoutArgumentsTheyAreListed) {
  const Process process = bugs("");
  EXPECT_EQ(process.exit_code, exit_held);
  for (const spec::Bug& bug : spec::bugs())
    EXPECT_THAT(process.out, HasSubstr(std::string(bug.id)));
  EXPECT_THAT(process.out, HasSubstr("not expressible: "));
  const json document = json::parse(bugs("--format json").out);
  EXPECT_EQ(document.at("schema"), "vlag.bugs/1");
  EXPECT_EQ(document.at("bugs").size(), spec::bugs().size());
}

TEST_F(CliBugsTest, OneIsFoundAndSaysHowToSeeItAgain) {
  const Process process = bugs("avg-vruntime-ceil");
  EXPECT_EQ(process.exit_code, exit_held) << process.err;
  EXPECT_THAT(process.out,
              AllOf(HasSubstr("found by average_is_floored after "), HasSubstr("1. an idle CPU"),
                    HasSubstr("without the fault: no violation"),
                    HasSubstr("1 of 1 found, and clean without the fault")));
  const std::string again = "again: vlag ";
  const auto start = process.out.find(again) + again.size();
  const std::string command = process.out.substr(start, process.out.find('\n', start) - start);
  EXPECT_EQ(run_shell(VLAG_BINARY " " + command).exit_code, exit_violation) << command;
}

TEST_F(CliBugsTest, JsonHasTheKeysOfTheDesign) {
  const Process process = bugs("place-lag-wsum delayed-block-race --format json");
  EXPECT_EQ(process.exit_code, exit_held);
  const json document = json::parse(process.out);
  EXPECT_EQ(document.at("schema"), "vlag.bugs/1");
  EXPECT_EQ(document.at("verdict"), "pass");
  const json& found = document.at("bugs").at(0);
  EXPECT_EQ(found.at("id"), "place-lag-wsum");
  EXPECT_EQ(found.at("expressible"), true);
  EXPECT_EQ(found.at("found"), true);
  EXPECT_EQ(found.at("property"), "lag_survives_placement");
  EXPECT_GT(found.at("operations"), 0);
  EXPECT_LE(found.at("steps"), 8);
  EXPECT_TRUE(found.at("cpu_seconds").is_number());
  const json& control = document.at("bugs").at(1);
  EXPECT_EQ(control.at("expressible"), false);
  EXPECT_EQ(control.at("found"), false);
  EXPECT_NE(control.at("reason"), "");
}

TEST_F(CliBugsTest, ASearchThatIsTooShortFails) {
  const Process process = bugs("delayed-on-rq-misread --steps 1");
  EXPECT_EQ(process.exit_code, exit_violation);
  EXPECT_THAT(process.out, HasSubstr("not found"));
  EXPECT_THAT(process.out, HasSubstr("0 of 1 found"));
}

}  // namespace
}  // namespace vlag::cli
