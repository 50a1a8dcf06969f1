// SPDX-License-Identifier: GPL-2.0-only
#include "spec/reference.h"

#include <algorithm>

namespace vlag::spec {
namespace {

constexpr std::int64_t initial_average = -(std::int64_t{1} << 20);
constexpr Nanos hrtick_least = 10'000;
constexpr std::uint64_t custom_slice_least = 100'000;
constexpr std::uint64_t custom_slice_most = 100'000'000;

/// Virtual time that `delta` ns of service are worth.
Integer virtual_time(const ReferenceTask& task, std::uint64_t delta) {
  return calc_delta_fair<Words>(Word::wrapped(delta), task.weight).bits();
}

// The order of picking. Virtual time has a true order here, because it does not wrap.
bool before(const ReferenceTask& left, const ReferenceTask& right) {
  return left.deadline < right.deadline;
}

}  // namespace

void Average::add(const Integer& weight, const Integer& vruntime) {
  sum_ += weight * vruntime;
  weight_ += weight;
}

Integer Average::floor() const {
  const Integer quotient = sum_ / weight_;  // Truncates.
  return sum_ < 0 && quotient * weight_ != sum_ ? Integer(quotient - 1) : quotient;
}

Reference::Reference(const Policy& policy) : policy_(policy) {}

// ---------------------------------------------------------------------- the queue as a set

Average Reference::queued() const {
  Average average;
  for (const Task* task : queue_) average.add(task->w(), task->vruntime);
  if (has_curr()) average.add(curr_->w(), curr_->vruntime);
  return average;
}

Rational Reference::average() const {
  return nr_running() == 0 ? Rational(empty_average_) : queued().value();
}

Integer Reference::floor_average() const {
  return nr_running() == 0 ? empty_average_ : queued().floor();
}

bool Reference::eligible(const Task& task) const { return task.vruntime <= average(); }

void Reference::remove_waiting(const Task& task) {
  queue_.erase(std::find(queue_.begin(), queue_.end(), &task));
}

std::vector<const ReferenceTask*> Reference::timeline() const {
  std::vector<const Task*> sorted(queue_.begin(), queue_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Task* left, const Task* right) { return before(*left, *right); });
  return sorted;
}

const ReferenceTask* Reference::find(int id) const {
  const auto at = tasks_.find(id);
  return at == tasks_.end() ? nullptr : &at->second;
}

// ------------------------------------------------------------------------------- the rules

// V - v, but no more than two requests or a tick can account for.
Integer Reference::lag_limit(const Task& task) const {
  const std::uint64_t most = std::max<std::uint64_t>(2 * task.slice, policy_.tunables.tick_nsec());
  return virtual_time(task, most);
}

Integer Reference::entity_lag(const Task& task) const {
  const Integer limit = lag_limit(task);
  const Integer lag = floor_average() - task.vruntime;
  return std::clamp<Integer>(lag, -limit, limit);
}

void Reference::update_curr() {
  if (curr_ == nullptr) return;
  const auto delta = static_cast<std::int64_t>(clock_ - curr_->exec_start);
  if (delta <= 0) return;
  const auto served = static_cast<std::uint64_t>(delta);
  curr_->exec_start = clock_;
  curr_->sum_exec_runtime += served;
  curr_->vruntime += virtual_time(*curr_, served);
  const bool request_done = update_deadline(*curr_);
  if (nr_running() == 1) return;
  const bool parity = policy_.rules.protection == Protection::request;
  if (request_done || (parity ? did_preempt_short() : !is_protected(*curr_))) {
    need_resched_ = true;
    clear_buddy(*curr_);
  }
}

// d = v + r/w once the request is served. Returns whether it was.
bool Reference::update_deadline(Task& task) {
  if (task.vruntime < task.deadline) return false;
  if (!task.custom_slice) task.slice = base_slice_;
  task.deadline = task.vruntime + virtual_time(task, task.slice);
  return true;
}

bool Reference::did_preempt_short() const {
  return feature(Feature::PREEMPT_SHORT) && !is_protected(*curr_) && !eligible(*curr_);
}

