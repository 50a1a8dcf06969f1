// SPDX-License-Identifier: GPL-2.0-only
// vlag bugs: find each fault of the catalogue from a cold start, and show what kills it.
#include "props/bugs.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <memory>

#include "props/cli/common.h"
#include "props/cli/findings.h"
#include "spec/words.h"

namespace vlag::cli {
namespace {

using spec::Bug;

struct BugsOptions {
  CommonOptions common;
  std::vector<std::string> ids;
  std::uint64_t steps = props::Hunt{}.operations;
  bool all = false;
  bool matrix = false;
};

struct Hunted {
  const Bug* bug = nullptr;
  props::Catch caught;

  bool good() const { return !bug->expressible() || caught.good(); }
};

std::string command(const BugsOptions& options, const Bug& bug) {
  return fmt::format("vlag bugs {} --seed {} --steps {}", bug.id, options.common.seed,
                     options.steps);
}

std::string replay_on(const Bug& bug) {
  std::string text = "--on model:eevdf-6.12";
  for (const std::string& setting : spec::settings_of(bug)) text += " --set " + setting;
  return text;
}

void print_entry(const Bug& bug) {
  fmt::print("{} ({}, {})\n  {}\n  fix: {}; see {}\n  should be: {}\n", bug.id, bug.component,
             bug.affected, bug.title, bug.fix, bug.source, bug.invariant);
  if (!bug.base.empty()) fmt::print("  right: {}\n", bug.base);
  if (bug.expressible()) fmt::print("  fault: {}\n", bug.change);
}

void print_catch(const BugsOptions& options, const Bug& bug, const props::Catch& caught) {
  if (!caught.found) {
    fmt::print("  {}: {} operations in {:.2f} s of CPU, and no property failed\n",
               coloured_verdict("not found"), caught.operations, caught.cpu_seconds);
    return;
  }
  fmt::print("  found by {} after {} operations, in {:.2f} s of CPU: {}\n", caught.property,
             caught.operations, caught.cpu_seconds, caught.summary);
  fmt::print("  shrunk to {} operations:\n", caught.sequence.size());
  for (std::size_t i = 0; i < caught.sequence.size(); ++i) {
    fmt::print("    {}. {}\n", i + 1, spec::in_words(caught.sequence[i]));
  }
  if (caught.still_wrong.empty()) {
    fmt::print("  without the fault: no violation\n");
  } else {
    fmt::print("  {} without the fault: {}\n", coloured_verdict("still wrong"), caught.still_wrong);
  }
  const props::Finding finding{caught.property, caught.summary, caught.sequence, {}};
  if (const auto saved = save_finding(finding)) {
    fmt::print("  again: vlag replay {} {}\n", shell_quoted(*saved), replay_on(bug));
  } else {
    fmt::print("  again: {}\n", command(options, bug));
  }
}

Json entry_json(const Hunted& hunted, bool was_hunted) {
  const Bug& bug = *hunted.bug;
  Json json = {{"id", bug.id},
               {"title", bug.title},
               {"fix", bug.fix},
               {"source", bug.source},
               {"affected", bug.affected},
               {"component", bug.component},
               {"invariant", bug.invariant},
               {"base", bug.base},
               {"change", bug.change},
               {"expressible", bug.expressible()},
               {"reason", bug.reason}};
  if (!was_hunted) return json;
  const props::Catch& caught = hunted.caught;
  json.update({{"found", caught.found},
               {"property", caught.property},
               {"operations", caught.operations},
               {"steps", caught.sequence.size()},
               {"cpu_seconds", caught.cpu_seconds}});
  if (!caught.found) return json;
  json.update({{"summary", caught.summary},
               {"sequence", spec::to_text(caught.sequence)},
               {"without_the_fault", caught.still_wrong}});
  return json;
}

template <class Number>
Number median(std::vector<Number> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers.empty() ? Number() : numbers[numbers.size() / 2];
}

void print_summary(std::span<const Hunted> all) {
  std::vector<double> seconds;
  std::vector<std::size_t> steps;
  std::size_t asked = 0;
  for (const Hunted& one : all) {
    asked += one.bug->expressible() ? 1 : 0;
    if (!one.caught.good()) continue;
    seconds.push_back(one.caught.cpu_seconds);
    steps.push_back(one.caught.sequence.size());
  }
  fmt::print(
      "{} of {} found, and clean without the fault; median {:.2f} s of CPU and {} operations",
      seconds.size(), asked, median(seconds), median(steps));
  if (!seconds.empty()) {
    fmt::print(", most {:.2f} s and {} operations",
               *std::max_element(seconds.begin(), seconds.end()),
               *std::max_element(steps.begin(), steps.end()));
  }
  fmt::print("\n");
}

int list(const BugsOptions& options) {
  if (options.common.json()) {
    Json entries = Json::array();
    for (const Bug& bug : spec::bugs()) entries.push_back(entry_json({&bug, {}}, false));
    print_json({{"schema", "vlag.bugs/1"}, {"bugs", entries}});
    return exit_held;
  }
  for (const Bug& bug : spec::bugs()) {
    fmt::print("{:<34} {:<9} {}\n", bug.id, bug.component,
               bug.expressible() ? bug.change : "not expressible: " + std::string(bug.reason));
  }
  return exit_held;
}

// The entries one after another, several at a time; printed in their order.
std::vector<Hunted> hunt_all(const BugsOptions& options, const std::vector<const Bug*>& asked) {
  std::vector<Hunted> all;
  for (const Bug* bug : asked) all.push_back({bug, {}});
  const props::Hunt how{.seed = options.common.seed, .operations = options.steps};
  std::atomic<std::size_t> next = 0;
  props::in_parallel(options.common.worker_count(), [&](unsigned) {
    for (std::size_t i = next++; i < all.size(); i = next++) {
      if (all[i].bug->expressible()) all[i].caught = props::hunt(*all[i].bug, how);
    }
  });
  return all;
}

int report(const BugsOptions& options, const std::vector<const Bug*>& asked) {
  if (!options.common.json()) fmt::print("seed {}\n", options.common.seed);
  const std::vector<Hunted> all = hunt_all(options, asked);
  const bool good =
      std::all_of(all.begin(), all.end(), [](const Hunted& one) { return one.good(); });
  const std::string_view verdict = good ? "pass" : "violation";
  if (options.common.json()) {
    Json entries = Json::array();
    for (const Hunted& one : all) entries.push_back(entry_json(one, true));
    print_json({{"schema", "vlag.bugs/1"},
                {"verdict", verdict},
                {"seed", options.common.seed},
                {"bugs", entries}});
    return exit_code_of(verdict);
  }
  for (const Hunted& one : all) {
    fmt::print("\n");
    print_entry(*one.bug);
    if (one.bug->expressible()) {
      print_catch(options, *one.bug, one.caught);
    } else {
      fmt::print("  not expressible: {}\n", one.bug->reason);
    }
  }
  fmt::print("\n");
  print_summary(all);
  return exit_code_of(verdict);
}

int run(const BugsOptions& options) {
  std::vector<const Bug*> asked;
  for (const std::string& id : options.ids) {
    const auto bug = spec::known_bug(id);
    if (!bug) return bad_input(bug.error().message());
    if (std::find(asked.begin(), asked.end(), *bug) == asked.end()) asked.push_back(*bug);
  }
  if (options.all && !asked.empty()) return bad_input("--all already names every entry");
  if (options.all) {
    for (const Bug& bug : spec::bugs()) asked.push_back(&bug);
  }
  return asked.empty() ? list(options) : report(options, asked);
}

}  // namespace

void add_bugs(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BugsOptions>();
  CLI::App& command = *app.add_subcommand(
      "bugs",
      "Find the faults that kernels had, each from its policy value; without ID, list them");
  command.add_option("id", options->ids, "Entries of the catalogue");
  command.add_flag("--all", options->all, "Every entry");
  add_search_options(command, options->common);
  command.add_option("--steps", options->steps, "How many operations to search for each, at most")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
