// SPDX-License-Identifier: GPL-2.0-only
// The virtual deadline: d = v + r / w, where r is the request (slice) and w the weight.
//
// A used-up request is renewed from the vruntime that was actually reached: what ran over is not
// credited to the next one. Source: update_deadline(), 6.12.117.
#pragma once

#include "core/weight.h"

namespace vlag {

/// Whether the request has been consumed: v >= d.
template <class M>
typename M::B request_used_up(const typename M::T& vruntime, const typename M::T& deadline) {
  return !before<M>(vruntime, deadline);
}

/// The deadline of a request of `slice` ns made at `from`.
/// Ensures: not before `from`, and after it if the slice is worth at least one unit.
template <class M>
typename M::T deadline_after(const typename M::T& from, const typename M::S& slice,
                             const Weight& weight) {
  return from + calc_delta_fair<M>(slice, weight);
}

/// Service, in ns, that is left until the deadline. Requires: |d - v| w < 2^63.
/// Source: hrtick_start_fair(), 7.1 (558c18d3fbb6).
template <class M>
typename M::S service_until(const typename M::T& vruntime, const typename M::T& deadline,
                            const Weight& weight) {
  using S = typename M::S;
  return div_s64((deadline - vruntime) * S(static_cast<std::int64_t>(weight.load)),
                 S(static_cast<std::int64_t>(nice_0_load)));
}

/// Where an entity goes that yields: it forfeits what is left of its request, which is used up then
/// and is to be renewed. One that is not eligible stays where it is: else repeated yields would
/// move it ahead of the others without end.
/// Requires: deadline_renewed. Ensures: not before `vruntime`, and at most one request ahead of V.
/// Source: yield_task_fair(), 6.12.117 (79104becf42b).
template <class M>
typename M::T yielded_vruntime(typename M::B eligible, const typename M::T& vruntime,
                               const typename M::T& deadline) {
  return choose(eligible, deadline, vruntime);
}

}  // namespace vlag
