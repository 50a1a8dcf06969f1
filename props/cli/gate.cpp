// SPDX-License-Identifier: GPL-2.0-only
// vlag gate: everything at once, and one verdict.
//
// All properties on the model; the proofs, of which only those are asked anew whose text is not the
// one that was proved before; the model in lockstep with each kernel under all combinations of
// features, every property judged there too; and the known divergences, replayed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "props/cli/backends.h"
#include "props/cli/common.h"
#include "props/cli/findings.h"
#include "props/cli/proofs.h"
#include "props/combinations.h"
#include "props/lockstep.h"
#include "props/relation.h"
#include "spec/divergences.h"

namespace vlag::cli {
namespace {

struct GateOptions {
  CommonOptions common;
  spec::PolicyText policy;
  std::vector<std::string> kernels = {"6.12-250", "6.12-1000"};
  std::uint64_t steps = 3'000;
  std::uint64_t check_steps = 200'000;
  double timeout = 240;  // seconds for one goal
  bool no_cache = false;
};

constexpr smt::Solvers solvers;  // both

// A known divergence, as it shows on one backend.
struct Explained {
  const spec::Divergence* divergence = nullptr;
  bool shows = false;
};

struct KernelResult {
  std::string name;
  unsigned hz = 0;
  bool groups = false;
  props::LockstepReport fixed;      // features as set at the start of each sequence
  props::LockstepReport switching;  // and changed in between
  std::vector<Explained> explained;
  std::string inconclusive;

  std::uint64_t operations() const { return fixed.operations + switching.operations; }
  std::vector<const props::LockstepReport*> reports() const { return {&fixed, &switching}; }
};

struct GateResult {
  props::CheckReport check;
  std::vector<smt::Report> proofs;
  std::string no_proofs;  // why there are none
  std::vector<KernelResult> kernels;

