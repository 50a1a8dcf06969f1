// SPDX-License-Identifier: GPL-2.0-only
// Proves goals. Each runs in a process of its own under a hard limit: one that hangs, crashes or
// eats the memory is `unknown`, which is never `proved`, and the others go on.
//
// A goal holds when all of this is so:
//   its assumptions can be met (the model is shown)    else it would hold of nothing
//   every claim and every obligation is proved         (refuted, for a falsehood)
//   its canary is refuted                              else it would hold of anything
//   no two solvers disagree
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smt/goal.h"
#include "smt/portfolio.h"

namespace vlag::smt {

enum class Verdict : std::uint8_t { unknown, proved, refuted };
std::string_view name_of(Verdict verdict);

struct Options {
  Solvers solvers;
  double seconds = 60;  // For one goal.
  double confirm = 1;   // How much longer the second solver gets for one query.
  unsigned jobs = 1;
  std::string export_directory = "";  // Where to write the queries as SMT-LIB2; "" for nowhere.
  std::string cache_directory = "";   // Where results that passed are kept; "" for nowhere.
};

struct Report {
  const Goal* goal = nullptr;
  Verdict verdict = Verdict::unknown;
  Verdict z3 = Verdict::unknown;
  Verdict cvc5 = Verdict::unknown;
  Status assumptions = Status::unknown;
  Verdict canary = Verdict::unknown;
  bool disagreement = false;
  std::string model;                   // That meets the assumptions.
  std::string counterexample;          // "claim: values", if it is refuted.
  std::string refuting_model;          // The values alone,
  std::ptrdiff_t refuted_weight = -1;  // and the place of its weight in all_weights(), if it has.
  std::string canary_shown;            // The same of the canary.
  std::string trouble;                 // Why it is unknown.
  std::string warning;                 // About the cache; the result does not depend on it.
  int queries = 0;
  double seconds = 0;
  bool cached = false;  // Found in the cache: the same was asked before, and passed.
};

/// "pass", "violation" or "inconclusive": whether it is as the kind of the goal expects.
std::string_view verdict_of(const Report& report);
std::string_view verdict_of(std::span<const Report> reports);

using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// One report for each goal, in their order. A result that passed is taken from the cache if all
/// that is asked, the solvers and their versions are the same (not if queries are to be exported).
/// Requires: no solver is missing.
std::vector<Report> prove(std::span<const Goal* const> goals, const Options& options,
                          const Progress& progress);

/// What one process does: no protection against hanging or crashing. `versions` of the solvers
/// are part of what a cached result depends on.
Report prove_here(const Goal& goal, const Options& options, const std::string& versions = "");

/// The counterexample of a refuted goal as a sequence, made in a process of its own. Empty if the
/// goal has none, or if making it failed (faulty rules can do that).
spec::Sequence sequence_of(const Report& report);

/// A report as text, without what only its reader knows: goal, seconds, cached.
std::string to_text(const Report& report);
/// False if the text is not all there; `report` is then as it was.
bool from_text(const std::string& text, Report& report);

}  // namespace vlag::smt
