// SPDX-License-Identifier: GPL-2.0-only
#include "smt/scene.h"

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

// The queries from `first` on, as one: does any of them fail?
void Scene::merge(std::size_t first) {
  if (queries_.size() < first + 2) return;
  z3::expr_vector any(context_);
  for (std::size_t i = first; i < failures_.size(); ++i) any.push_back(failures_[i]);
  z3::expr_vector all(context_);
  all.push_back(z3::mk_or(any));
  Query merged{std::to_string(any.size()) + " claims", false, text_of(all), {}};
  merged.parts.assign(
      std::make_move_iterator(queries_.begin() + static_cast<std::ptrdiff_t>(first)),
      std::make_move_iterator(queries_.end()));
  queries_.resize(first);
  failures_.resize(first, yes());
  queries_.push_back(std::move(merged));
  failures_.push_back(all[0]);
}

// Both ways are taken, also one that contradicts the assumptions: its queries hold at once.
bool Scene::decide(const z3::expr& condition) {
  const z3::expr simple = condition.simplify();
  if (simple.is_true()) return true;
  if (simple.is_false()) return false;
  if (!replaying()) forks_.push_back({true, false});
  const bool taken = forks_[position_++].taken;
  assumptions_.push_back(taken ? condition : !condition);
  return taken;
}

bool Scene::next_path() {
  while (!forks_.empty() && forks_.back().last) forks_.pop_back();
  if (forks_.empty()) return false;
  forks_.back() = {false, true};
  return true;
}

void Scene::explore(const std::function<void(Scene&)>& body, bool at_once) {
  do {
    assumptions_.clear();
    position_ = 0;
    fresh_ = 0;
    const std::size_t first = queries_.size();
    body(*this);
    if (at_once) merge(first);
    z3::expr_vector assumptions(context_);
    for (const z3::expr& assumption : assumptions_) assumptions.push_back(assumption);
    paths_.push_back({text_of(assumptions)});
  } while (next_path());
}

}  // namespace vlag::smt
