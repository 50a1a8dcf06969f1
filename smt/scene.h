// SPDX-License-Identifier: GPL-2.0-only
// Where a goal plays: names its symbols, assumes, and claims; the rules of core/ run on the symbols
// and leave obligations. What comes out are queries, each of which a solver must find
// unsatisfiable:
//
//   assumptions && path condition && !claim
//
// No query relies on another, so each proves what it says; only lemma() is claimed and then
// assumed.
#pragma once

#include <z3++.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/weight.h"
#include "smt/symbolic.h"

namespace vlag::smt {

enum class Theory : std::uint8_t { words, integers, reals, rationals };
std::string_view name_of(Theory theory);

/// One question: do the assumptions imply the claim?
struct Query {
  std::string label;
  bool obligation = false;   // Emitted by the arithmetic, not stated by the goal.
  std::string text;          // SMT-LIB2: unsat means proved.
  std::vector<Query> parts;  // If it asks several at once: each by itself.
};

/// One way through the goal's plain ifs, as SMT-LIB2 over the assumptions alone: sat means that
/// they can be met.
struct Path {
  std::string text;
};

class Scene {
 public:
  /// `weight` is what weight() gives, for goals that are proved for each weight.
  explicit Scene(Theory theory, const Weight* weight = nullptr);
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  /// The scene whose symbols the current thread is using.
  static Scene& current();

  Theory theory() const { return theory_; }
  z3::context& context() { return context_; }
  const Weight& weight() const;

  // --- For goals.
  /// A word; in the integers, one that fits in 64 bits.
  Number number(const std::string& name);
  Number number(const std::string& name, std::int64_t low, std::int64_t high);
  Point point(const std::string& name);
  /// A number of the specification alone. Requires: not words.
  Exact quantity(const std::string& name);
  Truth truth(const std::string& name);
  void assume(const Truth& condition);
  void claim(const Truth& condition, const std::string& label);
  /// A claim that those after it may use.
  void lemma(const Truth& condition, const std::string& label);

  /// One of the numbers below `count`: the body runs once for each. In a model it is `name`.
  int either(const std::string& name, int count);
  /// Runs a part of the body once for each way through its ifs, and joins what it returns by
  /// choose(), so that the rest of the body is run once and not for each of them.
  template <class Part>
  auto merged(const Part& part) {
    Merging merging(*this);
    auto result = part();
    while (merging.next_way()) {
      auto other = part();
      result = choose(merging.way_taken(), other, result);
    }
    merging.finish();
    return result;
  }

  /// Runs the body once for each way through its ifs, and collects. `at_once`: that many claims
  /// are asked as one query, whether any of them fails; good for linear arithmetic, where
  /// asking is what costs.
  void explore(const std::function<void(Scene&)>& body, std::size_t at_once = 1);
  const std::vector<Query>& queries() const { return queries_; }
  const std::vector<Path>& paths() const { return paths_; }

  // --- For the symbols.
  bool decide(const z3::expr& condition);
  void oblige(const z3::expr& condition, const char* label);
  /// Assumes what defines a fresh symbol: it can always be met.
  void define(const z3::expr& condition) { assumptions_.push_back(condition); }
  z3::expr fresh(const char* name);
  z3::expr constant(std::int64_t value);
  z3::expr yes() { return context_.bool_val(true); }
  z3::expr fits_in_word(const z3::expr& term);

 private:
  struct Fork {
    bool taken;
    bool last;  // The other way has been taken already.
  };
  // The forks of the body, or of a part of it that is merged.
  struct Forks {
    std::vector<Fork> list;
    std::size_t position = 0;
    std::vector<z3::expr> conditions;  // Of the way that is being taken.
    // Up to the last fork everything was recorded on an earlier way.
    bool replaying() const { return position < list.size(); }
    bool next_way();
  };
  class Merging {
   public:
    explicit Merging(Scene& scene);
    bool next_way();
    Truth way_taken() const;
    void finish();

   private:
    void keep();

    Scene& scene_;
    std::size_t first_;  // Of the assumptions made in here.
    int fresh_before_;
    int fresh_after_ = 0;
    std::vector<z3::expr> kept_;
  };
  z3::expr symbol(const std::string& name);
  void ask(const z3::expr& claim, const std::string& label, bool obligation);
  std::string text_of(const z3::expr_vector& failures) const;
  void merge(std::size_t count);
  bool replaying() const;

  Theory theory_;
  const Weight* weight_;
  Scene* previous_;
  z3::context& context_;
  std::vector<z3::expr> assumptions_;
  std::vector<Forks> forks_;  // Of the body, and of the parts that are being merged.
  int fresh_ = 0;
  std::vector<Query> queries_;
  std::vector<z3::expr> failures_;  // Of each query: its assumptions, and not its claim.
  std::vector<Path> paths_;
};

}  // namespace vlag::smt
