// SPDX-License-Identifier: GPL-2.0-only
// The pick of 6.6, where the timeline is ordered by vruntime and every node knows the least
// deadline of its subtree (node.min_vruntime holds it there).
//
// Whoever is left of an eligible node is eligible as well. So one descent along the border of
// eligibility passes by subtrees that are eligible as a whole, on the left, and of these the one
// with the least deadline holds the answer, unless a node on the path is earlier.
//
// Source: pick_eevdf(), 6.6 (b01db23d5923); before that fix only the path was looked at.
#pragma once

#include "core/average.h"
#include "core/policy.h"

namespace vlag {

/// The entity whose deadline is the least of its subtree.
template <class M, class E>
E* holder_of_minimum(E* top) {
  while (top != nullptr && !(top->deadline == top->node.min_vruntime)) {
    E* const left = top->node.left;
    const bool on_left = left != nullptr && left->node.min_vruntime == top->node.min_vruntime;
    top = on_left ? left : top->node.right;
  }
  return top;
}

/// The best of `best` (nullptr: none) and the eligible ones of the tree; a whole subtree wins a
/// tie.
template <class M, class E>
E* search_heap(E* node, E* best, const Sums<M>& total) {
  E* subtree = nullptr;
  while (node != nullptr) {
    if (!eligible(total, node->vruntime)) {
      node = node->node.left;
      continue;
    }
    if (best == nullptr || before<M>(node->deadline, best->deadline)) best = node;
    E* const left = node->node.left;
    if (left != nullptr) {
      if (subtree == nullptr || before<M>(left->node.min_vruntime, subtree->node.min_vruntime)) {
        subtree = left;
      }
      if (left->node.min_vruntime == node->node.min_vruntime) break;
    }
    if (node->deadline == node->node.min_vruntime) break;
    node = node->node.right;
  }
  if (subtree == nullptr || before<M>(best->deadline, subtree->node.min_vruntime)) return best;
  return holder_of_minimum<M>(subtree);
}

/// As it was: follows the least deadline, and does not come back if that turns out not eligible.
template <class M, class E>
E* search_heap_once(E* node, E* curr, const Sums<M>& total) {
  E* best = nullptr;
  while (node != nullptr) {
    if (!eligible(total, node->vruntime)) {
      node = node->node.left;
      continue;
    }
    if (best == nullptr || before<M>(node->deadline, best->deadline)) {
      best = node;
      if (best->deadline == best->node.min_vruntime) break;
    }
    E* const left = node->node.left;
    const bool on_left = left != nullptr && left->node.min_vruntime == node->node.min_vruntime;
    node = on_left ? left : node->node.right;
  }
  if (best == nullptr || (curr != nullptr && before<M>(curr->deadline, best->deadline))) {
    return curr;
  }
  return best;
}

/// `curr` is nullptr if none is queued. If no one is eligible the leftmost is taken.
template <class M, class E>
E* pick_from_heap(E* root, E* leftmost, E* curr, bool curr_protected, const Sums<M>& total,
                  HeapSearch search) {
  if (curr != nullptr && !eligible(total, curr->vruntime)) curr = nullptr;
  if (curr != nullptr && curr_protected) return curr;
  E* const best = search == HeapSearch::complete ? search_heap<M>(root, curr, total)
                                                 : search_heap_once<M>(root, curr, total);
  return best != nullptr ? best : leftmost;
}

}  // namespace vlag
