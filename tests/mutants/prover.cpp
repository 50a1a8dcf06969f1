// SPDX-License-Identifier: GPL-2.0-only
// Asks goals until one does not hold.
//
//   prover CACHE SECONDS STEM...     SECONDS for one goal; results that passed are kept in CACHE
//
// A rule that crashes on symbols, twice alike, does not hold either: it is as little proved, and
// the goals hold before the mutation.
//
// Prints "killed GOAL: why" and exits with 1; else "survived", with what was undecided, and 0.
// Goals that ask what they asked before the mutation are found in CACHE, and cost little.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "smt/prove.h"

namespace {

using namespace vlag::smt;

const std::map<std::string, std::vector<Goal> (*)()> stems = {
#include "smt/stems.inc"
};

std::string why_killed(const Report& report) {
  if (report.disagreement) return "the solvers disagree";
  if (report.canary == Verdict::proved) return "its canary was proved";
  if (report.assumptions == Status::unsat) return "nothing meets its assumptions";
  return report.counterexample.empty() ? "proved, and should not be" : report.counterexample;
}

Report proved(const Goal& goal, const Options& options) {
  const std::array<const Goal*, 1> one = {&goal};
  return prove(one, options, [](std::size_t, std::size_t) {}).front();
}

bool crashed(const Report& report) {
  return report.trouble.starts_with("the prover failed: signal");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  Options options;
  options.cache_directory = argv[1];
  options.seconds = std::strtod(argv[2], nullptr);
  options.confirm = 0;
  options.solvers.cvc5 = missing_package(options.solvers).empty();
  std::string undecided;
  for (int i = 3; i < argc; ++i) {
    for (const Goal& goal : stems.at(argv[i])()) {
      const Report report = proved(goal, options);
      if (crashed(report) && crashed(proved(goal, options))) {
        fmt::print("killed {}: {}\n", goal.name, report.trouble);
        return 1;
      }
      const std::string_view verdict = verdict_of(report);
      if (verdict == "inconclusive") undecided += fmt::format(" {}", goal.name);
      if (verdict != "violation") continue;
      fmt::print("killed {}: {}\n", goal.name, why_killed(report));
      return 1;
    }
  }
  fmt::print("survived{}{}\n", undecided.empty() ? "" : " undecided:", undecided);
  return 0;
}