bool Reference::do_preempt_short(const Task& woken, const Task& curr) const {
  return feature(Feature::PREEMPT_SHORT) && woken.slice < curr.slice && eligible(woken) &&
         (before(woken, curr) || !eligible(curr));
}

// By how much before V: as said of LagInflation. With `left` = A, `joined` = B:
//   sqrt((A + w)/A (B + w)/B) l is the square root of the product of what either gives.
Integer Reference::placed_lag(const Task& task) const {
  const Integer joined = queued().weight();
  const Integer left = task.load_left != 0 ? task.load_left : joined;
  const auto inflated = [&](const Integer& load) -> Integer {
    return task.vlag * (load + task.w()) / load;
  };
  switch (policy_.rules.lag_inflation) {
    case LagInflation::none:
      return task.vlag;
    case LagInflation::capped:
      return inflated(std::max(left, joined));
    case LagInflation::geometric: {
      const Integer mean = sqrt(Integer(inflated(left) * inflated(joined)));
      return task.vlag < 0 ? Integer(-mean) : mean;
    }
    default:
      return inflated(joined);
  }
}

// Puts a task that is not on the queue where its lag, once it is, will be vlag again. Joining at
// v moves the average from V to V' = (W V + w v)/(W + w); V' - v = vlag gives
//   v = V - vlag (W + w)/W.
void Reference::place(Task& task, bool initial) {
  if (!task.custom_slice) task.slice = base_slice_;
  const Integer request = virtual_time(task, task.slice);
  Integer lag = 0;
  if (feature(Feature::PLACE_LAG) && nr_running() != 0) lag = placed_lag(task);
  task.vruntime = floor_average() - lag;

  if (feature(Feature::PLACE_REL_DEADLINE) && task.rel_deadline) {
    task.deadline += task.vruntime;
    task.rel_deadline = false;
    return;
  }
  if (policy_.rules.rel_deadline == RelDeadline::flag_cleared) task.rel_deadline = false;
  const bool half = feature(Feature::PLACE_DEADLINE_INITIAL) && initial;
  task.deadline = task.vruntime + (half ? Integer(request / 2) : request);
}

// A sleeper that the queue still holds wakes: its debt stays, but it has gained nothing.
void Reference::requeue_delayed(Task& task) {
  if (feature(Feature::DELAY_ZERO)) {
    task.vlag = entity_lag(task);
    if (task.vlag > 0) {
      remove_waiting(task);
      task.vlag = 0;
      place(task, false);
      queue_.push_back(&task);
    }
  }
  task.sched_delayed = false;
}

// The eligible one with the earliest deadline; of equals, who came first, and curr last.
ReferenceTask* Reference::pick_eevdf(bool protect) const {
  // A single one runs, whatever its lag.
  if (nr_running() == 1) return has_curr() ? curr_ : queue_.front();

  const Rational average_now = average();
  Task* const curr = has_curr() && curr_->vruntime <= average_now ? curr_ : nullptr;
  const bool counts =
      feature(Feature::RUN_TO_PARITY) || policy_.rules.protection != Protection::request;
  if (protect && counts && curr != nullptr && is_protected(*curr)) return curr;

  Task* best = nullptr;
  for (Task* task : queue_) {
    if (best != nullptr && !before(*task, *best)) continue;
    if (task->vruntime <= average_now) best = task;
  }
  return best == nullptr || (curr != nullptr && before(*curr, *best)) ? curr : best;
}

// Whether a woken task is the one to be picked. Of sleepers whose turn comes first: see WakeupPick.
bool Reference::wins(const Task& woken, bool protect) {
  Task* picked = pick_eevdf(protect);
  while (policy_.rules.wakeup_pick == WakeupPick::dequeues && picked != &woken &&
         picked->sched_delayed) {
    finish_delayed(*picked);
    picked = pick_eevdf(protect);
  }
  return picked == &woken;
}

