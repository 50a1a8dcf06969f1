// SPDX-License-Identifier: GPL-2.0-only
// vlag replay: one sequence on several backends, side by side.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "props/cli/backends.h"
#include "props/cli/common.h"
#include "props/cli/source.h"
#include "props/lockstep.h"

namespace vlag::cli {
namespace {

struct ReplayOptions {
  CommonOptions common;
  spec::PolicyText policy;
  std::string file;
  std::vector<std::string> on = {"model:eevdf-6.12"};
  std::size_t most_rows = 16;
};

// One backend's part of a replay.
struct Side {
  std::string name;
  std::unique_ptr<props::Backend> backend;
  spec::Trace trace;
  props::Outcome outcome;
};

std::string short_state(const spec::Observation& now) {
  const std::string current = now.head->current == VLAG_NO_ENTITY
                                  ? std::string("idle")
                                  : fmt::format("{}", now.head->current);
  return fmt::format("current {:<4} {:<7} queued {:<3} V {}", current,
                     now.head->need_resched != 0 ? "resched" : "", now.queue->nr_running,
                     now.queue->average);
}

void print_row(const std::vector<Side>& sides, std::span<const spec::Operation> operations,
               std::size_t index) {
  for (const Side& side : sides) {
    const bool first = &side == &sides.front();
    const std::string what =
        first ? fmt::format("{:>6} {:<34}", index, spec::to_text(operations[index]))
              : fmt::format("{:>6} {:<34}", "", "");
    if (index >= side.trace.size()) {
      fmt::print("{} {:<24} (nothing)\n", what, side.name);
      continue;
    }
    const bool same =
        first || (index < sides.front().trace.size() &&
                  spec::same_observation(sides.front().trace[index], side.trace[index]));
    fmt::print("{} {:<24} {}{}\n", what, side.name, short_state(side.trace[index]),
               same ? "" : "   <-- differs");
  }
}

void print_records(const Side& side, std::size_t index) {
  if (index < side.trace.size()) {
    fmt::print("{}:\n{}\n", side.name, spec::describe(side.trace[index]));
  }
}

struct Result {
  props::Comparison comparison;
  const Side* other = nullptr;  // against the first side
  std::string_view verdict = "pass";
};

Result compare_sides(const std::vector<Side>& sides, std::span<const spec::Operation> operations) {
  Result result;
  const Side& first = sides.front();
  for (std::size_t i = sides.size() == 1 ? 0 : 1; i < sides.size(); ++i) {
    result.other = &sides[i];
    result.comparison =
        props::compare(operations, first.trace, first.outcome, sides[i].trace, sides[i].outcome);
    if (result.comparison.kind == props::Comparison::Kind::equal) continue;
    result.verdict =
        result.comparison.kind == props::Comparison::Kind::lost ? "inconclusive" : "violation";
    return result;
  }
  return result;
}

void print_text(const ReplayOptions& options, const std::vector<Side>& sides,
                std::span<const spec::Operation> operations, const Result& result) {
  const std::size_t end = result.verdict == "pass"
                              ? operations.size()
                              : std::min(operations.size(), result.comparison.index + 1);
  const std::size_t skipped = end - std::min(options.most_rows, end);
  if (skipped > 0) fmt::print("({} operations before, all alike)\n", skipped);
  for (std::size_t i = skipped; i < end; ++i) print_row(sides, operations, i);
  if (result.comparison.kind == props::Comparison::Kind::differs) {
    print_records(sides.front(), result.comparison.index);
    print_records(*result.other, result.comparison.index);
  }
  fmt::print("{}: {}{}\n", coloured_verdict(result.verdict),
             result.verdict == "pass" ? "" : fmt::format("{}: ", result.other->name),
             props::describe(result.comparison, operations));
}

Json result_json(const ReplayOptions& options, std::size_t operations, const Result& result,
                 std::span<const spec::Operation> sequence) {
  Json json = {{"schema", "vlag.replay/1"},
               {"verdict", result.verdict},
               {"file", options.file},
               {"on", options.on},
               {"operations", operations}};
  if (result.verdict == "pass") return json;
  json["other"] = result.other->name;
  json["index"] = result.comparison.index;
  json["summary"] = props::describe(result.comparison, sequence);
  if (result.comparison.kind == props::Comparison::Kind::differs) {
    json["field"] = result.comparison.difference.field;
    json["left"] = result.comparison.difference.left;
    json["right"] = result.comparison.difference.right;
  }
  return json;
}

int run(const ReplayOptions& options) {
  const auto source = spec::read_sequence(options.file);
  if (!source) return bad_input(source.error().message());
  unsigned hz = 0;
  for (const std::string& name : options.on) hz = hz != 0 ? hz : hz_of(name);
  std::vector<Side> sides;
  for (const std::string& name : options.on) {
    auto made = make_backend(name, options.policy, hz);
    if (const auto* failure = std::get_if<NotMade>(&made)) {
      return failure->bad_input ? bad_input(failure->message) : inconclusive(failure->message);
    }
    Side side{name, std::move(std::get<0>(made)), {}, {}};
    side.outcome = side.backend->run(source->operations, side.trace);
    if (const auto refused = first_refused(*source, side.trace)) {
      return bad_input(refused->message());
    }
    sides.push_back(std::move(side));
  }
  const Result result = compare_sides(sides, source->operations);
  if (options.common.json()) {
    print_json(result_json(options, source->operations.size(), result, source->operations));
  } else {
    print_text(options, sides, source->operations, result);
  }
  return exit_code_of(result.verdict);
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App& command =
      *app.add_subcommand("replay", "Run a sequence on several backends, side by side");
  command.add_option("file", options->file, "The sequence, as text or binary")->required();
  command.add_option("--on", options->on, "model:POLICY or kernel:NAME (may be repeated)")
      ->allow_extra_args(false)
      ->capture_default_str();
  command.add_option("--rows", options->most_rows, "How many operations to print, from the last")
      ->capture_default_str();
  command.add_option("--features", options->policy.features, "Features to change in models");
  command.add_option("--set", options->policy.sets, "A rule or tunable to change in models")
      ->allow_extra_args(false);
  add_format_option(command, options->common);
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
