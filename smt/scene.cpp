// SPDX-License-Identifier: GPL-2.0-only
#include "smt/scene.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <vector>

#include "core/check.h"

namespace vlag::smt {
namespace {

thread_local Scene* on_stage = nullptr;

// One for all scenes of a thread: to make and destroy one takes longer than to explore a goal.
z3::context& shared_context() {
  thread_local z3::context context;
  return context;
}

// A formula that names quotients and products is nonlinear at worst.
const char* logic_of(Theory theory) {
  switch (theory) {
    case Theory::words:
      return "QF_BV";
    case Theory::integers:
      return "QF_NIA";
    default:
      return "QF_NRA";
  }
}

}  // namespace

std::string_view name_of(Theory theory) {
  static constexpr std::array<std::string_view, 4> names = {"words", "integers", "reals",
                                                            "rationals"};
  return names[static_cast<std::size_t>(theory)];
}

Scene::Scene(Theory theory, const Weight* weight)
    : theory_(theory), weight_(weight), previous_(on_stage), context_(shared_context()) {
  on_stage = this;
}

Scene::~Scene() { on_stage = previous_; }

Scene& Scene::current() {
  VLAG_CHECK(on_stage != nullptr);
  return *on_stage;
}

const Weight& Scene::weight() const {
  VLAG_CHECK(weight_ != nullptr);
  return *weight_;
}

z3::expr Scene::constant(std::int64_t value) {
  switch (theory_) {
    case Theory::words:
      return context_.bv_val(value, 64);
    case Theory::integers:
      return context_.int_val(value);
    default:
      return context_.real_val(value);
  }
}

z3::expr Scene::symbol(const std::string& name) {
  switch (theory_) {
    case Theory::words:
      return context_.bv_const(name.c_str(), 64);
    case Theory::integers:
      return context_.int_const(name.c_str());
    default:
      return context_.real_const(name.c_str());
  }
}

z3::expr Scene::fresh(const char* name) {
  return symbol(std::string(name) + "_" + std::to_string(fresh_++));
}

z3::expr Scene::fits_in_word(const z3::expr& term) {
  return term >= constant(std::numeric_limits<std::int64_t>::min()) &&
         term <= constant(std::numeric_limits<std::int64_t>::max());
}

Number Scene::number(const std::string& name) {
  const z3::expr term = symbol(name);
  if (theory_ == Theory::integers) define(fits_in_word(term));
  return Number(term);
}

Number Scene::number(const std::string& name, std::int64_t low, std::int64_t high) {
  const z3::expr term = symbol(name);
  define(term >= constant(low) && term <= constant(high));
  return Number(term);
}

Point Scene::point(const std::string& name) { return Point(symbol(name)); }

Exact Scene::quantity(const std::string& name) {
  VLAG_CHECK(theory_ != Theory::words);
  return Exact(symbol(name));
}

Truth Scene::truth(const std::string& name) { return Truth(context_.bool_const(name.c_str())); }

void Scene::assume(const Truth& condition) { assumptions_.push_back(condition.term()); }

void Scene::claim(const Truth& condition, const std::string& label) {
  ask(condition.term(), label, false);
}

void Scene::lemma(const Truth& condition, const std::string& label) {
  claim(condition, label);
  assume(condition);
}

void Scene::oblige(const z3::expr& condition, const char* label) {
  if (!condition.simplify().is_true()) ask(condition, label, true);
}

void Scene::ask(const z3::expr& claim, const std::string& label, bool obligation) {
  if (replaying()) return;
  z3::expr_vector failure(context_);
  for (const z3::expr& assumption : assumptions_) failure.push_back(assumption);
  failure.push_back(!claim);
  queries_.push_back({label, obligation, text_of(failure), {}});
  failures_.push_back(z3::mk_and(failure));
}

std::string Scene::text_of(const z3::expr_vector& conditions) const {
  // What z3::solver::to_smt2() does; but to make a solver takes longer than to print.
  std::vector<Z3_ast> terms;
  for (const z3::expr condition : conditions) terms.push_back(condition);
  Z3_ast last = context_.bool_val(true);
  if (!terms.empty()) {
    last = terms.back();
    terms.pop_back();
  }
  return std::string("(set-logic ") + logic_of(theory_) + ")\n" +
         Z3_benchmark_to_smtlib_string(context_, "", "", "unknown", "",
                                       static_cast<unsigned>(terms.size()), terms.data(), last);
}

// Each `count` queries as one: does any of them fail?
void Scene::merge(std::size_t count) {
  if (count < 2) return;
  std::vector<Query> merged;
  for (std::size_t first = 0; first < queries_.size();) {
    const std::size_t end = first + std::min(count, queries_.size() - first);
    z3::expr_vector any(context_);
    for (std::size_t i = first; i < end; ++i) any.push_back(failures_[i]);
    z3::expr_vector all(context_);
    all.push_back(z3::mk_or(any));
    Query one{std::to_string(any.size()) + " claims", false, text_of(all), {}};
    one.parts.assign(std::make_move_iterator(queries_.begin() + static_cast<std::ptrdiff_t>(first)),
                     std::make_move_iterator(queries_.begin() + static_cast<std::ptrdiff_t>(end)));
    merged.push_back(std::move(one));
    first = end;
  }
  queries_ = std::move(merged);
}

bool Scene::replaying() const {
  return std::any_of(forks_.begin(), forks_.end(), [](const Forks& f) { return f.replaying(); });
}

bool Scene::Forks::next_way() {
  position = 0;
  conditions.clear();
  while (!list.empty() && list.back().last) list.pop_back();
  if (list.empty()) return false;
  list.back() = {false, true};
  return true;
}

// Both ways are taken, also one that contradicts the assumptions: its queries hold at once.
bool Scene::decide(const z3::expr& condition) {
  const z3::expr simple = condition.simplify();
  if (simple.is_true()) return true;
  if (simple.is_false()) return false;
  Forks& forks = forks_.back();
  if (!forks.replaying()) forks.list.push_back({true, false});
  const bool taken = forks.list[forks.position++].taken;
  forks.conditions.push_back(taken ? condition : !condition);
  assumptions_.push_back(forks.conditions.back());
  return taken;
}

int Scene::either(const std::string& name, int count) {
  const z3::expr choice = symbol(name);
  for (int i = 0; i + 1 < count; ++i) {
    if (decide(choice == constant(i))) return i;
  }
  define(choice == constant(count - 1));
  return count - 1;
}

Scene::Merging::Merging(Scene& scene)
    : scene_(scene), first_(scene.assumptions_.size()), fresh_before_(scene.fresh_) {
  scene_.forks_.emplace_back();
}

Truth Scene::Merging::way_taken() const {
  z3::expr_vector all(scene_.context_);
  for (const z3::expr& condition : scene_.forks_.back().conditions) all.push_back(condition);
  return all.empty() ? Truth(true) : Truth(z3::mk_and(all));
}

// What was assumed on this way holds outside under its condition. The ways exclude each other, so
// that they share the names of fresh symbols.
void Scene::Merging::keep() {
  const z3::expr way = way_taken().term();
  const std::vector<z3::expr>& conditions = scene_.forks_.back().conditions;
  for (std::size_t i = first_; i < scene_.assumptions_.size(); ++i) {
    const z3::expr& assumed = scene_.assumptions_[i];
    const bool is_condition = std::any_of(conditions.begin(), conditions.end(),
                                          [&](const z3::expr& c) { return z3::eq(c, assumed); });
    if (!is_condition) kept_.push_back(z3::implies(way, assumed));
  }
  scene_.assumptions_.erase(scene_.assumptions_.begin() + static_cast<std::ptrdiff_t>(first_),
                            scene_.assumptions_.end());
  fresh_after_ = std::max(fresh_after_, scene_.fresh_);
}

bool Scene::Merging::next_way() {
  keep();
  scene_.fresh_ = fresh_before_;
  return scene_.forks_.back().next_way();
}

void Scene::Merging::finish() {
  scene_.forks_.pop_back();
  scene_.fresh_ = fresh_after_;
  scene_.assumptions_.insert(scene_.assumptions_.end(), kept_.begin(), kept_.end());
}

void Scene::explore(const std::function<void(Scene&)>& body, std::size_t at_once) {
  forks_.assign(1, {});
  do {
    assumptions_.clear();
    fresh_ = 0;
    body(*this);
    z3::expr_vector assumptions(context_);
    for (const z3::expr& assumption : assumptions_) assumptions.push_back(assumption);
    paths_.push_back({text_of(assumptions)});
  } while (forks_.back().next_way());
  merge(at_once);
}

}  // namespace vlag::smt
