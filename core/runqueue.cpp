// SPDX-License-Identifier: GPL-2.0-only
#include "core/runqueue.h"

#include "core/check.h"
#include "core/deadline.h"
#include "core/delay.h"
#include "core/heap_pick.h"
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

// min_vruntime, as zero_vruntime was until 6.18: the least vruntime, and never backwards.
void Runqueue::update_min_vruntime() {
  if (rules_.zero_vruntime != ZeroVruntime::monotone &&
      rules_.zero_vruntime != ZeroVruntime::monotone_unless_reweighted) {
    return;
  }
  const bool by_deadline = rules_.order != TimelineOrder::vruntime;
  VTime least = sums_.zero_vruntime;
  if (!timeline_.empty()) {
    least = by_deadline ? timeline_.root()->node.min_vruntime : timeline_.leftmost()->vruntime;
  }
  if (curr_ != nullptr && curr_->on_rq) {
    least = timeline_.empty() ? curr_->vruntime : earlier<Words>(least, curr_->vruntime);
  }
  const Word delta = least - sums_.zero_vruntime;
  if (delta > 0) sums_.rebase(delta);
}

// vlag of the current entity: the deadline that it was picked with, or (Protection::shortest) the
// vruntime up to which it is protected.
bool Runqueue::is_protected(const Entity& entity) const {
  if (rules_.protection == Protection::request) {
    return slice_protected<Words>(entity.vlag, entity.deadline);
  }
  return before<Words>(entity.vruntime, VTime(entity.vlag.bits()));
}

void Runqueue::cancel_protect_slice(Entity& entity) const {
  if (!is_protected(entity)) return;
  entity.vlag = rules_.protection == Protection::request
                    ? cancelled_protection<Words>(entity.deadline)
                    : stash(entity.vruntime);
}

// cfs_rq_min_slice(). Requires: someone is queued.
Word Runqueue::shortest_slice() const {
  const Entity* root = timeline_.root();
  const bool with_curr = curr_ != nullptr && curr_->on_rq;
  if (root == nullptr) return curr_->slice;
  return with_curr ? least<Word>(curr_->slice, root->node.min_slice) : root->node.min_slice;
}

// set_protect_slice(), of 6.12 or of 6.17. Requires: `entity` was picked, and is not in the
// timeline any more.
void Runqueue::set_protection(Entity& entity) const {
  entity.vlag = stash(entity.deadline);
  if (rules_.protection == Protection::request) return;
  const bool to_parity = has(Feature::RUN_TO_PARITY);
  if (!to_parity && rules_.protection == Protection::shortest_or_none) {
    entity.vlag = stash(entity.vruntime);
    return;
  }
  Word slice = entity.slice;
  if (!to_parity) slice = least<Word>(slice, Word::wrapped(cpu_.tunables.base_slice));
  if (to_parity && !timeline_.empty()) slice = least<Word>(slice, shortest_slice());
  if (slice == entity.slice) return;
  const VTime end = entity.vruntime + calc_delta_fair<Words>(slice, entity.weight);
  entity.vlag = stash(earlier<Words>(entity.deadline, end));
}

