// SPDX-License-Identifier: GPL-2.0-only
// vlag run: a sequence on the model, and the schedule that it gives.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "props/cli/common.h"
#include "props/cli/source.h"
#include "props/schedule.h"

namespace vlag::cli {
namespace {

struct RunOptions {
  CommonOptions common;
  spec::PolicyText policy;
  std::string file;
  std::size_t most_runs = 24;
};

std::string state_text(const props::TaskSummary& task) {
  if ((task.flags & VLAG_TASK_MIGRATING) != 0) return "away";
  if ((task.flags & VLAG_DELAYED) != 0) return "delayed";
  if ((task.flags & VLAG_ON_RQ) == 0) return "asleep";
  return task.waiting ? "waiting" : "running";
}

std::string task_name(int task) {
  return task == VLAG_NO_ENTITY ? std::string("idle") : fmt::format("{}", task);
}

void print_runs(const props::Schedule& schedule, std::size_t most) {
  fmt::print("schedule:");
  const std::size_t skipped = schedule.runs.size() - std::min(most, schedule.runs.size());
  if (skipped > 0) fmt::print(" ({} earlier runs)", skipped);
  for (std::size_t i = skipped; i < schedule.runs.size(); ++i) {
    const props::Run& run = schedule.runs[i];
    fmt::print(" {}:{}", task_name(run.task), time_text(run.end - run.start));
  }
  fmt::print("\n");
}

const props::TaskSummary* longest_waiter(const props::Schedule& schedule) {
  const auto at = std::max_element(
      schedule.tasks.begin(), schedule.tasks.end(),
      [](const auto& a, const auto& b) { return a.longest_wait < b.longest_wait; });
  return at != schedule.tasks.end() ? &*at : nullptr;
}

void print_text(const RunOptions& options, const Policy& policy, const props::Schedule& schedule,
                std::size_t operations) {
  fmt::print("{} under {}, HZ {}: {} operations, {}\n", options.file, policy.name,
             policy.tunables.hz, operations, time_text(schedule.end - schedule.start));
  print_runs(schedule, options.most_runs);
  fmt::print("{:>4} {:>4} {:>8} {:>14} {:>7} {:>14} {:>13}  {}\n", "task", "nice", "weight",
             "service", "share", "longest wait", "lag", "state");
  const double elapsed = static_cast<double>(schedule.end - schedule.start);
  for (const props::TaskSummary& task : schedule.tasks) {
    const double share = elapsed > 0 ? 100.0 * static_cast<double>(task.service) / elapsed : 0;
    fmt::print("{:>4} {:>4} {:>8} {:>14} {:>6.2f}% {:>14} {:>13}  {}\n", task.task, task.nice,
               task.weight >> 10, time_text(task.service), share, time_text(task.longest_wait),
               task.lag, state_text(task));
  }
  if (const props::TaskSummary* waiter = longest_waiter(schedule); waiter != nullptr) {
    fmt::print("task {} waited longest: {}{}\n", waiter->task, time_text(waiter->longest_wait),
               waiter->waiting ? ", and still waits" : "");
  }
}

// Why the policy broke down; empty if it did not.
std::string breakdown(const spec::Source& source, const spec::Trace& trace,
                      const props::Outcome& outcome) {
  if (outcome.completed()) return {};
  return fmt::format("the policy breaks down after operation {} ({}): {}", trace.size() - 1,
                     spec::to_text(source.operations[trace.size() - 1]), outcome.text);
}

Json schedule_json(const RunOptions& options, const Policy& policy, const props::Schedule& schedule,
                   std::size_t operations, const std::string& broken) {
  Json runs = Json::array();
  for (const props::Run& run : schedule.runs) {
    runs.push_back({{"task", run.task}, {"start", run.start}, {"end", run.end}});
  }
  Json tasks = Json::array();
  for (const props::TaskSummary& task : schedule.tasks) {
    tasks.push_back({{"task", task.task},
                     {"nice", task.nice},
                     {"weight", task.weight},
                     {"service", task.service},
                     {"longest_wait", task.longest_wait},
                     {"lag", task.lag},
                     {"state", state_text(task)}});
  }
  Json json = {{"schema", "vlag.run/1"},
               {"verdict", broken.empty() ? "pass" : "violation"},
               {"file", options.file},
               {"policy", policy.name},
               {"hz", policy.tunables.hz},
               {"operations", operations},
               {"start", schedule.start},
               {"end", schedule.end},
               {"runs", runs},
               {"tasks", tasks}};
  if (!broken.empty()) json["summary"] = broken;
  return json;
}

int run(const RunOptions& options) {
  const auto policy = spec::parse_policy(options.policy);
  if (!policy) return bad_input(policy.error().message());
  const auto source = spec::read_sequence(options.file);
  if (!source) return bad_input(source.error().message());
  props::ModelBackend model(*policy);
  spec::Trace trace;
  const props::Outcome outcome = model.run(source->operations, trace);
  if (const auto refused = refusal(*source, trace)) return bad_input(refused->message());
  const props::Schedule schedule = props::schedule_of(trace);
  const std::string broken = breakdown(*source, trace, outcome);
  if (options.common.json()) {
    print_json(schedule_json(options, *policy, schedule, trace.size(), broken));
  } else {
    print_text(options, *policy, schedule, trace.size());
    if (!broken.empty()) fmt::print("{}: {}\n", coloured_verdict("violation"), broken);
  }
  return broken.empty() ? exit_held : exit_violation;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App& command = *app.add_subcommand("run", "Run a sequence on the model; print the schedule");
  command.add_option("file", options->file, "The sequence, as text or binary")->required();
  command.add_option("--runs", options->most_runs, "How many runs of the schedule to print")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  add_policy_options(command, options->policy);
  add_format_option(command, options->common);
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
