// SPDX-License-Identifier: GPL-2.0-only
#include "core/runqueue.h"

#include "core/check.h"
#include "core/deadline.h"
#include "core/delay.h"
#include "core/lag.h"
#include "core/pick.h"
#include "core/placement.h"
#include "core/preempt.h"
#include "core/reweight.h"

namespace vlag {

Runqueue::Runqueue(const Rules& rules, CpuState& cpu) : rules_(rules), cpu_(cpu), timeline_(rules) {
  sums_.zero_vruntime = VTime(initial_zero_vruntime);
}

// The sums over everyone who is queued: the timeline and the current entity.
Sums<Words> Runqueue::total() const {
  Sums<Words> all = sums_;
  if (curr_ != nullptr && curr_->on_rq) all.add(curr_->vruntime, curr_->weight.down());
  return all;
}

Word Runqueue::average_key() const {
  const bool with_curr = curr_ != nullptr && curr_->on_rq;
  if (sums_.sum_weight != 0) return vlag::average_key(total(), rules_.average);
  return with_curr ? sums_.key(curr_->vruntime) : Word(0);
}

VTime Runqueue::average() const { return sums_.zero_vruntime + average_key(); }

// As the kernel's, reading V also moves zero_vruntime there, which keeps the keys small.
VTime Runqueue::avg_vruntime() {
  const Word delta = average_key();
  const VTime average = sums_.zero_vruntime + delta;
  if (rules_.zero_vruntime == ZeroVruntime::tracks_average) sums_.rebase(delta);
  if (rules_.zero_vruntime == ZeroVruntime::moves_alone) sums_.zero_vruntime += delta;
  return average;
}

bool Runqueue::eligible(const Entity& entity) const {
  return vlag::eligible(total(), entity.vruntime);
}

bool Runqueue::is_protected(const Entity& entity) const {
  return slice_protected<Words>(entity.vlag, entity.deadline);
}

void Runqueue::cancel_protect_slice(Entity& entity) const {
  if (is_protected(entity)) entity.vlag = cancelled_protection<Words>(entity.deadline);
}

Word Runqueue::limit_of(const Entity& entity) const {
  return lag_limit<Words>(entity.slice, Word(cpu_.tunables.tick_nsec()), entity.weight);
}

void Runqueue::update_entity_lag(Entity& entity, bool limited) {
  const VTime average = avg_vruntime();
  entity.vlag = rules_.lag_clamp == LagClamp::limited && limited
                    ? entity_lag<Words>(average, entity.vruntime, limit_of(entity))
                    : average - entity.vruntime;
}

bool Runqueue::update_deadline(Entity& entity) {
  if (!request_used_up<Words>(entity.vruntime, entity.deadline)) return false;
  if (!entity.custom_slice) entity.slice = Word::wrapped(cpu_.tunables.base_slice);
  const VTime from =
      rules_.deadline_from == DeadlineFrom::vruntime ? entity.vruntime : entity.deadline;
  entity.deadline = deadline_after<Words>(from, entity.slice, entity.weight);
  avg_vruntime();
  return true;
}

bool Runqueue::did_preempt_short(const Entity& entity) const {
  return has(Feature::PREEMPT_SHORT) && !is_protected(entity) && !eligible(entity);
}

Word Runqueue::charged(Word delta, const Weight& weight) const {
  switch (rules_.service) {
    case Service::unweighted:
      return delta;
    case Service::coarse:
      return calc_delta_fair<Words>(Word::wrapped(delta.bits() & ~std::uint64_t{1023}), weight);
    default:
      return calc_delta_fair<Words>(delta, weight);
  }
}

void Runqueue::update_curr() {
  if (curr_ == nullptr) return;
  Entity& curr = *curr_;
  const Word delta = Word::wrapped(cpu_.clock - curr.exec_start);
  if (delta <= 0) return;
  curr.exec_start = cpu_.clock;
  curr.sum_exec_runtime += delta.bits();
  curr.vruntime += charged(delta, curr.weight);
  const bool used_up = update_deadline(curr);
  if (nr_running_ == 1) return;
  const bool ends = used_up && rules_.request_end == RequestEnd::reschedules;
  if (ends || did_preempt_short(curr)) {
    cpu_.need_resched = true;
    clear_buddies(curr);
  }
}

void Runqueue::timeline_add(Entity& entity) {
  sums_.add(entity.vruntime, entity.weight.down());
  timeline_.insert(entity);
}

void Runqueue::timeline_remove(Entity& entity) {
  timeline_.erase(entity);
  sums_.remove(entity.vruntime, entity.weight.down());
}

// Without PLACE_LAG, and on an empty queue, the saved lag is forgotten.
void Runqueue::place_entity(Entity& entity, bool initial) {
  const VTime average = avg_vruntime();
  if (!entity.custom_slice) entity.slice = Word::wrapped(cpu_.tunables.base_slice);
  Word request = calc_delta_fair<Words>(entity.slice, entity.weight);
  Word lag = 0;
  if (has(Feature::PLACE_LAG) && nr_running_ > 0) {
    const Word load = total().sum_weight;
    lag = rules_.place_lag == PlaceLag::inflated
              ? inflated_lag<Words>(entity.vlag, load, entity.weight.down())
              : entity.vlag;
  }
  entity.vruntime = average - lag;
  if (has(Feature::PLACE_REL_DEADLINE) && entity.rel_deadline) {
    entity.deadline += Word::wrapped(entity.vruntime.value);
    entity.rel_deadline = false;
    return;
  }
  if (rules_.rel_deadline == RelDeadline::flag_cleared) entity.rel_deadline = false;
  if (has(Feature::PLACE_DEADLINE_INITIAL) && initial) request = initial_request<Words>(request);
  entity.deadline = entity.vruntime + request;
}

void Runqueue::enqueue_entity(Entity& entity, EnqueueFlags flags) {
  const bool is_curr = curr_ == &entity;
  // The current entity must be placed before the charge that follows.
  if (is_curr) place_entity(entity, flags.initial);
  update_curr();
  if (!is_curr) place_entity(entity, flags.initial);
  load_ += entity.weight.load;
  ++nr_running_;
  if (!is_curr) timeline_add(entity);
  entity.on_rq = true;
}

bool Runqueue::dequeue_entity(Entity& entity, DequeueFlags flags) {
  update_curr();
  clear_buddies(entity);
  if (!flags.delayed) {
    const bool may_delay = flags.sleep && !flags.special;
    if (has(Feature::DELAY_DEQUEUE) && may_delay && !eligible(entity)) {
      entity.sched_delayed = true;
      return false;
    }
  }
  // While the entity still counts.
  update_entity_lag(entity, !(flags.save && rules_.change_lag == ChangeLag::kept));
  if (has(Feature::PLACE_REL_DEADLINE) && !flags.sleep) {
    entity.deadline = VTime((entity.deadline - entity.vruntime).bits());
    entity.rel_deadline = true;
  }
  if (&entity != curr_) timeline_remove(entity);
  entity.on_rq = false;
  load_ -= entity.weight.load;
  --nr_running_;
  if (flags.delayed) {
    entity.sched_delayed = false;
    if (has(Feature::DELAY_ZERO)) entity.vlag = delayed_lag<Words>(entity.vlag);
  }
  return true;
}

void Runqueue::requeue_delayed_entity(Entity& entity) {
  VLAG_CHECK(entity.sched_delayed && entity.on_rq);
  if (has(Feature::DELAY_ZERO)) {
    update_entity_lag(entity);
    if (requeue_places<Words>(entity.vlag)) {
      --nr_running_;
      if (&entity != curr_) timeline_remove(entity);
      entity.vlag = delayed_lag<Words>(entity.vlag);
      place_entity(entity, false);
      if (&entity != curr_) timeline_add(entity);
      ++nr_running_;
    }
  }
  entity.sched_delayed = false;
}

Entity* Runqueue::pick_eevdf() const {
  Entity* curr = curr_ != nullptr && curr_->on_rq ? curr_ : nullptr;
  // Alone, no one asks whether it is eligible.
  if (nr_running_ == 1) return curr != nullptr ? curr : timeline_.leftmost();
  const bool curr_protected = has(Feature::RUN_TO_PARITY) && curr != nullptr && is_protected(*curr);
  return vlag::pick_eevdf<Words>(timeline_.root(), timeline_.leftmost(), curr, curr_protected,
                                 total());
}

Entity* Runqueue::pick_next_entity() const {
  if (has(Feature::PICK_BUDDY) && next_ != nullptr && eligible(*next_)) return next_;
  return pick_eevdf();
}

void Runqueue::set_next_entity(Entity& entity) {
  clear_buddies(entity);
  if (entity.on_rq) {
    timeline_remove(entity);
    entity.vlag = stash(entity.deadline);
  }
  entity.exec_start = cpu_.clock;
  curr_ = &entity;
  entity.prev_sum_exec_runtime = entity.sum_exec_runtime;
}

void Runqueue::put_prev_entity(Entity& entity) {
  VLAG_CHECK(curr_ == &entity);
  if (entity.on_rq) {
    update_curr();
    timeline_add(entity);
  }
  curr_ = nullptr;
}

void Runqueue::yield_entity() {
  VLAG_CHECK(curr_ != nullptr);
  clear_buddies(*curr_);
  update_curr();
  if (rules_.yield == YieldRule::nothing) return;
  const bool may_forfeit = eligible(*curr_);
  curr_->vruntime = yielded_vruntime<Words>(may_forfeit, curr_->vruntime, curr_->deadline);
  if (may_forfeit) update_deadline(*curr_);
}

void Runqueue::set_next_buddy(Entity& entity) {
  if (!entity.idle) next_ = &entity;
}

void Runqueue::clear_buddies(const Entity& entity) {
  if (next_ == &entity) next_ = nullptr;
}

void Runqueue::check_preempt_short(const Entity& woken) {
  if (!has(Feature::PREEMPT_SHORT)) return;
  const Sums<Words> all = total();
  if (preempts_short<Words>(woken.slice, curr_->slice, vlag::eligible(all, woken.vruntime),
                            vlag::eligible(all, curr_->vruntime), woken.deadline,
                            curr_->deadline)) {
    cancel_protect_slice(*curr_);
  }
}

void Runqueue::reweight_entity(Entity& entity, const Weight& weight) const {
  const Word load = static_cast<std::int64_t>(entity.weight.load);
  const Word new_load = static_cast<std::int64_t>(weight.load);
  entity.vlag = reweighted_lag<Words>(entity.vlag, load, new_load);
  if (entity.rel_deadline && rules_.reweight_request == ReweightRequest::service) {
    const Word left = Word::wrapped(entity.deadline.value);
    entity.deadline = VTime(reweighted_lag<Words>(left, load, new_load).bits());
  }
  entity.weight = weight;
}

void Runqueue::limit_saved_lag(Entity& entity) const {
  if (rules_.sleeper_lag == SleeperLag::kept) return;
  const Word limit = limit_of(entity);
  entity.vlag = clamp<Word>(entity.vlag, -limit, limit);
}

void Runqueue::after_reweight(const Entity& entity, const Weight& old) {
  if (rules_.reweight_sums == ReweightSums::updated) return;
  if (entity.on_rq == (rules_.reweight_sums == ReweightSums::asleep_too)) return;
  sums_.sum_weight += old.down() - entity.weight.down();
  load_ += old.load - entity.weight.load;
}

}  // namespace vlag