// update_protect_slice() of 6.17: someone has joined, perhaps with a shorter request.
void Runqueue::limit_protection() {
  if (curr_ == nullptr || !curr_->on_rq || !has(Feature::RUN_TO_PARITY)) return;
  if (rules_.protection == Protection::request ||
      rules_.protection == Protection::shortest_at_pick) {
    return;
  }
  if (rules_.protection == Protection::shortest_unless_pending && cpu_.need_resched) return;
  const VTime end = curr_->vruntime + calc_delta_fair<Words>(shortest_slice(), curr_->weight);
  curr_->vlag = stash(earlier<Words>(VTime(curr_->vlag.bits()), end));
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

// Whether a charge finds that others should have their turn.
bool Runqueue::run_ends(const Entity& entity, bool used_up) const {
  if (used_up && rules_.request_end == RequestEnd::reschedules) return true;
  if (rules_.protection == Protection::request ||
      rules_.protection == Protection::shortest_silent) {
    return did_preempt_short(entity);
  }
  return !is_protected(entity);
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
  update_min_vruntime();
  if (nr_running_ == 1) return;
  if (run_ends(curr, used_up)) {
    cpu_.need_resched = true;
    clear_buddies(curr);
  }
}

void Runqueue::timeline_add(Entity& entity) {
  sums_.add(entity.vruntime, entity.weight.down());
  timeline_.insert(entity);
  if (rules_.zero_vruntime == ZeroVruntime::at_insert_and_erase) sums_.rebase(average_key());
}

void Runqueue::timeline_remove(Entity& entity) {
  timeline_.erase(entity);
  sums_.remove(entity.vruntime, entity.weight.down());
  if (rules_.zero_vruntime == ZeroVruntime::at_insert_and_erase) sums_.rebase(average_key());
}

// Without PLACE_LAG, and on an empty queue, the saved lag is forgotten.
void Runqueue::place_entity(Entity& entity, bool initial) {
  const VTime average = avg_vruntime();
  if (!entity.custom_slice && rules_.place_slice == PlaceSlice::refreshed) {
    entity.slice = Word::wrapped(cpu_.tunables.base_slice);
  }
  Word request = calc_delta_fair<Words>(entity.slice, entity.weight);
  Word lag = 0;
  if (has(Feature::PLACE_LAG) && nr_running_ > 0) {
    Word load = total().sum_weight;
    if (load == 0) {
      placed_on_nothing_ = true;
      load = 1;
    }
    lag = placed_lag<Words>(rules_.lag_inflation, entity.vlag, entity.load_left, load,
                            entity.weight.down());
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
  if (!is_curr) limit_protection();
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
  if (has(Feature::PLACE_REL_DEADLINE) && !flags.sleep &&
      rules_.rel_deadline != RelDeadline::never) {
    entity.deadline = VTime((entity.deadline - entity.vruntime).bits());
    entity.rel_deadline = true;
  }
  if (&entity != curr_) timeline_remove(entity);
  entity.on_rq = false;
  entity.load_left = total().sum_weight;
  load_ -= entity.weight.load;
  --nr_running_;
  if (!flags.save || flags.move) update_min_vruntime();
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

Entity* Runqueue::pick_eevdf(bool protect) const {
  Entity* curr = curr_ != nullptr && curr_->on_rq ? curr_ : nullptr;
  // Alone, no one asks whether it is eligible.
  if (nr_running_ == 1) return curr != nullptr ? curr : timeline_.leftmost();
  // From 6.17 on what RUN_TO_PARITY decides is how long the protection is.
  const bool may_protect =
      protect && (has(Feature::RUN_TO_PARITY) || rules_.protection != Protection::request);
  const bool curr_protected = may_protect && curr != nullptr && is_protected(*curr);
  if (rules_.order == TimelineOrder::vruntime) {
    return pick_from_heap<Words>(timeline_.root(), timeline_.leftmost(), curr, curr_protected,
                                 total(), rules_.heap_search);
  }
  return vlag::pick_eevdf<Words>(timeline_.root(), timeline_.leftmost(), curr, curr_protected,
                                 total());
}

Entity* Runqueue::pick_next_entity() const {
  if (has(Feature::PICK_BUDDY) && next_ != nullptr &&
      (rules_.buddy_pick == BuddyRule::regardless || eligible(*next_))) {
    return next_;
  }
  return pick_eevdf();
}

void Runqueue::set_next_entity(Entity& entity) {
  clear_buddies(entity);
  if (entity.on_rq) {
    timeline_remove(entity);
    set_protection(entity);
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
  if (rules_.yield == YieldRule::deadline_only) {
    curr_->deadline = deadline_after<Words>(curr_->deadline, curr_->slice, curr_->weight);
    return;
  }
  const bool may_forfeit = rules_.yield == YieldRule::forfeit_always || eligible(*curr_);
  curr_->vruntime = yielded_vruntime<Words>(may_forfeit, curr_->vruntime, curr_->deadline);
  if (may_forfeit) update_deadline(*curr_);
}

void Runqueue::set_next_buddy(Entity& entity) {
  if (!entity.idle) next_ = &entity;
}

void Runqueue::clear_buddies(const Entity& entity) {
  if (next_ == &entity) next_ = nullptr;
}

bool Runqueue::check_preempt_short(const Entity& woken) {
  if (!has(Feature::PREEMPT_SHORT)) return true;
  if (rules_.short_preemption == ShortPreemption::if_picked) return !(woken.slice < curr_->slice);
  const Sums<Words> all = total();
  if (preempts_short<Words>(woken.slice, curr_->slice, vlag::eligible(all, woken.vruntime),
                            vlag::eligible(all, curr_->vruntime), woken.deadline,
                            curr_->deadline)) {
    cancel_protect_slice(*curr_);
  }
  return true;
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

void Runqueue::set_weight(Entity& entity, const Weight& weight) {
  load_ += weight.load - entity.weight.load;
  entity.weight = weight;
}

// 6.6: the vruntime stays, and with it the place in a timeline that is ordered by it.
void Runqueue::reweight_kept(Entity& entity, const Weight& weight) {
  const bool is_curr = &entity == curr_;
  const bool propagate = rules_.reweight == ReweightQueued::kept;
  const bool moves = propagate && rules_.order != TimelineOrder::vruntime;
  if (is_curr) update_curr();
  if (!is_curr && moves) timeline_remove(entity);
  if (!is_curr && !moves) sums_.remove(entity.vruntime, entity.weight.down());
  entity.deadline =
      reweighted_deadline<Words>(entity.vruntime, entity.deadline,
                                 Word::wrapped(entity.weight.load), Word::wrapped(weight.load));
  set_weight(entity, weight);
  if (is_curr) return;
  if (moves) return timeline_add(entity);
  sums_.add(entity.vruntime, entity.weight.down());
  if (propagate) timeline_.refresh(entity);
}

// 6.7 to 6.12: V stays, and what is owed.
void Runqueue::reweight_around(Entity& entity, const Weight& weight) {
  const bool is_curr = &entity == curr_;
  if (is_curr || rules_.reweight != ReweightQueued::around_stale_average) update_curr();
  const VTime average = avg_vruntime();
  if (!is_curr) timeline_remove(entity);
  const Word lag = rules_.reweight == ReweightQueued::around_average_unlimited
                       ? average - entity.vruntime
                       : entity_lag<Words>(average, entity.vruntime, limit_of(entity));
  const Reweighted<Words> now = reweighted_around<Words>(
      average, entity.deadline, lag, Word::wrapped(entity.weight.load), Word::wrapped(weight.load));
  entity.vruntime = now.vruntime;
  entity.deadline = now.deadline;
  set_weight(entity, weight);
  if (!is_curr) timeline_add(entity);
}

// 6.13 to 7.0: as if it left and joined; but the current one is counted all the time.
void Runqueue::reweight_placed(Entity& entity, const Weight& weight) {
  const bool is_curr = &entity == curr_;
  const bool counted = rules_.reweight == ReweightQueued::placed_counted;
  const Word old_load = Word::wrapped(entity.weight.load);
  const Word new_load = Word::wrapped(weight.load);
  update_curr();
  update_entity_lag(entity);
  const Word left = reweighted_lag<Words>(entity.deadline - entity.vruntime, old_load, new_load);
  nr_running_ -= counted ? 0 : 1;
  if (!is_curr) timeline_remove(entity);
  entity.vlag = reweighted_lag<Words>(entity.vlag, old_load, new_load);
  set_weight(entity, weight);
  place_entity(entity, false);
  entity.deadline = entity.vruntime + left;
  if (!is_curr) timeline_add(entity);
  nr_running_ += counted ? 0 : 1;
}

void Runqueue::reweight_queued(Entity& entity, const Weight& weight) {
  switch (rules_.reweight) {
    case ReweightQueued::kept:
    case ReweightQueued::kept_unpropagated:
      reweight_kept(entity, weight);
      break;
    case ReweightQueued::placed:
    case ReweightQueued::placed_counted:
      reweight_placed(entity, weight);
      break;
    default:
      reweight_around(entity, weight);
      break;
  }
  const bool forgets = rules_.zero_vruntime == ZeroVruntime::monotone_unless_reweighted;
  if (!forgets || &entity != curr_) update_min_vruntime();
}

void Runqueue::after_reweight(const Entity& entity, const Weight& old) {
  if (rules_.reweight_sums == ReweightSums::updated) return;
  if (entity.on_rq == (rules_.reweight_sums == ReweightSums::asleep_too)) return;
  sums_.sum_weight += old.down() - entity.weight.down();
  load_ += old.load - entity.weight.load;
}

}  // namespace vlag
