// SPDX-License-Identifier: GPL-2.0-only
// vlag check: search the model for a counterexample to the properties.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "props/cli/asked.h"
#include "props/cli/common.h"
#include "props/cli/findings.h"
#include "props/relation_search.h"

namespace vlag::cli {
namespace {

struct CheckOptions {
  CommonOptions common;
  std::vector<std::string> presets = {"eevdf-6.12"};
  spec::PolicyText changes;  // to each of them
  std::vector<std::string> names;
  std::uint64_t steps = 200'000;
  int length = 100;
  int tasks = 8;
  bool list = false;
};

// One policy's part of a check.
struct PolicyResult {
  std::string preset;
  props::CheckReport report;
  props::RelationReport relations;

  std::string_view verdict() const {
    for (const auto* findings : {&report.findings, &relations.findings}) {
      if (std::any_of(findings->begin(), findings->end(), is_violation)) return "violation";
    }
    return "pass";
  }
};

std::string_view verdict_of(std::span<const PolicyResult> results) {
  for (const PolicyResult& result : results) {
    if (result.verdict() != "pass") return result.verdict();
  }
  return "pass";
}

std::string replay_on(const CheckOptions& options, const PolicyResult& result) {
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
  PolicyResult result{preset, {}, {}};
  if (!asked.properties.empty()) {
    result.report = props::check(policy, asked.properties, campaign, progress_meter("check"));
  }
  if (!asked.relations.empty()) {
    result.relations =
        props::check_relations(policy, asked.relations, campaign, progress_meter("relations"));
  }
  return result;
}

int run(const CheckOptions& options) {
  if (options.list) {
    list_properties(options.common);
    return exit_held;
  }
  std::vector<Policy> policies;
  for (const std::string& preset : options.presets) {
    spec::PolicyText text = options.changes;
    text.preset = preset;
    const auto policy = spec::parse_policy(text);
    if (!policy) return bad_input(policy.error().message());
    policies.push_back(*policy);
  }
  const auto asked = asked_of(options.names);
  if (!asked) return bad_input(asked.error().message());
  if (!options.common.json()) {
    fmt::print("seed {}; again: {}\n", options.common.seed, command(options));
  }
  props::Campaign campaign;
  campaign.seed = options.common.seed;
  campaign.operations = options.steps;
  campaign.jobs = options.common.worker_count();
  campaign.scope.operations = options.length;
  campaign.scope.tasks = options.tasks;
  std::vector<PolicyResult> results;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    results.push_back(result_of(options.presets[i], policies[i], *asked, campaign));
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
  add_size_options(command, options->steps, options->length, options->tasks);
  command.add_flag("--list", options->list, "List the properties and what kills them");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
