// SPDX-License-Identifier: GPL-2.0-only
// The machine of words: the three value types that every arithmetic rule is written over.
//
// A machine M gives
//   M::S  a signed word: a lag, a request, a weight, a product of them
//   M::T  a point in virtual time; it wraps, so it has no order: T - T gives S, T + S gives T
//   M::B  truth
// and div_s64(), div_u64(), scale(), geometric_mean(), choose(), stash(). With the words below the
// rules run; with symbols (smt/) the same text is proved. Words wrap as the kernel's do (it is
// built with -fno-strict-overflow).
#pragma once

#include <compare>
#include <cstdint>

namespace vlag {

using Nanos = std::uint64_t;  // A point in, or a span of, task clock.

/// A signed 64-bit word with the kernel's wrap-around.
struct Word {
  std::int64_t value = 0;

  constexpr Word() = default;
  constexpr Word(std::int64_t v) : value(v) {}  // NOLINT(google-explicit-constructor)
  static constexpr Word wrapped(std::uint64_t bits) {
    return Word(static_cast<std::int64_t>(bits));
  }
  constexpr std::uint64_t bits() const { return static_cast<std::uint64_t>(value); }

  friend constexpr Word operator+(Word a, Word b) { return wrapped(a.bits() + b.bits()); }
  friend constexpr Word operator-(Word a, Word b) { return wrapped(a.bits() - b.bits()); }
  friend constexpr Word operator*(Word a, Word b) { return wrapped(a.bits() * b.bits()); }
  friend constexpr Word operator-(Word a) { return wrapped(0 - a.bits()); }
  constexpr Word& operator+=(Word b) { return *this = *this + b; }
  constexpr Word& operator-=(Word b) { return *this = *this - b; }
  friend constexpr auto operator<=>(Word, Word) = default;
};

/// A point in virtual time, modulo 2^64. No operator<: wrapping order is not transitive.
struct VTime {
  std::uint64_t value = 0;

  constexpr VTime() = default;
  constexpr explicit VTime(std::uint64_t v) : value(v) {}

  friend constexpr Word operator-(VTime a, VTime b) { return Word::wrapped(a.value - b.value); }
  friend constexpr VTime operator+(VTime a, Word d) { return VTime(a.value + d.bits()); }
  friend constexpr VTime operator-(VTime a, Word d) { return VTime(a.value - d.bits()); }
  constexpr VTime& operator+=(Word d) { return *this = *this + d; }
  friend constexpr bool operator==(VTime, VTime) = default;
};

struct Words {
  using S = Word;
  using T = VTime;
  using B = bool;
};

/// div_s64() of include/linux/math64.h: truncates toward zero, and the divisor to 32 bits.
/// Requires: the low 32 bits of `divisor` are not 0 (the kernel would trap; here the result is 0,
/// so that a faulty policy is reported by a property and not by a signal).
constexpr Word div_s64(Word dividend, Word divisor) {
  const auto narrow = static_cast<std::int32_t>(divisor.value);
  if (narrow == 0) return 0;
  if (narrow == -1) return -dividend;
  return dividend.value / narrow;
}

/// Unsigned division, as the kernel's u64 / unsigned long: truncates. Requires: divisor != 0 (here
/// the result is 0, as in div_s64()).
constexpr Word div_u64(Word dividend, Word divisor) {
  if (divisor.value == 0) return 0;
  return Word::wrapped(dividend.bits() / divisor.bits());
}

/// mul_u64_u32_shr(): delta * factor >> shift with a 128-bit product.
constexpr Word scale(Word delta, std::uint32_t factor, unsigned shift) {
  __extension__ using Wide = unsigned __int128;
  return Word::wrapped(static_cast<std::uint64_t>(Wide{delta.bits()} * factor >> shift));
}

/// floor(sqrt(a b)), with a 128-bit product. Requires: a and b do not differ in sign.
constexpr Word geometric_mean(Word a, Word b) {
  __extension__ using Wide = unsigned __int128;
  const auto magnitude = [](Word x) { return x.value < 0 ? (-x).bits() : x.bits(); };
  const Wide product = Wide{magnitude(a)} * magnitude(b);
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 63; bit != 0; bit >>= 1) {
    const std::uint64_t more = root | bit;
    if (Wide{more} * more <= product) root = more;
  }
  return Word::wrapped(root);
}

constexpr Word choose(bool condition, Word yes, Word no) { return condition ? yes : no; }
constexpr VTime choose(bool condition, VTime yes, VTime no) { return condition ? yes : no; }

/// A time point kept in a field for lags (se->vlag holds the deadline while an entity runs).
constexpr Word stash(VTime point) { return Word::wrapped(point.value); }

template <class S>
constexpr S least(const S& a, const S& b) {
  return choose(b < a, b, a);
}
template <class S>
constexpr S greatest(const S& a, const S& b) {
  return choose(a < b, b, a);
}
template <class S>
constexpr S clamp(const S& x, const S& low, const S& high) {
  return least(greatest(x, low), high);
}

/// a is before b in wrapping order: (s64)(a - b) < 0.
template <class M>
constexpr typename M::B before(const typename M::T& a, const typename M::T& b) {
  return a - b < typename M::S(0);
}

/// The earlier of two points, and the later one; the first if they are the same.
/// Requires: less than 2^63 apart. Source: min_vruntime(), max_vruntime().
template <class M>
constexpr typename M::T earlier(const typename M::T& a, const typename M::T& b) {
  return choose(before<M>(b, a), b, a);
}
template <class M>
constexpr typename M::T later(const typename M::T& a, const typename M::T& b) {
  return choose(before<M>(a, b), b, a);
}

}  // namespace vlag
