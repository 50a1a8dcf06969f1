// SPDX-License-Identifier: GPL-2.0-only
// The operations that are measured, on a queue of n tasks of mixed weights.
#pragma once

#include <array>

#include "core/cpu.h"

namespace vlag::bench {

class Workload {
 public:
  explicit Workload(int tasks) : cpu_(eevdf_6_12(), tasks), tasks_(tasks) {
    constexpr std::array<int, 4> nices = {0, 0, 5, -5};
    for (int id = 0; id < tasks; ++id) {
      cpu_.fork(id, nices[static_cast<std::size_t>(id) % nices.size()], SchedPolicy::normal, 0);
    }
    cpu_.schedule();
  }

  /// The two decisions of a tick: it charges the current task and perhaps ends its request; and
  /// who would run next is chosen. Nobody is switched to.
  const Entity* tick_and_pick() {
    cpu_.tick(1'000'000);
    return cpu_.queue().pick_next_entity();
  }

  /// A tick that ends a request, the pick, and the switch to another task.
  void tick_and_switch() {
    cpu_.tick(1'000'000);
    cpu_.schedule();
  }

  /// The current task sleeps, another runs, and it is woken: placed, and checked for preemption.
  void block_and_wake() {
    const int id = cpu_.current()->se.id;
    cpu_.advance(100'000);
    cpu_.block(false);
    cpu_.advance(100'000);
    cpu_.wake(id);
    if (cpu_.need_resched()) cpu_.schedule();
  }

  /// A waiting task migrates away and back.
  void dequeue_and_enqueue() {
    next_ = (next_ + 1) % tasks_;
    if (cpu_.current() == &cpu_.task(next_)) next_ = (next_ + 1) % tasks_;
    cpu_.dequeue(next_);
    cpu_.enqueue(next_);
  }

 private:
  Cpu cpu_;
  int tasks_;
  int next_ = 0;
};

}  // namespace vlag::bench
