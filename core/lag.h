// SPDX-License-Identifier: GPL-2.0-only
// The lag that an entity takes along when it leaves: vlag = V - v, limited.
//
// Without a limit V, which moves as others come and go, could hand out more lag than service ever
// earned. Linux allows twice the request, and at least a tick, since that is how finely it can
// measure. Sources: entity_lag(), update_entity_lag(), 6.12.117.
#pragma once

#include "core/weight.h"

namespace vlag {

/// The largest |vlag|, in virtual time. Requires: slice, tick_nsec >= 0.
template <class M>
typename M::S lag_limit(const typename M::S& slice, const typename M::S& tick_nsec,
                        const Weight& weight) {
  return calc_delta_fair<M>(greatest(slice + slice, tick_nsec), weight);
}

/// Ensures: |result| <= limit; result == average - vruntime if that is within the limit.
template <class M>
typename M::S entity_lag(const typename M::T& average, const typename M::T& vruntime,
                         const typename M::S& limit) {
  return clamp<typename M::S>(average - vruntime, -limit, limit);
}

}  // namespace vlag
