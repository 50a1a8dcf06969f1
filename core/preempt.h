// SPDX-License-Identifier: GPL-2.0-only
// Slice protection (RUN_TO_PARITY) and what overrides it (PREEMPT_SHORT).
//
// While an entity runs its vlag is free, so 6.12 keeps there the deadline that it was picked with:
// the request is protected as long as the two are equal. A renewed deadline ends the protection by
// itself; cancelling it makes them differ by one.
// Sources: set_protect_slice(), protect_slice(), cancel_protect_slice(), do_preempt_short(),
// 6.12.117.
#pragma once

#include "core/machine.h"

namespace vlag {

template <class M>
typename M::B slice_protected(const typename M::S& vlag, const typename M::T& deadline) {
  return vlag == stash(deadline);
}

/// The vlag of an entity whose protection is lost. Requires: it was protected.
template <class M>
typename M::S cancelled_protection(const typename M::T& deadline) {
  return stash(deadline) + typename M::S(1);
}

/// Whether a woken entity with a shorter request overrides the current one's protection.
template <class M>
typename M::B preempts_short(const typename M::S& woken_slice, const typename M::S& current_slice,
                             typename M::B woken_eligible, typename M::B current_eligible,
                             const typename M::T& woken_deadline,
                             const typename M::T& current_deadline) {
  return woken_slice < current_slice && woken_eligible &&
         (before<M>(woken_deadline, current_deadline) || !current_eligible);
}

}  // namespace vlag
