// SPDX-License-Identifier: GPL-2.0-only
// vlag check: search the model for a counterexample to the properties.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "props/cli/asked.h"
#include "props/cli/backends.h"
#include "props/cli/common.h"
#include "props/cli/findings.h"
#include "props/combinations.h"
#include "props/exhaustive.h"
#include "props/relation_search.h"

namespace vlag::cli {
namespace {

struct CheckOptions {
  CommonOptions common;
  std::vector<std::string> presets = {"eevdf-6.12"};
  spec::PolicyText changes;  // to each of them
  std::vector<std::string> names;
  std::string on;  // a kernel whose observations are judged; empty: the model's
  std::uint64_t steps = 200'000;
  std::uint64_t exhaustive = 0;  // operations; 0: a random search
  int length = 100;
  int tasks = 8;
  bool list = false;
};

// One policy's part of a check.
struct PolicyResult {
  std::string preset;
  props::CheckReport report;
  props::RelationReport relations;
  std::string inconclusive = {};  // why not all was judged

  std::string_view verdict() const {
    for (const auto* findings : {&report.findings, &relations.findings}) {
      if (std::any_of(findings->begin(), findings->end(), is_violation)) return "violation";
    }
    return inconclusive.empty() ? "pass" : "inconclusive";
  }
};

std::string_view verdict_of(std::span<const PolicyResult> results) {
  for (const PolicyResult& result : results) {
    if (result.verdict() != "pass") return result.verdict();
  }
  return "pass";
}

std::string replay_on(const CheckOptions& options, const PolicyResult& result) {
  if (!options.on.empty()) return "--on " + options.on;
  return fmt::format("--on model:{}{}", result.preset, policy_change_arguments(options.changes));
}

// The command that does the same again.
std::string command(const CheckOptions& options) {
  const CheckOptions standard;
  std::string text =
      fmt::format("vlag check --seed {} --steps {}", options.common.seed, options.steps);
  if (options.length != standard.length) text += fmt::format(" --length {}", options.length);
  if (options.tasks != standard.tasks) text += fmt::format(" --tasks {}", options.tasks);
  for (const std::string& name : options.names) text += " --property " + name;
  if (!options.on.empty()) text += " --on " + options.on;
  if (options.presets != standard.presets) {
    for (const std::string& preset : options.presets) text += " --policy " + shell_quoted(preset);
  }
  return text + policy_change_arguments(options.changes);
}

std::string verdict_of(std::string_view name, bool held, std::span<const props::Finding> findings) {
  if (held) return "pass";
  for (const props::Finding& finding : findings) {
    if (finding.rule == name && !is_violation(finding)) return "explained";
  }
  return "violation";
}

std::string verdict_of(const props::PropertyTally& tally, const PolicyResult& result) {
  return verdict_of(tally.property->name, tally.held, result.report.findings);
}

std::string verdict_of(const props::RelationTally& tally, const PolicyResult& result) {
  return verdict_of(tally.relation->name, tally.held, result.relations.findings);
}

// How much of a bound was reached; empty if the property is none.
std::string reached_text(const props::PropertyTally& tally) {
  if (!tally.property->bounds) return {};
  const std::uint32_t parts = tally.reached.millionths();
  return fmt::format("  reached {}.{:04}", parts / 1'000'000, parts % 1'000'000 / 100);
}

void print_text(const CheckOptions& options, const PolicyResult& result) {
  if (options.presets.size() > 1) fmt::print("\npolicy {}\n", result.preset);
  fmt::print("{:<42} {:>10}  {}\n", "property", "operations", "verdict");
  for (const props::PropertyTally& tally : result.report.tallies) {
    fmt::print("{:<42} {:>10}  {}{}\n", tally.property->name, tally.operations,
               verdict_of(tally, result), reached_text(tally));
  }
  if (!result.relations.tallies.empty()) {
    fmt::print("{:<42} {:>10}  {}\n", "relation", "compared", "verdict");
  }
  for (const props::RelationTally& tally : result.relations.tallies) {
    fmt::print("{:<42} {:>10}  {}\n", tally.relation->name, tally.compared,
               verdict_of(tally, result));
  }
  for (const auto* findings : {&result.report.findings, &result.relations.findings}) {
    for (const props::Finding& finding : *findings) {
      print_finding(finding, replay_on(options, result));
    }
  }
  if (!result.inconclusive.empty()) fmt::print("{}\n", result.inconclusive);
  fmt::print("{}: {} operations\n", coloured_verdict(result.verdict()),
             result.report.operations + result.relations.operations);
}

Json result_json(const CheckOptions& options, const PolicyResult& result) {
  Json properties = Json::array();
  for (const props::PropertyTally& tally : result.report.tallies) {
    properties.push_back({{"name", tally.property->name},
                          {"verdict", verdict_of(tally, result)},
                          {"operations", tally.operations}});
    if (tally.property->bounds) {
      properties.back()["reached_millionths"] = tally.reached.millionths();
    }
  }
  Json relations = Json::array();
  for (const props::RelationTally& tally : result.relations.tallies) {
    relations.push_back({{"name", tally.relation->name},
                         {"verdict", verdict_of(tally, result)},
                         {"compared", tally.compared}});
  }
  Json findings = Json::array();
  for (const auto* some : {&result.report.findings, &result.relations.findings}) {
    for (const props::Finding& finding : *some) {
      findings.push_back(finding_json(finding, replay_on(options, result)));
    }
  }
  return {{"policy", result.preset},
          {"verdict", result.verdict()},
          {"operations", result.report.operations + result.relations.operations},
          {"properties", properties},
          {"relations", relations},
          {"findings", findings}};
}

// The keys of one policy stand at the top; several are a list.
Json report_json(const CheckOptions& options, std::span<const PolicyResult> results) {
  Json json = {
      {"schema", "vlag.check/1"}, {"verdict", verdict_of(results)}, {"seed", options.common.seed}};
  if (results.size() == 1) {
    json.update(result_json(options, results.front()));
    return json;
  }
  json["policies"] = Json::array();
  for (const PolicyResult& result : results) {
    json["policies"].push_back(result_json(options, result));
  }
  return json;
}

void list_properties(const CommonOptions& options) {
  Json list = Json::array();
  for (const props::Property& property : props::properties()) {
    list.push_back({{"name", property.name},
                    {"claim", property.claim},
                    {"mutant", property.mutant},
                    {"divergence", property.divergence}});
    if (options.json()) continue;
    fmt::print("{}\n    {}\n    killed mutant: {}\n", property.name, property.claim,
               property.mutant);
  }
  Json relations = Json::array();
  for (const props::Relation& relation : props::relations()) {
    relations.push_back({{"name", relation.name},
                         {"claim", relation.claim},
                         {"mutant", relation.mutant},
                         {"divergence", relation.divergence}});
    if (options.json()) continue;
    fmt::print("{}\n    {}\n    a relation between two runs; killed mutant: {}\n", relation.name,
               relation.claim, relation.mutant);
  }
  Json false_ones = Json::array();
  for (const props::Property& belief : props::beliefs()) {
    false_ones.push_back({{"name", belief.name}, {"claim", belief.claim}});
    if (options.json()) continue;
    fmt::print("{}\n    {}\n    not true of EEVDF; checked only if asked for by name\n",
               belief.name, belief.claim);
  }
  if (options.json()) {
    print_json({{"schema", "vlag.properties/1"},
                {"properties", list},
                {"relations", relations},
                {"beliefs", false_ones}});
  }
}

PolicyResult result_of(const std::string& preset, const Policy& policy, const Asked& asked,
                       const props::Campaign& campaign) {
  PolicyResult result{preset, {}, {}, {}};
  if (!asked.properties.empty()) {
    result.report = props::check(policy, asked.properties, campaign, progress_meter("check"));
  }
  if (!asked.relations.empty()) {
    result.relations =
        props::check_relations(policy, asked.relations, campaign, progress_meter("relations"));
  }
  return result;
}

// The model says what is legal, and the kernel's own observations are judged, whether or not they
// are the model's.
PolicyResult judge_kernel(const Policy& policy, const props::Kernel& kernel,
                          const std::vector<const props::Property*>& asked,
                          const props::Campaign& campaign) {
  props::LockstepPlan plan;
  plan.seed = campaign.seed;
  plan.combinations = props::all_combinations(policy.features);
  plan.operations_per_combination =
      (campaign.operations + plan.combinations.size() - 1) / plan.combinations.size();
  plan.jobs = campaign.jobs;
  plan.asked = asked;
  plan.most_findings = asked.size();
  plan.compares = false;
  plan.scope = campaign.scope;
  props::LockstepReport report =
      props::lockstep(policy, kernel_maker(kernel), plan, progress_meter("check"));
  PolicyResult result{"kernel:" + kernel.name, {}, {}, std::move(report.inconclusive)};
  result.report.tallies = std::move(report.tallies);
  result.report.findings = std::move(report.findings);
  result.report.operations = report.operations;
  return result;
}

spec::Result<std::optional<KernelChoice>> chosen_kernel(const CheckOptions& options) {
  constexpr std::string_view prefix = "kernel:";
  if (options.on.empty()) return std::optional<KernelChoice>();
  if (!options.on.starts_with(prefix)) {
    return spec::Error{fmt::format("'{}' is not a kernel: kernel:NAME is expected", options.on),
                       {}};
  }
  if (options.presets.size() > 1) {
    return spec::Error{"--on judges one kernel, by the legality of one --policy", {}};
  }
  const auto choice = choose_kernel(options.on.substr(prefix.size()));
  if (!choice) return choice.error();
  return std::optional<KernelChoice>(*choice);
}

// What was tried, for each number of tasks.
void print_depths(const props::ExhaustiveReport& report) {
  for (const props::Depth& depth : report.depths) {
    fmt::print(
        "{} tasks: every legal sequence of up to {} operations; {} states, {} operations; {} pairs "
        "of histories decide alike\n",
        depth.tasks, depth.complete, depth.states, depth.operations, depth.twins);
  }
  if (!report.history.empty()) fmt::print("the past decides: {}", report.history);
}

Json exhaustive_json(const CheckOptions& options, const PolicyResult& result,
                     const props::ExhaustiveReport& report, std::string_view verdict) {
  Json depths = Json::array();
  for (const props::Depth& depth : report.depths) {
    depths.push_back({{"tasks", depth.tasks},
                      {"depth", depth.complete},
                      {"states", depth.states},
                      {"operations", depth.operations},
                      {"twins", depth.twins}});
  }
  Json findings = Json::array();
  for (const props::Finding& finding : report.findings) {
    findings.push_back(finding_json(finding, replay_on(options, result)));
  }
  return {{"schema", "vlag.exhaustive/1"}, {"verdict", verdict},
          {"policy", result.preset},       {"depths", depths},
          {"history", report.history},     {"findings", findings}};
}

int run_exhaustive(const CheckOptions& options, const std::string& preset, const Policy& policy,
                   const Asked& asked) {
  const props::ExhaustiveReport report =
      props::exhaustive(policy, asked.properties, options.exhaustive, progress_meter("exhaustive"));
  PolicyResult result{preset, {}, {}, {}};
  result.report.findings = report.findings;
  const std::string_view verdict = report.history.empty() ? result.verdict() : "violation";
  if (options.common.json()) {
    print_json(exhaustive_json(options, result, report, verdict));
    return exit_code_of(verdict);
  }
  print_depths(report);
  for (const props::Finding& finding : report.findings) {
    print_finding(finding, replay_on(options, result));
  }
  fmt::print("{}\n", coloured_verdict(verdict));
  return exit_code_of(verdict);
}

int run(const CheckOptions& options) {
  if (options.list) {
    list_properties(options.common);
    return exit_held;
  }
  const auto choice = chosen_kernel(options);
  if (!choice) return bad_input(choice.error().message());
  std::vector<Policy> policies;
  for (const std::string& preset : options.presets) {
    spec::PolicyText text = *choice ? with_hz(options.changes, (*choice)->hz) : options.changes;
    text.preset = preset;
    const auto policy = spec::parse_policy(text);
    if (!policy) return bad_input(policy.error().message());
    policies.push_back(*policy);
  }
  const auto asked = asked_of(options.names);
  if (!asked) return bad_input(asked.error().message());
  if (options.exhaustive > 0) {
    if (policies.size() > 1 || !options.on.empty()) {
      return bad_input("--exhaustive explores one --policy of the model");
    }
    return run_exhaustive(options, options.presets.front(), policies.front(), *asked);
  }
  if (!options.common.json()) {
    fmt::print("seed {}; again: {}\n", options.common.seed, command(options));
  }
  std::optional<props::Kernel> kernel;
  if (*choice) {
    const auto ready = ready_kernel(**choice);
    if (!ready) return inconclusive(options.common, "vlag.check/1", ready.error().message());
    kernel = *ready;
  }
  props::Campaign campaign;
  campaign.seed = options.common.seed;
  campaign.operations = options.steps;
  campaign.jobs = options.common.worker_count();
  campaign.scope.operations = options.length;
  campaign.scope.tasks = options.tasks;
  std::vector<PolicyResult> results;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    results.push_back(kernel ? judge_kernel(policies[i], *kernel, asked->properties, campaign)
                             : result_of(options.presets[i], policies[i], *asked, campaign));
    if (!options.common.json()) print_text(options, results.back());
  }
  if (options.common.json()) print_json(report_json(options, results));
  return exit_code_of(verdict_of(results));
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App& command =
      *app.add_subcommand("check", "Search the model for a counterexample to the properties");
  command.add_option("--policy", options->presets, "A policy of the model (may be repeated)")
      ->allow_extra_args(false)
      ->capture_default_str();
  add_policy_changes(command, options->changes);
  add_search_options(command, options->common);
  command
      .add_option("--property", options->names, "Only this property or relation (may be repeated)")
      ->allow_extra_args(false);
  command.add_option("--on", options->on, "Judge what a kernel shows (kernel:NAME), not the model");
  add_size_options(command, options->steps, options->length, options->tasks);
  command
      .add_option("--exhaustive", options->exhaustive,
                  "Instead of a random search: every legal sequence for 2 and 3 tasks, shortest "
                  "first, within so many operations")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  command.add_flag("--list", options->list, "List the properties and what kills them");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
