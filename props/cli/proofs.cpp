// SPDX-License-Identifier: GPL-2.0-only
#include "props/cli/proofs.h"

#include <fmt/format.h>

#include <array>

#include "props/cli/findings.h"
#include "props/model_backend.h"
#include "props/property.h"
#include "props/search.h"

namespace vlag::cli {

std::string proof_cache() { return (props::cache_directory() / "proofs").string(); }

Json goal_json(const smt::Goal& goal) {
  return {{"name", goal.name},
          {"claim", goal.claim},
          {"source", goal.source},
          {"bounds", goal.bounds},
          {"class", name_of(goal.kind)},
          {"theory", name_of(goal.theory)},
          {"weights", goal.each_weight ? smt::all_weights().size() : 0}};
}

Shown show(const smt::Report& report) {
  const spec::Sequence sequence = smt::sequence_of(report);
  Shown shown{.operations = sequence.size(), .what = {}, .again = {}};
  if (sequence.empty()) return shown;
  const std::array<const props::Property*, 1> asked = {props::find_property(report.goal->breaks)};
  props::ModelBackend model(eevdf_6_12());
  spec::Trace trace;
  model.run(sequence, trace);
  const auto verdict =
      props::judge(sequence, trace, model.info(), asked, props::Claimed::everywhere);
  if (!verdict.violations.empty()) shown.what = verdict.violations.front().what;
  const std::string rule(report.goal->breaks);
  const auto saved = save_finding({rule, shown.what, sequence, {}});
  shown.again = saved
                    ? fmt::format(
                          "vlag replay {} --beyond-bounds --property {} --on model:eevdf-6.12 --on "
                          "kernel:6.12-250",
                          shell_quoted(*saved), rule)
                    : saved.error().message();
  return shown;
}

Json proof_json(const smt::Report& report, const smt::Solvers& solvers) {
  Json json = goal_json(*report.goal);
  json["verdict"] = name_of(report.verdict);
  json["solvers"] = Json::object();
  if (solvers.z3) json["solvers"]["z3"] = name_of(report.z3);
  if (solvers.cvc5) json["solvers"]["cvc5"] = name_of(report.cvc5);
  json["assumptions"] = name_of(report.assumptions);
  json["canary"] = name_of(report.canary);
  json["disagreement"] = report.disagreement;
  json["model"] = report.model;
  json["counterexample"] = report.counterexample;
  json["canary_counterexample"] = report.canary_shown;
  json["trouble"] = report.trouble;
  json["queries"] = report.queries;
  json["seconds"] = report.seconds;
  json["cached"] = report.cached;
  if (const Shown shown = show(report); shown.operations != 0) {
    json["sequence"] = {{"operations", shown.operations},
                        {"breaks", report.goal->breaks},
                        {"shown", !shown.what.empty()},
                        {"summary", shown.what},
                        {"reproduce", shown.again}};
  }
  return json;
}

std::string what_is_wrong(const smt::Report& report) {
  const bool falsehood = report.goal->kind == smt::Kind::falsehood;
  if (report.disagreement) return "the solvers disagree";
  if (report.assumptions == smt::Status::unsat) return "nothing meets its assumptions";
  if (report.canary == smt::Verdict::proved && !falsehood) return "its canary was proved";
  if (falsehood && report.verdict == smt::Verdict::proved) return "proved, and should not be";
  if (!report.counterexample.empty() && !falsehood) return "refuted: " + report.counterexample;
  if (!report.trouble.empty()) return report.trouble;
  if (report.assumptions == smt::Status::unknown) return "its assumptions are undecided";
  if (report.canary == smt::Verdict::unknown) return "its canary is undecided";
  return report.verdict == smt::Verdict::unknown ? "undecided" : "";
}

void print_proof(const smt::Report& report) {
  const std::string wrong = what_is_wrong(report);
  if (!wrong.empty()) fmt::print("{}: {}\n", report.goal->name, wrong);
  if (!report.trouble.empty() && report.trouble != wrong) {
    fmt::print("{}: {}\n", report.goal->name, report.trouble);
  }
  if (report.goal->kind == smt::Kind::falsehood && !report.counterexample.empty()) {
    fmt::print("{}: refuted: {}\n", report.goal->name, report.counterexample);
  }
}

// How a refuted goal looks on a queue.
void print_shown(const smt::Report& report) {
  if (report.verdict != smt::Verdict::refuted) return;
  if (!report.goal->no_sequence.empty())
    fmt::print("  no sequence: {}\n", report.goal->no_sequence);
  const Shown shown = show(report);
  if (shown.operations == 0) return;
  if (shown.what.empty()) {
    fmt::print("  {} operations, which do not show it on the model\n", shown.operations);
  } else {
    fmt::print("  shown by {} operations: {}\n", shown.operations, shown.what);
  }
  fmt::print("  again: {}\n", shown.again);
}

void print_proofs(std::span<const smt::Report> reports) {
  fmt::print("{:<44} {:<8} {:<9} {:<8} {:<8} {:<8} {:<7} {:>7}\n", "goal", "class", "verdict", "z3",
             "cvc5", "canary", "model", "seconds");
  double seconds = 0;
  for (const smt::Report& report : reports) {
    fmt::print("{:<44} {:<8} {:<9} {:<8} {:<8} {:<8} {:<7} {:>7.2f}{}\n", report.goal->name,
               name_of(report.goal->kind), name_of(report.verdict), name_of(report.z3),
               name_of(report.cvc5), name_of(report.canary), name_of(report.assumptions),
               report.seconds, report.cached ? " cached" : "");
    seconds += report.seconds;
  }
  for (const smt::Report& report : reports) {
    print_proof(report);
    print_shown(report);
  }
  fmt::print("{}: {} goals, {:.1f} s\n", coloured_verdict(smt::verdict_of(reports)), reports.size(),
             seconds);
}

void warn_of_cache(std::span<const smt::Report> reports) {
  std::size_t warnings = 0;
  std::string first;
  for (const smt::Report& report : reports) {
    if (report.warning.empty()) continue;
    if (++warnings == 1) first = report.warning;
  }
  if (warnings == 0) return;
  if (warnings > 1) first += fmt::format(" (and {} more)", warnings - 1);
  fmt::print(stderr, "warning: {}\n", first);
}

}  // namespace vlag::cli
