// SPDX-License-Identifier: GPL-2.0-only
// What a change of weight keeps: lag_i = w_i vlag_i, so vlag' = vlag w / w'.
//
//   off the queue      vlag is scaled (all versions; tasks of 6.12 are always taken off first)
//   6.6                v stays, d - v is scaled: the lag changes, and V moves
//   6.7 .. 6.12        V stays, V - v and d - V are scaled
//   6.13 .. 7.0        V - v and d - v are scaled, and the entity is placed among the others
//                      (core/placement.h)
//
// Source: reweight_entity() of each version.
#pragma once

#include "core/machine.h"

namespace vlag {

/// Requires: loads > 0, scaled. Ensures: |w' vlag' - w vlag| < w'.
template <class M>
typename M::S reweighted_lag(const typename M::S& vlag, const typename M::S& load,
                             const typename M::S& new_load) {
  return div_s64(vlag * load, new_load);
}

/// The deadline of a queued entity that keeps its vruntime; source: reweight_eevdf(), 6.6.
/// Requires: loads > 0, scaled. Ensures: |w' (d' - v) - w (d - v)| < w'.
template <class M>
typename M::T reweighted_deadline(const typename M::T& vruntime, const typename M::T& deadline,
                                  const typename M::S& load, const typename M::S& new_load) {
  return vruntime + reweighted_lag<M>(deadline - vruntime, load, new_load);
}

/// Where a reweighted entity is in virtual time.
template <class M>
struct Reweighted {
  typename M::T vruntime;
  typename M::T deadline;
};

/// A queued entity around V, with `lag` = entity_lag() at the old weight.
/// Requires: loads > 0, scaled; `average` is V with the entity in it.
/// Ensures: w' (V - v') is w lag, and w' (d' - V) is w (d - V), to less than w'. If the lag was not
/// limited, V stays, to rounding. Source: reweight_eevdf(), 6.9 to 6.12.
template <class M>
Reweighted<M> reweighted_around(const typename M::T& average, const typename M::T& deadline,
                                const typename M::S& lag, const typename M::S& load,
                                const typename M::S& new_load) {
  return {average - reweighted_lag<M>(lag, load, new_load),
          average + reweighted_lag<M>(deadline - average, load, new_load)};
}

}  // namespace vlag