  bool violated() const {
    for (const props::Finding& finding : check.findings) {
      if (is_violation(finding)) return true;
    }
    if (smt::verdict_of(proofs) == "violation") return true;
    for (const KernelResult& kernel : kernels) {
      for (const auto* report : kernel.reports()) {
        if (!report->findings.empty()) return true;
      }
    }
    return false;
  }
  bool inconclusive() const {
    if (!no_proofs.empty() || smt::verdict_of(proofs) == "inconclusive") return true;
    for (const KernelResult& kernel : kernels) {
      if (!kernel.inconclusive.empty()) return true;
    }
    return false;
  }
  std::string_view verdict() const {
    if (violated()) return "violation";
    return inconclusive() ? "inconclusive" : "pass";
  }
};

Explained replay_divergence(const spec::Divergence& divergence, props::Backend& backend) {
  const auto source = spec::parse_text(divergence.sequence, std::string(divergence.id));
  VLAG_CHECK(source.ok());
  const std::string what = props::violation_on(backend, divergence.property, source->operations);
  return {&divergence, !what.empty()};
}

props::LockstepPlan plan_for(const GateOptions& options, const Policy& policy, bool switching) {
  props::LockstepPlan plan;
  plan.seed = options.common.seed + (switching ? 1 : 0);
  plan.combinations = switching ? props::covering_combinations(policy.features, 3)
                                : props::all_combinations(policy.features);
  plan.operations_per_combination = options.steps;
  plan.jobs = options.common.worker_count();
  plan.asked = props::unconditional_properties();
  plan.scope.switch_features = switching;
  return plan;
}

KernelResult run_kernel(const GateOptions& options, const KernelChoice& choice) {
  KernelResult result;
  result.name = choice.name;
  result.hz = choice.hz;
  result.groups = choice.groups;
  const auto policy = spec::parse_policy(with_hz(options.policy, choice.hz));
  VLAG_CHECK(policy.ok());
  const auto kernel = ready_kernel(choice);
  if (!kernel) {
    result.inconclusive = kernel.error().message();
    return result;
  }
  const props::BackendMaker make = kernel_maker(*kernel);
  const auto meter = progress_meter(fmt::format("lockstep {}", choice.name));
  result.fixed = props::lockstep(*policy, make, plan_for(options, *policy, false), meter);
  result.switching = props::lockstep(*policy, make, plan_for(options, *policy, true), meter);
  for (const auto* report : result.reports()) {
    if (!report->inconclusive.empty()) result.inconclusive = report->inconclusive;
  }
  if (auto backend = make(); backend) {
    for (const spec::Divergence& divergence : spec::divergences()) {
      result.explained.push_back(replay_divergence(divergence, **backend));
    }
  }
  return result;
}

void prove_all(const GateOptions& options, GateResult& result) {
  if (const std::string package = smt::missing_package(solvers); !package.empty()) {
    result.no_proofs = fmt::format("{0} is not installed: apt-get install {0}", package);
    return;
  }
  std::vector<const smt::Goal*> goals;
  for (const smt::Goal& goal : smt::goals()) goals.push_back(&goal);
  smt::Options how;
  how.solvers = solvers;
  how.seconds = options.timeout;
  how.jobs = options.common.worker_count();
  if (!options.no_cache) how.cache_directory = proof_cache();
  result.proofs = smt::prove(goals, how, progress_meter("prove"));
}

std::string prove_command(const smt::Report& report) {
  return fmt::format("vlag prove {}", report.goal->name);
}

std::string model_replay(const GateOptions& options) {
  return fmt::format("--on model:{}{}", options.policy.preset,
                     policy_change_arguments(options.policy));
}

std::string kernel_replay(const GateOptions& options, const KernelResult& kernel) {
  return fmt::format("--on model:{} --on kernel:{}{}", options.policy.preset, kernel.name,
                     policy_change_arguments(options.policy));
}

// The command that does the same again.
std::string command(const GateOptions& options) {
  const GateOptions standard;
  std::string text = fmt::format("vlag gate --seed {}", options.common.seed);
  if (options.steps != standard.steps) text += fmt::format(" --steps {}", options.steps);
  if (options.kernels != standard.kernels) {
    for (const std::string& kernel : options.kernels) text += " --kernel " + kernel;
  }
  if (options.no_cache) text += " --no-cache";
  return text + policy_arguments(options.policy);
}

std::string_view verdict_of(const KernelResult& kernel) {
  for (const auto* report : kernel.reports()) {
    if (!report->findings.empty()) return "violation";
  }
  return kernel.inconclusive.empty() ? "pass" : "inconclusive";
}

// A property's verdict over the model's campaign and every kernel's stream.
struct PropertyRow {
  const props::Property* property;
  std::uint64_t operations = 0;
  std::string_view verdict = "pass";
};

std::vector<PropertyRow> property_rows(const GateResult& result) {
  std::vector<PropertyRow> rows;
  const auto add = [&](const props::PropertyTally& tally) {
    for (PropertyRow& row : rows) {
      if (row.property != tally.property) continue;
      row.operations += tally.operations;
      if (!tally.held) row.verdict = "violation";
      return;
    }
    rows.push_back({tally.property, tally.operations, tally.held ? "pass" : "violation"});
  };
  for (const props::PropertyTally& tally : result.check.tallies) add(tally);
  for (const KernelResult& kernel : result.kernels) {
    for (const auto* report : kernel.reports()) {
      for (const props::PropertyTally& tally : report->tallies) add(tally);
    }
  }
  for (const props::Finding& finding : result.check.findings) {
    for (PropertyRow& row : rows) {
      if (row.property->name == finding.rule && !finding.divergence.empty()) {
        row.verdict = "explained";
      }
    }
  }
  return rows;
}

// Goals by what was claimed of them.
void print_proof_rows(const GateResult& result) {
  fmt::print("\n{:<34} {:>10} {:>13}  {}\n", "proofs", "goals", "from cache", "verdict");
  for (const auto kind :
       {smt::Kind::full, smt::Kind::bounded, smt::Kind::open, smt::Kind::falsehood}) {
    std::vector<smt::Report> some;
    for (const smt::Report& report : result.proofs) {
      if (report.goal->kind == kind) some.push_back(report);
    }
    if (some.empty()) continue;
    const auto cached = std::count_if(some.begin(), some.end(),
                                      [](const smt::Report& report) { return report.cached; });
    fmt::print("{:<34} {:>10} {:>13}  {}\n", name_of(kind), some.size(), cached,
               coloured_verdict(smt::verdict_of(some)));
  }
  if (!result.no_proofs.empty()) {
    fmt::print("{:<34} {:>10} {:>13}  {}\n", "none", 0, 0, coloured_verdict("inconclusive"));
  }
}

void print_table(const GateResult& result) {
  fmt::print("\n{:<34} {:>10}  {}\n", "property", "operations", "verdict");
  for (const PropertyRow& row : property_rows(result)) {
    fmt::print("{:<34} {:>10}  {}\n", row.property->name, row.operations, row.verdict);
  }
  print_proof_rows(result);
  fmt::print("\n{:<34} {:>10} {:>13}  {}\n", "lockstep with kernel", "operations", "combinations",
             "verdict");
  for (const KernelResult& kernel : result.kernels) {
    fmt::print("{:<34} {:>10} {:>13}  {}\n", kernel.name, kernel.operations(),
               kernel.fixed.combinations, coloured_verdict(verdict_of(kernel)));
  }
}

void print_explained(const GateResult& result) {
  for (const spec::Divergence& divergence : spec::divergences()) {
    fmt::print("\nknown divergence {}: {}\n  shows on:", divergence.id, divergence.title);
    for (const KernelResult& kernel : result.kernels) {
      for (const Explained& explained : kernel.explained) {
        if (explained.divergence == &divergence && explained.shows) fmt::print(" {}", kernel.name);
      }
    }
    fmt::print("\n  smallest sequence:\n");
    const auto source = spec::parse_text(divergence.sequence, std::string(divergence.id));
    for (const spec::Operation& operation : source->operations) {
      fmt::print("    {}\n", spec::to_text(operation));
    }
  }
}

void print_text(const GateOptions& options, const GateResult& result) {
  for (const props::Finding& finding : result.check.findings) {
    if (is_violation(finding)) print_finding(finding, model_replay(options));
  }
  for (const KernelResult& kernel : result.kernels) {
    for (const auto* report : kernel.reports()) {
      for (const props::Finding& finding : report->findings) {
        print_finding(finding, kernel_replay(options, kernel));
      }
    }
  }
  for (const smt::Report& report : result.proofs) {
    if (smt::verdict_of(report) == "pass") continue;
    fmt::print("\n");
    print_proof(report);
    fmt::print("  again: {}\n", prove_command(report));
  }
  print_explained(result);
  print_table(result);
  std::uint64_t operations = 0;
  std::size_t findings = 0;
  for (const KernelResult& kernel : result.kernels) {
    operations += kernel.operations();
    for (const auto* report : kernel.reports()) findings += report->findings.size();
  }
  fmt::print("\n{}: {} lockstep operations, {} unexplained\n", coloured_verdict(result.verdict()),
             operations, findings);
}

Json divergences_json(const KernelResult& kernel) {
  Json list = Json::array();
  for (const auto* report : kernel.reports()) {
    for (const props::Finding& finding : report->findings) {
      list.push_back(divergence_json(finding));
    }
  }
  for (const Explained& explained : kernel.explained) {
    if (!explained.shows) continue;
    list.push_back({{"id", explained.divergence->id},
                    {"explained", true},
                    {"sequence", explained.divergence->sequence}});
  }
  return list;
}

Json proof_finding_json(const smt::Report& report) {
  return {{"rule", report.goal->name},
          {"summary", what_is_wrong(report)},
          {"explained", false},
          {"sequence", ""},
          {"reproduce", prove_command(report)}};
}

Json result_json(const GateOptions& options, const GateResult& result) {
  Json properties = Json::array();
  for (const PropertyRow& row : property_rows(result)) {
    properties.push_back(
        {{"name", row.property->name}, {"verdict", row.verdict}, {"operations", row.operations}});
  }
  Json lockstep = Json::array();
  Json findings = Json::array();
  for (const props::Finding& finding : result.check.findings) {
    findings.push_back(finding_json(finding, model_replay(options)));
  }
  Json proofs = Json::array();
  for (const smt::Report& report : result.proofs) {
    proofs.push_back(proof_json(report, solvers));
    if (smt::verdict_of(report) == "violation") findings.push_back(proof_finding_json(report));
  }
  for (const KernelResult& kernel : result.kernels) {
    Json row = {{"kernel", kernel.name},
                {"hz", kernel.hz},
                {"groups", kernel.groups},
                {"verdict", verdict_of(kernel)},
                {"combinations", kernel.fixed.combinations},
                {"operations", kernel.operations()},
                {"divergences", divergences_json(kernel)}};
    if (!kernel.inconclusive.empty()) row["inconclusive"] = kernel.inconclusive;
    lockstep.push_back(row);
    for (const auto* report : kernel.reports()) {
      for (const props::Finding& finding : report->findings) {
        findings.push_back(finding_json(finding, kernel_replay(options, kernel)));
      }
    }
  }
  Json json = {{"schema", "vlag.gate/1"},     {"verdict", result.verdict()},
               {"seed", options.common.seed}, {"properties", properties},
               {"lockstep", lockstep},        {"proofs", proofs},
               {"findings", findings}};
  if (!result.no_proofs.empty()) json["proofs_inconclusive"] = result.no_proofs;
  return json;
}

int run(const GateOptions& options) {
  std::vector<KernelChoice> kernels;
  for (const std::string& name : options.kernels) {
    const auto kernel = choose_kernel(name);
    if (!kernel) return bad_input(kernel.error().message());
    kernels.push_back(*kernel);
  }
  const auto policy = spec::parse_policy(options.policy);
  if (!policy) return bad_input(policy.error().message());
  if (!options.common.json()) {
    fmt::print("seed {}; again: {}\n", options.common.seed, command(options));
    std::fflush(stdout);
  }
  GateResult result;
  props::Campaign campaign;
  campaign.seed = options.common.seed;
  campaign.operations = options.check_steps;
  campaign.jobs = options.common.worker_count();
  result.check = props::check(*policy, props::all_properties(), campaign, progress_meter("check"));
  prove_all(options, result);
  for (const KernelChoice& kernel : kernels) {
    result.kernels.push_back(run_kernel(options, kernel));
  }
  if (options.common.json()) {
    print_json(result_json(options, result));
  } else {
    print_text(options, result);
  }
  warn_of_cache(result.proofs);
  if (!result.no_proofs.empty()) inconclusive(result.no_proofs);
  for (const KernelResult& kernel : result.kernels) {
    if (!kernel.inconclusive.empty()) inconclusive(kernel.name + ": " + kernel.inconclusive);
  }
  return exit_code_of(result.verdict());
}

}  // namespace

void add_gate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GateOptions>();
  CLI::App& command = *app.add_subcommand("gate", "Check and compare everything; one verdict");
  add_policy_options(command, options->policy);
  add_search_options(command, options->common);
  command.add_option("--kernel", options->kernels, "A kernel to compare with (may be repeated)")
      ->allow_extra_args(false)
      ->capture_default_str();
  command.add_option("--steps", options->steps, "Operations for each combination of features")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--timeout", options->timeout, "Seconds for one goal of the proofs")
      ->check(CLI::Range(0.1, 86'400.0))
      ->capture_default_str();
  command.add_flag("--no-cache", options->no_cache,
                   "Ask anew what was proved before; keep no results of proofs");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
