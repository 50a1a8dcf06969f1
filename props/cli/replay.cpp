// SPDX-License-Identifier: GPL-2.0-only
// vlag replay: one sequence on several backends, side by side; every property judged on each.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "props/cli/asked.h"
#include "props/cli/backends.h"
#include "props/cli/common.h"
#include "props/cli/source.h"
#include "props/lockstep.h"
#include "props/relation_search.h"

namespace vlag::cli {
namespace {

struct ReplayOptions {
  CommonOptions common;
  spec::PolicyText policy;
  std::string file;
  std::vector<std::string> on = {"model:eevdf-6.12"};
  std::vector<std::string> properties;
  bool beyond_bounds = false;
  std::size_t most_rows = 16;
};

// One backend's part of a replay.
struct Side {
  std::string name;
  std::optional<Policy> policy;  // of a model
  std::unique_ptr<props::Backend> backend;
  spec::Trace trace;
  props::Outcome outcome;
};

// A property that does not hold on a side.
struct Broken {
  const Side* side;
  props::Violation violation;
  std::string divergence;  // the known one that explains it; else empty
};

// A relation that does not hold on a side.
struct Unlike {
  const Side* side;
  const props::Relation* relation;
  std::string what;
  std::string divergence;  // as above
};

struct Result {
  props::Comparison comparison;
  const Side* other = nullptr;  // that differs from the first, or did not survive
  std::vector<Broken> broken;   // unexplained ones first
  std::vector<Unlike> unlike;
  std::string_view verdict = "pass";

