// SPDX-License-Identifier: GPL-2.0-only
// The timeline: the queued entities that do not run, ordered by deadline.
//
// A red-black tree in which every node also knows the least vruntime of its subtree, which is what
// core/pick.h needs. (In 6.6: ordered by vruntime, and the least deadline, for core/heap_pick.h.)
// Equal deadlines go to the right: first in, first out. The shape is that of Linux's rb tree after
// the same insertions and removals, since the subtree fields, which the lockstep compares, depend
// on it. Sources: lib/rbtree.c, __enqueue_entity(), 6.12.117.
#pragma once

#include "core/average.h"
#include "core/entity.h"

namespace vlag {

class Timeline {
 public:
  explicit Timeline(const Rules& rules)
      : order_(rules.order),
        tie_(rules.tie),
        minimum_(rules.subtree_minimum),
        slice_(rules.subtree_slice) {}

  bool empty() const { return root_ == nullptr; }
  Entity* root() const { return root_; }
  /// The entity with the earliest deadline; nullptr if empty.
  Entity* leftmost() const { return leftmost_; }

  /// Requires: the entity is in no timeline. Its deadline, vruntime and slice must not change
  /// until it is erased.
  void insert(Entity& entity);

  /// Requires: the entity is in this timeline.
  void erase(Entity& entity);

  /// Requires: the entity is in this timeline, and only what its nodes remember has changed.
  void refresh(Entity& entity) { propagate(&entity, nullptr); }

 private:
  VTime remembered(const Entity& entity) const;
  bool goes_left(const Entity& entity, const Entity& other) const;
  bool update(Entity& entity) const;
  void propagate(Entity* from, const Entity* stop) const;
  void hand_over(const Entity& old, Entity& heir) const;
  void replace(Entity& old, Entity* heir);
  void replace_by_successor(Entity& entity, Entity& heir);
  void rotate_left(Entity& top);
  void rotate_right(Entity& top);
  void rebalance_inserted(Entity* entity);
  void rebalance_erased(Entity* child, Entity* parent);

  Entity* root_ = nullptr;
  Entity* leftmost_ = nullptr;
  TimelineOrder order_;
  TieOrder tie_;
  SubtreeMinimum minimum_;
  SubtreeSlice slice_;
};

}  // namespace vlag
