// SPDX-License-Identifier: GPL-2.0-only
// vlag prove: ask solvers for the goals, and say what was proved, within which bounds, by whom.
#include "smt/prove.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "props/cli/common.h"
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

Json goal_json(const smt::Goal& goal) {
  return {{"name", goal.name},
          {"claim", goal.claim},
          {"source", goal.source},
          {"bounds", goal.bounds},
          {"class", name_of(goal.kind)},
          {"theory", name_of(goal.theory)},
          {"weights", goal.each_weight ? smt::all_weights().size() : 0}};
}

Json report_json(const smt::Report& report, const smt::Solvers& solvers) {
  Json json = goal_json(*report.goal);
  json["verdict"] = name_of(report.verdict);
  json["solvers"] = Json::object();
  if (solvers.z3) json["solvers"]["z3"] = name_of(report.z3);
  if (solvers.cvc5) json["solvers"]["cvc5"] = name_of(report.cvc5);
  json["assumptions"] = name_of(report.assumptions);
  json["canary"] = name_of(report.canary);
  json["disagreement"] = report.disagreement;
  json["model"] = report.model;
  json["counterexample"] = report.counterexample;
  json["canary_counterexample"] = report.canary_shown;
  json["trouble"] = report.trouble;
  json["queries"] = report.queries;
  json["seconds"] = report.seconds;
  return json;
}

void print_list(const Goals& goals) {
  for (const smt::Goal* goal : goals) {
    fmt::print("{} ({})\n    {}\n    bounds: {}\n    source: {}\n", goal->name, name_of(goal->kind),
               goal->claim, goal->bounds, goal->source);
  }
}

// Only what a reader has to act on, or what a falsehood is refuted by.
void print_details(const smt::Report& report) {
  const std::string_view name = report.goal->name;
  if (report.disagreement) fmt::print("{}: the solvers disagree\n", name);
  if (!report.trouble.empty()) fmt::print("{}: {}\n", name, report.trouble);
  if (report.assumptions == smt::Status::unsat) {
    fmt::print("{}: nothing meets its assumptions\n", name);
  }
  if (report.canary == smt::Verdict::proved && report.goal->kind != smt::Kind::falsehood) {
    fmt::print("{}: its canary was proved\n", name);
  }
  if (!report.counterexample.empty()) {
    fmt::print("{}: refuted: {}\n", name, report.counterexample);
  }
}

void print_text(const std::vector<smt::Report>& reports) {
  fmt::print("{:<44} {:<8} {:<9} {:<8} {:<8} {:<8} {:<7} {:>7}\n", "goal", "class", "verdict", "z3",
             "cvc5", "canary", "model", "seconds");
  double seconds = 0;
  for (const smt::Report& report : reports) {
    fmt::print("{:<44} {:<8} {:<9} {:<8} {:<8} {:<8} {:<7} {:>7.2f}\n", report.goal->name,
               name_of(report.goal->kind), name_of(report.verdict), name_of(report.z3),
               name_of(report.cvc5), name_of(report.canary), name_of(report.assumptions),
               report.seconds);
    seconds += report.seconds;
  }
  for (const smt::Report& report : reports) print_details(report);
  fmt::print("{}: {} goals, {:.1f} s\n", coloured_verdict(smt::verdict_of(reports)), reports.size(),
             seconds);
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
    for (const smt::Report& report : reports) list.push_back(report_json(report, how.solvers));
    print_json({{"schema", "vlag.prove/1"}, {"verdict", verdict}, {"goals", list}});
  } else {
    print_text(reports);
  }
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
  add_format_option(command, options->common);
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
