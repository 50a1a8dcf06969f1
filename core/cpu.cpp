// SPDX-License-Identifier: GPL-2.0-only
#include "core/cpu.h"

#include <algorithm>

#include "core/deadline.h"
#include "core/slice.h"

namespace vlag {
namespace {

constexpr Nanos hrtick_shortest = 10'000;  // hrtick_start(): shorter makes no sense.

Task& task_of(Entity& entity, std::vector<Task>& tasks) {
  return tasks[static_cast<std::size_t>(entity.id)];
}

Weight weight_for(const Task& task) {
  return task.policy == SchedPolicy::idle ? idle_weight() : nice_weight(task.nice);
}

}  // namespace

Cpu::Cpu(const Policy& policy, int tasks)
    : rules_(policy.rules), queue_(rules_, state_), tasks_(static_cast<std::size_t>(tasks)) {
  state_.features = policy.features;
  state_.tunables = policy.tunables;
  for (int id = 0; id < tasks; ++id) at(id).se.id = id;
}

// --- The class methods: entity steps plus what is counted per task.

void Cpu::count_delayed(bool more) {
  if (rules_.delayed_count == DelayedCount::as_runnable) return;
  delayed_tasks_ += more ? 1U : ~0U;
}

void Cpu::enqueue_task(Task& task, EnqueueFlags flags) {
  queue_.enqueue_entity(task.se, flags);
  if (task.se.sched_delayed) count_delayed(true);
  idle_tasks_ += task.se.idle ? 1 : 0;
  hrtick_update();
}

bool Cpu::dequeue_task(Task& task, DequeueFlags flags) {
  const bool was_delayed = task.se.sched_delayed;
  if (!queue_.dequeue_entity(task.se, flags)) {
    count_delayed(true);
    return false;
  }
  if (was_delayed) count_delayed(false);
  const bool again = rules_.delayed_count == DelayedCount::twice && !flags.delayed;
  if (was_delayed && again) count_delayed(false);
  idle_tasks_ -= task.se.idle ? 1 : 0;
  hrtick_update();
  return true;
}

void Cpu::requeue_delayed(Task& task) {
  queue_.requeue_delayed_entity(task.se);
  count_delayed(false);
}

void Cpu::hrtick_start() {
  if (queue_.nr_running() <= 1) return;
  const Entity& se = current_->se;
  const Word left = rules_.hrtick == Hrtick::slice_left
                        ? se.slice - Word::wrapped(se.sum_exec_runtime - se.prev_sum_exec_runtime)
                        : service_until<Words>(se.vruntime, se.deadline, se.weight);
  if (left < 0) {
    state_.need_resched = true;
    return;
  }
  hrtick_ = state_.clock + std::max(left.bits(), hrtick_shortest);
}

void Cpu::hrtick_clear() {
  if (has(Feature::HRTICK) || has(Feature::HRTICK_DL)) hrtick_ = 0;
}

void Cpu::hrtick_update() {
  if (has(Feature::HRTICK) && current_ != nullptr) hrtick_start();
}

// --- Choosing who runs.

// pick_task_fair(): a delayed entity that is picked leaves for good, and the pick starts again.
Task* Cpu::pick_next_task() {
  while (queue_.nr_running() > 0) {
    if (queue_.curr() != nullptr && queue_.curr()->on_rq) queue_.update_curr();
    Entity* picked = queue_.pick_next_entity();
    if (picked == nullptr) {
      pick_failed_ = true;
      return nullptr;
    }
    Task& task = task_of(*picked, tasks_);
    if (!picked->sched_delayed) return &task;
    complete_delayed(task);
  }
  return nullptr;
}

void Cpu::complete_delayed(Task& task) {
  dequeue_task(task, DequeueFlags{.sleep = true, .special = false, .delayed = true});
  task.state = TaskState::sleeping;
}

bool Cpu::preempts(const Task& woken) {
  bool wins = queue_.wakeup_preempts(woken.se);
  while (!wins && rules_.wakeup_pick == WakeupPick::dequeues) {
    Entity* picked = queue_.pick_eevdf();
    if (picked == nullptr || !picked->sched_delayed) return false;
    complete_delayed(task_of(*picked, tasks_));
    wins = queue_.wakeup_preempts(woken.se);
  }
  return wins;
}

void Cpu::schedule() {
  hrtick_clear();
  switch_task();
}

void Cpu::switch_task() {
  Task* prev = current_;
  Task* next = pick_next_task();
  if (prev != next) {
    if (prev != nullptr) queue_.put_prev_entity(prev->se);
    if (next != nullptr) queue_.set_next_entity(next->se);
  }
  current_ = next;
  if (prev != next && next != nullptr && has(Feature::HRTICK)) hrtick_start();
  state_.need_resched = false;
}

void Cpu::wakeup_preempt(Task& task, bool fork) {
  if (current_ == nullptr) {
    state_.need_resched = true;
  } else {
    check_preempt_wakeup(task, fork);
  }
}

// check_preempt_wakeup_fair()
void Cpu::check_preempt_wakeup(Task& task, bool fork) {
  if (current_ == &task) return;
  const bool may_be_buddy =
      !task.se.sched_delayed || rules_.delayed_buddy == DelayedBuddy::accepted;
  if (has(Feature::NEXT_BUDDY) && !fork && may_be_buddy) queue_.set_next_buddy(task.se);
  if (state_.need_resched || !has(Feature::WAKEUP_PREEMPTION)) return;
  if (current_->se.idle && !task.se.idle) {
    if (rules_.idle_protection == IdleProtection::cancelled) {
      queue_.cancel_protect_slice(current_->se);
    }
    state_.need_resched = true;
    return;
  }
  // Batch and idle tasks do not preempt others.
  if (current_->se.idle != task.se.idle || task.policy != SchedPolicy::normal) return;
  queue_.update_curr();
  const bool forced = rules_.buddy_preemption == BuddyPreemption::forced &&
                      queue_.next() == &task.se && !queue_.eligible(current_->se);
  if (forced || preempts(task)) state_.need_resched = true;
}

// --- Time.

void Cpu::tick(Nanos delta) {
  advance(delta);
  if (current_ != nullptr) queue_.update_curr();
}

void Cpu::expire_hrtick() {
  state_.clock = std::max(state_.clock, hrtick_);
  hrtick_ = 0;
  queue_.update_curr();
  state_.need_resched = true;
}

// --- What tasks do.

void Cpu::fork(int id, int nice, SchedPolicy policy, Nanos slice) {
  Task& task = at(id);
  task = Task{};
  task.se.id = id;
  task.nice = nice;
  task.policy = policy;
  task.se.idle = policy == SchedPolicy::idle;
  task.se.weight = weight_for(task);
  task.se.custom_slice = slice != 0;
  task.se.slice = Word::wrapped(slice != 0 ? slice : state_.tunables.base_slice);
  // The second of two placements is not the initial one.
  enqueue_task(task, EnqueueFlags{.initial = rules_.fork_placement == ForkPlacement::once});
  task.state = TaskState::queued;
  wakeup_preempt(task, true);
}

void Cpu::wake(int id) {
  Task& task = at(id);
  if (task.state == TaskState::queued) {  // ttwu_runnable()
    if (task.se.sched_delayed) requeue_delayed(task);
  } else {
    enqueue_task(task, EnqueueFlags{});
    task.state = TaskState::queued;
  }
  wakeup_preempt(task, false);
}

void Cpu::block(bool special) {
  hrtick_clear();
  const DequeueFlags flags{.sleep = true, .special = special, .delayed = false};
  if (dequeue_task(*current_, flags)) current_->state = TaskState::sleeping;
  switch_task();
}

void Cpu::exit() {
  Task& task = *current_;
  block(true);
  task.state = TaskState::dead;
}

void Cpu::dequeue(int id) {
  Task& task = at(id);
  task.state = TaskState::migrating;
  dequeue_task(task, DequeueFlags{});
}

// ENQUEUE_MIGRATED is 0 where there is one CPU, so exec_start is not reset.
void Cpu::enqueue(int id) {
  Task& task = at(id);
  enqueue_task(task, EnqueueFlags{});
  task.state = TaskState::queued;
  wakeup_preempt(task, false);
}

void Cpu::set_load_weight(Task& task) { queue_.reweight_entity(task.se, weight_for(task)); }

// The kernel's pattern around every change of a task: off the queue, change, and back on.
template <class Change>
void Cpu::change_task(Task& task, DequeueFlags flags, Change change) {
  const bool queued = task.state == TaskState::queued;
  const bool running = current_ == &task;
  const Weight old = task.se.weight;
  if (queued) dequeue_task(task, flags);
  if (running) queue_.put_prev_entity(task.se);
  change();
  task.se.idle = task.policy == SchedPolicy::idle;
  set_load_weight(task);
  if (!queued) queue_.limit_saved_lag(task.se);
  if (queued) enqueue_task(task, EnqueueFlags{});
  if (running) queue_.set_next_entity(task.se);
  queue_.after_reweight(task.se, old);
}

void Cpu::set_nice(int id, int nice) {
  Task& task = at(id);
  if (task.nice == nice && rules_.unchanged != Unchanged::never) return;
  const bool lowered = nice > task.nice;
  if (task.state == TaskState::queued && rules_.reweight != ReweightQueued::off_queue) {
    task.nice = nice;
    queue_.reweight_queued(task.se, weight_for(task));
  } else {
    change_task(task, DequeueFlags{.save = true, .change = true}, [&] { task.nice = nice; });
  }
  // prio_changed_fair()
  if (task.state != TaskState::queued || queue_.nr_running() == 1) return;
  if (task.se.sched_delayed && rules_.delayed_renice == DelayedRenice::waits) return;
  if (current_ == &task) {
    state_.need_resched |= lowered;
  } else {
    wakeup_preempt(task, false);
  }
}

// Asking for 0 is asking for the default request, but is compared as if it were a length.
bool Cpu::is_request_of(const Task& task, Nanos sched_runtime) const {
  if (rules_.unchanged == Unchanged::never) return false;
  const bool default_again = sched_runtime == 0 && !task.se.custom_slice &&
                             task.se.slice.bits() == state_.tunables.base_slice;
  if (rules_.unchanged == Unchanged::recognized && default_again) return true;
  return sched_runtime == task.se.slice.bits();
}

// __sched_setscheduler() between the policies of the class, nice unchanged. What fair_policy()
// calls fair is normal and batch: for SCHED_IDLE a request length is neither compared nor taken.
void Cpu::set_attributes(Task& task, SchedPolicy policy, Nanos sched_runtime) {
  const bool fair = policy != SchedPolicy::idle;
  if (task.policy == policy && (!fair || is_request_of(task, sched_runtime))) return;
  const Word request = Word::wrapped(sched_runtime);
  change_task(task, DequeueFlags{.change = true}, [&] {
    task.policy = policy;
    if (!fair) return;
    task.se.custom_slice = sched_runtime != 0;
    if (sched_runtime == 0) {
      task.se.slice = Word::wrapped(state_.tunables.base_slice);
    } else {
      task.se.slice =
          rules_.slice_clamp == SliceClamp::clamped ? clamp_slice<Words>(request) : request;
    }
  });
}

void Cpu::set_slice(int id, Nanos slice) { set_attributes(at(id), at(id).policy, slice); }

// The legacy call passes a custom request on, and none for a default one.
void Cpu::set_policy(int id, SchedPolicy policy) {
  Task& task = at(id);
  set_attributes(task, policy, task.se.custom_slice ? task.se.slice.bits() : 0);
}

void Cpu::yield() {
  if (queue_.nr_running() != 1) queue_.yield_entity();
  schedule();
}

void Cpu::yield_to(int id) {
  queue_.set_next_buddy(at(id).se);
  yield();
}

}  // namespace vlag
