// SPDX-License-Identifier: GPL-2.0-only
// A small random source whose numbers are the same everywhere: same seed, same bytes, whatever the
// compiler, library or optimisation (the standard's distributions promise no such thing).
#pragma once

#include <cstdint>
#include <span>

namespace vlag::props {

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  /// 0 .. bound - 1. Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{next()} * bound >> 64);
  }

  /// low .. high, both included.
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low) + 1));
  }

  bool one_in(std::uint64_t n) { return below(n) == 0; }

  template <class T>
  const T& pick(std::span<const T> choices) {
    return choices[below(choices.size())];
  }

 private:
  std::uint64_t state_;
};

/// A seed for the index-th part of a campaign: neighbours share nothing.
inline std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t index) {
  return Random(seed ^ Random(index).next()).next();
}

}  // namespace vlag::props
