// SPDX-License-Identifier: GPL-2.0-only
// How far others can run while one waits, how long that takes, and how two share.
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
//
// The wait budget adds this up: while j waits someone else runs, and every ns of it is paid from
// w_k (cap + O_k - v_k), O_k = a tick. Placements and buddies add to it; nothing else does.
//
// Two that stay queued share: by the same argument, when k runs on, v_k - v_j is within
// max(R_k, R_j), or what it was when the later of the two was placed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "props/pairs.h"

namespace vlag::props {
namespace {

using spec::distance;
using spec::EntityState;
using spec::Exact;
using spec::has;
using spec::Observation;

std::uint64_t later(std::uint64_t a, std::uint64_t b) { return distance(a, b) >= 0 ? a : b; }

bool restarts_all(const spec::Operation& operation) {
  return operation.code == VLAG_FEATURES || operation.code == VLAG_TUNABLE;
}

// The wait of j, in 1/1024 ns.
struct Wait {
  Exact budget = 0;
  Exact waited = 0;
  Exact rounding = 0;
  bool credited = false;  // The driver was late.
};

class PairCaps {
 public:
  enum class Asks : std::uint8_t { cap, budget };

  PairCaps(const BackendInfo& info, Asks asks) : asks_(asks), base_slice_(info.base_slice) {}

  std::string check(const Step& step) {
    if (step.operation.code == VLAG_TUNABLE) base_slice_ = step.operation.arg;
    caps_.make_room(step.after);
    if (!step.after.entities.empty()) {
      const auto last = static_cast<std::size_t>(step.after.entities.back().id);
      if (waits_.size() <= last) waits_.resize(last + 1);
    }
    std::string what;
    if (const Charge charge = charge_of(step)) what = check_charge(step, charge);
    if (what.empty()) restart_pairs(step);
    return what;
  }

 private:
  struct Cap {
    std::uint64_t limit = 0;
    std::uint64_t from = 0;  // where the other was when the pair started
  };

  Wait& wait_of(int id) { return waits_[static_cast<std::size_t>(id)]; }

  std::string check_charge(const Step& step, const Charge& charge) {
    for (const EntityState& waiter : step.after.entities) {
      if (!was_waiting(step, waiter)) continue;
      std::string what = asks_ == Asks::cap
                             ? beyond_cap(step, charge, waiter)
                             : beyond_budget(step, charge, wait_of(waiter.id), waiter.id);
      if (!what.empty()) return what;
    }
    return {};
  }

  std::string beyond_cap(const Step& step, const Charge& charge, const EntityState& waiter) {
    if (charge.pending) return {};  // The driver let it run on.
    const Cap& cap = caps_.at(waiter.id, charge.after->id);
    const std::uint64_t vruntime = charge.before->vruntime;
    step.reach->note(distance(vruntime, cap.from), distance(cap.limit, cap.from));
    if (distance(vruntime, cap.limit) <= 0) return {};
    return fmt::format(
        "task {} waits (vruntime {}, deadline {}), and task {} runs on at vruntime {}, beyond the "
        "cap of {}",
        waiter.id, waiter.vruntime, waiter.deadline, charge.after->id, vruntime, cap.limit);
  }

  static std::string beyond_budget(const Step& step, const Charge& charge, Wait& wait, int waiter) {
    const Exact service = static_cast<Exact>(charge.service) * service_unit;
    const Exact tick = static_cast<Exact>(step.tick_nsec) * service_unit;
    wait.waited += service;
    wait.rounding += charge.rounding();
    if (charge.late(step)) {
      wait.budget += charge.pending ? service : service - tick;
      wait.credited = true;
    }
    if (!wait.credited) step.reach->note(wait.waited, wait.budget);
    if (wait.waited <= wait.budget + wait.rounding) return {};
    return fmt::format("task {} has waited while others ran for {} ns; its budget is {} ns", waiter,
                       static_cast<std::int64_t>(wait.waited / service_unit),
                       static_cast<std::int64_t>(wait.budget / service_unit));
  }

  std::uint64_t initial_cap(const Observation& now, const EntityState& waiter,
                            const EntityState& other) const {
    std::uint64_t limit = other.vruntime;
    if (now.queue->curr == other.id) limit = later(limit, other.deadline);
    if (distance(other.vruntime, waiter.vruntime) < 0) {
      const auto request = static_cast<std::uint64_t>(longest_request(other, base_slice_));
      const std::uint64_t reach = waiter.vruntime + request;
      limit = later(limit, later(waiter.deadline, reach));
    } else if (distance(other.deadline, waiter.deadline) <= 0) {
      limit = later(limit, waiter.deadline);
    }
    return limit;
  }

  // What `other` may run up to `limit`, and on to the next tick.
  static void grant(const Step& step, Wait& wait, const EntityState& other, std::uint64_t limit) {
    const std::int64_t ahead = distance(limit, other.vruntime);
    if (ahead <= 0) return;  // It cannot be picked.
    const Exact overshoot = virtual_time(step.tick_nsec, other);
    wait.budget += spec::down_of(other) * (ahead + overshoot);
  }

