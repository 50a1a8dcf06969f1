// SPDX-License-Identifier: GPL-2.0-only
// The definition, executed: Linux 6.12.117's fair class on one CPU as its comments define it, in
// exact arithmetic and without any of the data structures that make it quick.
//
//   V = sum(w_i v_i) / sum(w_i)    over everyone on the queue, as a rational number
//   eligible: v_i <= V             pick: the eligible with the earliest deadline
//
// Virtual times are unbounded integers, so nothing wraps and nothing overflows; the queue is a list
// in order of arrival; every sum is computed afresh where it is needed. Integers appear only where
// the kernel's definition has them: floor(V) where it places or takes a lag, truncation where it
// inflates or rescales a lag or halves a request, and calc_delta_fair()'s table.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/policy.h"
#include "core/weight.h"
#include "spec/observation.h"

namespace vlag::spec {

using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;

/// V of a set: add its members, then read.
class Average {
 public:
  void add(const Integer& weight, const Integer& vruntime);
  const Integer& weight() const { return weight_; }
  /// Requires: the weights that were added are positive, and there was at least one.
  Rational value() const { return Rational(sum_, weight_); }
  /// The largest integer that is not above value(): so that an entity placed there is eligible.
  Integer floor() const;

 private:
  Integer sum_ = 0;
  Integer weight_ = 0;
};

/// A task as the definition sees it. Names are those of struct sched_entity.
struct ReferenceTask {
  enum class State : std::uint8_t { sleeping, queued, migrating };

  int id = 0;
  Integer vruntime = 0;
  Integer deadline = 0;   // Relative to vruntime while rel_deadline.
  Integer vlag = 0;       // While running: the deadline it was picked with, or one more.
  Integer load_left = 0;  // The weight of the others when it last left.
  std::uint64_t slice = 0;
  Weight weight;
  Nanos exec_start = 0;
  Nanos sum_exec_runtime = 0;
  Nanos prev_sum_exec_runtime = 0;
  bool on_rq = false;
  bool sched_delayed = false;
  bool rel_deadline = false;
  bool custom_slice = false;
  State state = State::sleeping;
  int nice = 0;
  std::uint8_t policy = VLAG_NORMAL;

  bool idle() const { return policy == VLAG_IDLE; }
  Integer w() const { return weight.down().value; }
};

class Reference {
 public:
  /// Takes the features and tunables of `policy`. Its rules are ignored, as this is the definition,
  /// but for those that spec/divergences.h has two values of and that show in what is decided, and
  /// for how a queued entity is reweighted, and for the proposal lag_inflation. Faults of a rule
  /// are judged by what is right of it.
  explicit Reference(const Policy& policy);

  /// Requires: `operation` is legal (spec/legal.h); the first one is VLAG_RESET.
  void apply(const Operation& operation);

  /// The first field in which `seen` is not what the definition says (left: what it says; right:
  /// what was seen). Not compared: how the timeline is balanced and what its nodes cache, and
  /// zero_vruntime with the sum that goes with it, of which only V has a meaning.
  std::optional<Difference> differs(const Observation& seen) const;

  /// V. Of an empty queue: where the last one left it.
  Rational average() const;

  /// The task with that id, or nullptr.
  const ReferenceTask* find(int id) const;
  /// The running task, or nullptr.
  const ReferenceTask* current() const { return running_; }
  bool need_resched() const { return need_resched_; }
  /// Who waits, by deadline; among equals, by arrival.
  std::vector<const ReferenceTask*> timeline() const;

 private:
  using Task = ReferenceTask;

  bool feature(Feature which) const { return features_.has(which); }
  void apply_to(Task& task, const Operation& operation);

  // The queue as a set.
  bool has_curr() const { return curr_ != nullptr && curr_->on_rq; }
  std::size_t nr_running() const { return queue_.size() + (has_curr() ? 1 : 0); }
  Average queued() const;
  Integer floor_average() const;
  bool eligible(const Task& task) const;
  void remove_waiting(const Task& task);

  // The rules.
  Integer lag_limit(const Task& task) const;
  Integer entity_lag(const Task& task) const;
  Integer placed_lag(const Task& task) const;
  void update_curr();
  bool update_deadline(Task& task);
  bool did_preempt_short() const;
  bool is_protected(const Task& task) const;
  void cancel_protection(Task& task) const;
  Integer protection_of(const Task& picked) const;
  void limit_protection();
  void reweight(Task& task, const Weight& weight);
  bool do_preempt_short(const Task& woken, const Task& curr) const;
  void place(Task& task, bool initial);
  void requeue_delayed(Task& task);
  Task* pick_eevdf(bool protect = true) const;
  bool wins(const Task& woken, bool protect);
  Task* pick_task();
  void clear_buddy(const Task& task);
  void set_next_buddy(Task& task);

  // Entering and leaving.
  void activate(Task& task, bool initial);
  void enqueue(Task& task, bool initial);
  void leave(Task& task, bool sleeps, bool changes = false);
  void dequeue(Task& task, bool changes = false);
  bool block(Task& task, bool special);
  void finish_delayed(Task& task);
  void put_prev(Task& task);
  void set_next(Task& task);
  void wakeup_preempt(Task& task, bool fork);
  void hrtick_start(const Task& task);
  void hrtick_update();

  // The callers.
  void reset(const Operation& operation);
  void fork(const Operation& operation);
  void wake(Task& task);
  void migrate_away(Task& task);
  void migrate_back(Task& task);
  void tick();
  void hrtick();
  void schedule();
  void schedule_blocking(bool special);
  void switch_to(Task* next);
  void exit();
  void yield();
  void set_user_nice(Task& task, int nice);
  void set_scheduler(Task& task, std::uint8_t policy, std::uint64_t runtime);
  void set_weight(Task& task);
  template <class Change>
  void change(Task& task, const Change& apply_change);

  // What differs() compares.
  std::optional<Difference> head_differs(const Head& seen) const;
  std::optional<Difference> queue_differs(const QueueState& seen) const;
  std::optional<Difference> timeline_differs(const Observation& seen) const;
  std::optional<Difference> task_differs(const Task& task, const EntityState& seen) const;
  std::uint32_t flags(const Task& task) const;

  Policy policy_;
  Features features_;
  std::uint64_t base_slice_ = 0;
  Nanos clock_ = 0;
  Nanos hrtick_ = 0;  // Expiry; 0: not armed.
  bool need_resched_ = false;
  std::map<int, Task> tasks_;
  std::vector<Task*> queue_;  // Who waits, in order of arrival.
  Task* running_ = nullptr;   // rq->curr; nullptr: the idle task.
  Task* curr_ = nullptr;      // cfs_rq->curr: another than running_ only inside an operation.
  Task* next_ = nullptr;
  Integer empty_average_ = 0;
};

}  // namespace vlag::spec
