// SPDX-License-Identifier: GPL-2.0-only
// Two solvers for one question. They run side by side on the same SMT-LIB2 text: the first that
// decides is the answer, and the second gets a little longer to confirm it. That they disagree
// would mean that one of them is wrong, so nothing is proved.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vlag::smt {

enum class Status : std::uint8_t { unknown, sat, unsat };
std::string_view name_of(Status status);

/// Which to ask.
struct Solvers {
  bool z3 = true;
  bool cvc5 = true;
};

struct Limits {
  double seconds = 20;  // For the first answer.
  double confirm = 1;   // More, for the second.
};

struct Answer {
  Status z3 = Status::unknown;
  Status cvc5 = Status::unknown;
  std::string model;  // "A = 3, W = 1", if it is sat.

  bool disagreement() const {
    return z3 != Status::unknown && cvc5 != Status::unknown && z3 != cvc5;
  }
  /// unknown if the solvers disagree.
  Status status() const {
    if (disagreement()) return Status::unknown;
    return z3 != Status::unknown ? z3 : cvc5;
  }
};

/// Asks whether the assertions of the text can be met. `text` ends with (check-sat).
Answer ask(const std::string& text, Solvers solvers, Limits limits);

/// The Debian package to install for a solver that was asked for and is not there; "" if all are.
std::string missing_package(Solvers solvers);

/// What the solvers that are asked call themselves; "" if one of them does not say.
std::string solver_versions(Solvers solvers);

}  // namespace vlag::smt
