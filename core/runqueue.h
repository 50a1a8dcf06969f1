// SPDX-License-Identifier: GPL-2.0-only
// One fair queue (struct cfs_rq): the sums, the timeline, the current entity, and the steps that
// the class makes on them. Method names are those of kernel/sched/fair.c in 6.12.117, and each
// makes its changes in the kernel's order, which decides roundings and ties.
//
// The current entity is on_rq and counts in nr_running, load and V, but is in neither the timeline
// nor the sums.
#pragma once

#include <cstdint>

#include "core/average.h"
#include "core/entity.h"
#include "core/policy.h"
#include "core/timeline.h"

namespace vlag {

/// What the queues of one CPU share (struct rq).
struct CpuState {
  Nanos clock = 0;            // rq_clock_task()
  bool need_resched = false;  // TIF_NEED_RESCHED of the current task
  Features features;
  Tunables tunables;
};

inline constexpr std::uint64_t initial_zero_vruntime = 0 - (std::uint64_t{1} << 20);

struct EnqueueFlags {
  bool initial = false;  // ENQUEUE_INITIAL
};

struct DequeueFlags {
  bool sleep = false;    // DEQUEUE_SLEEP
  bool special = false;  // DEQUEUE_SPECIAL
  bool delayed = false;  // DEQUEUE_DELAYED: complete a delayed dequeue
  bool save = false;     // DEQUEUE_SAVE without DEQUEUE_MOVE: it will be back in a moment
  bool change = false;   // it comes back in the same step, changed
};

class Runqueue {
 public:
  Runqueue(const Rules& rules, CpuState& cpu);

  Entity* curr() const { return curr_; }
  Entity* next() const { return next_; }
  const Timeline& timeline() const { return timeline_; }
  const Sums<Words>& sums() const { return sums_; }
  std::uint64_t load() const { return load_; }
  std::uint32_t nr_running() const { return nr_running_; }

  /// Where virtual time starts. Requires: the queue is empty.
  void set_zero_vruntime(VTime start) { sums_.zero_vruntime = start; }

  /// V, floored, without moving zero_vruntime.
  VTime average() const;
  bool eligible(const Entity& entity) const;
  /// Someone was placed among others whose weight is 0: the kernel warns.
  bool placed_on_nothing() const { return placed_on_nothing_; }

  /// Charges the current entity for the time since it was last charged; may request a reschedule.
  /// Ensures: deadline_after_vruntime for the current entity.
  void update_curr();

  /// Requires: !entity.on_rq. Ensures: placement_keeps_lag (PLACE_LAG), sums_match.
  void enqueue_entity(Entity& entity, EnqueueFlags flags);

  /// Returns false if the entity stays queued as sched_delayed (it blocked while not eligible).
  /// Requires: entity.on_rq. Ensures: lag_limited if it left.
  bool dequeue_entity(Entity& entity, DequeueFlags flags);

  /// Ends the delay of an entity that was woken. Requires: sched_delayed.
  void requeue_delayed_entity(Entity& entity);

  /// Chooses who runs, without changing anything: the earliest eligible deadline, unless the
  /// current request is protected. Returns nullptr only if nobody is eligible (a fault).
  /// Without `protect` no request is protected. Requires: nr_running() > 0.
  Entity* pick_eevdf(bool protect = true) const;

  /// As pick_eevdf(), but an eligible buddy goes first (PICK_BUDDY).
  Entity* pick_next_entity() const;

  void set_next_entity(Entity& entity);
  void put_prev_entity(Entity& entity);

  /// The current entity gives way. Requires: it is current and not alone.
  void yield_entity();

  void set_next_buddy(Entity& entity);

  /// Whether the woken entity, which is queued, preempts the current one. Where its request is
  /// shorter protection does not count, and is cancelled (PREEMPT_SHORT).
  bool wakeup_preempts(const Entity& woken);
  void check_preempt_short(const Entity& woken);
  void cancel_protect_slice(Entity& entity) const;

  /// Changes the weight of an entity that is off the queue: w * vlag is kept.
  /// Requires: !entity.on_rq.
  void reweight_entity(Entity& entity, const Weight& weight) const;

  /// The request of an entity that is off the queue was changed: SleeperLag::limited.
  void limit_saved_lag(Entity& entity) const;
  /// Changes the weight of an entity that is queued and stays so (ReweightQueued).
  void reweight_queued(Entity& entity, const Weight& weight);

  /// The wrong turn that the other values of ReweightSums take; nothing under the kernel's rule.
  void after_reweight(const Entity& entity, const Weight& old);

 private:
  bool has(Feature feature) const { return cpu_.features.has(feature); }
  Sums<Words> total() const;
  Word average_key() const;
  void update_min_vruntime();
  VTime avg_vruntime();
  Word limit_of(const Entity& entity) const;
  void update_entity_lag(Entity& entity, bool limited = true);
  bool update_deadline(Entity& entity);
  Word charged(Word delta, const Weight& weight) const;
  bool did_preempt_short(const Entity& entity) const;
  bool run_ends(const Entity& entity, bool used_up) const;
  void place_entity(Entity& entity, bool initial);
  void timeline_add(Entity& entity);
  void timeline_remove(Entity& entity);
  void clear_buddies(const Entity& entity);
  bool is_protected(const Entity& entity) const;
  Word shortest_slice() const;
  void set_protection(Entity& entity) const;
  void limit_protection();
  void reweight_kept(Entity& entity, const Weight& weight);
  void reweight_around(Entity& entity, const Weight& weight);
  void reweight_placed(Entity& entity, const Weight& weight);
  void set_weight(Entity& entity, const Weight& weight);

  const Rules& rules_;
  CpuState& cpu_;
  Timeline timeline_;
  Sums<Words> sums_;  // Over the timeline.
  Entity* curr_ = nullptr;
  Entity* next_ = nullptr;
  std::uint64_t load_ = 0;  // cfs_rq->load.weight, scaled
  std::uint32_t nr_running_ = 0;
  bool placed_on_nothing_ = false;
};

}  // namespace vlag
