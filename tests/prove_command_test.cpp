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
  EXPECT_EQ(run("service_is_charged --timeout 0.1 --no-cache").status, 3);
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

// The rows of a table of spec/README.md whose first cell is in backquotes, from that heading on.
std::vector<std::string> rows_below(const std::string& heading) {
  std::ifstream file(VLAG_SOURCE_DIR "/spec/README.md");
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) inside = line == heading;
    if (inside && line.starts_with("| ") && !line.starts_with("| ---")) rows.push_back(line);
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

// One row for each goal, and no other: | `name` | class | theory | bounds |
TEST(ProveCommand, TheSpecificationListsTheGoals) {
  const auto listed = nlohmann::json::parse(run("--list --format json").output);
  std::vector<std::string> expected;
  for (const auto& goal : listed["goals"]) {
    expected.push_back(fmt::format("| `{}` | {} | {} | {} |", goal["name"].get<std::string>(),
                                   goal["class"].get<std::string>(),
                                   goal["theory"].get<std::string>(),
                                   goal["bounds"].get<std::string>()));
  }
  EXPECT_EQ(rows_below("### All goals"), expected);
}

std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream text(row.substr(2));
  for (std::string cell; std::getline(text, cell, '|');) {
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
    cells.push_back(cell);
  }
  return cells;
}

TEST(ProveCommand, EveryStepAndInvariantHasAGoalOrAReason) {
  const auto rows = rows_below("### Which step is proved to keep what");
  EXPECT_GE(rows.size(), 16);
  for (const std::string& row : rows) {
    const std::vector<std::string> cells = cells_of(row);
    EXPECT_EQ(cells.size(), 8) << row;
    for (std::size_t i = 1; i < cells.size(); ++i) {
      EXPECT_NE(cells[i], "") << row;
      std::istringstream parts(cells[i]);
      std::string part;
      for (bool quoted = false; std::getline(parts, part, '`'); quoted = !quoted) {
        if (quoted) {
          EXPECT_NE(find_goal(part), nullptr) << part;
        }
      }
    }
  }
}

}  // namespace
}  // namespace vlag::smt
