// SPDX-License-Identifier: GPL-2.0-only
// What is owed, and what is left of a request, across changes and leaves: nothing is lost, and
// nothing is made. In units of 1/1024 ns of service, w dv.
//
// A change takes a queued entity off (weight w, lag l = V - v) and puts it back (w'). Saved is
// floor(V) - v, in (l - 1, l], limited; rescaled to w' it is off by less than 1 again; and
// placement gives it back within (-1, 2) (`lag_survives_placement`). So
//
//   w' l' - w limit(l)  is in  (-w - 2 w', 3 w')
//
// and as V moves by (w l - w' l')/W_rest with it, so much at most is made or lost by others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "core/lag.h"
#include "props/pairs.h"

namespace vlag::props {
namespace {

using spec::distance;
using spec::EntityState;
using spec::Exact;
using spec::has;
using spec::Observation;

bool is_change(const spec::Operation& operation) {
  return operation.code == VLAG_NICE || operation.code == VLAG_SLICE ||
         operation.code == VLAG_POLICY;
}

// An entity as a change found it: charged up to now. The queue's other members are as they are
// shown after the step, since the change moves none of them.
struct Found {
  EntityState entity;
  Exact vruntime = 0;    // relative to zero_vruntime after the step
  spec::ExactSums sums;  // everyone queued, it too
  bool charged = false;
};

std::uint64_t as_word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

void charge(const Step& step, EntityState& entity, std::uint64_t base_slice) {
  const std::int64_t delta = distance(step.after.head->clock, entity.exec_start);
  if (delta <= 0) return;
  entity.vruntime += as_word(virtual_time(as_word(delta), entity));
  if (distance(entity.vruntime, entity.deadline) < 0) return;
  if (!has(entity, VLAG_CUSTOM_SLICE)) entity.slice = base_slice;
  entity.deadline = entity.vruntime + as_word(virtual_time(entity.slice, entity));
}

Found found(const Step& step, const EntityState& before, std::uint64_t base_slice) {
  Found found{before, 0, {}, false};
  if (step.before->queue->curr == before.id) charge(step, found.entity, base_slice);
  found.vruntime = distance(found.entity.vruntime, step.after.queue->zero_vruntime);
  for (const EntityState& other : step.after.entities) {
    if (other.id != before.id && has(other, VLAG_ON_RQ)) {
      found.sums.add(spec::view_of(*step.after.queue, other));
    }
  }
  found.sums.add({spec::down_of(before), found.vruntime, 0});
  return found;
}

Exact limit_of(const EntityState& entity, std::uint32_t tick_nsec) {
  const Weight weight = make_weight(entity.weight, entity.inv_weight);
  return lag_limit<Words>(Word::wrapped(entity.slice), Word(tick_nsec), weight).value;
}

// w l times W before the change and after it, and W of both; for one that was queued and still is.
struct Owed {
  bool asked = false;
  Exact before = 0;   // w l W
  Exact limited = 0;  // w limit(l) W
  Exact weight_before = 0;
  Exact after = 0;  // w' l' W'
  Exact weight_after = 0;
  Exact slack_down = 0;
  Exact slack_up = 0;

  // after - before, times both weights.
  Exact gained(Exact than) const { return after * weight_before - than * weight_after; }
  Exact scaled(Exact slack) const { return slack * weight_before * weight_after; }
};

Owed owed_across(const Step& step, std::uint64_t base_slice) {
  if (step.before == nullptr || !is_change(step.operation)) return {};
  if (!step.has(Feature::PLACE_LAG) || step.before->queue->nr_running <= 1) return {};
  if (another_left(step)) return {};
  const EntityState* before = step.before->find(step.operation.id);
  const EntityState* after = step.after.find(step.operation.id);
  if (before == nullptr || after == nullptr || !has(*before, VLAG_ON_RQ)) return {};
  if (!is_placed(step, *after) || !has(*after, VLAG_ON_RQ)) return {};
  const Found was = found(step, *before, base_slice);
  const Exact w = spec::down_of(*before);
  const Exact w_after = spec::down_of(*after);
  const spec::ExactSums sums = spec::sums_of(step.after);
  const Exact vruntime = spec::view_of(*step.after.queue, *after).vruntime;
  const Exact limit = limit_of(was.entity, step.tick_nsec) * was.sums.weight;
  const Exact lag = was.sums.w_vruntime - was.vruntime * was.sums.weight;
  Owed owed;
  owed.asked = true;
  owed.before = w * lag;
  owed.limited = w * std::clamp(lag, -limit, limit);
  owed.weight_before = was.sums.weight;
  owed.after = w_after * (sums.w_vruntime - vruntime * sums.weight);
  owed.weight_after = sums.weight;
  owed.slack_down = w + 2 * w_after;
  owed.slack_up = 3 * w_after;
  return owed;
}

std::int64_t nanos(Exact amount, Exact weight) {
  return static_cast<std::int64_t>(amount / weight / service_unit);
}

// The state that a change finds depends on the default request in force.
class WithBaseSlice {
 public:
  explicit WithBaseSlice(const BackendInfo& info) : base_slice_(info.base_slice) {}

