// SPDX-License-Identifier: GPL-2.0-only
// vlag lockstep: the model against a kernel.
#include "props/lockstep.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "props/cli/backends.h"
#include "props/cli/common.h"
#include "props/cli/findings.h"
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
  return fmt::format("--on model:{} --on kernel:{}{}", options.policy.preset, options.kernel,
                     policy_change_arguments(options.policy));
}

// The command that does the same again.
std::string command(const LockstepOptions& options) {
  const LockstepOptions standard;
  std::string text = fmt::format("vlag lockstep --kernel {} --seed {} --steps {}", options.kernel,
                                 options.common.seed, options.steps);
  if (options.combinations != standard.combinations) {
    text += " --combinations " + options.combinations;
  }
  if (options.length != standard.length) text += fmt::format(" --length {}", options.length);
  if (options.tasks != standard.tasks) text += fmt::format(" --tasks {}", options.tasks);
  if (options.properties) text += " --properties";
  return text + policy_arguments(options.policy);
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

Json report_json(const LockstepOptions& options, const props::Kernel& kernel,
                 const props::LockstepReport& report) {
  Json divergences = Json::array();
  Json findings = Json::array();
  for (const props::Finding& finding : report.findings) {
    divergences.push_back(divergence_json(finding));
    findings.push_back(finding_json(finding, replay_on(options)));
  }
  Json json = {{"schema", "vlag.lockstep/1"},
               {"verdict", verdict_of(report)},
               {"seed", options.common.seed},
               {"policy", options.policy.preset},
               {"kernel", options.kernel},
               {"hz", kernel.hz},
               {"groups", kernel.groups},
               {"combinations", report.combinations},
               {"operations", report.operations},
               {"divergences", divergences},
               {"findings", findings}};
  if (!report.inconclusive.empty()) json["inconclusive"] = report.inconclusive;
  return json;
}

int run(const LockstepOptions& options) {
  const auto choice = choose_kernel(options.kernel);
  if (!choice) return bad_input(choice.error().message());
  const auto policy = spec::parse_policy(with_hz(options.policy, choice->hz));
  if (!policy) return bad_input(policy.error().message());
  const auto kernel = ready_kernel(*choice);
  if (!kernel) return inconclusive(options.common, "vlag.lockstep/1", kernel.error().message());
  if (!options.common.json()) {
    fmt::print("seed {}; again: {}\n", options.common.seed, command(options));
    std::fflush(stdout);
  }
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
    print_json(report_json(options, *kernel, report));
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
  command
      .add_option("--kernel", options->kernel,
                  "VERSION-HZ, VERSION-HZ-groups, or a name of kernel list")
      ->capture_default_str();
  add_policy_options(command, options->policy);
  add_search_options(command, options->common);
  command
      .add_option("--combinations", options->combinations,
                  "Of features: all, or so many that every 2 or 3 meet in all ways")
      ->check(CLI::IsMember({"all", "2", "3"}))
      ->capture_default_str();
  add_size_options(command, options->steps, options->length, options->tasks);
  command.add_flag("--properties", options->properties, "Judge the properties as well");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
