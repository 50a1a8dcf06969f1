// SPDX-License-Identifier: GPL-2.0-only
// The request length that sched_setattr(2) may ask for. Source: __setscheduler_params(), 6.12.117.
#pragma once

#include "core/machine.h"

namespace vlag {

inline constexpr std::int64_t slice_min = 100'000;      // ns
inline constexpr std::int64_t slice_max = 100'000'000;  // ns

/// Ensures: slice_min <= result <= slice_max; idempotent; monotone.
template <class M>
typename M::S clamp_slice(const typename M::S& request) {
  return clamp<typename M::S>(request, typename M::S(slice_min), typename M::S(slice_max));
}

}  // namespace vlag
