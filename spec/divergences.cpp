// SPDX-License-Identifier: GPL-2.0-only
#include "spec/divergences.h"

#include <array>

namespace vlag::spec {
namespace {

constexpr std::array<Divergence, 2> list = {{
    {"rel-deadline-toggle",
     "switching off PLACE_REL_DEADLINE while a deadline is relative leaves it marked relative",
     "queued_deadline_is_absolute", "rel_deadline", "flag_kept", "flag_cleared",
     "dequeue_entity() makes the deadline relative and sets rel_deadline; place_entity() clears "
     "the "
     "flag only in the branch that PLACE_REL_DEADLINE guards. Switched off in between, the entity "
     "gets a new absolute deadline with the flag still set. Switched on again, the next placement "
     "without a dequeue that makes it relative first (waking up after a sleep does not) adds "
     "vruntime to an absolute deadline, and the entity is behind everyone, or before everyone, by "
     "whatever virtual time happens to be. Seen in 6.12.117; needs a debugfs write at the wrong "
     "moment.",
     "reset\n"
     "fork 0\n"
     "dequeue 0\n"
     "features NO_PLACE_REL_DEADLINE\n"
     "enqueue 0\n"},
    {"min-slice-handover",
     "a rotation of the timeline, or an erasure, leaves a subtree's min_slice stale",
     "subtree_slices_match", "subtree_slice", "stale", "handed_over",
     "The timeline's callbacks are declared with RB_DECLARE_CALLBACKS(..., min_vruntime, "
     "min_vruntime_update): where a node takes another's place they copy the one field named, "
     "min_vruntime, and min_slice, which was added later, keeps the value of the node's old, "
     "smaller subtree. cfs_rq_min_slice() then reports too long a slice. In 6.12.117 that reaches "
     "a "
     "group entity's slice; on one queue of tasks it decides nothing.",
     "reset\n"
     "fork 0 slice 20ms\n"
     "fork 1\n"
     "fork 2 slice 10ms\n"},
}};

}  // namespace

std::span<const Divergence> divergences() { return list; }

const Divergence* find_divergence(std::string_view id) {
  for (const Divergence& divergence : list) {
    if (divergence.id == id) return &divergence;
  }
  return nullptr;
}

}  // namespace vlag::spec
