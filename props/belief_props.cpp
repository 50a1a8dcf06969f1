// SPDX-License-Identifier: GPL-2.0-only
// What many believe of a fair queue, and what EEVDF does not keep: vlag prove refutes each, and
// these show it in a stream. They are checked only if they are asked for by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "props/energy_props.h"
#include "props/property.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::Exact;
using spec::has;

constexpr int unit = 1024;  // The weight of nice 0.

// |V - v| against the lag's limit, both in ns of service times 1024.
std::string lag_is_within_two_requests(const Step& step) {
  const spec::ExactSums sums = spec::sums_of(step.after);
  for (const EntityState& entity : step.after.entities) {
    if (!has(entity, VLAG_ON_RQ)) continue;
    const spec::EntityView<Exact> view = spec::view_of(*step.after.queue, entity);
    const Exact lag = view.weight * (sums.w_vruntime - view.vruntime * sums.weight);
    const Exact limit = (2 * static_cast<Exact>(entity.slice) + step.tick_nsec) * unit;
    if (lag <= limit * sums.weight) continue;
    return fmt::format("task {} is owed {} ns; twice its request and a tick are {} ns", entity.id,
                       static_cast<std::int64_t>(lag / sums.weight / unit),
                       static_cast<std::int64_t>(limit / unit));
  }
  return {};
}

bool waits(const spec::Observation& now, const EntityState& entity) {
  return has(entity, VLAG_ON_RQ) && !has(entity, VLAG_DELAYED) && now.queue->curr != entity.id;
}

// How long one waits who waits, while tasks sleep and wake and none is new.
class Waits {
 public:
  std::string check(const Step& step) {
    const spec::Observation& now = step.after;
    if (now.entities.size() != population_) {
      since_.clear();
      population_ = now.entities.size();
    }
    for (const EntityState& entity : now.entities) {
      if (!waits(now, entity)) {
        since_.erase(entity.id);
        continue;
      }
      const std::uint64_t since = since_.try_emplace(entity.id, now.head->clock).first->second;
      const std::uint64_t waited = now.head->clock - since;
      const Exact bound = times * longest_wait(step, entity);
      if (static_cast<Exact>(waited) <= bound) continue;
      return fmt::format("task {} waits for {} ns; if no one slept it would be {} ns at most",
                         entity.id, waited, static_cast<std::int64_t>(bound / times));
    }
    return {};
  }

 private:
  static constexpr int times = 3;

  // On a fixed set, everyone queued (theorem T3):
  // (W / w_j - 1) (2 r_j + o) + max(r_k + o) + sum(o), o = a tick.
  static Exact longest_wait(const Step& step, const EntityState& waiter) {
    const Exact tick = step.tick_nsec;
    Exact weight = 0;
    Exact longest = 0;
    Exact overshoots = 0;
    for (const EntityState& one : step.after.entities) {
      weight += static_cast<Exact>(one.weight);
      if (one.id == waiter.id) continue;
      longest = std::max(longest, static_cast<Exact>(one.slice) + tick);
      overshoots += tick;
    }
    const Exact others = weight - static_cast<Exact>(waiter.weight);
    const Exact own = (2 * static_cast<Exact>(waiter.slice) + tick) * others;
    return own / static_cast<Exact>(waiter.weight) + longest + overshoots;
  }

  std::map<int, std::uint64_t> since_;
  std::size_t population_ = 0;
};

Check start_waits(const BackendInfo&) {
  return [waits = std::make_shared<Waits>()](const Step& step) { return waits->check(step); };
}

// What an operation did to the task that it names, if that was there before.
struct Change {
  const EntityState* before = nullptr;
  const EntityState* after = nullptr;

  bool joined() const {
    return before != nullptr && after != nullptr && !has(*before, VLAG_ON_RQ) &&
           has(*after, VLAG_ON_RQ);
  }
  bool requeued() const {
    return before != nullptr && after != nullptr && has(*before, VLAG_DELAYED) &&
           has(*after, VLAG_ON_RQ) && !has(*after, VLAG_DELAYED);
  }
};

Change woken(const Step& step) {
  if (step.before == nullptr || step.operation.code != VLAG_WAKE) return {};
  return {step.before->find(step.operation.id), step.after.find(step.operation.id)};
}

std::string wakeup_moves_forward(const Step& step) {
  const Change change = woken(step);
  if (!change.joined()) return {};
  const std::int64_t moved = spec::distance(change.after->vruntime, change.before->vruntime);
  if (moved >= 0) return {};
  return fmt::format("task {} woke {} ns of virtual time behind where it slept", change.after->id,
                     -moved);
}

// What the current one has run before the wakeup is charged with it, and moves V as well: that is
// not judged.
std::string requeue_keeps_the_average(const Step& step) {
  const Change change = woken(step);
  if (!change.requeued()) return {};
  const EntityState* running = step.after.find(step.after.queue->curr);
  const EntityState* ran = running != nullptr ? step.before->find(running->id) : nullptr;
  if (ran == nullptr || ran->vruntime != running->vruntime) return {};
  const std::int64_t moved = spec::distance(step.after.queue->average, step.before->queue->average);
  if (-1 <= moved && moved <= 1) return {};
  return fmt::format("V moved by {} ns when delayed task {} was requeued", moved, change.after->id);
}

}  // namespace

std::span<const Property> beliefs() {
  static const std::array<Property, 5> list = {{
      {"lag_on_the_queue_is_within_two_requests_and_a_tick",
       "nobody who is queued is owed more than twice its request and a tick", "",
       stateless<lag_is_within_two_requests>},
      {"every_runnable_task_runs_in_bounded_time",
       "while tasks sleep and wake and none is new, a task that is runnable runs within three "
       "times "
       "what it could wait for if no one slept",
       "", start_waits},
      {"a_wakeup_never_moves_backward",
       "a task that wakes is not placed behind where it was when it slept", "",
       stateless<wakeup_moves_forward>},
      {"a_requeue_keeps_the_average", "requeuing a delayed task leaves V where it is", "",
       stateless<requeue_keeps_the_average>},
      {"a_round_trip_never_pumps",
       "a leave and the join that follows it never raise the energy of the lags", "",
       start_round_trips},
  }};
  return list;
}

}  // namespace vlag::props
