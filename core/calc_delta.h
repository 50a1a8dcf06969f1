// SPDX-License-Identifier: GPL-2.0-only
// calc_delta() of other versions than core/weight.h has (6.1 to 7.0).
//
//   2.6.35: delta * weight * inverse / 2^32, rounded half up. A product that leaves no room for the
//           inverse is shifted in two steps, and rounded in each.
//   7.1:    delta * NICE_0_LOAD / weight, by one truncating division of 64-bit words; no inverse.
#pragma once

#include "core/weight.h"

namespace vlag {

/// The inverse of a load that is in no table (a queue's), a little less than 2^32 / load.
/// Requires: 0 < load < 2^63. Ensures: 2^32 / (load + 1), rounded to the nearest and up within
/// 1 / (load + 1) of the middle, but at least 1.
/// Source: calc_delta_mine(), 2.6.35.
template <class M>
typename M::S computed_inverse(const typename M::S& load) {
  using S = typename M::S;
  const S whole = std::int64_t{1} << 32;
  if (load >= whole) return S(1);
  return S(1) + div_u64(whole - scale(load, 1, 1), load + S(1));
}

/// value / 2^bits, rounded half up; source: SRR(), 2.6.35. Requires: value >= 0, 1 <= bits < 63.
template <class M>
typename M::S shift_right_rounded(const typename M::S& value, unsigned bits) {
  return scale(value + typename M::S(std::int64_t{1} << (bits - 1)), 1, bits);
}

/// delta ns times weight / load, where inverse ~= 2^32 / load.
/// Requires: delta, weight >= 0, and delta weight inverse < 2^79. (The kernel's limit to LONG_MAX
/// cuts nothing off: 48 bits are left after the shifts.) Source: calc_delta_mine(), 2.6.35.
template <class M>
typename M::S calc_delta_mine(const typename M::S& delta, const typename M::S& weight,
                              const typename M::S& inverse) {
  using S = typename M::S;
  const S product = delta * weight;
  if (product > S(std::int64_t{1} << 32)) {
    return shift_right_rounded<M>(shift_right_rounded<M>(product, 16) * inverse, 16);
  }
  return shift_right_rounded<M>(product * inverse, 32);
}

/// Virtual time that `delta` ns of service are worth at that weight. Requires: 0 <= delta <= 2^38.
/// Ensures: service_rounded. Source: calc_delta_fair(), 2.6.35.
template <class M>
typename M::S calc_delta_fair_rounded(const typename M::S& delta, const Weight& weight) {
  if (weight.load == nice_0_load) return delta;
  using S = typename M::S;
  return calc_delta_mine<M>(delta, S(1024), S(std::int64_t{weight.inverse}));
}

/// Virtual time that `delta` ns of service are worth at that weight. Requires: 0 <= delta < 2^43
/// (as signed words; the kernel's product is unsigned and has one bit more).
/// Ensures: service_charged without error. Source: __calc_delta(), 7.1 (db4551e2ba34).
template <class M>
typename M::S calc_delta_fair_divided(const typename M::S& delta, const Weight& weight) {
  using S = typename M::S;
  if (weight.load == nice_0_load) return delta;
  return div_u64(delta * S(static_cast<std::int64_t>(nice_0_load)),
                 S(static_cast<std::int64_t>(weight.load)));
}

}  // namespace vlag