  bool differs() const { return comparison.kind == props::Comparison::Kind::differs; }
  bool agree() const { return comparison.kind == props::Comparison::Kind::equal; }
  const Broken* violation() const {
    return !broken.empty() && broken.front().divergence.empty() ? &broken.front() : nullptr;
  }
  const Unlike* unlike_violation() const {
    for (const Unlike& one : unlike) {
      if (one.divergence.empty()) return &one;
    }
    return nullptr;
  }
};

std::string short_state(const spec::Observation& now) {
  const std::string current = now.head->current == VLAG_NO_ENTITY
                                  ? std::string("idle")
                                  : fmt::format("{}", now.head->current);
  return fmt::format("current {:<4} {:<7} queued {:<3} V {}", current,
                     now.head->need_resched != 0 ? "resched" : "", now.queue->nr_running,
                     now.queue->average);
}

// What is to be seen after that operation on that side.
std::string mark(const std::vector<Side>& sides, const Side& side, std::size_t index,
                 const Result& result) {
  std::string text;
  const Side& first = sides.front();
  const bool same =
      index >= first.trace.size() || spec::same_observation(first.trace[index], side.trace[index]);
  if (!same) text = "   <-- differs";
  for (const Broken& broken : result.broken) {
    if (broken.side != &side || broken.violation.index != index || !broken.divergence.empty()) {
      continue;
    }
    text += fmt::format("   <-- {}", broken.violation.property->name);
  }
  return text;
}

void print_row(const std::vector<Side>& sides, std::span<const spec::Operation> operations,
               std::size_t index, const Result& result) {
  for (const Side& side : sides) {
    const bool first = &side == &sides.front();
    const std::string what =
        first ? fmt::format("{:>6} {:<34}", index, spec::to_text(operations[index]))
              : fmt::format("{:>6} {:<34}", "", "");
    if (index >= side.trace.size()) {
      fmt::print("{} {:<24} (nothing)\n", what, side.name);
      continue;
    }
    fmt::print("{} {:<24} {}{}\n", what, side.name, short_state(side.trace[index]),
               mark(sides, side, index, result));
  }
}

void print_records(const Side& side, std::size_t index) {
  if (index < side.trace.size()) {
    fmt::print("{}:\n{}\n", side.name, spec::describe(side.trace[index]));
  }
}

// On a kernel any divergence may show; on a model those whose rule it has as Linux does.
std::string explanation_of(const Side& side, const props::Property& property) {
  return side.policy ? props::explanation(property, *side.policy)
                     : std::string(property.divergence);
}

std::vector<Broken> judge_sides(const std::vector<Side>& sides,
                                std::span<const spec::Operation> operations,
                                std::span<const props::Property* const> asked,
                                props::Claimed claimed) {
  std::vector<Broken> all;
  for (const Side& side : sides) {
    const auto verdict = props::judge(operations, side.trace, side.backend->info(), asked, claimed);
    for (const props::Violation& violation : verdict.violations) {
      all.push_back({&side, violation, explanation_of(side, *violation.property)});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Broken& left, const Broken& right) {
    return left.divergence.empty() && !right.divergence.empty();
  });
  return all;
}

// Relations run the sequence and all its relatives, so they are judged only if asked for by name.
std::vector<Unlike> relate_sides(const std::vector<Side>& sides, const spec::Sequence& operations,
                                 std::span<const props::Relation* const> asked) {
  std::vector<Unlike> all;
  for (const Side& side : sides) {
    for (const props::Relation* relation : asked) {
      const std::string what = props::RelationJudge(*side.backend, *relation).judge_all(operations);
      if (what.empty()) continue;
      const std::string divergence = side.policy ? props::explanation(*relation, *side.policy)
                                                 : std::string(relation->divergence);
      all.push_back({&side, relation, what, divergence});
    }
  }
  return all;
}

Result compare_sides(const std::vector<Side>& sides, std::span<const spec::Operation> operations,
                     std::span<const props::Property* const> asked, props::Claimed claimed) {
  Result result;
  const Side& first = sides.front();
  for (std::size_t i = sides.size() == 1 ? 0 : 1; i < sides.size() && result.agree(); ++i) {
    result.comparison =
        props::compare(operations, first.trace, first.outcome, sides[i].trace, sides[i].outcome);
    if (result.agree()) continue;
    result.other = result.differs() || first.outcome.completed() ? &sides[i] : &first;
  }
  result.broken = judge_sides(sides, operations, asked, claimed);
  const bool lost = result.comparison.kind == props::Comparison::Kind::lost;
  if (!result.agree()) result.verdict = lost ? "inconclusive" : "violation";
  if (result.violation() != nullptr) result.verdict = "violation";
  return result;
}

std::string describe(const Unlike& unlike) {
  return fmt::format("{} on {} {}", unlike.relation->name, unlike.side->name, unlike.what);
}

std::string describe(const Broken& broken, std::span<const spec::Operation> operations) {
  const props::Violation& violation = broken.violation;
  return fmt::format("{} on {} after operation {} ({}): {}", violation.property->name,
                     broken.side->name, violation.index, spec::to_text(operations[violation.index]),
                     violation.what);
}

// The rows to show end with the first difference, or where a property first fails.
std::size_t end_of_rows(const Result& result, std::size_t operations) {
  std::size_t end = operations;
  if (!result.agree()) return std::min(end, result.comparison.index + 1);
  for (const Broken& broken : result.broken) {
    if (broken.divergence.empty()) end = std::min(end, broken.violation.index + 1);
  }
  return end;
}

std::string summary(const std::vector<Side>& sides, std::span<const spec::Operation> operations,
                    const Result& result) {
  if (!result.agree()) {
    return fmt::format("{}: {}", result.other->name,
                       props::describe(result.comparison, operations));
  }
  if (const Broken* broken = result.violation(); broken != nullptr) {
    return fmt::format("{} does not hold", broken->violation.property->name);
  }
  if (const Unlike* unlike = result.unlike_violation(); unlike != nullptr) {
    return fmt::format("{} does not hold", unlike->relation->name);
  }
  return sides.size() == 1 ? fmt::format("{} operations", operations.size())
                           : props::describe(result.comparison, operations);
}

void print_text(const ReplayOptions& options, const std::vector<Side>& sides,
                std::span<const spec::Operation> operations, const Result& result) {
  const std::size_t end = end_of_rows(result, operations.size());
  const std::size_t skipped = end - std::min(options.most_rows, end);
  if (skipped > 0) {
    fmt::print("({} operations before{})\n", skipped, sides.size() > 1 ? ", all alike" : "");
  }
  for (std::size_t i = skipped; i < end; ++i) print_row(sides, operations, i, result);
  if (result.differs()) {
    print_records(sides.front(), result.comparison.index);
    print_records(*result.other, result.comparison.index);
  }
  for (const Broken& broken : result.broken) {
    fmt::print("{}\n  should be: {}\n", describe(broken, operations),
               broken.violation.property->claim);
    if (!broken.divergence.empty()) {
      fmt::print("  explained: known divergence {}\n", broken.divergence);
    }
  }
  for (const Unlike& unlike : result.unlike) {
    fmt::print("{}\n  should be: {}\n", describe(unlike), unlike.relation->claim);
    if (!unlike.divergence.empty()) {
      fmt::print("  explained: known divergence {}\n", unlike.divergence);
    }
  }
  fmt::print("{}: {}\n", coloured_verdict(result.verdict), summary(sides, operations, result));
}

Json unlike_json(const Unlike& unlike) {
  Json json = {{"rule", unlike.relation->name},
               {"summary", unlike.what},
               {"explained", !unlike.divergence.empty()},
               {"on", unlike.side->name}};
  if (!unlike.divergence.empty()) json["divergence"] = unlike.divergence;
  return json;
}

Json broken_json(const Broken& broken, std::span<const spec::Operation> operations) {
  Json json = {{"rule", broken.violation.property->name},
               {"summary", broken.violation.what},
               {"explained", !broken.divergence.empty()},
               {"on", broken.side->name},
               {"index", broken.violation.index},
               {"operation", spec::to_text(operations[broken.violation.index])}};
  if (!broken.divergence.empty()) json["divergence"] = broken.divergence;
  return json;
}

Json result_json(const ReplayOptions& options, const std::vector<Side>& sides,
                 std::span<const spec::Operation> operations, const Result& result) {
  Json findings = Json::array();
  for (const Broken& broken : result.broken) findings.push_back(broken_json(broken, operations));
  for (const Unlike& unlike : result.unlike) findings.push_back(unlike_json(unlike));
  Json json = {{"schema", "vlag.replay/1"},
               {"verdict", result.verdict},
               {"file", options.file},
               {"on", options.on},
               {"operations", operations.size()},
               {"summary", summary(sides, operations, result)},
               {"findings", findings}};
  if (result.agree()) return json;
  json["other"] = result.other->name;
  json["index"] = result.comparison.index;
  if (result.differs()) {
    json["field"] = result.comparison.difference.field;
    json["left"] = result.comparison.difference.left;
    json["right"] = result.comparison.difference.right;
  }
  return json;
}

// Sides that differ may well disagree on what is legal; before that, an operation that is refused
// is the file's fault.
std::optional<spec::Error> refused_before_difference(const std::vector<Side>& sides,
                                                     const spec::Source& source,
                                                     const Result& result) {
  const std::size_t end = result.differs() ? result.comparison.index : source.operations.size();
  for (const Side& side : sides) {
    if (first_refused(side.trace) < std::min(end, side.trace.size())) {
      return refusal(source, side.trace);
    }
  }
  return std::nullopt;
}

int run(const ReplayOptions& options) {
  const auto source = spec::read_sequence(options.file);
  if (!source) return bad_input(source.error().message());
  const auto asked = asked_of(options.properties);
  if (!asked) return bad_input(asked.error().message());
  const auto choices = choose_backends(options.on, options.policy);
  if (!choices) return bad_input(choices.error().message());
  std::vector<Side> sides;
  for (const BackendChoice& choice : *choices) {
    auto made = make_backend(choice);
    if (!made) return inconclusive(options.common, "vlag.replay/1", made.error().message());
    const auto* policy = std::get_if<Policy>(&choice.what);
    Side side{choice.name,
              policy != nullptr ? std::optional(*policy) : std::nullopt,
              std::move(*made),
              {},
              {}};
    side.outcome = side.backend->run(source->operations, side.trace);
    sides.push_back(std::move(side));
  }
  Result result = compare_sides(
      sides, source->operations, asked->properties,
      options.beyond_bounds ? props::Claimed::everywhere : props::Claimed::within_bounds);
  if (const auto refused = refused_before_difference(sides, *source, result)) {
    return bad_input(refused->message());
  }
  if (!options.properties.empty()) {
    result.unlike = relate_sides(sides, source->operations, asked->relations);
  }
  if (result.unlike_violation() != nullptr) result.verdict = "violation";
  if (options.common.json()) {
    print_json(result_json(options, sides, source->operations, result));
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
  command
      .add_option("--property", options->properties,
                  "Only these (may be repeated); also beliefs and relations")
      ->allow_extra_args(false);
  command.add_flag("--beyond-bounds", options->beyond_bounds,
                   "Judge also where properties are not claimed: see vlag bounds");
  command.add_option("--rows", options->most_rows, "How many operations to print, from the last")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  add_policy_changes(command, options->policy);
  add_format_option(command, options->common);
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
