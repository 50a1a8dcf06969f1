// SPDX-License-Identifier: GPL-2.0-only
// A queue as the invariants see it: numbers without wrap-around.
//
// The view is a template over Num: exact integers when an observation is checked, symbols when a
// proof is made. Virtual times are relative to zero_vruntime, which thereby is 0: differences are
// all that an invariant may use, and they are unwrapped once, here.
#pragma once

#include <span>
#include <vector>

#include "spec/observation.h"

namespace vlag::spec {

/// Holds every product of an observation: |key| < 2^63, weights < 2^17, at most 2^8 entities.
__extension__ using Exact = __int128;

template <class Num>
struct EntityView {
  Num weight;    // scaled down, as the sums count it
  Num vruntime;  // relative to zero_vruntime
  Num deadline;  // relative to zero_vruntime
};

template <class Num>
struct QueueView {
  Num sum_w_vruntime;  // as cached, over the timeline
  Num sum_weight;      // as cached, over the timeline
  Num average;         // V as the scheduler rounds it, relative to zero_vruntime
  std::vector<EntityView<Num>> timeline;
  std::vector<EntityView<Num>> current;  // The running entity, if it is queued; else empty.
};

/// The weight of an entity as the sums count it: 2 to 88761, or 0 if it has none.
Exact down_of(const EntityState& entity);

/// One entity of an observation, relative to its queue's zero_vruntime.
EntityView<Exact> view_of(const QueueState& queue, const EntityState& entity);

QueueView<Exact> view_of(const Observation& observation);

/// The exact sums over everyone queued: sum(w v) and sum(w), v relative to zero_vruntime.
struct ExactSums {
  Exact w_vruntime = 0;
  Exact weight = 0;

  void add(const EntityView<Exact>& entity) {
    w_vruntime += entity.weight * entity.vruntime;
    weight += entity.weight;
  }
  /// v <= V, by definition.
  bool eligible(Exact vruntime) const { return vruntime * weight <= w_vruntime; }
};

ExactSums sums_of(const Observation& observation);

/// The bounds within which the properties are claimed: everyone queued is within 2^61 / W of each
/// other, counting twice the longest request, which is how far V can go before zero_vruntime
/// follows (update_deadline() moves it there). Beyond, the kernel's 64-bit products wrap. A tick
/// that is acted on keeps far inside; ignoring requests to reschedule for minutes does not.
bool within_bounds(const Observation& observation);

/// The timeline in order, by walking the links that the backend shows; empty and `broken` if they
/// do not form a tree over exactly the entities that are in the timeline.
struct InOrder {
  std::vector<const EntityState*> entities;
  bool broken = false;
};
InOrder in_order(const Observation& observation);

/// a - b in wrapping virtual time.
inline std::int64_t distance(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(a - b);
}

inline bool is_current(const Observation& observation, const EntityState& entity) {
  return observation.queue->curr == entity.id;
}
inline bool is_idle_policy(const EntityState& entity) {
  return entity.flags >> VLAG_POLICY_SHIFT == VLAG_IDLE;
}
inline bool is_normal_policy(const EntityState& entity) {
  return entity.flags >> VLAG_POLICY_SHIFT == VLAG_NORMAL;
}

}  // namespace vlag::spec
