// SPDX-License-Identifier: GPL-2.0-only
// A fixed set against the ideal fluid schedule, in which everyone runs at once, at w_i / W.
//
// Between joins, leaves and changes the set is fixed. What an entity is owed is the fluid service
// less the actual one. Let
//
//   F(D) = sum of w_i (v_i - D) over d_i > D
//
// A pick of an entity with d > D means that nobody with d <= D was eligible, so V < D and F(D) < 0;
// from there its own run adds at most r + o, and each entity that leaves {d <= D} adds its
// overshoot o once. So from where F <= 0 for all D >= min d, as it is where max v <= min d (all
// start at one point, say), these hold, with o = a tick and r the longest request that an entity
// has in between:
//
//   lag_j >= - (1 - w_j / W) (r_j + o_j), or what it was at the start, less the request under way
//   lag_j <= (1 - w_j / W) r_j + w_j / W (max(r_k + o_k) + sum of the other o_i)
//
// and one who starts to wait at V, v_j, d_j waits no longer than
//
//   W (v_j - V)+ + (W - w_j) (d_j - v_j) + max(r_k + o_k) + sum(o_k)
//
// All in units of 1/1024 ns, exact but for the service that rounding hides from v: less than w_i at
// each charge of i. A late driver, a buddy or a yield ends the set.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "props/pairs.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::Exact;
using spec::has;
using spec::Observation;

struct Member {
  int id = 0;
  Exact weight = 0;
  Exact request = 0;    // w R
  Exact overshoot = 0;  // w O
  Exact start_lag = 0;  // times W
  Exact least_lag = 0;  // times W: with what is left of the request that was under way then
  Exact service = 0;    // since the start
  Exact rounding = 0;   // of that
  // The wait under way: its bound, or -1 if there is none.
  Exact bound = -1;
  Exact waited = 0;
  Exact wait_rounding = 0;
};

class FixedSet {
 public:
  enum class Asks : std::uint8_t { lag, wait };

  FixedSet(const BackendInfo& info, Asks asks) : asks_(asks), base_slice_(info.base_slice) {}

  std::string check(const Step& step) {
    if (step.operation.code == VLAG_TUNABLE) base_slice_ = step.operation.arg;
    if (members_.empty() || ends(step)) {
      start(step);
      return {};
    }
    if (const Charge charge = charge_of(step)) serve(charge);
    std::string what = asks_ == Asks::lag ? wrong_lag(step) : wrong_wait(step);
    update_waits(step.after);
    return what;
  }

 private:
  bool ends(const Step& step) const {
    switch (step.operation.code) {
      case VLAG_TICK:
      case VLAG_ADVANCE:
      case VLAG_SCHEDULE:
      case VLAG_HRTICK:
        break;
      default:
        return true;
    }
    if (step.after.queue->next != VLAG_NO_ENTITY || step.before->queue->next != VLAG_NO_ENTITY) {
      return true;
    }
    if (step.after.queue->nr_running != members_.size()) return true;
    const Charge charge = charge_of(step);
    return charge && charge.late(step);
  }

  // From here if F <= 0 everywhere; else there is no set yet.
  void start(const Step& step) {
    const Observation& now = step.after;
    members_.clear();
    served_ = 0;
    if (now.queue->nr_running < 2 || now.queue->next != VLAG_NO_ENTITY) return;
    sums_ = spec::sums_of(now);
    bool first = true;
    Exact latest = 0;
    Exact earliest = 0;
    for (const EntityState& entity : now.entities) {
      if (!has(entity, VLAG_ON_RQ)) continue;
      const auto view = spec::view_of(*now.queue, entity);
      latest = first ? view.vruntime : std::max(latest, view.vruntime);
      earliest = first ? view.deadline : std::min(earliest, view.deadline);
      first = false;
      members_.push_back(member(step, entity));
    }
    if (latest > earliest) members_.clear();
    weight_ = sums_.weight;
    update_waits(now);
  }

  Member member(const Step& step, const EntityState& entity) const {
    const auto view = spec::view_of(*step.after.queue, entity);
    Member one;
    one.id = entity.id;
    one.weight = view.weight;
    one.request = view.weight * longest_request(entity, base_slice_);
    one.overshoot = view.weight * virtual_time(step.tick_nsec, entity);
    one.start_lag = lag(sums_, view);
    one.least_lag = one.start_lag;
    if (step.after.queue->curr == entity.id) {
      const Exact left = view.weight * (view.deadline - view.vruntime) + one.overshoot;
      one.least_lag -= (sums_.weight - view.weight) * left;
    }
    return one;
  }

