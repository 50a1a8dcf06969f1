// SPDX-License-Identifier: GPL-2.0-only
// Whom to run: the eligible entity with the earliest deadline.
//
// The timeline is ordered by deadline, and every node knows the least vruntime of its subtree. So
// whether a subtree holds anyone eligible is one test at its top, and one descent finds the first
// eligible entity in order. An entity E here is anything that has
//
//   vruntime, deadline
//   node.left, node.right   nullptr where there is none
//   node.min_vruntime       the least vruntime of its subtree
//
// Source: pick_eevdf(), 6.12.117.
#pragma once

#include "core/average.h"

namespace vlag {

/// Whether anyone of the subtree is eligible; false if it is empty.
template <class M, class E>
bool holds_eligible(const E* top, const Sums<M>& total) {
  if (top == nullptr) return false;
  return static_cast<bool>(eligible(total, top->node.min_vruntime));
}

/// The first eligible entity in the order of the tree; nullptr if no one is eligible. O(log n) in
/// a balanced tree. Requires: subtree_minima_match; `leftmost` is the first in order, or nullptr if
/// the tree is empty. Ensures: earliest_eligible.
template <class M, class E>
E* earliest_eligible(E* root, E* leftmost, const Sums<M>& total) {
  if (root == nullptr) return nullptr;
  // Most often the leftmost is eligible.
  if (eligible(total, leftmost->vruntime)) return leftmost;
  E* entity = root;
  while (entity != nullptr) {
    // Anyone eligible on the left has an earlier deadline than all others here.
    if (holds_eligible(entity->node.left, total)) {
      entity = entity->node.left;
      continue;
    }
    if (eligible(total, entity->vruntime)) return entity;
    entity = entity->node.right;
  }
  return nullptr;
}

/// The choice between the current entity, which is not in the tree, and the tree's best: the
/// current one goes on while it is eligible and its request protected, and loses a tie.
/// `curr` is nullptr if none is queued. Returns nullptr if no one is eligible.
/// Requires: as earliest_eligible(); `total` counts `curr`.
template <class M, class E>
E* pick_eevdf(E* root, E* leftmost, E* curr, const typename M::B& curr_protected,
              const Sums<M>& total) {
  if (curr != nullptr) {
    if (!eligible(total, curr->vruntime)) curr = nullptr;
  }
  if (curr != nullptr) {
    if (curr_protected) return curr;
  }
  E* const best = earliest_eligible(root, leftmost, total);
  if (curr == nullptr) return best;
  if (best == nullptr) return curr;
  if (before<M>(curr->deadline, best->deadline)) return curr;
  return best;
}

}  // namespace vlag
