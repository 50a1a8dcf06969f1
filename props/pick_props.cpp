// SPDX-License-Identifier: GPL-2.0-only
// Properties of decisions: who is picked, and when a reschedule is requested.
//
// The definition is a linear scan in exact numbers. What a pick saw is what the observation after
// it shows: switching tasks changes no vruntime and no deadline, and the outgoing task was charged
// before the pick.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "props/property.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::has;
using spec::Observation;

bool eligible(const spec::ExactSums& sums, const Observation& now, const EntityState& entity) {
  return sums.eligible(spec::view_of(*now.queue, entity).vruntime);
}

bool request_protected(const EntityState& entity) {
  return static_cast<std::uint64_t>(entity.vlag) == entity.deadline;
}

bool has_earlier_deadline(const EntityState& a, const EntityState& b) {
  return spec::distance(a.deadline, b.deadline) < 0;
}

bool schedules(const spec::Operation& operation) {
  switch (operation.code) {
    case VLAG_SCHEDULE:
    case VLAG_BLOCK:
    case VLAG_EXIT:
    case VLAG_YIELD:
    case VLAG_YIELD_TO:
      return true;
    default:
      return false;
  }
}

// Who had the buddy hint when the pick was made.
const EntityState* buddy(const Step& step) {
  const int id =
      step.operation.code == VLAG_YIELD_TO ? step.operation.id : step.before->queue->next;
  const EntityState* entity = step.after.find(id);
  if (entity == nullptr || !has(*entity, VLAG_ON_RQ)) return nullptr;
  // yield_to() does not mark an idle task.
  const bool unmarked = step.operation.code == VLAG_YIELD_TO && spec::is_idle_policy(*entity);
  if (!unmarked) return entity;
  return step.before->queue->next == id ? entity : step.after.find(step.before->queue->next);
}

// The place of each entity among equals: its rank in the timeline before the step.
std::size_t rank_before(const Step& step, int id) {
  const spec::InOrder walk = spec::in_order(*step.before);
  const auto at = std::find_if(walk.entities.begin(), walk.entities.end(),
                               [&](const EntityState* entity) { return entity->id == id; });
  return static_cast<std::size_t>(at - walk.entities.begin());
}

// The definition. `prev` was current when the pick was made (nullptr if it left or was idle).
const EntityState* defined_pick(const Step& step, const EntityState* prev) {
  const Observation& now = step.after;
  const spec::ExactSums sums = spec::sums_of(now);
  if (const EntityState* next = buddy(step);
      step.has(Feature::PICK_BUDDY) && next != nullptr && eligible(sums, now, *next)) {
    return next;
  }
  const bool prev_eligible = prev != nullptr && eligible(sums, now, *prev);
  if (now.queue->nr_running > 1 && prev_eligible && step.has(Feature::RUN_TO_PARITY) &&
      request_protected(*prev)) {
    return prev;
  }
  const EntityState* best = nullptr;
  for (const EntityState& entity : now.entities) {
    if (!has(entity, VLAG_ON_RQ) || &entity == prev || !eligible(sums, now, entity)) continue;
    const bool first = best == nullptr || has_earlier_deadline(entity, *best) ||
                       (entity.deadline == best->deadline &&
                        rank_before(step, entity.id) < rank_before(step, best->id));
    if (first) best = &entity;
  }
  if (best == nullptr || (prev_eligible && has_earlier_deadline(*prev, *best))) return prev;
  return best;
}

std::string pick_is_the_earliest_eligible(const Step& step) {
  if (step.before == nullptr || !schedules(step.operation)) return {};
  const Observation& now = step.after;
  if (now.queue->nr_running == 0) {
    return now.head->current == VLAG_NO_ENTITY ? "" : "nobody is queued, but a task is running";
  }
  const EntityState* prev = now.find(step.before->head->current);
  if (prev != nullptr && !has(*prev, VLAG_ON_RQ)) prev = nullptr;
  const EntityState* best = defined_pick(step, prev);
  const int expected = best != nullptr ? best->id : VLAG_NO_ENTITY;
  if (now.head->current == expected && now.queue->curr == expected) return {};
  return fmt::format("task {} was picked; the eligible one with the earliest deadline is task {}",
                     now.head->current, expected);
}

