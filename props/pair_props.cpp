// SPDX-License-Identifier: GPL-2.0-only
// How far others can run while one waits.
//
// While j is queued and waits, an entity k that is picked has v_k <= V. If j is eligible, then
// d_k <= d_j; if not, v_k <= V < v_j and d_k <= v_k + R_k. Nothing here mentions how V got its
// value, so whatever joins, leaves or sleeps, k's vruntime stays within
//
//   cap(j, k) = max of  d_k              if k is running when j's wait starts, or is a buddy
//                       max(d_j, v_j + R_k)  if v_k < v_j
//                       d_j              if v_k >= v_j and d_k <= d_j
//                       v_k
//
// where R_k is k's request in virtual time. k may overshoot by what it runs between two charges,
// and by what the driver lets it run after a reschedule was requested; so the property is that a
// charge without a pending request starts within the cap. A (re)placement starts a pair anew.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/deadline.h"
#include "props/property.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::distance;
using spec::EntityState;
using spec::has;
using spec::Observation;

bool waits(const Observation& now, const EntityState* entity) {
  return entity != nullptr && has(*entity, VLAG_ON_RQ) && !has(*entity, VLAG_DELAYED) &&
         now.queue->curr != entity->id;
}

std::uint64_t later(std::uint64_t a, std::uint64_t b) { return distance(a, b) >= 0 ? a : b; }

class PairCaps {
 public:
  explicit PairCaps(const BackendInfo& info) : base_slice_(info.base_slice) {}

  std::string check(const Step& step) {
    if (step.operation.code == VLAG_TUNABLE) base_slice_ = step.operation.arg;
    make_room(step.after);
    std::string what = step.before != nullptr ? check_charge(step) : std::string();
    if (what.empty()) restart_pairs(step);
    return what;
  }

 private:
  std::uint64_t& cap(int waiter, int other) {
    return caps_[static_cast<std::size_t>(waiter) * side_ + static_cast<std::size_t>(other)];
  }

  void make_room(const Observation& now) {
    const std::size_t needed =
        now.entities.empty() ? 0 : static_cast<std::size_t>(now.entities.back().id) + 1;
    if (needed <= side_) return;
    std::vector<std::uint64_t> wider(needed * needed);
    for (std::size_t row = 0; row < side_; ++row) {
      std::copy_n(caps_.begin() + static_cast<std::ptrdiff_t>(row * side_), side_,
                  wider.begin() + static_cast<std::ptrdiff_t>(row * needed));
    }
    caps_ = std::move(wider);
    side_ = needed;
  }

  // Whether the wait of `entity`, or its part in the waits of others, starts anew here.
  static bool is_placed(const Step& step, const EntityState& after) {
    const EntityState* before = step.before != nullptr ? step.before->find(after.id) : nullptr;
    if (before == nullptr || !has(*before, VLAG_ON_RQ)) return true;
    const bool moved = before->vruntime != after.vruntime || before->deadline != after.deadline ||
                       before->weight != after.weight || before->slice != after.slice;
    const bool charged = before->sum_exec_runtime != after.sum_exec_runtime;
    const bool targeted =
        spec::targets(step.operation, after.id) && step.operation.code >= VLAG_NICE;
    return targeted || (moved && !charged && step.before->queue->curr != after.id);
  }

  static bool was_waiting(const Step& step, const EntityState& after) {
    return step.before != nullptr && waits(*step.before, step.before->find(after.id)) &&
           !is_placed(step, after);
  }

  std::string check_charge(const Step& step) {
    const EntityState* before = step.before->find(step.before->queue->curr);
    const EntityState* after = before != nullptr ? step.after.find(before->id) : nullptr;
    if (after == nullptr || after->sum_exec_runtime == before->sum_exec_runtime) return {};
    for (const EntityState& waiter : step.after.entities) {
      if (!was_waiting(step, waiter)) continue;
      std::uint64_t& limit = cap(waiter.id, after->id);
      if (step.before->head->need_resched != 0) {
        limit = later(limit, after->vruntime);  // The driver let it run on.
      } else if (distance(before->vruntime, limit) > 0) {
        return fmt::format(
            "task {} waits (vruntime {}, deadline {}), and task {} runs on at vruntime {}, beyond "
            "the cap of {}",
            waiter.id, waiter.vruntime, waiter.deadline, after->id, before->vruntime, limit);
      }
    }
    return {};
  }

  std::uint64_t request(const EntityState& entity) const {
    const Weight weight = make_weight(entity.weight, entity.inv_weight);
    const auto worth = [&](std::uint64_t slice) {
      return calc_delta_fair<Words>(Word::wrapped(slice), weight).value;
    };
    std::int64_t longest =
        std::max(worth(entity.slice), distance(entity.deadline, entity.vruntime));
    if (!has(entity, VLAG_CUSTOM_SLICE)) longest = std::max(longest, worth(base_slice_));
    return static_cast<std::uint64_t>(longest);
  }

  std::uint64_t initial_cap(const Observation& now, const EntityState& waiter,
                            const EntityState& other) const {
    std::uint64_t limit = other.vruntime;
    if (now.queue->curr == other.id) limit = later(limit, other.deadline);
    if (distance(other.vruntime, waiter.vruntime) < 0) {
      const std::uint64_t reach = waiter.vruntime + request(other);
      limit = later(limit, later(waiter.deadline, reach));
    } else if (distance(other.deadline, waiter.deadline) <= 0) {
      limit = later(limit, waiter.deadline);
    }
    return limit;
  }

  static bool is_buddy_pick(const Step& step, const EntityState& other) {
    if (step.before == nullptr || step.after.queue->curr != other.id ||
        step.before->queue->curr == other.id) {
      return false;
    }
    return step.before->queue->next == other.id ||
           (step.operation.code == VLAG_YIELD_TO && step.operation.id == other.id);
  }

  void restart_pairs(const Step& step) {
    const bool all = step.operation.code == VLAG_FEATURES || step.operation.code == VLAG_TUNABLE;
    for (const EntityState& waiter : step.after.entities) {
      if (!waits(step.after, &waiter)) continue;
      const bool new_wait = all || !was_waiting(step, waiter);
      for (const EntityState& other : step.after.entities) {
        if (other.id == waiter.id || !has(other, VLAG_ON_RQ)) continue;
        std::uint64_t& limit = cap(waiter.id, other.id);
        if (new_wait || is_placed(step, other)) limit = initial_cap(step.after, waiter, other);
        if (is_buddy_pick(step, other)) limit = later(limit, other.deadline);
      }
    }
  }

  std::uint64_t base_slice_;
  std::size_t side_ = 0;
  std::vector<std::uint64_t> caps_;
};

Check start_pair_caps(const BackendInfo& info) {
  return [caps = std::make_shared<PairCaps>(info)](const Step& step) { return caps->check(step); };
}

}  // namespace

std::span<const Property> pair_properties() {
  static const std::array<Property, 1> list = {{
      {"others_stay_within_the_cap",
       "while one waits, no other runs beyond its cap: the waiter's deadline, or its own request",
       "request_end=silent", start_pair_caps},
  }};
  return list;
}

}  // namespace vlag::props
