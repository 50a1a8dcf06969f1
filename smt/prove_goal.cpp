// SPDX-License-Identifier: GPL-2.0-only
// What the process of one goal does: explore its body, ask each query, then the same of its canary.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "smt/process.h"
#include "smt/prove.h"

namespace vlag::smt {
namespace {

// A solver that could not confirm this many queries of a goal sits out the rest of it.
constexpr int patience = 2;

class Prover {
 public:
  Prover(const Goal& goal, const Options& options)
      : goal_(goal), options_(options), end_(now() + 0.95 * options.seconds) {
    report_.goal = &goal;
  }

  Report run() {
    const double start = now();
    prove_body();
    if (goal_.kind == Kind::falsehood) {
      report_.canary = report_.verdict;
    } else if (goal_.canary != nullptr) {
      refute_canary();
    }
    report_.seconds = now() - start;
    return report_;
  }

 private:
  // The weights that the goal is asked for, or no weight.
  std::vector<const Weight*> instances() const {
    if (!goal_.each_weight) return {nullptr};
    std::vector<const Weight*> all;
    for (const Weight& weight : all_weights()) all.push_back(&weight);
    return all;
  }

  std::size_t at_once() const { return goal_.each_weight ? SIZE_MAX : goal_.at_once; }

  void prove_body() {
    all_ = true;
    all_z3_ = options_.solvers.z3;
    all_cvc5_ = options_.solvers.cvc5;
    for (const Weight* weight : instances()) {
      Scene scene(goal_.theory, weight);
      scene.explore(goal_.body, at_once());
      meet_assumptions(scene);
      for (const Query& query : scene.queries()) {
        prove_query(query, weight);
        if (report_.verdict == Verdict::refuted) return;
      }
    }
    // A goal that asks nothing proves nothing.
    if (report_.queries == 0) return;
    if (all_) report_.verdict = Verdict::proved;
    if (all_z3_) report_.z3 = Verdict::proved;
    if (all_cvc5_) report_.cvc5 = Verdict::proved;
  }

  void prove_query(const Query& query, const Weight* weight) {
    if (!asked_.insert(query.text).second) return;
    ++report_.queries;
    save(query, weight, "", goal_.kind == Kind::falsehood ? "sat" : "unsat");
    const Answer answer = ask_both(query.text);
    if (answer.status() != Status::unsat && !query.parts.empty()) {
      // Which of them?
      for (const Query& part : query.parts) prove_query(part, weight);
      return;
    }
    all_z3_ = all_z3_ && answer.z3 == Status::unsat;
    all_cvc5_ = all_cvc5_ && answer.cvc5 == Status::unsat;
    all_ = all_ && answer.status() == Status::unsat;
    if (answer.status() == Status::sat && report_.verdict != Verdict::refuted) {
      refuted(answer, described(query, weight));
    }
    if (answer.status() == Status::unknown && report_.trouble.empty()) {
      report_.trouble = described(query, weight) +
                        (answer.disagreement() ? ": the solvers disagree" : ": undecided");
    }
  }

  void refuted(const Answer& answer, const std::string& what) {
    report_.verdict = Verdict::refuted;
    if (answer.z3 == Status::sat) report_.z3 = Verdict::refuted;
    if (answer.cvc5 == Status::sat) report_.cvc5 = Verdict::refuted;
    report_.counterexample = fmt::format("{}: {}", what, answer.model);
  }

  // Of each instance; the first model is shown.
  void meet_assumptions(const Scene& scene) {
    Status met = Status::unsat;
    for (const Path& path : scene.paths()) {
      const Answer answer = ask_both(path.text);
      if (answer.status() == Status::unsat) continue;
      met = answer.status();
      if (met == Status::sat) {
        // Solvers leave out what may be anything.
        if (report_.model.empty()) {
          report_.model = answer.model.empty() ? "any values" : answer.model;
        }
        break;
      }
    }
    const bool first = report_.queries == 0;
    if (first || met != Status::sat) report_.assumptions = met;
  }