  // w (V - v), times W.
  static Exact lag(const spec::ExactSums& sums, const spec::EntityView<Exact>& view) {
    return view.weight * (sums.w_vruntime - view.vruntime * sums.weight);
  }

  void serve(const Charge& charge) {
    const Exact service = static_cast<Exact>(charge.service) * service_unit;
    const Exact rounding = charge.rounding();
    served_ += service;
    for (Member& one : members_) {
      if (one.id == charge.after->id) {
        one.service += service;
        one.rounding += rounding;
      }
      one.waited += service;
      one.wait_rounding += rounding;
    }
  }

  // max(r_k + o_k) + sum(o_i) over the others, without the overshoot of that k if `once`.
  Exact others(const Member& one, bool once) const {
    Exact longest = 0;
    Exact overshoots = 0;
    for (const Member& other : members_) overshoots += other.id == one.id ? 0 : other.overshoot;
    for (const Member& other : members_) {
      if (other.id == one.id) continue;
      longest = std::max(longest, other.request + (once ? 0 : other.overshoot));
    }
    return longest + overshoots;
  }

  std::string wrong_lag(const Step& step) const {
    Exact all_rounding = 0;
    for (const Member& one : members_) all_rounding += one.rounding;
    for (const Member& one : members_) {
      const Exact fluid = one.weight * served_;
      const Exact owed = one.start_lag + fluid - weight_ * one.service;
      const Exact rest = weight_ - one.weight;
      const Exact least = std::min(one.least_lag, -rest * (one.request + one.overshoot));
      const Exact most = rest * one.request + one.weight * others(one, true);
      step.reach->note(owed, most);
      if (one.least_lag > least) step.reach->note(-owed, -least);
      const bool low = owed < least - weight_ * one.rounding - one.weight;
      const bool high = owed > most + one.weight * all_rounding + one.weight;
      if (!low && !high) continue;
      return fmt::format("task {} is owed {} ns against the fluid schedule; {} is {} ns", one.id,
                         nanos(owed), low ? "the least" : "the most", nanos(low ? least : most));
    }
    return {};
  }

  std::string wrong_wait(const Step& step) const {
    for (const Member& one : members_) {
      const EntityState* before = step.before->find(one.id);
      if (one.bound < 0 || !waits(*step.before, before)) continue;
      step.reach->note(one.waited * weight_, one.bound * weight_);
      if (one.waited <= one.bound + one.wait_rounding) continue;
      return fmt::format("task {} has waited for {} ns on a fixed set, and should for {} at most",
                         one.id, static_cast<std::int64_t>(one.waited / service_unit),
                         static_cast<std::int64_t>(one.bound / service_unit));
    }
    return {};
  }

  std::int64_t nanos(Exact owed) const {
    return static_cast<std::int64_t>(owed / weight_ / service_unit);
  }

  void update_waits(const Observation& now) {
    const spec::ExactSums sums = spec::sums_of(now);
    for (Member& one : members_) {
      const EntityState* entity = now.find(one.id);
      if (!waits(now, entity)) {
        one.bound = -1;
      } else if (one.bound < 0) {
        const auto view = spec::view_of(*now.queue, *entity);
        // W (v - V), rounded up.
        const Exact ahead = std::max<Exact>(0, view.vruntime * sums.weight - sums.w_vruntime);
        one.bound = ahead + (sums.weight - one.weight) * (view.deadline - view.vruntime) +
                    others(one, false);
        one.waited = 0;
        one.wait_rounding = 0;
      }
    }
  }

  Asks asks_;
  std::uint64_t base_slice_;
  std::vector<Member> members_;  // Empty: no set.
  spec::ExactSums sums_;         // at the start
  Exact weight_ = 0;             // W
  Exact served_ = 0;             // since the start
};

template <FixedSet::Asks asks>
Check start_set(const BackendInfo& info) {
  return
      [set = std::make_shared<FixedSet>(info, asks)](const Step& step) { return set->check(step); };
}

}  // namespace

std::span<const Property> fixed_set_properties() {
  static const std::array<Property, 2> list = {{
      {"service_keeps_to_the_fluid_schedule",
       "while the set is fixed, nobody is owed more, and nobody has had more, than the ideal fluid "
       "schedule gives, by more than a request and what ticks round up",
       "request_end=silent", start_set<FixedSet::Asks::lag>, "", true},
      {"a_fixed_set_lets_nobody_wait_longer",
       "while the set is fixed, one who waits is picked within the bound for fixed sets",
       "request_end=silent", start_set<FixedSet::Asks::wait>, "", true},
  }};
  return list;
}

}  // namespace vlag::props
