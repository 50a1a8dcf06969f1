// SPDX-License-Identifier: GPL-2.0-only
// vlag starve: search for a closed population that keeps a runnable task off the CPU.
#include "props/starve.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "props/cli/backends.h"
#include "props/cli/common.h"
#include "props/cli/findings.h"
#include "props/lockstep.h"

namespace vlag::cli {
namespace {

constexpr std::string_view schema = "vlag.starve/1";
constexpr const char* rule = "starvation";

struct Options {
  CommonOptions common;
  spec::PolicyText policy;
  std::uint64_t budget = 100'000'000;
  int tasks = 5;
  unsigned hz = 0;
  bool default_slices = false;
  std::vector<std::string> also;
  bool each_feature = false;
  std::string confirm;
};

// What a kernel made of the sequence.
struct Confirmation {
  std::string kernel;
  bool agrees = false;  // on every field after every operation
  bool starves = false;
  std::string text;
};

// One policy's part.
struct Row {
  std::string change;  // from the policy that was asked for
  props::StarveReport report;
  props::Recording recording;
  std::optional<Confirmation> confirmation;

  std::string_view verdict() const { return report.found ? "violation" : "pass"; }
};

std::string_view verdict_of(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (row.report.found) return row.verdict();
  }
  return "pass";
}

std::string command(const Options& options) {
  const Options standard;
  std::string text =
      fmt::format("vlag starve --seed {} --budget {}", options.common.seed, options.budget);
  if (options.tasks != standard.tasks) text += fmt::format(" --tasks {}", options.tasks);
  if (options.default_slices) text += " --default-slices";
  for (const std::string& move : options.also) text += " --also " + move;
  if (options.each_feature) text += " --each-feature";
  if (options.hz != 0) text += fmt::format(" --hz {}", options.hz);
  if (!options.confirm.empty()) text += " --confirm " + shell_quoted(options.confirm);
  return text + policy_arguments(options.policy);
}

// ------------------------------------------------------------------------ words

std::string text_of(const props::Move& move) {
  using Kind = props::Move::Kind;
  const std::string units = move.share == 1 ? "" : fmt::format(" for {} units", move.share);
  switch (move.kind) {
    case Kind::wake:
      return fmt::format("wake {}", move.task);
    case Kind::sleep:
      return fmt::format("run{} and sleep", units);
    case Kind::run:
      return fmt::format("run{}", units);
    case Kind::yield:
      return "yield";
    case Kind::nice:
      return fmt::format("nice {} {}", move.task, move.value);
    case Kind::away:
      return fmt::format("migrate {} away", move.task);
    case Kind::back:
      return fmt::format("migrate {} back", move.task);
  }
  return {};
}

std::string text_of(const props::Member& member) {
  const std::string slice =
      member.slice != 0 ? fmt::format(", slice {}", time_text(member.slice)) : "";
  return fmt::format("nice {}{}", member.nice, slice);
}

std::string round_text(const props::Scenario& scenario) {
  std::string text;
  for (const props::Move& move : scenario.round) {
    text += (text.empty() ? "" : "; ") + text_of(move);
  }
  return text;
}

std::string pace_text(const props::Pace& pace) {
  if (pace.brief == pace.longer) return fmt::format("a unit is {}", time_text(pace.brief));
  return fmt::format("a unit is {} while task 0 is more than {} ns ahead of V, else {}",
                     time_text(pace.longer), pace.threshold, time_text(pace.brief));
}

std::string lasts_text(const props::Hold& hold) {
  if (hold.recurs_at) {
    return fmt::format("for ever: the state after round {} is that after round {}",
                       *hold.recurs_at + 1, *hold.recurs_from + 1);
  }
  return fmt::format("as long as it was tried: at the end task 0 is still {} ns or more ahead of V",
                     hold.least);
}

std::string summary_of(const props::Starvation& found) {
  return fmt::format("{} sleepers keep task 0 off the CPU: {} rounds, {}",
                     found.scenario.members.size() - 1, found.hold.rounds,
                     time_text(found.hold.time));
}

// ------------------------------------------------------------------------ one policy

props::Move::Kind move_named(const std::string& name) {
  if (name == "run") return props::Move::Kind::run;
  if (name == "yield") return props::Move::Kind::yield;
  return name == "nice" ? props::Move::Kind::nice : props::Move::Kind::away;
}

spec::Result<std::string> save(const Row& row) {
  return save_text(rule, summary_of(*row.report.found), row.recording.sequence,
                   spec::to_compact_text(row.recording.sequence));
}

Confirmation confirmed_on(props::Backend& kernel, const Policy& policy,
                          const props::Recording& recording) {
  props::ModelBackend model(policy);
  spec::Trace here;
  spec::Trace there;
  const props::Outcome mine = model.run(recording.sequence, here);
  const props::Outcome its = kernel.run(recording.sequence, there);
  const props::Comparison comparison = props::compare(recording.sequence, here, mine, there, its);
  Confirmation result;
  result.kernel = kernel.info().name;
  result.agrees = comparison.kind == props::Comparison::Kind::equal;
  result.starves = there.size() == recording.sequence.size();
  for (std::size_t i = recording.start; i < there.size(); ++i) {
    result.starves = result.starves && there[i].head->current != props::victim;
  }
  result.text = fmt::format("task 0 {} there; {}", result.starves ? "gets 0 ns" : "runs",
                            props::describe(comparison, recording.sequence));
  return result;
}

Row searched(const Options& options, const Policy& policy, std::string change,
             props::Backend* kernel) {
  props::StarveOptions search;
  search.seed = options.common.seed;
  search.budget = options.budget;
  search.tasks = options.tasks;
  search.jobs = options.common.worker_count();
  search.default_slices = options.default_slices;
  for (const std::string& move : options.also) search.also.push_back(move_named(move));
  Row row;
  row.report = props::find_starvation(policy, search, progress_meter("starve " + change));
  row.change = std::move(change);
  if (!row.report.found) return row;
  row.recording = props::recording_of(policy, row.report.found->scenario, row.report.found->hold);
  if (kernel != nullptr) row.confirmation = confirmed_on(*kernel, policy, row.recording);
  return row;
}

void print_found(const Row& row) {
  const props::Starvation& found = *row.report.found;
  fmt::print("{}\n  found by attempt {} after {} operations; {} more to shrink it\n",
             summary_of(found), found.attempt, row.report.operations, found.shrink_operations);
  for (std::size_t i = 0; i < found.scenario.members.size(); ++i) {
    fmt::print("  task {}: {}{}\n", i, text_of(found.scenario.members[i]),
               i == props::victim ? ", runs once and never sleeps" : "");
  }
  fmt::print("  the first tick comes after {}\n", time_text(found.scenario.first_tick));
  fmt::print("  round: {}\n", round_text(found.scenario));
  fmt::print("  pace: {}\n", pace_text(found.hold.pace));
  fmt::print("  lasts {}\n", lasts_text(found.hold));
  fmt::print("  gain: x{:.4f} a round ({} to {} ns ahead in {} rounds of brief runs)\n",
             found.growth.gain(), found.growth.low, found.growth.high, found.growth.rounds);
  fmt::print("  jitter: runs +-50 %, longer ones around {}: lasts {} of {} rounds\n",
             time_text(found.jitter.longer), found.jitter.rounds, found.jitter.most);
  fmt::print("  default requests suffice: {}\n", found.default_slices ? "yes" : "not shown");
  if (row.confirmation) {
    fmt::print("  {}: {}\n", row.confirmation->kernel, row.confirmation->text);
  }
  const auto saved = save(row);
  fmt::print("  again: vlag run {}\n",
             saved ? shell_quoted(*saved) : "FILE (" + saved.error().message() + ")");
}

void print_row(const Row& row) {
  if (!row.change.empty()) fmt::print("\n{}\n", row.change);
  if (row.report.found) {
    print_found(row);
  } else {
    fmt::print("none found in {} operations, {} attempts: this is not a proof\n",
               row.report.operations, row.report.attempts);
  }
}

void print_table(const std::vector<Row>& rows) {
  fmt::print("\n{:<28} {:<10} {:>12} {:>9} {:>8}  {}\n", "policy", "found", "operations",
             "sleepers", "gain", "lasts");
  for (const Row& row : rows) {
    const std::string name = row.change.empty() ? "as asked" : row.change;
    if (!row.report.found) {
      fmt::print("{:<28} {:<10} {:>12}\n", name, "no", row.report.operations);
      continue;
    }
    const props::Starvation& found = *row.report.found;
    fmt::print("{:<28} {:<10} {:>12} {:>9} {:>8.4f}  {}\n", name, "yes", row.report.operations,
               found.scenario.members.size() - 1, found.growth.gain(),
               found.hold.recurs_at ? "for ever" : time_text(found.hold.time));
  }
}

Json found_json(const Row& row) {
  const props::Starvation& found = *row.report.found;
  Json tasks = Json::array();
  for (const props::Member& member : found.scenario.members) {
    tasks.push_back({{"nice", member.nice}, {"slice", member.slice}});
  }
  Json moves = Json::array();
  for (const props::Move& move : found.scenario.round) moves.push_back(text_of(move));
  const auto saved = save(row);
  Json json = {{"summary", summary_of(found)},
               {"victim", props::victim},
               {"tasks", tasks},
               {"first_tick", found.scenario.first_tick},
               {"round", moves},
               {"pace",
                {{"brief", found.hold.pace.brief},
                 {"longer", found.hold.pace.longer},
                 {"threshold", found.hold.pace.threshold}}},
               {"rounds", found.hold.rounds},
               {"time", found.hold.time},
               {"least_lead", found.hold.least},
               {"recurs", found.hold.recurs_at.has_value()},
               {"gain", fmt::format("{:.4f}", found.growth.gain())},
               {"jitter",
                {{"longer", found.jitter.longer},
                 {"rounds", found.jitter.rounds},
                 {"of", found.jitter.most}}},
               {"default_slices", found.default_slices},
               {"attempt", found.attempt},
               {"shrink_operations", found.shrink_operations},
               {"operations", row.recording.sequence.size()},
               {"sequence", saved ? *saved : ""}};
  if (row.confirmation) {
    json["confirm"] = {{"kernel", row.confirmation->kernel},
                       {"starves", row.confirmation->starves},
                       {"agrees", row.confirmation->agrees},
                       {"summary", row.confirmation->text}};
  }
  return json;
}

Json row_json(const Row& row) {
  Json json = {{"change", row.change},
               {"verdict", row.verdict()},
               {"operations", row.report.operations},
               {"attempts", row.report.attempts},
               {"found", nullptr}};
  if (row.report.found) json["found"] = found_json(row);
  return json;
}

// ------------------------------------------------------------------------ all

struct Variant {
  std::string change;
  Policy policy;
};

// The policy itself; each deciding feature the other way round; each other lag_inflation.
std::vector<Variant> variants_of(const Policy& policy, bool each) {
  std::vector<Variant> all = {{"", policy}};
  if (!each) return all;
  for (const Feature feature : deciding_features()) {
    const bool on = !policy.features.has(feature);
    Policy other = policy;
    other.features.set(feature, on);
    all.push_back({fmt::format("{}{}", on ? "" : "NO_", feature_name(feature)), other});
  }
  for (const RuleInfo& info : rule_table()) {
    if (info.name != "lag_inflation") continue;
    for (std::size_t value = 0; value < info.values.size(); ++value) {
      if (value == info.get(policy.rules)) continue;
      Policy other = policy;
      info.set(other.rules, value);
      all.push_back({fmt::format("{}={}", info.name, info.values[value]), other});
    }
  }
  return all;
}

spec::Result<std::unique_ptr<props::Backend>> kernel_of(const std::string& name) {
  const auto choice = choose_kernel(name);
  if (!choice) return choice.error();
  return make_backend({"kernel:" + name, *choice});
}

int run(Options options) {
  const std::string again = command(options);
  if (options.hz != 0) options.policy.sets.push_back(fmt::format("hz={}", options.hz));
  std::string kernel_name = options.confirm;
  if (kernel_name.starts_with("kernel:")) kernel_name.erase(0, std::string("kernel:").size());
  if (!kernel_name.empty()) {
    const auto choice = choose_kernel(kernel_name);
    if (!choice) return bad_input(choice.error().message());
    options.policy = with_hz(options.policy, choice->hz);
  }
  const auto policy = spec::parse_policy(options.policy);
  if (!policy) return bad_input(policy.error().message());
  std::unique_ptr<props::Backend> kernel;
  if (!kernel_name.empty()) {
    auto made = kernel_of(kernel_name);
    if (!made) return inconclusive(options.common, schema, made.error().message());
    kernel = std::move(*made);
  }
  if (!options.common.json()) {
    fmt::print("seed {}; again: {}\n", options.common.seed, again);
  }
  std::vector<Row> rows;
  for (const Variant& variant : variants_of(*policy, options.each_feature)) {
    rows.push_back(searched(options, variant.policy, variant.change, kernel.get()));
    if (!options.common.json()) print_row(rows.back());
  }
  if (options.common.json()) {
    Json list = Json::array();
    for (const Row& row : rows) list.push_back(row_json(row));
    print_json({{"schema", schema},
                {"verdict", verdict_of(rows)},
                {"seed", options.common.seed},
                {"policy", policy->name},
                {"hz", policy->tunables.hz},
                {"budget", options.budget},
                {"rows", list}});
  } else {
    if (options.each_feature) print_table(rows);
    fmt::print("{}: {}\n", coloured_verdict(verdict_of(rows)),
               verdict_of(rows) == "pass" ? "no starvation was found" : "a runnable task starves");
  }
  return exit_code_of(verdict_of(rows));
}

}  // namespace

void add_starve(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand(
      "starve", "Search for a closed population that keeps a runnable task off the CPU");
  add_policy_options(command, options->policy);
  add_search_options(command, options->common);
  command.add_option("--budget", options->budget, "How many operations to search, at least")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  command.add_option("--tasks", options->tasks, "Tasks, at most, with the one that waits")
      ->check(CLI::Range(3, 16))
      ->capture_default_str();
  command.add_option("--hz", options->hz, "Ticks a second; as --set hz=N");
  command.add_flag("--default-slices", options->default_slices, "No custom requests");
  command
      .add_option("--also", options->also,
                  "What else the others do than wake and sleep (may be repeated)")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"run", "yield", "nice", "migrate"}));
  command.add_flag("--each-feature", options->each_feature,
                   "Also with each feature toggled, and with each value of lag_inflation");
  command.add_option("--confirm", options->confirm,
                     "Replay what is found on this kernel: 6.12-250");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
