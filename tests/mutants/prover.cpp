// SPDX-License-Identifier: GPL-2.0-only
// Asks the goals that are linked in until one does not hold.
//
//   prover CACHE SECONDS     SECONDS for one goal; results that passed are kept in CACHE
//
// Prints "killed GOAL: why" and exits with 1; else "survived", with what was undecided, and 0.
// Goals that ask what they asked before the mutation are found in CACHE, and cost nothing.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>

#include "smt/prove.h"

int main(int argc, char** argv) {
  using namespace vlag::smt;
  if (argc != 3) return 2;
  Options options;
  options.cache_directory = argv[1];
  options.seconds = std::strtod(argv[2], nullptr);
  options.confirm = 0;
  options.solvers.cvc5 = missing_package(options.solvers).empty();
  std::string undecided;
  for (const Goal& goal : goals()) {
    const std::array<const Goal*, 1> one = {&goal};
    const Report report = prove(one, options, [](std::size_t, std::size_t) {}).front();
    const std::string_view verdict = verdict_of(report);
    if (verdict == "inconclusive") undecided += fmt::format(" {}", goal.name);
    if (verdict != "violation") continue;
    std::string why = report.counterexample;
    if (report.disagreement) why = "the solvers disagree";
    if (report.canary == Verdict::proved) why = "its canary was proved";
    if (report.assumptions == Status::unsat) why = "nothing meets its assumptions";
    fmt::print("killed {}: {}\n", goal.name, why.empty() ? "proved, and should not be" : why);
    return 1;
  }
  fmt::print("survived{}{}\n", undecided.empty() ? "" : "; undecided:", undecided);
  return 0;
}
