// SPDX-License-Identifier: GPL-2.0-only
#include "props/schedule.h"

#include <algorithm>
#include <map>

#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::has;
using spec::Observation;

struct Waiter {
  TaskSummary summary;
  bool waits = false;
  std::uint64_t since = 0;
};

bool is_waiting(const Observation& now, const EntityState& entity) {
  return has(entity, VLAG_ON_RQ) && !has(entity, VLAG_DELAYED) && now.head->current != entity.id;
}

void extend_runs(std::vector<Run>& runs, int task, std::uint64_t start, std::uint64_t end) {
  if (start == end) return;
  if (!runs.empty() && runs.back().task == task && runs.back().end == start) {
    runs.back().end = end;
  } else {
    runs.push_back({task, start, end});
  }
}

void update(Waiter& waiter, const Observation& now, const EntityState& entity) {
  TaskSummary& summary = waiter.summary;
  summary.task = entity.id;
  summary.nice = entity.nice;
  summary.weight = entity.weight;
  summary.flags = entity.flags;
  summary.lag =
      has(entity, VLAG_ON_RQ) ? spec::distance(now.queue->average, entity.vruntime) : entity.vlag;
  const bool waits = is_waiting(now, entity);
  if (waits && !waiter.waits) waiter.since = now.head->clock;
  waiter.waits = waits;
  summary.waiting = waits;
  if (waits) summary.longest_wait = std::max(summary.longest_wait, now.head->clock - waiter.since);
}

}  // namespace

Schedule schedule_of(const spec::Trace& trace) {
  Schedule schedule;
  std::map<int, Waiter> waiters;
  schedule.start = trace[0].head->clock;
  std::uint64_t clock = schedule.start;
  int current = VLAG_NO_ENTITY;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Observation now = trace[i];
    // Time passes before an operation takes effect, so whoever was current had it.
    extend_runs(schedule.runs, current, clock, now.head->clock);
    if (current != VLAG_NO_ENTITY) waiters[current].summary.service += now.head->clock - clock;
    for (auto& [id, waiter] : waiters) {
      if (!waiter.waits) continue;
      waiter.summary.longest_wait =
          std::max(waiter.summary.longest_wait, now.head->clock - waiter.since);
    }
    for (const EntityState& entity : now.entities) update(waiters[entity.id], now, entity);
    current = now.head->current;
    clock = now.head->clock;
  }
  schedule.end = clock;
  for (const auto& [id, waiter] : waiters) schedule.tasks.push_back(waiter.summary);
  return schedule;
}

}  // namespace vlag::props
