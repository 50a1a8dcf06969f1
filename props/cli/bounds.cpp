// SPDX-License-Identifier: GPL-2.0-only
// vlag bounds: how far the rules are safe, from the solvers, with sequences on both sides.
#include "smt/bounds.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "props/cli/common.h"
#include "props/cli/findings.h"
#include "props/model_backend.h"
#include "props/property.h"

namespace vlag::cli {
namespace {

constexpr std::string_view schema = "vlag.bounds/1";
constexpr std::string_view breaks = "pick_is_the_earliest_eligible";

struct BoundsOptions {
  CommonOptions common;
  spec::PolicyText policy;
  std::string solver = "both";
  double timeout = 20;
};

// What a limit looks like on a queue of the model.
struct Sides {
  std::string inside;   // What is wrong just inside; it should be nothing.
  std::string outside;  // What is wrong just outside.
  std::string again;    // The command that shows it.

  bool shown() const { return inside.empty() && !outside.empty(); }
};

std::string wrong_in(const spec::Sequence& sequence, const Policy& policy) {
  const std::array<const props::Property*, 1> asked = {props::find_property(breaks)};
  props::ModelBackend model(policy);
  spec::Trace trace;
  const props::Outcome outcome = model.run(sequence, trace);
  const auto verdict =
      props::judge(sequence, trace, model.info(), asked, props::Claimed::everywhere);
  if (!verdict.violations.empty()) return verdict.violations.front().what;
  return outcome.completed() ? "" : outcome.text;
}

Sides sides_of(const smt::Bound& bound, const Policy& policy) {
  const spec::Sequence inside = bound.limit->sequence(bound.safe);
  // The other task's key is rounded up to a whole one, and V down: two are surely outside.
  const spec::Sequence outside = bound.limit->sequence(bound.safe + 2);
  Sides sides{wrong_in(inside, policy), wrong_in(outside, policy), {}};
  const auto saved = save_finding({std::string(bound.limit->name), sides.outside, outside, {}});
  sides.again =
      saved ? fmt::format("vlag replay {} --beyond-bounds --property {}{}", shell_quoted(*saved),
                          breaks, " --on model:eevdf-6.12 --on kernel:6.12-250")
            : saved.error().message();
  return sides;
}

struct Row {
  smt::Bound bound;
  std::optional<Sides> sides;

  std::string_view verdict() const {
    if (bound.at_safe.disagreement() || bound.beyond.disagreement()) return "violation";
    if (!bound.found()) return "inconclusive";
    return !sides || sides->shown() ? "pass" : "violation";
  }
};

std::string_view verdict_of(const std::vector<Row>& rows) {
  std::string_view worst = "pass";
  for (const Row& row : rows) {
    if (row.verdict() == "violation") return "violation";
    if (row.verdict() != "pass") worst = row.verdict();
  }
  return worst;
}

std::string confirmed_by(const smt::Bound& bound) {
  const bool z3 = bound.at_safe.z3 == smt::Status::unsat && bound.beyond.z3 == smt::Status::sat;
  const bool cvc5 =
      bound.at_safe.cvc5 == smt::Status::unsat && bound.beyond.cvc5 == smt::Status::sat;
  if (z3 && cvc5) return "both";
  return z3 ? "z3" : cvc5 ? "cvc5" : "-";
}

void print_row(const Row& row) {
  const smt::Limit& limit = *row.bound.limit;
  if (!row.bound.found()) {
    fmt::print("{:<10} {:<42} {:>20} undecided\n", limit.name, limit.where, "");
    return;
  }
  fmt::print("{:<10} {:<42} {:>20} {:<19} {}\n", limit.name, limit.where, row.bound.safe,
             limit.what, confirmed_by(row.bound));
}

void print_sides(const Row& row) {
  if (!row.sides) return;
  fmt::print("{}, {}:\n", row.bound.limit->name, row.bound.limit->where);
  fmt::print("  just inside: {}\n", row.sides->inside.empty() ? "right" : row.sides->inside);
  fmt::print("  just outside: {}\n", row.sides->outside.empty() ? "right" : row.sides->outside);
  fmt::print("  again: {}\n", row.sides->again);
}

void print_text(const Policy& policy, const std::vector<Row>& rows) {
  fmt::print("{}, HZ {}\n", policy.name, policy.tunables.hz);
  fmt::print("{:<10} {:<42} {:>20} {:<19} {}\n", "limit", "of", "largest that is safe", "",
             "solvers");
  for (const Row& row : rows) print_row(row);
  for (const Row& row : rows) print_sides(row);
  fmt::print("{}: {} limits\n", coloured_verdict(verdict_of(rows)), rows.size());
}

Json row_json(const Row& row) {
  const smt::Limit& limit = *row.bound.limit;
  Json json = {{"name", limit.name},
               {"rule", limit.rule},
               {"of", limit.where},
               {"unit", limit.what},
               {"verdict", row.verdict()}};
  if (row.bound.found()) {
    json["safe"] = row.bound.safe;
    json["solvers"] = confirmed_by(row.bound);
    json["beyond"] = row.bound.fails;
  }
  if (row.sides) {
    json["inside"] = row.sides->inside;
    json["outside"] = row.sides->outside;
    json["reproduce"] = row.sides->again;
  } else {
    json["no_sequence"] = limit.no_sequence;
  }
  return json;
}

int run(const BoundsOptions& options) {
  const auto policy = spec::parse_policy(options.policy);
  if (!policy) return bad_input(policy.error().message());
  const smt::Solvers solvers = {.z3 = options.solver != "cvc5", .cvc5 = options.solver != "z3"};
  if (const std::string package = smt::missing_package(solvers); !package.empty()) {
    return inconclusive(
        options.common, schema,
        fmt::format("{0} is not installed: apt-get install {0}, or --solver z3", package));
  }
  const std::vector<smt::Limit> limits = smt::limits_of(*policy);
  const props::Meter meter = progress_meter("bounds");
  std::vector<Row> rows;
  for (const smt::Limit& limit : limits) {
    Row row{smt::find_bound(limit, solvers, options.timeout), std::nullopt};
    if (row.bound.found() && limit.sequence) row.sides = sides_of(row.bound, *policy);
    rows.push_back(std::move(row));
    meter(rows.size(), limits.size());
  }
  if (options.common.json()) {
    Json list = Json::array();
    for (const Row& row : rows) list.push_back(row_json(row));
    print_json({{"schema", schema},
                {"policy", policy->name},
                {"hz", policy->tunables.hz},
                {"verdict", verdict_of(rows)},
                {"bounds", list}});
  } else {
    print_text(*policy, rows);
  }
  return exit_code_of(verdict_of(rows));
}

}  // namespace

void add_bounds(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BoundsOptions>();
  CLI::App& command =
      *app.add_subcommand("bounds", "Compute how far the rules are safe from overflow");
  add_policy_options(command, options->policy);
  command.add_option("--solver", options->solver, "Whom to ask")
      ->check(CLI::IsMember({"z3", "cvc5", "both"}))
      ->capture_default_str();
  command.add_option("--timeout", options->timeout, "Seconds for one question")
      ->check(CLI::Range(0.1, 86'400.0))
      ->capture_default_str();
  add_format_option(command, options->common);
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace vlag::cli
