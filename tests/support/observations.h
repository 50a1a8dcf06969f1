// SPDX-License-Identifier: GPL-2.0-only
// Traces made by hand: what a test sets, and 0 for the rest.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "spec/observation.h"

namespace vlag::tests {

struct LiveTask {
  int id = 0;
  std::uint32_t flags = 0;
};

inline constexpr std::uint32_t queued = VLAG_TASK_QUEUED | VLAG_ON_RQ;
inline constexpr std::uint32_t delayed = queued | VLAG_DELAYED;
inline constexpr std::uint32_t migrating = VLAG_TASK_MIGRATING | VLAG_REL_DEADLINE;
inline constexpr std::uint32_t sleeping = 0;

/// A trace of one observation: these tasks are alive, and `current` runs.
/// Requires: ids rise.
inline spec::Trace one_observation(int current, std::initializer_list<LiveTask> tasks,
                                   std::uint64_t hrtick = 0) {
  spec::Trace trace;
  const auto slot = trace.append(static_cast<std::uint32_t>(tasks.size()));
  slot.head->current = current;
  slot.head->hrtick = hrtick;
  spec::EntityState* entity = slot.entities;
  for (const LiveTask& task : tasks) {
    entity->id = task.id;
    entity->flags = task.flags;
    ++entity;
  }
  return trace;
}

}  // namespace vlag::tests
