// SPDX-License-Identifier: GPL-2.0-only
// What the commands share: exit codes, options, and how results are printed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "props/kernel_build.h"
#include "props/search.h"
#include "spec/policy_text.h"

namespace CLI {
class App;
}

namespace vlag::cli {

using Json = nlohmann::ordered_json;

enum ExitCode {
  exit_held = 0,
  exit_violation = 1,
  exit_bad_input = 2,
  exit_inconclusive = 3,
};

/// Options that several commands take.
struct CommonOptions {
  std::string format = "text";
  std::uint64_t seed = 1;
  unsigned jobs = 0;  // 0: one for each CPU

  bool json() const { return format == "json"; }
  unsigned worker_count() const;
};

void add_format_option(CLI::App& app, CommonOptions& options);
void add_search_options(CLI::App& app, CommonOptions& options);
/// How much a search runs: operations in all, and operations and tasks in one sequence.
void add_size_options(CLI::App& app, std::uint64_t& steps, int& length, int& tasks);
/// --policy, and what add_policy_changes() adds.
void add_policy_options(CLI::App& app, spec::PolicyText& policy);
/// --features and --set.
void add_policy_changes(CLI::App& app, spec::PolicyText& policy);

/// A word as it would be typed into a shell.
std::string shell_quoted(const std::string& text);

/// The policy options as they would be typed again; empty for the default policy.
std::string policy_arguments(const spec::PolicyText& policy);
/// Those of add_policy_changes() alone.
std::string policy_change_arguments(const spec::PolicyText& policy);

/// Prints one line to standard error and returns the exit code to use.
int bad_input(const std::string& message);
int inconclusive(const std::string& message);
/// The same for a command that could not begin; in JSON there is a document that says so.
int inconclusive(const CommonOptions& options, std::string_view schema, const std::string& message);

/// One JSON document on standard output.
void print_json(const Json& document);

/// A verdict word: green if it is "pass", else red.
std::string coloured(std::string_view verdict);
/// The same if standard output is a terminal; plain elsewhere.
std::string coloured_verdict(std::string_view verdict);

/// "pass", "violation" or "inconclusive" as exit code.
int exit_code_of(std::string_view verdict);

/// Progress on standard error, if it is a terminal.
props::Meter progress_meter(std::string label);
/// The same for the stages of a kernel build, which also shows in a log file.
props::Progress build_progress();

/// A JSON-safe time with a unit.
std::string time_text(std::uint64_t ns);

// The commands: each adds itself to the parser; the callback stores its exit code.
void add_run(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_bounds(CLI::App& app, int& exit_code);
void add_bugs(CLI::App& app, int& exit_code);
void add_prove(CLI::App& app, int& exit_code);
void add_kernel(CLI::App& app, int& exit_code);
void add_lockstep(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_starve(CLI::App& app, int& exit_code);
void add_gate(CLI::App& app, int& exit_code);

}  // namespace vlag::cli
