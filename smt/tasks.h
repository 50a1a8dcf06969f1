// SPDX-License-Identifier: GPL-2.0-only
// A few tasks on one queue, on symbols: the steps of core/runqueue.cpp that move vruntimes, made of
// the same rules. Weights, and who is queued, are known; requests and run lengths are symbols, so
// that all is linear.
#pragma once

#include <string>
#include <vector>

#include "core/average.h"
#include "core/weight.h"
#include "smt/scene.h"

namespace vlag::smt {

/// TICK_NSEC at HZ 250.
inline constexpr std::int64_t tick_nsec = 4'000'000;

struct SymbolicTask {
  Weight weight;
  Number slice;
  Point vruntime;
  Point deadline;
  Number vlag;
  bool queued = true;
};

class Tasks {
 public:
  explicit Tasks(Scene& scene) : scene_(scene) {}

  std::size_t count() const { return list_.size(); }
  const SymbolicTask& operator[](std::size_t i) const { return list_[i]; }
  const Sums<Symbols>& sums() const { return sums_; }
  bool nobody_queued() const;

  /// A task that is forked while all others are at V, with half a request.
  void fork(const Weight& weight, const Number& slice);
  /// A task in any state: queued at `vruntime` with `deadline`, or away with a saved lag.
  void add(const SymbolicTask& task);

  /// Takes a task off the queue. Returns the limit of its lag.
  Number leave(std::size_t i);
  /// Places a task at V less its lag.
  void join(std::size_t i);

  /// What pick ensures of one that it picks (pick_is_the_first_eligible): it is eligible, and no
  /// other that is has an earlier deadline.
  Truth is_eligible(std::size_t i) const { return eligible(sums_, list_[i].vruntime); }
  Truth is_first(std::size_t i) const;

  /// The task runs for `service` ns, if it `runs`.
  void run(std::size_t i, const Truth& runs, const Number& service);

  /// w (V - v) W <= limit * W in both directions, in ns * 1024, without a division.
  Truth lag_is_within(std::size_t i, const Exact& limit) const;

  static Number weight_of(const SymbolicTask& task) { return {task.weight.down().value}; }

 private:
  Point average() const;

  Scene& scene_;
  Sums<Symbols> sums_{Point(), Number(0), Number(0)};
  std::vector<SymbolicTask> list_;
};

}  // namespace vlag::smt