  void observe(const Step& step) {
    if (step.operation.code == VLAG_TUNABLE) base_slice_ = step.operation.arg;
  }
  std::uint64_t base_slice() const { return base_slice_; }

 private:
  std::uint64_t base_slice_;
};

// Who is away: w vlag is kept to the rounding of one division, or limited again.
std::string sleeper_changed(const Step& step) {
  const EntityState* before = step.before->find(step.operation.id);
  const EntityState* after = step.after.find(step.operation.id);
  if (before == nullptr || after == nullptr || has(*before, VLAG_ON_RQ)) return {};
  const Exact owed = spec::down_of(*before) * before->vlag;
  const Exact kept = spec::down_of(*after) * after->vlag;
  const Exact limit = spec::down_of(*after) * limit_of(*after, step.tick_nsec);
  const Exact limited = std::clamp(owed, -limit, limit);
  const Exact slack = spec::down_of(*after);
  if (kept > std::min(owed, limited) - slack && kept < std::max(owed, limited) + slack) return {};
  return fmt::format("task {}, which is asleep, was owed {} ns before the change and is owed {} ns",
                     after->id, nanos(owed, 1), nanos(kept, 1));
}

std::string changes_keep(const Step& step, std::uint64_t base_slice) {
  if (step.before == nullptr || !is_change(step.operation)) return {};
  if (std::string what = sleeper_changed(step); !what.empty()) return what;
  const Owed owed = owed_across(step, base_slice);
  if (!owed.asked) return {};
  const Exact least = std::min(owed.before, owed.limited);
  const Exact most = std::max(owed.before, owed.limited);
  if (owed.gained(least) > -owed.scaled(owed.slack_down) &&
      owed.gained(most) < owed.scaled(owed.slack_up)) {
    return {};
  }
  return fmt::format("task {} was owed {} ns before the change and is owed {} ns",
                     step.operation.id, nanos(owed.before, owed.weight_before),
                     nanos(owed.after, owed.weight_after));
}

std::string changes_forgive(const Step& step, std::uint64_t base_slice) {
  const Owed owed = owed_across(step, base_slice);
  if (!owed.asked || owed.before >= 0) return {};
  if (owed.gained(owed.before) < owed.scaled(owed.slack_up)) return {};
  return fmt::format("task {} had run {} ns ahead of its share; after the change it is {} ns",
                     step.operation.id, nanos(-owed.before, owed.weight_before),
                     nanos(-owed.after, owed.weight_after));
}

// d - v is what remains of the request in virtual time, w (d - v) in service.
std::string request_changes(const Step& step, std::uint64_t base_slice) {
  if (step.before == nullptr || !is_change(step.operation)) return {};
  if (!step.has(Feature::PLACE_REL_DEADLINE)) return {};
  const EntityState* before = step.before->find(step.operation.id);
  const EntityState* after = step.after.find(step.operation.id);
  if (before == nullptr || after == nullptr || !has(*before, VLAG_ON_RQ)) return {};
  if (!has(*after, VLAG_ON_RQ) || has(*before, VLAG_REL_DEADLINE)) return {};
  if (!is_placed(step, *after)) return {};
  const EntityState was = found(step, *before, base_slice).entity;
  const Exact left = spec::down_of(was) * distance(was.deadline, was.vruntime);
  const Exact kept = spec::down_of(*after) * distance(after->deadline, after->vruntime);
  const Exact slack = was.weight == after->weight ? 1 : spec::down_of(*after);
  if (left - slack < kept && kept < left + slack) return {};
  return fmt::format("{} ns were left of the request of task {}; after the change {} ns are",
                     nanos(left, 1), after->id, nanos(kept, 1));
}

template <std::string (*function)(const Step&, std::uint64_t)>
Check with_base_slice(const BackendInfo& info) {
  return [state = std::make_shared<WithBaseSlice>(info)](const Step& step) {
    state->observe(step);
    return function(step, state->base_slice());
  };
}

// --- Leaving.

// The one live entity that left at this step; nullptr if there is none, or several.
const EntityState* only_leaver(const Step& step) {
  const EntityState* leaver = nullptr;
  for (const EntityState& after : step.after.entities) {
    const EntityState* before = step.before->find(after.id);
    if (before == nullptr || !has(*before, VLAG_ON_RQ) || has(after, VLAG_ON_RQ)) continue;
    if (leaver != nullptr) return nullptr;
    leaver = &after;
  }
  return leaver;
}

std::string who_leaves_keeps_its_lag(const Step& step) {
  if (step.before == nullptr) return {};
  const EntityState* leaver = only_leaver(step);
  if (leaver == nullptr) return {};
  spec::ExactSums sums = spec::sums_of(step.after);
  const Exact vruntime = distance(leaver->vruntime, step.after.queue->zero_vruntime);
  sums.add({spec::down_of(*leaver), vruntime, 0});
  const Exact ahead = sums.w_vruntime - vruntime * sums.weight;
  const Exact lag = ahead >= 0 ? ahead / sums.weight : -((sums.weight - 1 - ahead) / sums.weight);
  const Exact limit = limit_of(*leaver, step.tick_nsec);
  Exact expected = std::clamp(lag, -limit, limit);
  const bool delayed = has(*step.before->find(leaver->id), VLAG_DELAYED);
  if (delayed && step.operation.code != VLAG_DEQUEUE && step.has(Feature::DELAY_ZERO)) {
    expected = std::min<Exact>(expected, 0);
  }
  if (expected == leaver->vlag) return {};
  return fmt::format("task {} left with vlag {}; V - v, limited, is {}", leaver->id, leaver->vlag,
                     static_cast<std::int64_t>(expected));
}

// What is saved is worth no more than who leaves now could save. A rescaled lag and its limit are
// each exact to 10^-8 and one.
std::string saved_lag_is_within_its_limit(const Step& step) {
  for (const EntityState& entity : step.after.entities) {
    if (has(entity, VLAG_ON_RQ)) continue;
    const Exact limit = limit_of(entity, step.tick_nsec);
    const Exact slack = limit / 40'000'000 + 2;
    if (spec::Exact(entity.vlag) <= limit + slack && entity.vlag >= -limit - slack) continue;
    return fmt::format("task {} is away with vlag {}; by its request the limit is {}", entity.id,
                       entity.vlag, static_cast<std::int64_t>(limit));
  }
  return {};
}

// --- Requests.

// The longest request that each task was granted and may still be at.
class Grants {
 public:
  explicit Grants(const BackendInfo& info) : base_slice_(info) {}

