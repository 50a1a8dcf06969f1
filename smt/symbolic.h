// SPDX-License-Identifier: GPL-2.0-only
// The machine of symbols: the value types of core/machine.h over z3::expr, so that the rules that
// run are the rules that are proved. Which arithmetic they mean is the theory of the current scene:
//
//   words      64-bit vectors: wrap as the machine of words does. Never multiply or divide two
//              symbols here: no solver comes back.
//   integers   unbounded. Every + - * and T - T emits the obligation that its result fits in 64
//              bits; with these proved, the integers are the words. A Point is one lift of a point
//              modulo 2^64: only differences are observable, and they fit.
//   reals      as integers without obligations; a division leaves some remainder smaller than its
//              divisor, so whatever holds here holds for the integers (and is found faster).
//   rationals  exact: a division leaves none. For the theory of the paper.
//
// A plain `if` on a Truth forks: the scene runs the goal again for the other way.
#pragma once

#include <z3++.h>

#include <cstdint>

#include "core/machine.h"

namespace vlag::smt {

/// Truth. Converts to bool only where C++ asks for one explicitly: there the scene forks.
class Truth {
 public:
  Truth(bool value);  // NOLINT(google-explicit-constructor)
  explicit Truth(const z3::expr& term) : term_(term) {}
  explicit operator bool() const;
  const z3::expr& term() const { return term_; }

 private:
  z3::expr term_;
};

Truth operator!(const Truth& a);
// Not short-circuiting: both sides are formulas. The overloads with bool keep the built-in && out.
Truth operator&&(const Truth& a, const Truth& b);
Truth operator&&(bool a, const Truth& b);
Truth operator&&(const Truth& a, bool b);
Truth operator||(const Truth& a, const Truth& b);
Truth operator||(bool a, const Truth& b);
Truth operator||(const Truth& a, bool b);
Truth implies(const Truth& a, const Truth& b);
Truth iff(const Truth& a, const Truth& b);

/// A number of the specification: exact in every theory but words, and without obligations.
class Exact {
 public:
  Exact(std::int64_t value = 0);  // NOLINT(google-explicit-constructor)
  explicit Exact(const z3::expr& term) : term_(term) {}
  const z3::expr& term() const { return term_; }

  friend Exact operator+(const Exact& a, const Exact& b) { return Exact(a.term_ + b.term_); }
  friend Exact operator-(const Exact& a, const Exact& b) { return Exact(a.term_ - b.term_); }
  friend Exact operator*(const Exact& a, const Exact& b) { return Exact(a.term_ * b.term_); }
  friend Exact operator-(const Exact& a) { return Exact(-a.term_); }
  friend Exact operator<<(const Exact& a, int bits);
  friend Truth operator<(const Exact& a, const Exact& b) { return Truth(a.term_ < b.term_); }
  friend Truth operator<=(const Exact& a, const Exact& b) { return Truth(a.term_ <= b.term_); }
  friend Truth operator>(const Exact& a, const Exact& b) { return Truth(a.term_ > b.term_); }
  friend Truth operator>=(const Exact& a, const Exact& b) { return Truth(a.term_ >= b.term_); }
  friend Truth operator==(const Exact& a, const Exact& b) { return Truth(a.term_ == b.term_); }
  friend Truth operator!=(const Exact& a, const Exact& b) { return Truth(a.term_ != b.term_); }

 private:
  z3::expr term_;
};

/// The signed word S.
class Number {
 public:
  Number(std::int64_t value = 0);  // NOLINT(google-explicit-constructor)
  explicit Number(const z3::expr& term) : term_(term) {}
  const z3::expr& term() const { return term_; }
  Number& operator+=(const Number& b) { return *this = *this + b; }
  Number& operator-=(const Number& b) { return *this = *this - b; }

  friend Number operator+(const Number& a, const Number& b);
  friend Number operator-(const Number& a, const Number& b);
  friend Number operator*(const Number& a, const Number& b);
  friend Number operator-(const Number& a) { return Number(0) - a; }
  friend Truth operator<(const Number& a, const Number& b) { return Truth(a.term_ < b.term_); }
  friend Truth operator<=(const Number& a, const Number& b) { return Truth(a.term_ <= b.term_); }
  friend Truth operator>(const Number& a, const Number& b) { return Truth(a.term_ > b.term_); }
  friend Truth operator>=(const Number& a, const Number& b) { return Truth(a.term_ >= b.term_); }
  friend Truth operator==(const Number& a, const Number& b) { return Truth(a.term_ == b.term_); }
  friend Truth operator!=(const Number& a, const Number& b) { return Truth(a.term_ != b.term_); }

 private:
  z3::expr term_;
};

/// The point in virtual time T. No operator<, as in core/machine.h.
class Point {
 public:
  Point();
  explicit Point(const z3::expr& term) : term_(term) {}
  const z3::expr& term() const { return term_; }
  Point& operator+=(const Number& d) { return *this = *this + d; }

  friend Number operator-(const Point& a, const Point& b);
  friend Point operator+(const Point& a, const Number& d) { return Point(a.term_ + d.term()); }
  friend Point operator-(const Point& a, const Number& d) { return Point(a.term_ - d.term()); }
  friend Truth operator==(const Point& a, const Point& b) { return Truth(a.term_ == b.term_); }

 private:
  z3::expr term_;
};

struct Symbols {
  using S = Number;
  using T = Point;
  using B = Truth;
};

// What the rules find by argument-dependent lookup; as in core/machine.h.
Number div_s64(const Number& dividend, const Number& divisor);
/// Of what is not negative as a signed word; that is an obligation.
Number div_u64(const Number& dividend, const Number& divisor);
Number scale(const Number& delta, std::uint32_t factor, unsigned shift);
/// Requires: not words. Of two that do not differ in sign; that is an obligation.
Number geometric_mean(const Number& a, const Number& b);
Number choose(const Truth& condition, const Number& yes, const Number& no);
Point choose(const Truth& condition, const Point& yes, const Point& no);
Exact choose(const Truth& condition, const Exact& yes, const Exact& no);
/// Requires: words (elsewhere a point is a lift, and has no bits).
Number stash(const Point& point);

/// From the rules to the specification. Requires: not words.
Exact exact(const Number& number);
/// a - b, without an obligation. Requires: not words.
Exact exact(const Point& a, const Point& b);

}  // namespace vlag::smt
