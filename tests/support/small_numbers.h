// SPDX-License-Identifier: GPL-2.0-only
// Queues and CPUs with numbers small enough to check by hand: virtual time starts at 0, and unless
// a test says otherwise all weigh as nice 0 (1024), where virtual time is time.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "core/cpu.h"
#include "core/policy.h"
#include "core/runqueue.h"
#include "tests/support/print.h"

namespace vlag::tests {

inline constexpr Nanos us = 1'000;
inline constexpr Nanos ms = 1'000'000;
inline constexpr Nanos base_slice = 700 * us;

/// A point before 0, as the unsigned number that it is.
constexpr VTime vtime(std::int64_t value) { return VTime(static_cast<std::uint64_t>(value)); }

/// A signed view of a point near 0.
constexpr std::int64_t near_zero(VTime point) { return (point - VTime(0)).value; }

/// Debian's features, some turned on and some off.
inline Features debians_features(std::initializer_list<Feature> on,
                                 std::initializer_list<Feature> off) {
  Features all = eevdf_6_12().features;
  for (const Feature feature : on) all.set(feature, true);
  for (const Feature feature : off) all.set(feature, false);
  return all;
}

/// A queue into which entities are put at chosen points.
struct SmallQueue {
  Rules rules;
  CpuState cpu{.clock = 0,
               .need_resched = false,
               .features = eevdf_6_12().features,
               .tunables = eevdf_6_12().tunables};
  Runqueue queue{rules, cpu};

  SmallQueue() { queue.set_zero_vruntime(VTime(0)); }

  /// Requires: !entity.on_rq; an empty queue takes its zero_vruntime from the first.
  void put(Entity& entity, std::int64_t vruntime, std::int64_t deadline) {
    if (queue.nr_running() == 0) queue.set_zero_vruntime(vtime(vruntime));
    const Features kept = cpu.features;
    cpu.features.set(Feature::PLACE_LAG, true);
    cpu.features.set(Feature::PLACE_REL_DEADLINE, true);
    rules.lag_inflation = LagInflation::none;  // v = V - vlag, and so vlag = V - v.
    entity.vlag = queue.average() - vtime(vruntime);
    entity.deadline = vtime(deadline - vruntime);
    entity.rel_deadline = true;
    queue.enqueue_entity(entity, EnqueueFlags{});
    rules.lag_inflation = LagInflation::as_linux;
    cpu.features = kept;
  }

  /// The current entity runs for so long and is charged.
  void run(Nanos delta) {
    cpu.clock += delta;
    queue.update_curr();
  }
};

/// An entity with a request of its own.
inline Entity entity(int id, std::int64_t slice_ns = 10, int nice = 0) {
  Entity made;
  made.id = id;
  made.slice = slice_ns;
  made.custom_slice = true;
  made.weight = nice_weight(nice);
  return made;
}

/// A CPU for eight tasks. A forked task's first request is a whole one, not half of one.
class SmallCpu : public Cpu {
 public:
  explicit SmallCpu(std::initializer_list<Feature> on = {}, std::initializer_list<Feature> off = {},
                    Rules rules = {})
      : Cpu(policy(on, off, rules), 8) {
    set_zero_vruntime(VTime(0));
  }

  void fork(int id, Nanos slice = 0, int nice = 0) {
    Cpu::fork(id, nice, SchedPolicy::normal, slice);
  }
  void fork(int id, SchedPolicy policy, Nanos slice = 0) { Cpu::fork(id, 0, policy, slice); }

  const Entity& se(int id) const { return task(id).se; }
  std::int64_t v(int id) const { return near_zero(se(id).vruntime); }
  std::int64_t d(int id) const { return near_zero(se(id).deadline); }
  /// Who runs; -1 if no one.
  int running() const { return current() == nullptr ? -1 : current()->se.id; }
  std::int64_t average() const { return near_zero(queue().average()); }

 private:
  static Policy policy(std::initializer_list<Feature> on, std::initializer_list<Feature> off,
                       const Rules& rules) {
    Policy made = eevdf_6_12();
    made.features = debians_features(on, off);
    made.features.set(Feature::PLACE_DEADLINE_INITIAL, false);
    made.rules = rules;
    return made;
  }
};

/// 0 and 1 forked at virtual time 0 with a request each; 0, the first, runs.
inline void start_two(SmallCpu& cpu) {
  cpu.fork(0);
  cpu.fork(1);
  cpu.schedule();
}

}  // namespace vlag::tests
