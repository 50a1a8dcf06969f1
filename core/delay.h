// SPDX-License-Identifier: GPL-2.0-only
// Delayed dequeue: an entity that blocks while it is not eligible stays queued until its debt is
// gone, so that it cannot sleep the debt away. What it would gain beyond that is not earned
// (DELAY_ZERO).
//
//   picked while delayed    it leaves, with delayed_lag()
//   woken while delayed     it stays where it is; but if it has gained lag, it is placed anew, at V
//                           as the others have it, with delayed_lag(), which is 0
//
// Sources: dequeue_entity(), requeue_delayed_entity(), 6.12.117; update_entity_lag(), 7.1.
#pragma once

#include "core/machine.h"

namespace vlag {

/// What a delayed entity keeps of its lag: the debt. Ensures: result <= 0.
template <class M>
typename M::S delayed_lag(const typename M::S& lag) {
  return least<typename M::S>(lag, typename M::S(0));
}

/// Whether a delayed entity that is woken is placed anew: where delayed_lag() takes something.
template <class M>
typename M::B requeue_places(const typename M::S& lag) {
  return typename M::S(0) < lag;
}

/// The debt of an entity that is still delayed, after others ran or left: it never grows.
/// `saved`: its debt until now. Requires: saved <= 0. Ensures: saved <= result <= 0.
/// Source: update_entity_lag(), 7.1 (059258b0d424, c5cd6fd75b6a).
template <class M>
typename M::S remaining_debt(const typename M::S& lag, const typename M::S& saved) {
  return delayed_lag<M>(greatest<typename M::S>(lag, saved));
}

}  // namespace vlag