// Who runs next, or nullptr. Sleepers whose turn comes have no debt left: they go.
ReferenceTask* Reference::pick_task() {
  while (nr_running() != 0) {
    if (has_curr()) update_curr();
    if (feature(Feature::PICK_BUDDY) && next_ != nullptr && eligible(*next_)) return next_;
    Task* picked = pick_eevdf();
    if (!picked->sched_delayed) return picked;
    finish_delayed(*picked);
  }
  return nullptr;
}

void Reference::clear_buddy(const Task& task) {
  if (next_ == &task) next_ = nullptr;
}

void Reference::set_next_buddy(Task& task) {
  if (!task.idle()) next_ = &task;
}

// --------------------------------------------------------------------- entering and leaving

void Reference::activate(Task& task, bool initial) {
  enqueue(task, initial);
  task.state = Task::State::queued;
}

void Reference::enqueue(Task& task, bool initial) {
  update_curr();
  place(task, initial);
  queue_.push_back(&task);
  task.on_rq = true;
  limit_protection();
  hrtick_update();
}

void Reference::leave(Task& task, bool sleeps, bool changes) {
  // Of the last one, V is its vruntime: that is what the empty queue remembers.
  empty_average_ = floor_average();
  const bool kept = changes && policy_.rules.change_lag == ChangeLag::kept;
  task.vlag = kept ? Integer(floor_average() - task.vruntime) : entity_lag(task);
  if (feature(Feature::PLACE_REL_DEADLINE) && !sleeps) {
    task.deadline -= task.vruntime;
    task.rel_deadline = true;
  }
  if (&task != curr_) remove_waiting(task);
  task.on_rq = false;
  task.load_left = queued().weight();
}

// For a migration or a change: not to sleep.
void Reference::dequeue(Task& task, bool changes) {
  update_curr();
  clear_buddy(task);
  leave(task, false, changes);
  hrtick_update();
}

// The running task sleeps; or, if it has run more than its share, competes on until it has not.
// Returns whether it left.
bool Reference::block(Task& task, bool special) {
  update_curr();
  clear_buddy(task);
  if (feature(Feature::DELAY_DEQUEUE) && !special && !eligible(task)) {
    task.sched_delayed = true;
    return false;
  }
  leave(task, true);
  hrtick_update();
  return true;
}

void Reference::finish_delayed(Task& task) {
  update_curr();
  clear_buddy(task);
  leave(task, true);
  task.sched_delayed = false;
  if (feature(Feature::DELAY_ZERO) && task.vlag > 0) task.vlag = 0;
  hrtick_update();
  task.state = Task::State::sleeping;
}

void Reference::put_prev(Task& task) {
  if (task.on_rq) {
    update_curr();
    queue_.push_back(&task);
  }
  curr_ = nullptr;
}

void Reference::set_next(Task& task) {
  clear_buddy(task);
  if (task.on_rq) {
    remove_waiting(task);
    task.vlag = protection_of(task);
  }
  task.exec_start = clock_;
  task.prev_sum_exec_runtime = task.sum_exec_runtime;
  curr_ = &task;
}

void Reference::wakeup_preempt(Task& task, bool fork) {
  if (running_ == nullptr) {  // Anyone is better than the idle task.
    need_resched_ = true;
    return;
  }
  if (running_ == &task) return;
  if (feature(Feature::NEXT_BUDDY) && !fork && !task.sched_delayed) set_next_buddy(task);
  if (need_resched_ || !feature(Feature::WAKEUP_PREEMPTION)) return;
  if (running_->idle() && !task.idle()) {
    cancel_protection(*running_);
    need_resched_ = true;
    return;
  }
  if (running_->idle() != task.idle() || task.policy != VLAG_NORMAL) return;
  update_curr();
  const bool shorter = feature(Feature::PREEMPT_SHORT) && task.slice < running_->slice;
  const bool if_picked = policy_.rules.short_preemption == ShortPreemption::if_picked;
  // The protection goes even if `task` is not the one to be picked.
  if (!if_picked && do_preempt_short(task, *running_)) cancel_protection(*running_);
  if (!wins(task, !(if_picked && shorter))) return;
  need_resched_ = true;
  if (if_picked && shorter) cancel_protection(*running_);
}