  std::string check(const Step& step) {
    base_slice_.observe(step);
    for (const EntityState& entity : step.after.entities) {
      std::uint64_t& granted = granted_[entity.id];
      granted = is_granted_anew(step, entity) ? entity.slice : std::max(granted, entity.slice);
      // What a change finds may be a request that was renewed just now.
      if (is_change(step.operation)) granted = std::max(granted, base_slice_.base_slice());
      if (!has(entity, VLAG_ON_RQ) || has(entity, VLAG_REL_DEADLINE)) continue;
      const Exact left = spec::down_of(entity) * distance(entity.deadline, entity.vruntime);
      const Exact most = static_cast<Exact>(granted) * service_unit;
      step.reach->note(left, most);
      if (left <= most + most / 50'000'000 + 1) continue;
      return fmt::format(
          "task {} has {} ns to run until its deadline; the longest request that it "
          "was granted is {} ns",
          entity.id, nanos(left, 1), granted);
    }
    return {};
  }

 private:
  static bool is_granted_anew(const Step& step, const EntityState& after) {
    const EntityState* before = step.before != nullptr ? step.before->find(after.id) : nullptr;
    if (before == nullptr) return true;
    if (is_change(step.operation) && step.operation.id == after.id) return false;
    if (before->deadline == after.deadline) return false;
    return step.operation.code != VLAG_DEQUEUE && step.operation.code != VLAG_ENQUEUE;
  }

  WithBaseSlice base_slice_;
  std::map<int, std::uint64_t> granted_;
};

Check start_grants(const BackendInfo& info) {
  return
      [grants = std::make_shared<Grants>(info)](const Step& step) { return grants->check(step); };
}

}  // namespace

std::span<const Property> conservation_properties() {
  static const std::array<Property, 6> list = {{
      {"a_change_keeps_what_is_owed",
       "a change of nice, slice or policy keeps the service owed, or limits it, and so keeps V",
       "lag_inflation=none", with_base_slice<changes_keep>},
      {"a_change_forgives_no_debt",
       "one who has run ahead of its share is as far ahead after a change of nice, slice or policy",
       "change_lag=limited", with_base_slice<changes_forgive>, "change-forgives-debt"},
      {"a_change_keeps_what_is_left_of_a_request",
       "what remains of the request under way is the same service after a change",
       "reweight_request=virtual_time", with_base_slice<request_changes>, "nice-changes-requests"},
      {"a_request_is_no_longer_than_was_granted",
       "nobody has more to run until its deadline than the longest request it was granted",
       "reweight_request=virtual_time", start_grants, "reweight-makes-long-requests", true},
      {"who_leaves_keeps_its_lag", "who leaves saves V - v, limited", "lag_clamp=unlimited",
       stateless<who_leaves_keeps_its_lag>},
      {"saved_lag_is_within_its_limit",
       "nobody is away with more lag than it could save by the request that it has",
       "sleeper_lag=kept", stateless<saved_lag_is_within_its_limit>, "slice-keeps-saved-lag"},
  }};
  return list;
}

}  // namespace vlag::props
