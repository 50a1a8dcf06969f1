// SPDX-License-Identifier: GPL-2.0-only
#include "spec/legal.h"

namespace vlag::spec {
namespace {

constexpr std::string_view legal = {};

std::string_view needs_running(const Observation& before) {
  return before.head->current == VLAG_NO_ENTITY ? "no task is running" : legal;
}

// Alive, and not between two queues (the kernel waits until a migration is over).
std::string_view needs_settled(const EntityState* task) {
  if (task == nullptr) return "there is no such task";
  return has(*task, VLAG_TASK_MIGRATING) ? "the task is migrating" : legal;
}

std::string_view needs_queued_not_running(const Observation& before, const EntityState* task) {
  if (const auto why = needs_settled(task); !why.empty()) return why;
  if (!has(*task, VLAG_TASK_QUEUED)) return "the task is not queued";
  return before.head->current == task->id ? "the task is running" : legal;
}

std::string_view why_no_yield_to(const Observation& before, const EntityState* task) {
  if (const auto why = needs_running(before); !why.empty()) return why;
  if (const auto why = needs_queued_not_running(before, task); !why.empty()) return why;
  // yield_to() asks for task_is_running(): a delayed task sleeps.
  return has(*task, VLAG_DELAYED) ? "the task is asleep" : legal;
}

std::string_view why_no_enqueue(const EntityState* task) {
  if (task == nullptr) return "there is no such task";
  return has(*task, VLAG_TASK_MIGRATING) ? legal : "the task is not migrating";
}

std::string_view why_no_hrtick(const Observation& before) {
  if (before.head->hrtick == 0) return "the high-resolution tick is not armed";
  return needs_running(before);
}

}  // namespace

std::string_view why_illegal(const Observation* before, const Operation& operation) {
  if (operation.code == VLAG_RESET) {
    return before == nullptr ? legal : "reset can only be the first operation";
  }
  if (before == nullptr) return "a sequence starts with reset";
  switch (operation.code) {
    case VLAG_FORK:
      return before->find(operation.id) != nullptr ? "the task exists already" : legal;
    case VLAG_WAKE:
    case VLAG_NICE:
    case VLAG_SLICE:
    case VLAG_POLICY:
      return needs_settled(before->find(operation.id));
    case VLAG_BLOCK:
    case VLAG_EXIT:
    case VLAG_YIELD:
      return needs_running(*before);
    case VLAG_DEQUEUE:
      return needs_queued_not_running(*before, before->find(operation.id));
    case VLAG_ENQUEUE:
      return why_no_enqueue(before->find(operation.id));
    case VLAG_YIELD_TO:
      return why_no_yield_to(*before, before->find(operation.id));
    case VLAG_HRTICK:
      return why_no_hrtick(*before);
    default:
      return legal;
  }
}

}  // namespace vlag::spec
