// SPDX-License-Identifier: GPL-2.0-only
// vlag lockstep: the model against a kernel.
#include "props/lockstep.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "props/cli/backends.h"
#include "props/cli/common.h"
#include "props/combinations.h"

namespace vlag::cli {
namespace {

struct LockstepOptions {
  CommonOptions common;
  spec::PolicyText policy;
  std::string kernel = "6.12-250";
  std::string combinations = "all";
  std::uint64_t steps = 1'000'000;
  int length = 100;
  int tasks = 8;
  bool properties = false;
};

std::vector<Features> combinations_of(const std::string& name, Features base) {
  if (name == "all") return props::all_combinations(base);
  return props::covering_combinations(base, name == "2" ? 2 : 3);
}

std::string replay_on(const LockstepOptions& options) {
  return fmt::format(
      "--on model:{} --on kernel:{}{}", options.policy.preset, options.kernel,
      policy_arguments({"eevdf-6.12", options.policy.features, options.policy.sets}));
}

std::string_view verdict_of(const props::LockstepReport& report) {
  if (!report.findings.empty()) return "violation";
  return report.inconclusive.empty() ? "pass" : "inconclusive";
}

void print_text(const LockstepOptions& options, const props::LockstepReport& report,
                double seconds) {
  for (const props::Finding& finding : report.findings) print_finding(finding, replay_on(options));
  fmt::print("{}: {} operations on kernel {} and the model, {} combinations of features\n",
             coloured_verdict(verdict_of(report)), report.operations, options.kernel,
             report.combinations);
  fmt::print(stderr, "{:.0f} operations/s\n", static_cast<double>(report.operations) / seconds);
}

Json report_json(const LockstepOptions& options, const props::LockstepReport& report) {
  Json findings = Json::array();
  for (const props::Finding& finding : report.findings) {
    findings.push_back(finding_json(finding, replay_on(options)));
  }
  return {{"schema", "vlag.lockstep/1"},
          {"verdict", verdict_of(report)},
          {"seed", options.common.seed},
          {"kernel", options.kernel},
          {"combinations", report.combinations},
          {"operations", report.operations},
          {"findings", findings}};
}

int run(const LockstepOptions& options) {
  const auto kernel_spec = parse_kernel_name(options.kernel);
  if (!kernel_spec) return bad_input(kernel_spec.error().message());
  const auto policy = spec::parse_policy(with_hz(options.policy, kernel_spec->hz));
  if (!policy) return bad_input(policy.error().message());
  if (!options.common.json()) {
    fmt::print("seed {}; again: vlag lockstep --kernel {} --seed {} --steps {}{}\n",
               options.common.seed, options.kernel, options.common.seed, options.steps,
               policy_arguments(options.policy));
  }
  const auto kernel = props::ensure_kernel(*kernel_spec, build_progress());
  if (!kernel) return inconclusive(kernel.error().message());
  props::LockstepPlan plan;
  plan.seed = options.common.seed;
  plan.combinations = combinations_of(options.combinations, policy->features);
  plan.operations_per_combination =
      (options.steps + plan.combinations.size() - 1) / plan.combinations.size();
  plan.jobs = options.common.worker_count();
  plan.scope.operations = options.length;
  plan.scope.tasks = options.tasks;
  plan.scope.switch_features = false;
  if (options.properties) plan.asked = props::unconditional_properties();
  const auto start = std::chrono::steady_clock::now();
  const props::LockstepReport report =
      props::lockstep(*policy, kernel_maker(*kernel), plan, progress_meter("lockstep"));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (options.common.json()) {
    print_json(report_json(options, report));
  } else {
    print_text(options, report, elapsed.count());
  }
  if (!report.inconclusive.empty()) inconclusive(report.inconclusive);
  return exit_code_of(verdict_of(report));
}

}  // namespace

void add_lockstep(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<LockstepOptions>();
  CLI::App& command = *app.add_subcommand("lockstep", "Compare the model with a real kernel");
  command.add_option("--kernel", options->kernel, "VERSION-HZ or VERSION-HZ-groups")
      ->capture_default_str();
  add_policy_options(command, options->policy);
  add_search_options(command, options->common);
  command
      .add_option("--combinations", options->combinations,
                  "Of features: all, or so many that every 2 or 3 meet in all ways")
      ->check(CLI::IsMember({"all", "2", "3"}))
      ->capture_default_str();
  command.add_option("--steps", options->steps, "How many operations, at least")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  command.add_option("--length", options->length, "Operations in a sequence")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_option("--tasks", options->tasks, "Tasks in a sequence, at most")
      ->check(CLI::Range(1, VLAG_MAX_TASKS))
      ->capture_default_str();
  command.add_flag("--properties", options->properties, "Judge the properties as well");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
