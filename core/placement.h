// SPDX-License-Identifier: GPL-2.0-only
// Where a joining entity goes: at V, less the lag that it brought along.
//
// Joining at V - l moves V itself to V' = V - w l / (W + w), so the entity would end up with only
//
//   V' - v = l W / (W + w)
//
// of the lag l it had. To arrive with l it is placed with l (W + w) / W instead.
// Source: place_entity(), 6.12.117.
#pragma once

#include "core/machine.h"

namespace vlag {

/// The lag to place with, so that `lag` is left after joining a queue of weight `load`.
/// Requires: load > 0, weight > 0, both as the sums count them.
template <class M>
typename M::S inflated_lag(const typename M::S& lag, const typename M::S& load,
                           const typename M::S& weight) {
  return div_s64(lag * (load + weight), load);
}

/// The request that a forked task starts with: half, as the others are on average halfway through
/// theirs (PLACE_DEADLINE_INITIAL).
template <class M>
typename M::S initial_request(const typename M::S& request) {
  return div_s64(request, typename M::S(2));
}

}  // namespace vlag
