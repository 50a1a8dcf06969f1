// SPDX-License-Identifier: GPL-2.0-only
#include "core/timeline.h"

#include "core/pick.h"

namespace vlag {
namespace {

bool is_red(const Entity* entity) { return entity != nullptr && entity->node.red; }

Entity& first_of(Entity& top) {
  Entity* entity = &top;
  while (entity->node.left != nullptr) entity = entity->node.left;
  return *entity;
}

Entity* next_in_order(const Entity& entity) {
  if (entity.node.right != nullptr) return &first_of(*entity.node.right);
  const Entity* below = &entity;
  Entity* above = entity.node.parent;
  while (above != nullptr && above->node.right == below) {
    below = above;
    above = above->node.parent;
  }
  return above;
}

void take_minimum(TimelineNode& node, const Entity* child) {
  if (child == nullptr) return;
  node.min_vruntime = earlier<Words>(node.min_vruntime, child->node.min_vruntime);
  // An unsigned comparison, as slices are u64.
  if (child->node.min_slice.bits() < node.min_slice.bits()) node.min_slice = child->node.min_slice;
}

}  // namespace

bool Timeline::goes_left(const Entity& entity, const Entity& other) const {
  if (order_ == TimelineOrder::unsigned_deadline && entity.deadline != other.deadline) {
    return entity.deadline.value < other.deadline.value;
  }
  const Word distance = order_ == TimelineOrder::vruntime ? entity.vruntime - other.vruntime
                                                          : entity.deadline - other.deadline;
  if (tie_ == TieOrder::by_id && distance == 0) return entity.id < other.id;
  return tie_ == TieOrder::lifo ? distance <= 0 : distance < 0;
}

VTime Timeline::remembered(const Entity& entity) const {
  return order_ == TimelineOrder::vruntime ? entity.deadline : entity.vruntime;
}

// Returns whether anything changed.
bool Timeline::update(Entity& entity) const {
  TimelineNode& node = entity.node;
  const VTime old_vruntime = node.min_vruntime;
  const Word old_slice = node.min_slice;
  node.min_vruntime = remembered(entity);
  node.min_slice = entity.slice;
  if (minimum_ == SubtreeMinimum::propagated) {
    take_minimum(node, node.right);
    take_minimum(node, node.left);
  }
  return node.min_vruntime != old_vruntime || node.min_slice != old_slice;
}

// Upwards until `stop`, or until a subtree did not change: then what is above it does not either.
void Timeline::propagate(Entity* from, const Entity* stop) const {
  while (from != stop && update(*from)) from = from->node.parent;
}

// What `heir` remembers when it takes the place of `old`. The kernel's callbacks hand over the one
// field that they are declared with, min_vruntime.
void Timeline::hand_over(const Entity& old, Entity& heir) const {
  if (minimum_ == SubtreeMinimum::own) {
    update(heir);
    return;
  }
  heir.node.min_vruntime = old.node.min_vruntime;
  if (slice_ == SubtreeSlice::handed_over) heir.node.min_slice = old.node.min_slice;
}

void Timeline::replace(Entity& old, Entity* heir) {
  Entity* parent = old.node.parent;
  if (parent == nullptr) {
    root_ = heir;
  } else if (parent->node.left == &old) {
    parent->node.left = heir;
  } else {
    parent->node.right = heir;
  }
  if (heir != nullptr) heir->node.parent = parent;
}

void Timeline::rotate_left(Entity& top) {
  Entity& heir = *top.node.right;
  top.node.right = heir.node.left;
  if (heir.node.left != nullptr) heir.node.left->node.parent = &top;
  replace(top, &heir);
  heir.node.left = &top;
  top.node.parent = &heir;
  hand_over(top, heir);
  update(top);
}

void Timeline::rotate_right(Entity& top) {
  Entity& heir = *top.node.left;
  top.node.left = heir.node.right;
  if (heir.node.right != nullptr) heir.node.right->node.parent = &top;
  replace(top, &heir);
  heir.node.right = &top;
  top.node.parent = &heir;
  hand_over(top, heir);
  update(top);
}

void Timeline::insert(Entity& entity) {
  Entity* parent = nullptr;
  Entity** link = &root_;
  bool is_leftmost = true;
  while (*link != nullptr) {
    parent = *link;
    if (goes_left(entity, *parent)) {
      link = &parent->node.left;
    } else {
      link = &parent->node.right;
      is_leftmost = false;
    }
  }
  entity.node = TimelineNode{};
  entity.node.parent = parent;
  entity.node.red = true;
  *link = &entity;
  if (is_leftmost) leftmost_ = &entity;
  entity.node.min_vruntime = remembered(entity);
  entity.node.min_slice = entity.slice;
  propagate(parent, nullptr);
  rebalance_inserted(&entity);
}

// A red node under a red parent: recolour while the uncle is red, then rotate once or twice.
void Timeline::rebalance_inserted(Entity* entity) {
  while (is_red(entity->node.parent)) {
    Entity* parent = entity->node.parent;
    Entity* grandparent = parent->node.parent;
    const bool on_left = parent == grandparent->node.left;
    Entity* uncle = on_left ? grandparent->node.right : grandparent->node.left;
    if (is_red(uncle)) {
      parent->node.red = uncle->node.red = false;
      grandparent->node.red = true;
      entity = grandparent;
      continue;
    }
    const bool inner = entity == (on_left ? parent->node.right : parent->node.left);
    if (inner) {
      on_left ? rotate_left(*parent) : rotate_right(*parent);
      parent = entity;
    }
    parent->node.red = false;
    grandparent->node.red = true;
    on_left ? rotate_right(*grandparent) : rotate_left(*grandparent);
    break;
  }
  root_->node.red = false;
}

void Timeline::erase(Entity& entity) {
  if (leftmost_ == &entity) leftmost_ = next_in_order(entity);
  bool removed_red = entity.node.red;
  Entity* child = nullptr;   // What moves up into the gap,
  Entity* parent = nullptr;  // and where the gap was.
  if (entity.node.left == nullptr || entity.node.right == nullptr) {
    child = entity.node.left != nullptr ? entity.node.left : entity.node.right;
    parent = entity.node.parent;
    replace(entity, child);
    propagate(parent, nullptr);
  } else {
    Entity& heir = first_of(*entity.node.right);
    removed_red = heir.node.red;
    child = heir.node.right;
    parent = heir.node.parent == &entity ? &heir : heir.node.parent;
    replace_by_successor(entity, heir);
  }
  if (!removed_red) rebalance_erased(child, parent);
  entity.node = TimelineNode{};
}

// `heir` is the first one behind `entity`, which has two children.
void Timeline::replace_by_successor(Entity& entity, Entity& heir) {
  Entity* gap = heir.node.parent;
  if (gap != &entity) {
    replace(heir, heir.node.right);
    heir.node.right = entity.node.right;
    heir.node.right->node.parent = &heir;
  }
  hand_over(entity, heir);
  if (gap != &entity) propagate(gap, &heir);
  replace(entity, &heir);
  heir.node.left = entity.node.left;
  heir.node.left->node.parent = &heir;
  heir.node.red = entity.node.red;
  propagate(&heir, nullptr);
}

// The subtree at `child` (perhaps empty) under `parent` is one black node short.
void Timeline::rebalance_erased(Entity* child, Entity* parent) {
  while (parent != nullptr && !is_red(child)) {
    const bool on_left = parent->node.left == child;
    Entity* sibling = on_left ? parent->node.right : parent->node.left;
    if (is_red(sibling)) {
      sibling->node.red = false;
      parent->node.red = true;
      on_left ? rotate_left(*parent) : rotate_right(*parent);
      sibling = on_left ? parent->node.right : parent->node.left;
    }
    Entity* outer = on_left ? sibling->node.right : sibling->node.left;
    Entity* inner = on_left ? sibling->node.left : sibling->node.right;
    if (!is_red(outer) && !is_red(inner)) {
      sibling->node.red = true;
      child = parent;
      parent = child->node.parent;
      continue;
    }
    if (!is_red(outer)) {
      inner->node.red = false;
      sibling->node.red = true;
      on_left ? rotate_right(*sibling) : rotate_left(*sibling);
      outer = sibling;
      sibling = inner;
    }
    sibling->node.red = parent->node.red;
    parent->node.red = outer->node.red = false;
    on_left ? rotate_left(*parent) : rotate_right(*parent);
    child = root_;
    break;
  }
  if (child != nullptr) child->node.red = false;
}

}  // namespace vlag
