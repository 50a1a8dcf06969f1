// SPDX-License-Identifier: GPL-2.0-only
#include "smt/symbolic.h"

#include "core/check.h"
#include "smt/scene.h"

namespace vlag::smt {
namespace {

Scene& here() { return Scene::current(); }
Theory theory() { return here().theory(); }
z3::expr constant(std::int64_t value) { return here().constant(value); }

// A term over constants alone, as one constant.
z3::expr folded(const z3::expr& term) {
  return term.arg(0).is_numeral() && term.arg(1).is_numeral() ? term.simplify() : term;
}

// The obligation under which an integer is a word.
Number checked(const z3::expr& result, const char* what) {
  if (theory() == Theory::integers) here().oblige(here().fits_in_word(result), what);
  return Number(result);
}

z3::expr divide_words(const z3::expr& dividend, const z3::expr& divisor) {
  const z3::expr narrow = z3::sext(divisor.extract(31, 0), 32);
  return z3::ite(narrow == constant(0), constant(0), dividend / narrow);
}

z3::expr divide_unsigned_words(const z3::expr& dividend, const z3::expr& divisor) {
  return z3::ite(divisor == constant(0), constant(0), z3::udiv(dividend, divisor));
}

// dividend == quotient * divisor + remainder, rounded towards zero.
z3::expr divide(const z3::expr& dividend, const z3::expr& divisor) {
  const z3::expr zero = constant(0);
  const z3::expr quotient = here().fresh("quotient");
  if (theory() == Theory::rationals) {
    here().define(dividend == quotient * divisor);
    return quotient;
  }
  const z3::expr remainder = here().fresh("remainder");
  here().define(dividend == quotient * divisor + remainder);
  here().define(
      z3::implies(dividend >= zero, remainder >= zero && remainder < divisor && quotient >= zero));
  here().define(
      z3::implies(dividend < zero, remainder <= zero && remainder > -divisor && quotient <= zero));
  return quotient;
}

}  // namespace

Truth::Truth(bool value) : term_(here().context().bool_val(value)) {}
Truth::operator bool() const { return here().decide(term_); }

Truth operator!(const Truth& a) { return Truth(!a.term()); }
Truth operator&&(const Truth& a, const Truth& b) { return Truth(a.term() && b.term()); }
Truth operator&&(bool a, const Truth& b) { return Truth(a) && b; }
Truth operator&&(const Truth& a, bool b) { return a && Truth(b); }
Truth operator||(const Truth& a, const Truth& b) { return Truth(a.term() || b.term()); }
Truth operator||(bool a, const Truth& b) { return Truth(a) || b; }
Truth operator||(const Truth& a, bool b) { return a || Truth(b); }
Truth implies(const Truth& a, const Truth& b) { return Truth(z3::implies(a.term(), b.term())); }
Truth iff(const Truth& a, const Truth& b) { return Truth(a.term() == b.term()); }

Exact::Exact(std::int64_t value) : term_(constant(value)) {}
Exact operator<<(const Exact& a, int bits) {
  Exact result = a;
  for (; bits > 0; --bits) result = result + result;
  return Exact(result.term_.simplify());
}

Number::Number(std::int64_t value) : term_(constant(value)) {}
// Weights of a known queue stay constants, so that what is multiplied by them stays linear.
Number operator+(const Number& a, const Number& b) {
  return checked(folded(a.term_ + b.term_), "a sum fits in 64 bits");
}
Number operator-(const Number& a, const Number& b) {
  return checked(folded(a.term_ - b.term_), "a difference fits in 64 bits");
}
Number operator*(const Number& a, const Number& b) {
  return checked(a.term_ * b.term_, "a product fits in 64 bits");
}

Point::Point() : term_(constant(0)) {}
Number operator-(const Point& a, const Point& b) {
  return checked(a.term_ - b.term_, "a distance in virtual time fits in 64 bits");
}

Number div_s64(const Number& dividend, const Number& divisor) {
  if (theory() == Theory::words) return Number(divide_words(dividend.term(), divisor.term()));
  const bool narrow = theory() == Theory::integers;
  here().oblige(divisor.term() > constant(0) &&
                    (narrow ? divisor.term() <= constant(INT32_MAX) : here().yes()),
                "the divisor of div_s64() is positive and has 32 bits");
  return Number(divide(dividend.term(), divisor.term()));
}

Number div_u64(const Number& dividend, const Number& divisor) {
  if (theory() == Theory::words) {
    return Number(divide_unsigned_words(dividend.term(), divisor.term()));
  }
  here().oblige(divisor.term() > constant(0), "the divisor of div_u64() is positive");
  here().oblige(dividend.term() >= constant(0), "the dividend of div_u64() is not negative");
  return Number(divide(dividend.term(), divisor.term()));
}

Number scale(const Number& delta, std::uint32_t factor, unsigned shift) {
  if (theory() == Theory::words) {
    const z3::expr wide = z3::zext(delta.term(), 64) * here().context().bv_val(factor, 128);
    return Number(z3::lshr(wide, static_cast<int>(shift)).extract(63, 0));
  }
  here().oblige(delta.term() >= constant(0), "what is scaled is not negative");
  const z3::expr product = delta.term() * constant(factor);
  const z3::expr unit = constant(std::int64_t{1} << shift);
  const z3::expr result = here().fresh("scaled");
  if (theory() == Theory::rationals) {
    here().define(result * unit == product);
  } else {
    here().define(result * unit <= product && product < (result + constant(1)) * unit);
  }
  return checked(result, "a scaled word fits in 64 bits");
}

Number geometric_mean(const Number& a, const Number& b) {
  VLAG_CHECK(theory() != Theory::words);
  const z3::expr product = a.term() * b.term();
  here().oblige(product >= constant(0), "what has a geometric mean does not differ in sign");
  const z3::expr root = here().fresh("root");
  here().define(root >= constant(0));
  if (theory() == Theory::rationals) {
    here().define(root * root == product);
  } else {
    const z3::expr next = root + constant(1);
    here().define(root * root <= product && product < next * next);
  }
  return checked(root, "a geometric mean fits in 64 bits");
}

Number choose(const Truth& condition, const Number& yes, const Number& no) {
  return Number(z3::ite(condition.term(), yes.term(), no.term()));
}
Point choose(const Truth& condition, const Point& yes, const Point& no) {
  return Point(z3::ite(condition.term(), yes.term(), no.term()));
}
Exact choose(const Truth& condition, const Exact& yes, const Exact& no) {
  return Exact(z3::ite(condition.term(), yes.term(), no.term()));
}

Number stash(const Point& point) {
  VLAG_CHECK(theory() == Theory::words);
  return Number(point.term());
}

Exact exact(const Number& number) {
  VLAG_CHECK(theory() != Theory::words);
  return Exact(number.term());
}
Exact exact(const Point& a, const Point& b) {
  VLAG_CHECK(theory() != Theory::words);
  return Exact(a.term() - b.term());
}

}  // namespace vlag::smt
