// SPDX-License-Identifier: GPL-2.0-only
// Properties of the timeline as a tree.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "props/property.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::has;
using spec::Observation;

// What the timeline is ordered by, and what its nodes remember the least of.
std::uint64_t key_of(const Step& step, const EntityState& entity) {
  return step.rules->order == TimelineOrder::vruntime ? entity.vruntime : entity.deadline;
}
std::uint64_t remembered(const Step& step, const EntityState& entity) {
  return step.rules->order == TimelineOrder::vruntime ? entity.deadline : entity.vruntime;
}

std::string timeline_is_ordered(const Step& step) {
  const spec::InOrder walk = spec::in_order(step.after);
  if (walk.broken) return "the timeline's links do not form a tree over its entities";
  const auto& entities = walk.entities;
  const int first = entities.empty() ? VLAG_NO_ENTITY : entities.front()->id;
  if (step.after.queue->leftmost != first) {
    return fmt::format("task {} is cached as the leftmost, but task {} is",
                       step.after.queue->leftmost, first);
  }
  for (std::size_t i = 1; i < entities.size(); ++i) {
    const std::uint64_t key = key_of(step, *entities[i]);
    const std::uint64_t before = key_of(step, *entities[i - 1]);
    if (spec::distance(key, before) >= 0) continue;
    return fmt::format("task {} at {} stands behind task {} at {}", entities[i]->id, key,
                       entities[i - 1]->id, before);
  }
  return {};
}

// Whether the entity stayed in the timeline, untouched, during the step.
bool stayed(const Step& step, const EntityState& after) {
  const EntityState* before = step.before != nullptr ? step.before->find(after.id) : nullptr;
  return before != nullptr && has(*before, VLAG_IN_TIMELINE) && has(after, VLAG_IN_TIMELINE) &&
         before->deadline == after.deadline && before->vruntime == after.vruntime &&
         before->weight == after.weight && !spec::targets(step.operation, after.id);
}

std::size_t rank(const spec::InOrder& walk, int id) {
  const auto at = std::find_if(walk.entities.begin(), walk.entities.end(),
                               [&](const EntityState* entity) { return entity->id == id; });
  return static_cast<std::size_t>(at - walk.entities.begin());
}

std::string ties_are_fifo(const Step& step) {
  if (step.before == nullptr) return {};
  const spec::InOrder after = spec::in_order(step.after);
  const spec::InOrder before = spec::in_order(*step.before);
  for (std::size_t i = 1; i < after.entities.size(); ++i) {
    const EntityState& left = *after.entities[i - 1];
    const EntityState& right = *after.entities[i];
    if (key_of(step, left) != key_of(step, right) || !stayed(step, right)) continue;
    // Who was not in the timeline has the last rank.
    if (rank(before, left.id) < rank(before, right.id)) continue;
    return fmt::format(
        "task {} came later than task {} with the same deadline {}, but stands first", left.id,
        right.id, key_of(step, left));
  }
  return {};
}

// What a node should remember, from its own value and what its children remember.
std::uint64_t least_vruntime(const Step& step, const EntityState& entity) {
  const Observation& now = step.after;
  std::uint64_t least = remembered(step, entity);
  for (const int id : {entity.left, entity.right}) {
    const EntityState* child = now.find(id);
    if (child != nullptr && spec::distance(child->min_vruntime, least) < 0) {
      least = child->min_vruntime;
    }
  }
  return least;
}

std::uint64_t least_slice(const Observation& now, const EntityState& entity) {
  std::uint64_t least = entity.slice;
  for (const int id : {entity.left, entity.right}) {
    const EntityState* child = now.find(id);
    if (child != nullptr) least = std::min(least, child->min_slice);
  }
  return least;
}

std::string subtree_minima_match(const Step& step) {
  for (const EntityState& entity : step.after.entities) {
    if (!has(entity, VLAG_IN_TIMELINE)) continue;
    const std::uint64_t least = least_vruntime(step, entity);
    if (entity.min_vruntime == least) continue;
    return fmt::format("task {} remembers min_vruntime={} for its subtree, where it is {}",
                       entity.id, entity.min_vruntime, least);
  }
  return {};
}

std::string subtree_slices_match(const Step& step) {
  for (const EntityState& entity : step.after.entities) {
    if (!has(entity, VLAG_IN_TIMELINE)) continue;
    const std::uint64_t least = least_slice(step.after, entity);
    if (entity.min_slice == least) continue;
    return fmt::format("task {} remembers min_slice={} for its subtree, where it is {}", entity.id,
                       entity.min_slice, least);
  }
  return {};
}

}  // namespace

std::span<const Property> timeline_properties() {
  static const std::array<Property, 4> list = {{
      {"timeline_is_ordered", "the timeline is a tree in order of deadlines, its first one cached",
       "order=unsigned_deadline", stateless<timeline_is_ordered>},
      {"ties_are_fifo", "among equal deadlines, who came first stands first", "tie=lifo",
       stateless<ties_are_fifo>},
      {"subtree_minima_match",
       "each node of the timeline remembers the least vruntime of its subtree",
       "subtree_minimum=own", stateless<subtree_minima_match>},
      {"subtree_slices_match", "each node of the timeline remembers the least slice of its subtree",
       "subtree_slice=stale", stateless<subtree_slices_match>, "min-slice-handover"},
  }};
  return list;
}

}  // namespace vlag::props
