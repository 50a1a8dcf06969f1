// SPDX-License-Identifier: GPL-2.0-only
// The decisions of CFS, which EEVDF replaced in 6.6: whoever has the least vruntime runs, and
// min_vruntime, which never goes back, stands for where the queue is.
//
//   a woken sleeper is placed at least at min_vruntime - threshold, so it gets a short credit;
//   a forked task at least at min_vruntime + vslice, so it waits for a turn;
//   none is placed before its own vruntime, so that sleeping does not pay.
//
// Each "at least" is a signed comparison. For one that slept until min_vruntime was half the circle
// ahead it turns around, hence the rule for long sleepers.
// Sources: kernel/sched/fair.c, 6.1.192.
#pragma once

#include "core/machine.h"

namespace vlag {

/// A sleeper's credit, in virtual time: half of `latency` with GENTLE_FAIR_SLEEPERS. For SCHED_IDLE
/// `latency` is the least granularity. Requires: latency >= 0, in ns.
template <class M>
typename M::S sleeper_threshold(const typename M::S& latency, bool gentle) {
  return gentle ? scale(latency, 1, 1) : latency;
}

/// Whether an entity slept so long that its vruntime cannot be compared any more: more than 2^63
/// ns / 1024, 104 days. In less, others get less than half the circle ahead: the lightest, of
/// weight 2, by 512 in a ns.
/// Source: entity_is_long_sleeper(), 6.1.192. `slept`: ns since it last ran, 0 if it never did.
template <class M>
typename M::B long_sleeper(const typename M::S& slept) {
  return typename M::S(std::int64_t{1} << 53) < slept;
}

/// Where a forked task goes: START_DEBIT has it wait for `vslice`. Requires: vslice >= 0.
/// Ensures: not before `vruntime`. Source: place_entity(initial = 1).
template <class M>
typename M::T place_forked(const typename M::T& min_vruntime, const typename M::T& vruntime,
                           const typename M::S& vslice) {
  return later<M>(vruntime, min_vruntime + vslice);
}

/// Where a woken sleeper goes. Requires: threshold >= 0; min_vruntime - vruntime < 2^63 unless
/// `slept_long`. Ensures: not before `vruntime`, nor before min_vruntime - threshold.
/// Source: place_entity(initial = 0).
template <class M>
typename M::T place_sleeper(const typename M::T& min_vruntime, const typename M::T& vruntime,
                            const typename M::S& threshold, const typename M::B& slept_long) {
  const typename M::T credited = min_vruntime - threshold;
  return choose(slept_long, credited, later<M>(vruntime, credited));
}

/// wakeup_preempt_entity() == 1: `woken` is behind by more than `granularity`, which is
/// sysctl_sched_wakeup_granularity in virtual time at its own weight. Requires: granularity >= 0.
template <class M>
typename M::B wakeup_preempts(const typename M::T& current, const typename M::T& woken,
                              const typename M::S& granularity) {
  return granularity < current - woken;
}

/// min_vruntime, moved up to the least vruntime of who runs and who is first in line.
/// Ensures: never backward. Source: update_min_vruntime().
template <class M>
typename M::T advanced_min_vruntime(const typename M::T& min_vruntime,
                                    const typename M::T& least_vruntime) {
  return later<M>(min_vruntime, least_vruntime);
}

/// Whether a buddy may run instead of the leftmost: wakeup_preempt_entity(buddy, left) < 1.
/// `granularity`: that of the leftmost, in virtual time.
template <class M>
typename M::B buddy_within(const typename M::T& buddy, const typename M::T& left,
                           const typename M::S& granularity) {
  return !wakeup_preempts<M>(buddy, left, granularity);
}

/// An entity that may not be there.
template <class M>
struct Candidate {
  typename M::B exists;
  typename M::T vruntime;
};

/// The buddies of pick_next_entity(). `second`: who goes first if the leftmost is to be skipped;
/// it exists only if so.
template <class M>
struct Buddies {
  Candidate<M> second, next, last;
};

/// Whom pick_next_entity() takes: in `next` and `last` whether it is they, else the `second`
/// instead of the leftmost if `skips`. At most one of the three is true.
template <class M>
struct BuddyPick {
  typename M::B skips, next, last;
};

/// `next` goes before `last`, and both before the skip; each only within the granularity of the
/// leftmost. Requires: granularity >= 0. Source: pick_next_entity().
template <class M>
BuddyPick<M> pick_buddy(const Buddies<M>& buddies, const typename M::T& left,
                        const typename M::S& granularity) {
  const auto within = [&](const Candidate<M>& one) {
    return one.exists && buddy_within<M>(one.vruntime, left, granularity);
  };
  const typename M::B next = within(buddies.next);
  const typename M::B last = !next && within(buddies.last);
  return {!next && !last && within(buddies.second), next, last};
}

}  // namespace vlag