// --- Reschedule requests.

// Whether a charge of the current task at this step asks for a reschedule. `others_from` is the
// task that did not count yet when the charge was made (VLAG_NO_ENTITY: all did).
bool charge_requests(const Step& step, std::uint32_t nr_running, int not_yet_queued) {
  const EntityState* before = step.before->find(step.before->head->current);
  const EntityState* after = step.after.find(step.before->head->current);
  if (before == nullptr || after == nullptr) return false;
  if (after->sum_exec_runtime == before->sum_exec_runtime || nr_running == 1) return false;
  if (after->deadline != before->deadline) return true;
  spec::ExactSums sums;
  for (const EntityState& entity : step.after.entities) {
    if (!has(entity, VLAG_ON_RQ) || entity.id == not_yet_queued) continue;
    sums.add(spec::view_of(*step.after.queue, entity));
  }
  return step.has(Feature::PREEMPT_SHORT) && !request_protected(*before) &&
         !eligible(sums, step.after, *after);
}

// HRTICK: enqueueing finds that the current task has had its request already.
bool request_is_over(const Step& step) {
  const EntityState* current = step.after.find(step.after.head->current);
  if (!step.has(Feature::HRTICK) || current == nullptr || step.after.queue->nr_running <= 1) {
    return false;
  }
  const std::uint64_t ran = current->sum_exec_runtime - current->prev_sum_exec_runtime;
  return static_cast<std::int64_t>(current->slice - ran) < 0;
}

// check_preempt_wakeup_fair() for `woken`, with no request pending.
bool wakeup_preempts(const Step& step, const EntityState& woken) {
  const Observation& now = step.after;
  const EntityState* current = now.find(now.head->current);
  if (current == nullptr) return true;
  if (current == &woken || !step.has(Feature::WAKEUP_PREEMPTION)) return false;
  const bool current_idle = spec::is_idle_policy(*current);
  if (current_idle != spec::is_idle_policy(woken)) return current_idle;
  if (!spec::is_normal_policy(woken)) return false;
  if (now.queue->nr_running == 1) return false;
  // pick_eevdf(): no buddies; the woken one is last among equals unless it was queued already.
  const spec::ExactSums sums = spec::sums_of(now);
  const bool current_counts = eligible(sums, now, *current);
  if (step.has(Feature::RUN_TO_PARITY) && current_counts && request_protected(*current))
    return false;
  if (!eligible(sums, now, woken)) return false;
  const spec::InOrder walk = spec::in_order(now);
  for (const EntityState* entity : walk.entities) {
    if (!eligible(sums, now, *entity)) continue;
    if (entity != &woken) return false;
    return !(current_counts && has_earlier_deadline(*current, woken));
  }
  return false;
}

bool wakeup_requests(const Step& step) {
  const EntityState* before = step.before->find(step.operation.id);
  const EntityState* woken = step.after.find(step.operation.id);
  const bool joins = before == nullptr || !has(*before, VLAG_ON_RQ);
  // What was charged before the newcomer counted, at the number that were queued then.
  const std::uint32_t queued = step.before->queue->nr_running;
  if (joins && charge_requests(step, queued, step.operation.id)) return true;
  if (joins && request_is_over(step)) return true;
  const bool considered = step.has(Feature::WAKEUP_PREEMPTION) &&
                          step.after.head->current != VLAG_NO_ENTITY &&
                          step.after.head->current != woken->id && spec::is_normal_policy(*woken) &&
                          !spec::is_idle_policy(*step.after.find(step.after.head->current));
  if (!joins && considered && charge_requests(step, queued, VLAG_NO_ENTITY)) return true;
  return wakeup_preempts(step, *woken);
}

