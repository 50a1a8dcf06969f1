// SPDX-License-Identifier: GPL-2.0-only
// What the process of one goal does: explore its body and its canary, look up whether just that was
// asked before, and if not ask each query, first the body's.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <stdexcept>

#include "smt/cache.h"
#include "smt/process.h"
#include "smt/prove.h"

namespace vlag::smt {
namespace {

// A solver that could not confirm this many queries of a goal sits out the rest of it.
constexpr int patience = 2;

// A result in the cache depends on what is asked, and on how it is asked and judged here: another
// number for each change of that.
constexpr std::string_view format = "vlag proof 1";

// What is asked for one weight, or for none.
struct Instance {
  const Weight* weight;
  std::vector<Query> queries;
  std::vector<Path> paths;
};

void add(CacheKey& key, const Query& query) {
  key.add(query.label);
  key.add(query.obligation ? "obligation" : "claim");
  key.add(query.text);
  key.add(std::to_string(query.parts.size()));
  for (const Query& part : query.parts) add(key, part);
}

void add(CacheKey& key, const std::vector<Instance>& instances) {
  key.add(std::to_string(instances.size()));
  for (const Instance& one : instances) {
    key.add(std::to_string(one.queries.size()));
    for (const Query& query : one.queries) add(key, query);
    key.add(std::to_string(one.paths.size()));
    for (const Path& path : one.paths) key.add(path.text);
  }
}

class Prover {
 public:
  Prover(const Goal& goal, const Options& options, const std::string& versions)
      : goal_(goal), options_(options), end_(now() + 0.95 * options.seconds) {
    report_.goal = &goal;
    if (!options.cache_directory.empty() && versions.empty()) {
      report_.warning = "a solver does not tell its version; results are not cached";
    } else if (!options.cache_directory.empty()) {
      cache_.emplace(options.cache_directory);
      versions_ = versions;
    }
  }

  Report run() {
    const double start = now();
    body_ = explored(goal_.body);
    if (goal_.canary != nullptr) canary_ = explored(goal_.canary);
    const std::string entry = cache_ ? fmt::format("{}-{}", goal_.name, key()) : "";
    if (!look_up(entry)) {
      prove_all();
      // Only what the kind of the goal expects, of everything that was asked.
      if (cache_ && verdict_of(report_) == "pass" && goal_.kind != Kind::open) {
        Report kept = report_;
        kept.warning.clear();
        cache_->write(entry, to_text(kept), report_.warning);
      }
    }
    report_.seconds = now() - start;
    return report_;
  }

 private:
  std::vector<Instance> explored(void (*body)(Scene&)) const {
    std::vector<const Weight*> weights = {nullptr};
    if (goal_.each_weight) {
      weights.clear();
      for (const Weight& weight : all_weights()) weights.push_back(&weight);
    }
    std::vector<Instance> instances;
    for (const Weight* weight : weights) {
      Scene scene(goal_.theory, weight);
      scene.explore(body, goal_.each_weight ? SIZE_MAX : goal_.at_once);
      instances.push_back({weight, scene.queries(), scene.paths()});
    }
    return instances;
  }

  std::string key() const {
    CacheKey key;
    key.add(format);
    key.add(versions_);
    key.add(options_.solvers.z3 ? "z3" : "");
    key.add(options_.solvers.cvc5 ? "cvc5" : "");
    key.add(name_of(goal_.kind));
    add(key, body_);
    add(key, canary_);
    return key.text();
  }

  // Whether the same was asked before, and passed.
  bool look_up(const std::string& entry) {
    if (!cache_ || !options_.export_directory.empty()) return false;
    const auto text = cache_->read(entry, report_.warning);
    if (!text) return false;
    Report read = report_;
    if (!from_text(*text, read) || verdict_of(read) != "pass") {
      report_.warning = fmt::format("{}: no result of a proof; asking anew", entry);
      return false;
    }
    report_ = read;
    report_.cached = true;
    return true;
  }

  void prove_all() {
    prove_body();
    if (goal_.kind == Kind::falsehood) {
      report_.canary = report_.verdict;
    } else if (goal_.canary != nullptr) {
      refute_canary();
    }
  }

  void prove_body() {
    all_ = true;
    all_z3_ = options_.solvers.z3;
    all_cvc5_ = options_.solvers.cvc5;
    for (const Instance& instance : body_) {
      meet_assumptions(instance);
      for (const Query& query : instance.queries) {
        prove_query(query, instance.weight);
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
      refuted(answer, query, weight);
    }
    if (answer.status() == Status::unknown && report_.trouble.empty()) {
      report_.trouble = described(query, weight) +
                        (answer.disagreement() ? ": the solvers disagree" : ": undecided");
    }
  }

  void refuted(const Answer& answer, const Query& query, const Weight* weight) {
    report_.verdict = Verdict::refuted;
    report_.refuting_model = answer.model;
    if (weight != nullptr) report_.refuted_weight = weight - all_weights().data();
    if (answer.z3 == Status::sat) report_.z3 = Verdict::refuted;
    if (answer.cvc5 == Status::sat) report_.cvc5 = Verdict::refuted;
    report_.counterexample = fmt::format("{}: {}", described(query, weight), answer.model);
  }

  // Of each instance; the first model is shown.
  void meet_assumptions(const Instance& instance) {
    Status met = Status::unsat;
    for (const Path& path : instance.paths) {
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
    for (const Instance& instance : canary_) {
      for (const Query& query : instance.queries) {
        const Verdict one = canary_query(query, instance.weight);
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
  std::optional<Cache> cache_;
  std::string versions_;
  std::vector<Instance> body_;
  std::vector<Instance> canary_;
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

Report prove_here(const Goal& goal, const Options& options, const std::string& versions) {
  return Prover(goal, options, versions).run();
}

}  // namespace vlag::smt
