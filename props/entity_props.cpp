// SPDX-License-Identifier: GPL-2.0-only
// Properties of single entities: deadline, lag, placement, slice, delay.
#include <fmt/format.h>

#include <array>

#include "core/lag.h"
#include "core/slice.h"
#include "props/pairs.h"
#include "spec/invariants.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::Exact;
using spec::has;

std::string deadline_is_renewed_ahead(const Step& step) {
  if (step.before == nullptr) return {};
  const int id = step.before->head->current;
  const EntityState* before = step.before->find(id);
  const EntityState* after = step.after.find(id);
  const bool charged = before != nullptr && after != nullptr && has(*after, VLAG_ON_RQ) &&
                       after->sum_exec_runtime != before->sum_exec_runtime;
  if (!charged || spec::targets(step.operation, id)) return {};
  const Exact deadline = spec::distance(after->deadline, before->deadline);
  const Exact vruntime = deadline - spec::distance(after->deadline, after->vruntime);
  if (spec::deadline_renewed<Exact>(vruntime, deadline, 0)) return {};
  return fmt::format("after a charge task {} has vruntime {} and deadline {} (it was {})", id,
                     after->vruntime, after->deadline, before->deadline);
}

std::string lag_is_limited_at_leave(const Step& step) {
  if (step.before == nullptr) return {};
  for (const EntityState& after : step.after.entities) {
    const EntityState* before = step.before->find(after.id);
    const bool left = before != nullptr && has(*before, VLAG_ON_RQ) && !has(after, VLAG_ON_RQ);
    if (!left) continue;
    const Weight weight = make_weight(after.weight, after.inv_weight);
    const Word limit = lag_limit<Words>(Word::wrapped(after.slice), Word(step.tick_nsec), weight);
    if (spec::lag_limited<Exact>(after.vlag, limit.value)) continue;
    return fmt::format("task {} left with vlag {}, its limit is {}", after.id, after.vlag,
                       limit.value);
  }
  return {};
}

// Whether this step placed the task on a queue that was not empty, and with which lag.
struct Placement {
  bool happened = false;
  std::int64_t lag = 0;
};

Placement placement_of(const Step& step, const EntityState& after) {
  const EntityState* before = step.before->find(after.id);
  if (!has(after, VLAG_ON_RQ)) return {};
  const std::int64_t saved = before != nullptr && step.has(Feature::PLACE_LAG) ? before->vlag : 0;
  switch (step.operation.code) {
    case VLAG_FORK:
    case VLAG_WAKE:
    case VLAG_ENQUEUE:
      break;
    default:
      return {};
  }
  if (before == nullptr || !has(*before, VLAG_ON_RQ)) {
    return {step.before->queue->nr_running > 0, saved};
  }
  // A delayed one that has become eligible is placed anew, with no lag. The current one is charged
  // only afterwards, which moves V away from where the placement saw it.
  const EntityState* running = step.after.find(step.before->head->current);
  const bool charged = running != nullptr && running->exec_start == step.after.head->clock;
  const bool requeued =
      has(*before, VLAG_DELAYED) && before->vruntime != after.vruntime && !charged;
  return {requeued && step.before->queue->nr_running > 1, 0};
}

std::string lag_survives_placement(const Step& step) {
  if (step.before == nullptr || another_left(step)) return {};
  const EntityState* joined = step.after.find(step.operation.id);
  if (joined == nullptr) return {};
  const Placement placement = placement_of(step, *joined);
  if (!placement.happened) return {};
  const spec::ExactSums sums = spec::sums_of(step.after);
  const Exact vruntime = spec::view_of(*step.after.queue, *joined).vruntime;
  if (spec::placement_keeps_lag<Exact>(sums.w_vruntime, sums.weight, vruntime, placement.lag)) {
    return {};
  }
  return fmt::format("task {} came with lag {} and was placed {} from V", joined->id, placement.lag,
                     spec::distance(step.after.queue->average, joined->vruntime));
}

std::string slice_is_granted(const Step& step) {
  for (const EntityState& entity : step.after.entities) {
    const bool custom = has(entity, VLAG_CUSTOM_SLICE);
    const Exact least = custom ? slice_min : static_cast<Exact>(spec::base_slice_min);
    const Exact most = custom ? slice_max : static_cast<Exact>(spec::base_slice_max);
    if (spec::slice_granted<Exact>(entity.slice, least, most)) continue;
    return fmt::format("task {} has a slice of {} ns", entity.id, entity.slice);
  }
  return {};
}

std::string wrong_delay(const Step& step, const EntityState& entity) {
  if (has(entity, VLAG_TASK_MIGRATING)) {
    return has(entity, VLAG_ON_RQ) ? "is queued while it migrates" : "";
  }
  if (!has(entity, VLAG_ON_RQ) || !has(entity, VLAG_TASK_QUEUED)) return "is not queued";
  if (step.after.head->current == entity.id || step.after.queue->curr == entity.id) {
    return "is running";
  }
  return step.after.queue->next == entity.id ? "is the next buddy" : "";
}

std::string delayed_only_waits(const Step& step) {
  for (const EntityState& entity : step.after.entities) {
    if (!has(entity, VLAG_DELAYED)) continue;
    const std::string wrong = wrong_delay(step, entity);
    if (!wrong.empty()) return fmt::format("task {} is delayed and {}", entity.id, wrong);
  }
  return {};
}

std::string queued_deadline_is_absolute(const Step& step) {
  for (const EntityState& entity : step.after.entities) {
    if (!has(entity, VLAG_ON_RQ) || !has(entity, VLAG_REL_DEADLINE)) continue;
    return fmt::format("task {} is queued and its deadline is still marked relative", entity.id);
  }
  return {};
}

}  // namespace

std::span<const Property> entity_properties() {
  static const std::array<Property, 6> list = {{
      {"deadline_is_renewed_ahead",
       "after a charge the deadline is after the vruntime, and a renewed one is never earlier",
       "deadline_from=deadline", stateless<deadline_is_renewed_ahead>},
      {"lag_is_limited_at_leave", "who leaves saves a lag within twice its request, or a tick",
       "lag_clamp=unlimited", stateless<lag_is_limited_at_leave>},
      {"lag_survives_placement", "who joins has the lag that it came with, to rounding",
       "lag_inflation=none", stateless<lag_survives_placement>},
      {"slice_is_granted", "a custom slice is from 100 us to 100 ms", "slice_clamp=unclamped",
       stateless<slice_is_granted>},
      {"delayed_only_waits", "a delayed entity is queued, does not run and is nobody's buddy",
       "delayed_buddy=accepted", stateless<delayed_only_waits>},
      {"queued_deadline_is_absolute",
       "a deadline is relative only while its entity is off the queue", "rel_deadline=flag_kept",
       stateless<queued_deadline_is_absolute>, "rel-deadline-toggle"},
  }};
  return list;
}

}  // namespace vlag::props
