// SPDX-License-Identifier: GPL-2.0-only
// The weighted average vruntime V, and who is eligible.
//
//   V = sum(w_i v_i) / W          lag_i = w_i (V - v_i)
//
// v is modulo 2^64 and w v does not fit, so the queue keeps sums relative to a point v0:
//
//   sum_w_vruntime = sum(w_i (v_i - v0))       sum_weight = W
//
// Entity k is eligible when its lag is not negative:
//
//   V - v_k >= 0   <=>   sum_w_vruntime / W >= v_k - v0   <=>   sum_w_vruntime >= (v_k - v0) W
//
// which needs no division. Sources: avg_vruntime(), vruntime_eligible(), 6.12.117.
#pragma once

#include "core/machine.h"
#include "core/policy.h"

namespace vlag {

/// Sums over some entities. In a queue: over the timeline, without the current entity.
template <class M>
struct Sums {
  typename M::T zero_vruntime{};
  typename M::S sum_w_vruntime{};
  typename M::S sum_weight{};

  typename M::S key(const typename M::T& vruntime) const { return vruntime - zero_vruntime; }

  /// Ensures: sums_match is kept for the entities with (vruntime, weight) added.
  void add(const typename M::T& vruntime, const typename M::S& weight) {
    sum_w_vruntime += key(vruntime) * weight;
    sum_weight += weight;
  }

  /// Ensures: sums_match is kept for the entities without (vruntime, weight).
  void remove(const typename M::T& vruntime, const typename M::S& weight) {
    sum_w_vruntime -= key(vruntime) * weight;
    sum_weight -= weight;
  }

  /// Moves v0 by delta. Ensures: V and every eligibility are as before.
  void rebase(const typename M::S& delta) {
    sum_w_vruntime -= sum_weight * delta;
    zero_vruntime += delta;
  }
};

/// floor(V) - v0. Requires: sum_weight > 0. Ensures: the lag sum is in (-W, 0], so an entity
/// placed at the result is eligible.
template <class M>
typename M::S average_key(const Sums<M>& total, AverageRounding rounding) {
  typename M::S dividend = total.sum_w_vruntime;
  // div_s64() truncates; stepping down first makes it floor.
  if (rounding == AverageRounding::floor && dividend < typename M::S(0)) {
    dividend -= total.sum_weight - typename M::S(1);
  }
  return div_s64(dividend, total.sum_weight);
}

/// Whether an entity at `vruntime` is owed service: v <= V, exactly.
template <class M>
typename M::B eligible(const Sums<M>& total, const typename M::T& vruntime) {
  return !(total.sum_w_vruntime < total.key(vruntime) * total.sum_weight);
}

}  // namespace vlag