  void restart_pairs(const Step& step) {
    const bool all = restarts_all(step.operation);
    for (const EntityState& waiter : step.after.entities) {
      if (!waits(step.after, &waiter)) continue;
      const bool new_wait = all || !goes_on_waiting(step, waiter);
      if (new_wait) wait_of(waiter.id) = {};
      for (const EntityState& other : step.after.entities) {
        if (other.id == waiter.id || !has(other, VLAG_ON_RQ)) continue;
        restart_pair(step, waiter, other, new_wait || is_placed(step, other));
      }
    }
  }

  void restart_pair(const Step& step, const EntityState& waiter, const EntityState& other,
                    bool anew) {
    Cap& cap = caps_.at(waiter.id, other.id);
    if (anew) {
      cap = {initial_cap(step.after, waiter, other), other.vruntime};
      grant(step, wait_of(waiter.id), other, cap.limit);
    }
    if (!is_buddy_pick(step, other)) return;
    cap.limit = later(cap.limit, other.deadline);
    grant(step, wait_of(waiter.id), other, other.deadline);
  }

  Asks asks_;
  std::uint64_t base_slice_;
  PairTable<Cap> caps_;
  std::vector<Wait> waits_;
};

class PairFairness {
 public:
  explicit PairFairness(const BackendInfo& info) : base_slice_(info.base_slice) {}

  std::string check(const Step& step) {
    if (step.operation.code == VLAG_TUNABLE) base_slice_ = step.operation.arg;
    pairs_.make_room(step.after);
    std::string what;
    if (const Charge charge = charge_of(step); charge && !charge.pending) {
      what = check_charge(step, charge);
    }
    if (what.empty()) restart_pairs(step);
    return what;
  }

 private:
  // How far k may be ahead of j when it runs on.
  struct Lead {
    std::int64_t request = 0;  // max(R_k, R_j)
    std::int64_t start = 0;    // what there was at the start
  };

  std::string check_charge(const Step& step, const Charge& charge) {
    for (const EntityState& other : step.after.entities) {
      const EntityState* before = step.before->find(other.id);
      const bool stays = other.id != charge.after->id && before != nullptr &&
                         has(*before, VLAG_ON_RQ) && has(other, VLAG_ON_RQ) &&
                         !is_placed(step, other);
      if (!stays) continue;
      const Lead& lead = pairs_.at(charge.after->id, other.id);
      const std::int64_t ahead = distance(charge.before->vruntime, before->vruntime);
      if (lead.start < lead.request) step.reach->note(ahead, lead.request);
      if (ahead <= std::max(lead.request, lead.start)) continue;
      return fmt::format(
          "tasks {} and {} are both queued; {} runs on at {} ns of virtual time ahead, and may at "
          "{}",
          charge.after->id, other.id, charge.after->id, ahead, std::max(lead.request, lead.start));
    }
    return {};
  }

  void restart_pairs(const Step& step) {
    const bool all = restarts_all(step.operation);
    for (const EntityState& one : step.after.entities) {
      if (!has(one, VLAG_ON_RQ)) continue;
      const bool placed = all || is_placed(step, one);
      const bool buddy = is_buddy_pick(step, one);
      for (const EntityState& other : step.after.entities) {
        if (other.id == one.id || !has(other, VLAG_ON_RQ)) continue;
        Lead& lead = pairs_.at(one.id, other.id);
        const std::int64_t to_deadline = distance(one.deadline, other.vruntime);
        if (placed || is_placed(step, other)) lead = initial_lead(step.after, one, other);
        if (buddy) lead.start = std::max(lead.start, to_deadline);
      }
    }
  }

  Lead initial_lead(const Observation& now, const EntityState& one,
                    const EntityState& other) const {
    Lead lead;
    lead.request = std::max(longest_request(one, base_slice_), longest_request(other, base_slice_));
    lead.start = distance(one.vruntime, other.vruntime);
    if (now.queue->curr == one.id) {
      lead.start = std::max(lead.start, distance(one.deadline, other.vruntime));
    }
    return lead;
  }

  std::uint64_t base_slice_;
  PairTable<Lead> pairs_;
};

template <PairCaps::Asks asks>
Check start_caps(const BackendInfo& info) {
  return [caps = std::make_shared<PairCaps>(info, asks)](const Step& step) {
    return caps->check(step);
  };
}

Check start_fairness(const BackendInfo& info) {
  return [pairs = std::make_shared<PairFairness>(info)](const Step& step) {
    return pairs->check(step);
  };
}

}  // namespace

std::span<const Property> pair_properties() {
  static const std::array<Property, 3> list = {{
      {"others_stay_within_the_cap",
       "while one waits, no other runs beyond its cap: the waiter's deadline, or its own request",
       "request_end=silent", start_caps<PairCaps::Asks::cap>, "", true},
      {"a_wait_is_within_its_budget",
       "one waits no longer than what each other may run up to its cap, and a tick; only "
       "placements "
       "and buddies add to that",
       "request_end=silent", start_caps<PairCaps::Asks::budget>, "", true},
      {"a_queued_pair_is_served_alike",
       "of two that stay queued, the one that runs on is ahead by at most the longer request, in "
       "virtual time, or by what it was at the start",
       "request_end=silent", start_fairness, "", true},
  }};
  return list;
}

}  // namespace vlag::props
