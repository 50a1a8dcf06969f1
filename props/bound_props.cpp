// SPDX-License-Identifier: GPL-2.0-only
// How far apart those queued can be, and how far zero_vruntime can be from V: what keeps the keys,
// and so every product of them, small over long runs.
//
// From an empty queue on, while who joins brings no debt along, v_u - min(v) is within
//
//   max R + max O + L W / w_u
//
// for everyone queued (the first part is for one that is running already when another is placed): R
// the longest request and O a tick, in virtual time; L the most lag that anyone brought; W the most
// weight there was. Leaves of any kind do not matter. Debts do: each joiner in debt lifts V, and no
// bound is independent of their number.
//
// zero_vruntime is V as it was when someone was last placed, saved a lag or renewed a request.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "props/pairs.h"

namespace vlag::props {
namespace {

using spec::distance;
using spec::EntityState;
using spec::Exact;
using spec::has;
using spec::Observation;

class Spread {
 public:
  explicit Spread(const BackendInfo& info) : base_slice_(info.base_slice) {}

  std::string check(const Step& step) {
    if (step.operation.code == VLAG_TUNABLE) base_slice_ = step.operation.arg;
    if (step.before == nullptr || step.before->queue->nr_running == 0) {
      *this = Spread(base_slice_);
    }
    known_ = known_ && !ends(step);
    if (!known_) return {};
    grow(step);
    return too_wide(step);
  }

 private:
  explicit Spread(std::uint64_t base_slice) : base_slice_(base_slice) {}

  static bool ends(const Step& step) {
    if (step.before == nullptr) return false;
    switch (step.operation.code) {
      case VLAG_FEATURES:
      case VLAG_TUNABLE:
      case VLAG_NICE:
      case VLAG_SLICE:
      case VLAG_POLICY:
      case VLAG_YIELD_TO:
        return true;
      default:
        break;
    }
    if (step.before->queue->next != VLAG_NO_ENTITY) return true;
    if (const Charge charge = charge_of(step); charge && charge.late(step)) return true;
    // The driver let it run on, and then it gave up the next request too.
    if (step.operation.code == VLAG_YIELD && step.before->head->need_resched != 0) return true;
    return brought(step) < 0;
  }

  // The lag that whoever joins at this step brings along.
  static std::int64_t brought(const Step& step) {
    const EntityState* before = step.before->find(step.operation.id);
    const bool joins = step.operation.code == VLAG_WAKE || step.operation.code == VLAG_ENQUEUE;
    return joins && before != nullptr && !has(*before, VLAG_ON_RQ) ? before->vlag : 0;
  }

  void grow(const Step& step) {
    Exact weight = 0;
    for (const EntityState& entity : step.after.entities) {
      if (!has(entity, VLAG_ON_RQ)) continue;
      weight += spec::down_of(entity);
      request_ = std::max(request_, longest_request(entity, base_slice_));
      tick_ = std::max(tick_, virtual_time(step.tick_nsec, entity));
    }
    weight_ = std::max(weight_, weight);
    if (step.before != nullptr) lag_ = std::max(lag_, brought(step));
  }

  std::string too_wide(const Step& step) const {
    const EntityState* first = nullptr;
    for (const EntityState& entity : step.after.entities) {
      if (!has(entity, VLAG_ON_RQ)) continue;
      if (first == nullptr || distance(entity.vruntime, first->vruntime) < 0) first = &entity;
    }
    for (const EntityState& entity : step.after.entities) {
      if (!has(entity, VLAG_ON_RQ)) continue;
      const Exact ahead = distance(entity.vruntime, first->vruntime);
      const Exact run = static_cast<Exact>(request_) + tick_;
      const Exact joined = lag_ * weight_ / spec::down_of(entity);
      step.reach->note(ahead, run + joined);
      if (ahead <= run + joined + 2) continue;
      return fmt::format("task {} is {} ns of virtual time ahead of task {}; at most {} should be",
                         entity.id, static_cast<std::int64_t>(ahead), first->id,
                         static_cast<std::int64_t>(run + joined));
    }
    return {};
  }

  std::uint64_t base_slice_;
  bool known_ = true;
  std::int64_t request_ = 0;
  std::int64_t tick_ = 0;
  std::int64_t lag_ = 0;
  Exact weight_ = 0;
};

// What makes the kernel read V: how often it happened at a step.
struct Readings {
  int joins = 0;
  int leaves = 0;
  bool renewal = false;
};

Readings readings_of(const Step& step) {
  Readings readings;
  for (const EntityState& after : step.after.entities) {
    const EntityState* before = step.before->find(after.id);
    const bool was = before != nullptr && has(*before, VLAG_ON_RQ);
    const bool is = has(after, VLAG_ON_RQ);
    readings.joins += !was && is ? 1 : 0;
    readings.leaves += was && !is ? 1 : 0;
    if (was && is && before->deadline != after.deadline) readings.renewal = true;
  }
  for (const EntityState& before : step.before->entities) {
    const bool gone = step.after.find(before.id) == nullptr;
    readings.leaves += gone && has(before, VLAG_ON_RQ) ? 1 : 0;
  }
  return readings;
}

std::string zero_vruntime_keeps_up(const Step& step) {
  if (step.before == nullptr) return {};
  switch (step.operation.code) {
    case VLAG_NICE:
    case VLAG_SLICE:
    case VLAG_POLICY:
      return {};  // Placed by a V that is not to be seen before or after.
    default:
      break;
  }
  const Readings readings = readings_of(step);
  const std::uint64_t zero = step.after.queue->zero_vruntime;
  if (readings.joins + readings.leaves > 1) return {};
  if (readings.joins + readings.leaves == 0 && !readings.renewal) return {};
  // V only moves forward while the current one is charged, and the join or leave may move it.
  const std::uint64_t before = step.before->queue->average;
  const std::uint64_t after = step.after.queue->average;
  std::int64_t charged = 0;
  if (const EntityState* current = step.before->find(step.before->queue->curr)) {
    const std::uint64_t since = step.after.head->clock - current->exec_start;
    charged = virtual_time(since, *current);
  }
  const std::int64_t low = std::min<std::int64_t>(0, distance(after, before));
  const std::int64_t high = std::max<std::int64_t>(charged, distance(after, before));
  const std::int64_t at = distance(zero, before);
  if (low - 1 <= at && at <= high + 1) return {};
  return fmt::format("zero_vruntime is {} ns from V, and was to follow it at this step",
                     distance(after, zero));
}

Check start_spread(const BackendInfo& info) {
  return
      [spread = std::make_shared<Spread>(info)](const Step& step) { return spread->check(step); };
}

}  // namespace

std::span<const Property> bound_properties() {
  static const std::array<Property, 2> list = {{
      {"nobody_is_far_ahead",
       "from an empty queue on, and while who joins brings no debt, everyone queued is within a "
       "request and a tick of the last, and what lag was brought",
       "request_end=silent", start_spread, "", true},
      {"zero_vruntime_keeps_up",
       "zero_vruntime is V as it was when someone joined, left or renewed a request",
       "zero_vruntime=stays", stateless<zero_vruntime_keeps_up>},
  }};
  return list;
}

}  // namespace vlag::props