void Reference::hrtick_start(const Task& task) {
  if (nr_running() <= 1) return;
  Integer left = Integer(task.slice) + task.prev_sum_exec_runtime - task.sum_exec_runtime;
  if (policy_.rules.hrtick == Hrtick::until_deadline) {
    const Integer from = task.rel_deadline && !task.on_rq ? Integer(0) : task.vruntime;
    left = (task.deadline - from) * task.weight.load / nice_0_load;
  }
  if (left < 0) {
    if (&task == running_) need_resched_ = true;
    return;
  }
  hrtick_ = clock_ + std::max(left.convert_to<std::uint64_t>(), hrtick_least);
}

void Reference::hrtick_update() {
  if (feature(Feature::HRTICK) && running_ != nullptr) hrtick_start(*running_);
}

// ----------------------------------------------------------------------------- the callers

void Reference::apply(const Operation& operation) {
  switch (operation.code) {
    case VLAG_RESET:
      return reset(operation);
    case VLAG_FEATURES:
      return features_.assign(operation.extra, operation.arg);
    case VLAG_TUNABLE:
      base_slice_ = operation.arg;
      return;
    case VLAG_FORK:
      return fork(operation);
    case VLAG_BLOCK:
      return schedule_blocking((operation.flags & VLAG_SPECIAL) != 0);
    case VLAG_EXIT:
      return exit();
    case VLAG_TICK:
      clock_ += operation.arg;
      return tick();
    case VLAG_ADVANCE:
      clock_ += operation.arg;
      return;
    case VLAG_SCHEDULE:
      return schedule();
    case VLAG_YIELD:
      return yield();
    case VLAG_HRTICK:
      return hrtick();
    default:
      return apply_to(tasks_.at(operation.id), operation);
  }
}

void Reference::apply_to(Task& task, const Operation& operation) {
  switch (operation.code) {
    case VLAG_WAKE:
      return wake(task);
    case VLAG_DEQUEUE:
      return migrate_away(task);
    case VLAG_ENQUEUE:
      return migrate_back(task);
    case VLAG_NICE:
      return set_user_nice(task, operation.value);
    case VLAG_SLICE:
      return set_scheduler(task, task.policy, operation.arg);
    case VLAG_POLICY:  // sched_setscheduler(): keeps a custom slice.
      return set_scheduler(task, operation.flags, task.custom_slice ? task.slice : 0);
    case VLAG_YIELD_TO:
      set_next_buddy(task);
      return yield();
    default:
      return;
  }
}

void Reference::reset(const Operation& operation) {
  features_ = policy_.features;
  base_slice_ = policy_.tunables.base_slice;
  clock_ = operation.arg;
  hrtick_ = 0;
  need_resched_ = false;
  running_ = curr_ = next_ = nullptr;
  queue_.clear();
  tasks_.clear();
  empty_average_ =
      operation.value != 0 ? static_cast<std::int64_t>(operation.extra) : initial_average;
}

void Reference::fork(const Operation& operation) {
  Task& task = tasks_[operation.id];
  task.id = operation.id;
  task.nice = operation.value;
  task.policy = operation.flags;
  task.weight = task.idle() ? idle_weight() : nice_weight(task.nice);
  task.custom_slice = operation.arg != 0;
  task.slice = task.custom_slice ? operation.arg : base_slice_;
  activate(task, true);
  wakeup_preempt(task, true);
}

void Reference::wake(Task& task) {
  if (task.state != Task::State::queued) {
    activate(task, false);
  } else if (task.sched_delayed) {
    requeue_delayed(task);
  }
  if (&task != running_) wakeup_preempt(task, false);
}

void Reference::migrate_away(Task& task) {
  dequeue(task);
  task.state = Task::State::migrating;
}

void Reference::migrate_back(Task& task) {
  activate(task, false);
  wakeup_preempt(task, false);
}

void Reference::tick() {
  if (running_ != nullptr) update_curr();
}

