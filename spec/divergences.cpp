// SPDX-License-Identifier: GPL-2.0-only
#include "spec/divergences.h"

#include <array>

namespace vlag::spec {
namespace {

constexpr std::array<Divergence, 1> list = {{
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
