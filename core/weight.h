// SPDX-License-Identifier: GPL-2.0-only
// Weights, and the scaled division that turns service into virtual time.
//
//   calc_delta_fair(delta) ~= delta * NICE_0_LOAD / weight
//
// computed as delta * factor >> shift, where factor/2^shift approximates NICE_0_LOAD / weight by
// the table's inverse (__calc_delta() of kernel/sched/fair.c, 6.1 to 7.0: it truncates, never
// rounds up). Factor and shift depend on the weight alone, so they are computed when it is set.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/machine.h"

namespace vlag {

inline constexpr int nice_min = -20;
inline constexpr int nice_max = 19;
inline constexpr unsigned fixedpoint_shift = 10;  // SCHED_FIXEDPOINT_SHIFT
inline constexpr std::uint64_t nice_0_load = std::uint64_t{1024} << fixedpoint_shift;

/// A weight as the sums use it: 0, or weight >> 10 but at least 2. Requires: weight >= 0.
/// Source: scale_load_down(), 6.12.
template <class M>
constexpr typename M::S scale_load_down(const typename M::S& weight) {
  using S = typename M::S;
  const S down = greatest(scale(weight, 1, fixedpoint_shift), S(2));
  return choose(weight == S(0), weight, down);
}

/// se->load, and what follows from it alone.
struct Weight {
  std::uint64_t load = 0;     // scaled: nice 0 is 1 << 20
  std::uint32_t inverse = 0;  // 2^32 / scale_load_down(load), as the kernel's table has it
  std::uint32_t factor = 1;   // delta * factor >> shift
  std::uint8_t shift = 0;
  std::uint32_t scaled_down = 0;

  /// The weight as the sums use it.
  constexpr Word down() const { return std::int64_t{scaled_down}; }
};

/// The weight with that load and inverse; source: __calc_delta(), 6.12.
constexpr Weight make_weight(std::uint64_t load, std::uint32_t inverse) {
  const Word down = scale_load_down<Words>(Word::wrapped(load));
  Weight weight{load, inverse, 1, 0, static_cast<std::uint32_t>(down.value)};
  if (load == nice_0_load) return weight;  // calc_delta_fair() is then the identity.
  std::uint64_t factor = scale_load_down<Words>(Word::wrapped(nice_0_load)).bits() * inverse;
  int shift = 32;
  const auto excess = static_cast<int>(std::bit_width(factor >> 32));
  factor >>= excess;
  shift -= excess;
  weight.factor = static_cast<std::uint32_t>(factor);
  weight.shift = static_cast<std::uint8_t>(shift);
  return weight;
}

// sched_prio_to_weight[] and sched_prio_to_wmult[]: nice -20 .. 19.
inline constexpr std::array<std::uint32_t, 40> nice_to_weight = {
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906,  3121,  2501,  1991,  1586,  1277,  1024,  820,   655,   526,   423,  335,  272,  215,
    172,   137,   110,   87,    70,    56,    45,    36,    29,    23,    18,   15,
};
inline constexpr std::array<std::uint32_t, 40> nice_to_inverse = {
    48388,    59856,    76040,    92818,     118348,    147320,    184698,    229616,
    287308,   360437,   449829,   563644,    704093,    875809,    1099582,   1376151,
    1717300,  2157191,  2708050,  3363326,   4194304,   5237765,   6557202,   8165337,
    10153587, 12820798, 15790321, 19976592,  24970740,  31350126,  39045157,  49367440,
    61356676, 76695844, 95443717, 119304647, 148102320, 186737708, 238609294, 286331153,
};

/// Requires: nice_min <= nice <= nice_max.
constexpr Weight nice_weight(int nice) {
  const auto index = static_cast<std::size_t>(nice - nice_min);
  return make_weight(std::uint64_t{nice_to_weight[index]} << fixedpoint_shift,
                     nice_to_inverse[index]);
}

/// WEIGHT_IDLEPRIO, WMULT_IDLEPRIO.
constexpr Weight idle_weight() {
  return make_weight(std::uint64_t{3} << fixedpoint_shift, 1431655765U);
}

/// Virtual time that `delta` ns of service are worth at that weight.
/// Requires: delta >= 0. Ensures: 0 <= result <= delta * 1024 / weight.down() (for the table's
/// weights to within 10^-8 of it and one unit). Source: calc_delta_fair(), 6.12.
template <class M>
typename M::S calc_delta_fair(const typename M::S& delta, const Weight& weight) {
  if (weight.shift == 0) return delta;
  return scale(delta, weight.factor, weight.shift);
}

}  // namespace vlag
