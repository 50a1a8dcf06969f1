// SPDX-License-Identifier: GPL-2.0-only
// What a change of weight keeps: lag_i = w_i vlag_i, so vlag' = vlag w / w'.
// Source: reweight_entity() of an entity that is off the queue, 6.12.117 (tasks are always taken
// off first).
#pragma once

#include "core/machine.h"

namespace vlag {

/// Requires: loads > 0, scaled. Ensures: |w' vlag' - w vlag| < w'.
template <class M>
typename M::S reweighted_lag(const typename M::S& vlag, const typename M::S& load,
                             const typename M::S& new_load) {
  return div_s64(vlag * load, new_load);
}

}  // namespace vlag
