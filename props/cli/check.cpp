// SPDX-License-Identifier: GPL-2.0-only
// vlag check: search the model for a counterexample to the properties.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "props/cli/common.h"
#include "spec/nearest.h"

namespace vlag::cli {
namespace {

struct CheckOptions {
  CommonOptions common;
  spec::PolicyText policy;
  std::vector<std::string> names;
  std::uint64_t steps = 200'000;
  int length = 100;
  int tasks = 8;
  bool list = false;
};

spec::Result<std::vector<const props::Property*>> asked_properties(
    const std::vector<std::string>& names) {
  if (names.empty()) return props::all_properties();
  std::vector<const props::Property*> asked;
  for (const std::string& name : names) {
    const props::Property* property = props::find_property(name);
    if (property == nullptr) {
      std::vector<std::string_view> known;
      for (const props::Property& one : props::properties()) known.push_back(one.name);
      return spec::Error{fmt::format("'{}' is not a property; the nearest is {}", name,
                                     spec::nearest(name, known)),
                         {}};
    }
    asked.push_back(property);
  }
  return asked;
}

bool is_violation(const props::Finding& finding) { return finding.divergence.empty(); }

std::string replay_on(const CheckOptions& options) {
  return fmt::format(
      "--on model:{}{}", options.policy.preset,
      policy_arguments({"eevdf-6.12", options.policy.features, options.policy.sets}));
}

std::string verdict_of(const props::PropertyTally& tally, const props::CheckReport& report) {
  if (tally.held) return "pass";
  for (const props::Finding& finding : report.findings) {
    if (finding.rule == tally.property->name && !is_violation(finding)) return "explained";
  }
  return "violation";
}

void print_text(const CheckOptions& options, const props::CheckReport& report,
                std::string_view verdict) {
  fmt::print("{:<34} {:>10}  {}\n", "property", "operations", "verdict");
  for (const props::PropertyTally& tally : report.tallies) {
    fmt::print("{:<34} {:>10}  {}\n", tally.property->name, tally.operations,
               verdict_of(tally, report));
  }
  for (const props::Finding& finding : report.findings) print_finding(finding, replay_on(options));
  fmt::print("{}: {} operations\n", coloured_verdict(verdict), report.operations);
}

Json report_json(const CheckOptions& options, const props::CheckReport& report,
                 std::string_view verdict) {
  Json list = Json::array();
  for (const props::PropertyTally& tally : report.tallies) {
    list.push_back({{"name", tally.property->name},
                    {"verdict", verdict_of(tally, report)},
                    {"operations", tally.operations}});
  }
  Json findings = Json::array();
  for (const props::Finding& finding : report.findings) {
    findings.push_back(finding_json(finding, replay_on(options)));
  }
  return {{"schema", "vlag.check/1"},        {"verdict", verdict}, {"seed", options.common.seed},
          {"policy", options.policy.preset}, {"properties", list}, {"findings", findings}};
}

void list_properties() {
  for (const props::Property& property : props::properties()) {
    fmt::print("{}\n    {}\n    killed mutant: {}\n", property.name, property.claim,
               property.mutant);
  }
}

int run(const CheckOptions& options) {
  if (options.list) {
    list_properties();
    return exit_held;
  }
  const auto policy = spec::parse_policy(options.policy);
  if (!policy) return bad_input(policy.error().message());
  const auto asked = asked_properties(options.names);
  if (!asked) return bad_input(asked.error().message());
  if (!options.common.json()) {
    fmt::print("seed {}; again: vlag check --seed {} --steps {}{}\n", options.common.seed,
               options.common.seed, options.steps, policy_arguments(options.policy));
  }
  props::Campaign campaign;
  campaign.seed = options.common.seed;
  campaign.operations = options.steps;
  campaign.jobs = options.common.worker_count();
  campaign.scope.operations = options.length;
  campaign.scope.tasks = options.tasks;
  const props::CheckReport report =
      props::check(*policy, *asked, campaign, progress_meter("check"));
  bool violated = false;
  for (const props::Finding& finding : report.findings) violated |= is_violation(finding);
  const std::string_view verdict = violated ? "violation" : "pass";
  if (options.common.json()) {
    print_json(report_json(options, report, verdict));
  } else {
    print_text(options, report, verdict);
  }
  return exit_code_of(verdict);
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App& command =
      *app.add_subcommand("check", "Search the model for a counterexample to the properties");
  add_policy_options(command, options->policy);
  add_search_options(command, options->common);
  command.add_option("--property", options->names, "Only this property (may be repeated)")
      ->allow_extra_args(false);
  command.add_option("--steps", options->steps, "How many operations, at least")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  command.add_option("--length", options->length, "Operations in a sequence")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_option("--tasks", options->tasks, "Tasks in a sequence, at most")
      ->check(CLI::Range(1, VLAG_MAX_TASKS))
      ->capture_default_str();
  command.add_flag("--list", options->list, "List the properties and what kills them");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