  // The arithmetic's own obligations do not count: the claim must be refuted.
  void refute_canary() {
    Verdict verdict = Verdict::proved;
    for (const Weight* weight : instances()) {
      Scene scene(goal_.theory, weight);
      scene.explore(goal_.canary, at_once());
      for (const Query& query : scene.queries()) {
        const Verdict one = canary_query(query, weight);
        if (one != Verdict::proved) verdict = one;
        if (one == Verdict::refuted) break;
      }
      if (verdict == Verdict::refuted) break;
    }
    report_.canary = verdict;
  }

  Verdict canary_query(const Query& query, const Weight* weight) {
    if (query.obligation) return Verdict::proved;
    save(query, weight, "canary-", "sat");
    const Answer answer = ask_both(query.text);
    if (answer.status() == Status::unsat) return Verdict::proved;
    if (query.parts.empty()) {
      if (answer.status() == Status::unknown) return Verdict::unknown;
      report_.canary_shown = fmt::format("{}: {}", described(query, weight), answer.model);
      return Verdict::refuted;
    }
    Verdict verdict = Verdict::proved;
    for (const Query& part : query.parts) {
      const Verdict one = canary_query(part, weight);
      if (one == Verdict::refuted) return one;
      if (one == Verdict::unknown) verdict = one;
    }
    return verdict;
  }

  Answer ask_both(const std::string& text) {
    if (now() >= end_) return {};
    Solvers now_asked = options_.solvers;
    if (now_asked.z3 && now_asked.cvc5) {
      now_asked.z3 = z3_silent_ < patience;
      now_asked.cvc5 = cvc5_silent_ < patience;
    }
    Answer answer = ask(text, now_asked, limits());
    if (answer.status() == Status::unknown && !answer.disagreement() && left_out(now_asked)) {
      answer = ask(text, {!now_asked.z3, !now_asked.cvc5}, limits());
    } else if (answer.status() != Status::unknown) {
      if (now_asked.z3 && answer.z3 == Status::unknown) ++z3_silent_;
      if (now_asked.cvc5 && answer.cvc5 == Status::unknown) ++cvc5_silent_;
    }
    if (answer.disagreement()) report_.disagreement = true;
    return answer;
  }

  bool left_out(const Solvers& asked) const {
    return options_.solvers.z3 && options_.solvers.cvc5 && asked.z3 != asked.cvc5;
  }

  Limits limits() const { return {end_ - now(), options_.confirm}; }

  static std::string described(const Query& query, const Weight* weight) {
    if (weight == nullptr) return query.label;
    return fmt::format("weight {}: {}", weight->down().value, query.label);
  }

  void save(const Query& query, const Weight* weight, const char* prefix, const char* expected) {
    if (options_.export_directory.empty()) return;
    const std::filesystem::path path = std::filesystem::path(options_.export_directory) /
                                       fmt::format("{}-{}{:03}.smt2", goal_.name, prefix, saved_++);
    const std::filesystem::path temporary = path.string() + ".new";
    std::ofstream file(temporary);
    file << "; " << goal_.claim << "\n; bounds: " << goal_.bounds << "\n; "
         << described(query, weight) << "\n; expected: " << expected << "\n"
         << query.text;
    file.close();
    if (!file) throw std::runtime_error(fmt::format("cannot write {}", path.string()));
    std::filesystem::rename(temporary, path);
  }

  const Goal& goal_;
  const Options& options_;
  double end_;
  Report report_;
  std::set<std::string> asked_;
  bool all_ = false;  // Proved so far, by either; by each.
  bool all_z3_ = false;
  bool all_cvc5_ = false;
  int z3_silent_ = 0;
  int cvc5_silent_ = 0;
  int saved_ = 0;
};

}  // namespace

Report prove_here(const Goal& goal, const Options& options) { return Prover(goal, options).run(); }

}  // namespace vlag::smt