void Reference::hrtick() {
  clock_ = std::max(clock_, hrtick_);
  hrtick_ = 0;
  update_curr();
  need_resched_ = true;
}

void Reference::schedule() {
  if (feature(Feature::HRTICK) || feature(Feature::HRTICK_DL)) hrtick_ = 0;
  switch_to(pick_task());
}

void Reference::schedule_blocking(bool special) {
  if (feature(Feature::HRTICK) || feature(Feature::HRTICK_DL)) hrtick_ = 0;
  if (block(*running_, special)) running_->state = Task::State::sleeping;
  switch_to(pick_task());
}

// Who goes on running is neither put nor set: its protection and its slice's start stay.
void Reference::switch_to(Task* next) {
  if (next != running_) {
    if (running_ != nullptr) put_prev(*running_);
    if (next != nullptr) {
      set_next(*next);
      if (feature(Feature::HRTICK)) hrtick_start(*next);
    }
  }
  need_resched_ = false;
  running_ = next;
}

void Reference::exit() {
  const int id = running_->id;
  schedule_blocking(true);
  tasks_.erase(id);
}

// Forfeits what is left of the request; who is not eligible has nothing to forfeit.
void Reference::yield() {
  if (nr_running() > 1) {
    clear_buddy(*running_);
    update_curr();
    if (eligible(*running_)) {
      running_->vruntime = running_->deadline;
      update_deadline(*running_);
    }
  }
  schedule();
}

// Whatever changes a task takes it off the queue for the time.
template <class Change>
void Reference::change(Task& task, const Change& apply_change) {
  const bool queued = task.state == Task::State::queued;
  if (queued) dequeue(task, true);
  if (&task == running_) put_prev(task);
  apply_change();
  if (!queued && policy_.rules.sleeper_lag == SleeperLag::limited) {
    const Integer limit = lag_limit(task);
    task.vlag = std::clamp<Integer>(task.vlag, -limit, limit);
  }
  if (queued) enqueue(task, false);
  if (&task == running_) set_next(task);
}

void Reference::set_user_nice(Task& task, int nice) {
  if (task.nice == nice) return;
  const int old_nice = task.nice;
  if (task.state == Task::State::queued && policy_.rules.reweight != ReweightQueued::off_queue) {
    task.nice = nice;
    reweight(task, task.idle() ? idle_weight() : nice_weight(nice));
  } else {
    change(task, [&] {
      task.nice = nice;
      set_weight(task);
    });
  }
  if (task.state != Task::State::queued || nr_running() == 1) return;
  if (task.sched_delayed && policy_.rules.delayed_renice == DelayedRenice::waits) return;
  if (&task != running_) {
    wakeup_preempt(task, false);
  } else if (nice > old_nice) {
    need_resched_ = true;
  }
}

void Reference::set_scheduler(Task& task, std::uint8_t policy, std::uint64_t runtime) {
  // Of SCHED_IDLE only the policy itself is taken: fair_policy() is normal or batch.
  const bool fair = policy != VLAG_IDLE;
  const bool default_again = policy_.rules.unchanged == Unchanged::recognized && runtime == 0 &&
                             !task.custom_slice && task.slice == base_slice_;
  if (policy == task.policy && (!fair || runtime == task.slice || default_again)) return;
  change(task, [&] {
    task.policy = policy;
    if (!fair) return set_weight(task);
    task.custom_slice = runtime != 0;
    task.slice = task.custom_slice ? std::clamp(runtime, custom_slice_least, custom_slice_most)
                                   : base_slice_;
    set_weight(task);
  });
}

// Requires: not on the queue. Keeps w (V - v).
void Reference::set_weight(Task& task) {
  const Weight weight = task.idle() ? idle_weight() : nice_weight(task.nice);
  task.vlag = task.vlag * task.weight.load / weight.load;
  if (task.rel_deadline && policy_.rules.reweight_request == ReweightRequest::service) {
    task.deadline = task.deadline * task.weight.load / weight.load;
  }
  task.weight = weight;
}

}  // namespace vlag::spec
