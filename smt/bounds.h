// SPDX-License-Identifier: GPL-2.0-only
// How far the rules are safe: the largest number of tasks, spread of vruntimes or length of a run
// for which no product, sum or divisor of a rule can leave its word. Each is found by asking, not
// by formula: the rule runs on symbols with that number known, and a solver says whether one of the
// obligations that it leaves can fail. Largest: at `safe` none can, at one more one does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy.h"
#include "smt/portfolio.h"
#include "smt/scene.h"
#include "spec/sequence.h"

namespace vlag::smt {

/// One limit to find.
struct Limit {
  std::string_view name;  // "products", "divisor", "inflation", "charge"
  std::string where;      // "2 tasks of nice -20"
  std::string_view what;  // What is counted: "virtual ns from v_0", "tasks", "ns"
  std::string_view rule;  // Kernel function.
  std::int64_t beyond;    // Where it surely breaks, to search below.
  /// Runs the rule with that number.
  std::function<void(Scene&, std::int64_t)> body;
  /// A sequence just inside, or just outside of a limit; none, and why, if there is none.
  std::function<spec::Sequence(std::int64_t number)> sequence;
  std::string_view no_sequence = "";
};

/// The limits of a policy: its HZ sets how much lag is saved.
std::vector<Limit> limits_of(const Policy& policy);

struct Bound {
  const Limit* limit = nullptr;
  std::int64_t safe = 0;  // The largest.
  Answer at_safe;         // unsat: nothing can fail.
  Answer beyond;          // sat, at safe + 1: this fails.
  std::string fails;      // What, with values.

  /// Whether both sides of the limit were decided, and no solvers disagree.
  bool found() const { return at_safe.status() == Status::unsat && beyond.status() == Status::sat; }
};

/// Finds a limit. Requires: no solver is missing. `seconds` for one question.
Bound find_bound(const Limit& limit, Solvers solvers, double seconds);

}  // namespace vlag::smt