std::string reschedule_is_requested_exactly(const Step& step) {
  if (step.before == nullptr) return {};
  const bool pending = step.before->head->need_resched != 0;
  bool expected = pending;
  switch (step.operation.code) {
    case VLAG_TICK:
      expected |= charge_requests(step, step.after.queue->nr_running, VLAG_NO_ENTITY);
      break;
    case VLAG_HRTICK:
      expected = true;
      break;
    case VLAG_FORK:
    case VLAG_WAKE:
    case VLAG_ENQUEUE:
      expected |= wakeup_requests(step);
      break;
    case VLAG_NICE:
    case VLAG_SLICE:
    case VLAG_POLICY:
    case VLAG_DEQUEUE:
      // Leaving and joining in one step: what was seen in between is the reference's to say.
      expected |= step.after.head->need_resched != 0;
      break;
    default:
      if (schedules(step.operation)) expected = false;
      break;
  }
  if (expected == (step.after.head->need_resched != 0)) return {};
  return expected ? "a reschedule is due and was not requested"
                  : "a reschedule was requested without a reason";
}

// Whom schedule() would switch to now: sleepers that are picked only leave the queue. The charge
// of the current one is up to date after a wakeup that compared.
const EntityState* next_awake(const Step& step) {
  const Observation& now = step.after;
  const EntityState* current = now.find(now.head->current);
  spec::ExactSums sums = spec::sums_of(now);
  std::vector<const EntityState*> queued = spec::in_order(now).entities;
  while (true) {
    const bool current_counts = eligible(sums, now, *current);
    if (step.has(Feature::RUN_TO_PARITY) && current_counts && request_protected(*current)) {
      return current;
    }
    const auto best = std::find_if(queued.begin(), queued.end(), [&](const EntityState* entity) {
      return eligible(sums, now, *entity);
    });
    if (best == queued.end()) return current;
    if (current_counts && has_earlier_deadline(*current, **best)) return current;
    if (!has(**best, VLAG_DELAYED)) return *best;
    const auto view = spec::view_of(*now.queue, **best);
    sums.w_vruntime -= view.weight * view.vruntime;
    sums.weight -= view.weight;
    queued.erase(best);
  }
}

std::string a_wakeup_that_wins_preempts(const Step& step) {
  if (step.before == nullptr || !step.has(Feature::WAKEUP_PREEMPTION)) return {};
  const auto code = step.operation.code;
  if (code != VLAG_WAKE && code != VLAG_FORK && code != VLAG_ENQUEUE) return {};
  const EntityState* woken = step.after.find(step.operation.id);
  const EntityState* current = step.after.find(step.after.head->current);
  if (current == nullptr || current == woken || step.after.head->need_resched != 0) return {};
  if (!spec::is_normal_policy(*woken) || spec::is_idle_policy(*current)) return {};
  if (next_awake(step) != woken) return {};
  return fmt::format(
      "task {} woke and would be picked now, but no reschedule is requested: task {} runs on",
      woken->id, current->id);
}

}  // namespace

std::span<const Property> pick_properties() {
  static const std::array<Property, 3> list = {{
      {"pick_is_the_earliest_eligible",
       "who is picked is eligible and has the earliest deadline (first in, first out; the current "
       "one loses ties), unless the current request is protected or an eligible buddy is set",
       "subtree_minimum=own", stateless<pick_is_the_earliest_eligible>},
      {"reschedule_is_requested_exactly",
       "a reschedule is requested when a request ends, a short one preempts or a wakeup wins, and "
       "only then",
       "request_end=silent", stateless<reschedule_is_requested_exactly>},
      {"a_wakeup_that_wins_preempts",
       "if the one that woke would be picked now, a reschedule is requested", "wakeup_pick=plain",
       stateless<a_wakeup_that_wins_preempts>, "delayed-hides-wakeup"},
  }};
  return list;
}

}  // namespace vlag::props
