// SPDX-License-Identifier: GPL-2.0-only
// Where a joining entity goes: at V, less the lag that it brought along.
//
// Joining at V - l moves V itself to V' = V - w l / (W + w), so the entity would end up with only
//
//   V' - v = l W / (W + w)
//
// of the lag l it had. To arrive with l it is placed with l (W + w) / W instead.
// Source: place_entity(), 6.12.117.
//
// That keeps the lag, but not the balance: who leaves others of weight A moves V by w l / A, and
// who joins others of weight B moves it back by w l / B, which is more if B < A. A proposal is to
// inflate by no more than what the leave took. With fA = (A + w)/A and fB = (B + w)/B
//
//   as_linux    l fB              the lag survives
//   none        l
//   capped      l min(fA, fB)     it survives where the queue is no lighter than it was
//   geometric   l sqrt(fA fB)     the most for which no leave and join raise the energy
//
// spec/lag_inflation.md tells why; smt/energy_goals.cpp proves it.
#pragma once

#include "core/machine.h"
#include "core/policy.h"

namespace vlag {

/// The lag to place with, so that `lag` is left after joining a queue of weight `load`.
/// Requires: load > 0, weight > 0, both as the sums count them.
template <class M>
typename M::S inflated_lag(const typename M::S& lag, const typename M::S& load,
                           const typename M::S& weight) {
  return div_s64(lag * (load + weight), load);
}

/// The lag to place with, by rule. `left`: the weight of the others when the entity left a queue; 0
/// if it was alone or never left one. All roundings are toward 0.
/// Requires: joined > 0, weight > 0, left >= 0, as the sums count them.
template <class M>
typename M::S placed_lag(LagInflation rule, const typename M::S& lag, const typename M::S& left,
                         const typename M::S& joined, const typename M::S& weight) {
  if (rule == LagInflation::none) return lag;
  if (rule == LagInflation::capped) {
    return inflated_lag<M>(lag, greatest<typename M::S>(left, joined), weight);
  }
  const typename M::S by_joined = inflated_lag<M>(lag, joined, weight);
  if (rule == LagInflation::as_linux) return by_joined;
  const typename M::S known = choose(typename M::S(0) < left, left, joined);
  const typename M::S mean = geometric_mean(inflated_lag<M>(lag, known, weight), by_joined);
  return choose(lag < typename M::S(0), -mean, mean);
}

/// The request that a forked task starts with: half, as the others are on average halfway through
/// theirs (PLACE_DEADLINE_INITIAL).
template <class M>
typename M::S initial_request(const typename M::S& request) {
  return div_s64(request, typename M::S(2));
}

}  // namespace vlag
