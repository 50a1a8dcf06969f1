// SPDX-License-Identifier: GPL-2.0-only
#include "spec/view.h"

#include <algorithm>

#include "core/weight.h"

namespace vlag::spec {

Exact down_of(const EntityState& entity) {
  return scale_load_down<Words>(Word::wrapped(entity.weight)).value;
}

EntityView<Exact> view_of(const QueueState& queue, const EntityState& entity) {
  const Exact key = distance(entity.vruntime, queue.zero_vruntime);
  return {down_of(entity), key, key + distance(entity.deadline, entity.vruntime)};
}

QueueView<Exact> view_of(const Observation& observation) {
  const QueueState& queue = *observation.queue;
  QueueView<Exact> view{queue.sum_w_vruntime,
                        static_cast<std::int64_t>(queue.sum_weight),
                        distance(queue.average, queue.zero_vruntime),
                        {},
                        {}};
  view.timeline.reserve(observation.entities.size());
  for (const EntityState& entity : observation.entities) {
    if (has(entity, VLAG_IN_TIMELINE)) view.timeline.push_back(view_of(queue, entity));
    if (has(entity, VLAG_ON_RQ) && is_current(observation, entity)) {
      view.current.push_back(view_of(queue, entity));
    }
  }
  return view;
}

ExactSums sums_of(const Observation& observation) {
  ExactSums sums;
  for (const EntityState& entity : observation.entities) {
    if (has(entity, VLAG_ON_RQ)) sums.add(view_of(*observation.queue, entity));
  }
  return sums;
}

bool within_bounds(const Observation& observation) {
  Exact low = 0;
  Exact high = 0;
  Exact request = 0;
  Exact weight = 0;
  const EntityState* first = nullptr;
  int queued = 0;
  for (const EntityState& entity : observation.entities) {
    if (!has(entity, VLAG_ON_RQ)) continue;
    ++queued;
    if (first == nullptr) first = &entity;
    const Exact down = down_of(entity);
    // The current one's next charge counts: an operation may decide right after it.
    const bool runs = is_current(observation, entity);
    const Exact uncharged = runs ? distance(observation.head->clock, entity.exec_start) : 0;
    const Exact offset = distance(entity.vruntime, first->vruntime) + uncharged * 1024 / down;
    low = std::min(low, offset);
    high = std::max(high, offset);
    request = std::max<Exact>(request, distance(entity.deadline, entity.vruntime));
    weight += down;
  }
  return queued <= 1 || (high - low + 2 * request) * weight < Exact{1} << 61;
}

InOrder in_order(const Observation& observation) {
  InOrder walk;
  std::size_t expected = 0;
  for (const EntityState& entity : observation.entities) {
    if (has(entity, VLAG_IN_TIMELINE)) ++expected;
  }
  std::vector<const EntityState*> path;
  int id = observation.queue->root;
  while (!walk.broken && (id != VLAG_NO_ENTITY || !path.empty())) {
    if (id != VLAG_NO_ENTITY) {
      const EntityState* entity = observation.find(id);
      walk.broken = entity == nullptr || !has(*entity, VLAG_IN_TIMELINE) || path.size() >= expected;
      if (walk.broken) break;
      path.push_back(entity);
      id = entity->left;
      continue;
    }
    walk.entities.push_back(path.back());
    walk.broken = walk.entities.size() > expected;
    id = path.back()->right;
    path.pop_back();
  }
  walk.broken |= walk.entities.size() != expected;
  if (walk.broken) walk.entities.clear();
  return walk;
}

}  // namespace vlag::spec
