// SPDX-License-Identifier: GPL-2.0-only
// One CPU: its tasks, its clock, and the callers of the fair class.
//
// What happens in which order when a task is forked, woken, blocked, reniced ... is decided by
// kernel/sched/core.c and syscalls.c; each method here is one of those paths, for one CPU without
// groups, in the order of Linux 6.12.117. A reschedule request takes effect at the next schedule().
#pragma once

#include <cstdint>
#include <vector>

#include "core/entity.h"
#include "core/policy.h"
#include "core/runqueue.h"

namespace vlag {

class Cpu {
 public:
  /// A CPU that can hold `tasks` tasks, ids 0 .. tasks - 1, none of them alive.
  Cpu(const Policy& policy, int tasks);
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  // --- What is there.
  Nanos clock() const { return state_.clock; }
  bool need_resched() const { return state_.need_resched; }
  const Features& features() const { return state_.features; }
  const Tunables& tunables() const { return state_.tunables; }
  const Runqueue& queue() const { return queue_; }
  /// The running task; nullptr while idle.
  const Task* current() const { return current_; }
  int tasks() const { return static_cast<int>(tasks_.size()); }
  const Task& task(int id) const { return tasks_[static_cast<std::size_t>(id)]; }
  /// When the high-resolution tick expires; 0 if it is not armed (HRTICK).
  Nanos hrtick() const { return hrtick_; }
  /// Tasks by how the class counts them: h_nr_delayed, idle_h_nr_running.
  std::uint32_t delayed_tasks() const { return delayed_tasks_; }
  std::uint32_t idle_tasks() const { return idle_tasks_; }
  /// A pick that found no one eligible: the kernel would dereference NULL here.
  bool pick_failed() const { return pick_failed_; }
  /// A placement that the kernel warns of.
  bool placed_on_nothing() const { return queue_.placed_on_nothing(); }

  // --- What the administrator sets.
  void set_clock(Nanos clock) { state_.clock = clock; }
  void set_zero_vruntime(VTime start) { queue_.set_zero_vruntime(start); }
  void set_features(Features features) { state_.features = features; }
  /// A write to sched/features of each bit of `mask`.
  void write_features(std::uint64_t mask, std::uint64_t values) {
    state_.features = written_features(state_.features, mask, values, rules_);
  }
  void set_base_slice(Nanos base_slice) { state_.tunables.base_slice = base_slice; }

  // --- Time.
  void advance(Nanos delta) { state_.clock += delta; }
  /// scheduler_tick() after `delta`.
  void tick(Nanos delta);
  /// The high-resolution tick expires now. Requires: armed, not idle.
  void expire_hrtick();

  // --- What tasks do. `id` is in range; the state required is said with each.
  /// wake_up_new_task(). Requires: dead. slice == 0: the default request.
  void fork(int id, int nice, SchedPolicy policy, Nanos slice);
  /// try_to_wake_up(). Requires: sleeping or queued.
  void wake(int id);
  /// The current task sleeps, and __schedule(). Requires: not idle.
  void block(bool special);
  /// The current task exits, and __schedule(). Requires: not idle.
  void exit();
  /// Migration away: deactivate_task(). Requires: queued and not current.
  void dequeue(int id);
  /// Migration back: activate_task(), wakeup_preempt(). Requires: migrating.
  void enqueue(int id);
  /// __schedule() with the current task runnable.
  void schedule();
  /// set_user_nice(). Requires: alive and not migrating.
  void set_nice(int id, int nice);
  /// sched_setattr(2) with sched_runtime = slice (0: the default), all else as it was. Does nothing
  /// if that is the slice already, or if the task is SCHED_IDLE.
  /// Requires: alive and not migrating.
  void set_slice(int id, Nanos slice);
  /// sched_setscheduler(2). Requires: alive and not migrating.
  void set_policy(int id, SchedPolicy policy);
  /// sched_yield(2). Requires: not idle.
  void yield();
  /// yield_to(). Requires: not idle; `id` is queued, not delayed, not current.
  void yield_to(int id);

 private:
  Task& at(int id) { return tasks_[static_cast<std::size_t>(id)]; }
  bool has(Feature feature) const { return state_.features.has(feature); }
  void enqueue_task(Task& task, EnqueueFlags flags);
  bool dequeue_task(Task& task, DequeueFlags flags);
  void requeue_delayed(Task& task);
  void switch_task();
  Task* pick_next_task();
  void complete_delayed(Task& task);
  bool preempts(const Task& woken);
  void wakeup_preempt(Task& task, bool fork);
  void check_preempt_wakeup(Task& task, bool fork);
  bool is_request_of(const Task& task, Nanos sched_runtime) const;
  void set_attributes(Task& task, SchedPolicy policy, Nanos sched_runtime);
  template <class Change>
  void change_task(Task& task, DequeueFlags flags, Change change);
  void count_delayed(bool more);
  void set_load_weight(Task& task);
  void hrtick_start();
  void hrtick_clear();
  void hrtick_update();

  Rules rules_;
  CpuState state_;
  Runqueue queue_;
  std::vector<Task> tasks_;
  Task* current_ = nullptr;
  Nanos hrtick_ = 0;
  std::uint32_t delayed_tasks_ = 0;
  std::uint32_t idle_tasks_ = 0;
  bool pick_failed_ = false;
};

}  // namespace vlag
