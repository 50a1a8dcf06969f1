// SPDX-License-Identifier: GPL-2.0-only
// vlag prove: ask solvers for the goals, and say what was proved, within which bounds, by whom.
#include "smt/prove.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "props/cli/proofs.h"
#include "spec/nearest.h"

namespace vlag::cli {
namespace {

struct ProveOptions {
  CommonOptions common;
  std::vector<std::string> names;
  std::string solver = "both";
  std::string directory;
  double timeout = 60;
  bool list = false;
  bool no_cache = false;
};

using Goals = std::vector<const smt::Goal*>;

spec::Result<Goals> asked_goals(const std::vector<std::string>& names) {
  Goals asked;
  if (names.empty()) {
    for (const smt::Goal& goal : smt::goals()) asked.push_back(&goal);
  }
  for (const std::string& name : names) {
    const smt::Goal* goal = smt::find_goal(name);
    if (goal == nullptr) {
      std::vector<std::string_view> known;
      for (const smt::Goal& one : smt::goals()) known.push_back(one.name);
      return spec::Error{
          fmt::format("'{}' is not a goal; the nearest is {}", name, spec::nearest(name, known)),
          {}};
    }
    asked.push_back(goal);
  }
  return asked;
}

void print_list(const Goals& goals) {
  for (const smt::Goal* goal : goals) {
    fmt::print("{} ({})\n    {}\n    bounds: {}\n    source: {}\n", goal->name, name_of(goal->kind),
               goal->claim, goal->bounds, goal->source);
  }
}

smt::Solvers solvers_of(const std::string& name) {
  return {.z3 = name != "cvc5", .cvc5 = name != "z3"};
}

int run(const ProveOptions& options) {
  const auto goals = asked_goals(options.names);
  if (!goals) return bad_input(goals.error().message());
  if (options.list) {
    if (!options.common.json()) {
      print_list(*goals);
      return exit_held;
    }
    Json list = Json::array();
    for (const smt::Goal* goal : *goals) list.push_back(goal_json(*goal));
    print_json({{"schema", "vlag.prove/1"}, {"goals", list}});
    return exit_held;
  }
  smt::Options how;
  how.solvers = solvers_of(options.solver);
  how.seconds = options.timeout;
  how.jobs = options.common.worker_count();
  how.export_directory = options.directory;
  if (!options.no_cache) how.cache_directory = proof_cache();
  if (const std::string package = smt::missing_package(how.solvers); !package.empty()) {
    return inconclusive(
        fmt::format("{0} is not installed: apt-get install {0}, or --solver z3", package));
  }
  if (!options.directory.empty()) {
    std::error_code code;
    std::filesystem::create_directories(options.directory, code);
    if (code) return bad_input(fmt::format("{}: {}", options.directory, code.message()));
  }
  const std::vector<smt::Report> reports = smt::prove(*goals, how, progress_meter("prove"));
  const std::string_view verdict = smt::verdict_of(reports);
  if (options.common.json()) {
    Json list = Json::array();
    for (const smt::Report& report : reports) list.push_back(proof_json(report, how.solvers));
    print_json({{"schema", "vlag.prove/1"}, {"verdict", verdict}, {"goals", list}});
  } else {
    print_proofs(reports);
  }
  warn_of_cache(reports);
  return exit_code_of(verdict);
}

}  // namespace

void add_prove(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ProveOptions>();
  CLI::App& command = *app.add_subcommand("prove", "Prove the rules, for all numbers in bounds");
  command.add_option("goals", options->names, "Only these goals");
  command.add_flag("--list", options->list, "List the goals instead of proving them");
  command.add_option("--solver", options->solver, "Whom to ask")
      ->check(CLI::IsMember({"z3", "cvc5", "both"}))
      ->capture_default_str();
  command.add_option("--timeout", options->timeout, "Seconds for one goal")
      ->check(CLI::Range(0.1, 86'400.0))
      ->capture_default_str();
  command.add_option("--jobs", options->common.jobs, "Goals at a time (default: one for each CPU)")
      ->check(CLI::Range(1, 256));
  command.add_option("--export", options->directory, "Write each query to DIR as SMT-LIB2");
  command.add_flag("--no-cache", options->no_cache,
                   "Ask anew what was proved before; keep no results");
  add_format_option(command, options->common);
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
