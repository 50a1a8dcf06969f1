// SPDX-License-Identifier: GPL-2.0-only
// `vlag prove` from outside: exit codes, JSON, export.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "smt/goal.h"

namespace vlag::smt {
namespace {

struct Ran {
  int status;
  std::string output;  // Both streams.
};

Ran run(const std::string& arguments, const std::string& environment = "") {
  const std::string command =
      fmt::format("{} {} prove {} 2>&1", environment, VLAG_BINARY, arguments);
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), n);
  }
  return {WEXITSTATUS(pclose(pipe)), output};
}

TEST(ProveCommand, AnUnknownGoalIsBadInputAndTheNearestIsNamed) {
  const Ran ran = run("slice_is_grantde");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.output,
            "vlag: 'slice_is_grantde' is not a goal; the nearest is slice_is_granted\n");
}

TEST(ProveCommand, AMissingSolverIsInconclusiveAndItsPackageIsNamed) {
  const Ran ran = run("slice_is_granted --solver cvc5", "PATH=/nowhere");
  EXPECT_EQ(ran.status, 3);
  EXPECT_NE(ran.output.find("apt-get install cvc5"), std::string::npos) << ran.output;
  EXPECT_EQ(run("slice_is_granted --solver z3", "PATH=/nowhere").status, 0);
}

TEST(ProveCommand, NoTimeIsInconclusive) {
  EXPECT_EQ(run("service_is_charged --timeout 0.1").status, 3);
}

TEST(ProveCommand, JsonHasTheKeysThatAreStable) {
  const Ran ran = run("slice_is_granted before_is_transitive --format json");
  EXPECT_EQ(ran.status, 0);
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json["schema"], "vlag.prove/1");
  EXPECT_EQ(json["verdict"], "pass");
  ASSERT_EQ(json["goals"].size(), 2);
  const auto& goal = json["goals"][0];
  EXPECT_EQ(goal["name"], "slice_is_granted");
  EXPECT_EQ(goal["class"], "full");
  EXPECT_EQ(goal["verdict"], "proved");
  EXPECT_EQ(goal["solvers"]["z3"], "proved");
  EXPECT_TRUE(goal["solvers"].contains("cvc5"));
  EXPECT_EQ(goal["assumptions"], "sat");
  EXPECT_EQ(goal["canary"], "refuted");
  EXPECT_GT(goal["seconds"], 0);
  EXPECT_FALSE(goal["claim"].get<std::string>().empty());
  EXPECT_EQ(json["goals"][1]["class"], "false");
  EXPECT_EQ(json["goals"][1]["verdict"], "refuted");
}

TEST(ProveCommand, ExportsWhatItAsks) {
  const std::string directory = testing::TempDir() + "vlag-prove-export";
  std::filesystem::remove_all(directory);
  EXPECT_EQ(run("slice_is_granted --solver z3 --export " + directory).status, 0);
  std::ifstream file(directory + "/slice_is_granted-000.smt2");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find("; expected: unsat\n"), std::string::npos) << text;
  EXPECT_NE(text.find("(check-sat)"), std::string::npos) << text;
  std::filesystem::remove_all(directory);
}

// spec/README.md has one row for each goal, and no other: | `name` | class | theory | bounds |
TEST(ProveCommand, TheSpecificationListsTheGoals) {
  std::ifstream file(VLAG_SOURCE_DIR "/spec/README.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t start = text.find("## Proofs\n");
  ASSERT_NE(start, std::string::npos);
  const std::string section = text.substr(start, text.find("\n## ", start + 1) - start);
  std::string rows;
  std::istringstream lines(section);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| `")) rows += line + "\n";
  }
  const auto listed = nlohmann::json::parse(run("--list --format json").output);
  std::string expected;
  for (const auto& goal : listed["goals"]) {
    expected += fmt::format("| `{}` | {} | {} | {} |\n", goal["name"].get<std::string>(),
                            goal["class"].get<std::string>(), goal["theory"].get<std::string>(),
                            goal["bounds"].get<std::string>());
  }
  EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace vlag::smt
