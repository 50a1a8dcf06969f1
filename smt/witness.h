// SPDX-License-Identifier: GPL-2.0-only
// From a counterexample of a solver to a sequence that shows it: the numbers of the model become
// requests, run lengths and steps, and the tasks of the goal become tasks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/cpu.h"
#include "core/weight.h"
#include "spec/sequence.h"

namespace vlag::smt {

/// The values that refute a goal.
class Model {
 public:
  /// From "a = 3, b = -7/4", as in reports; what is not of that form is left out.
  explicit Model(std::string_view text, const Weight* weight = nullptr);

  bool has(std::string_view name) const { return values_.contains(name); }
  /// Rounded down, and into [low, high]; `low` if the model says nothing: then any value does.
  std::int64_t value(std::string_view name, std::int64_t low, std::int64_t high) const;
  /// The nice level whose weight the goal was refuted for; 0 if it is for none, or SCHED_IDLE.
  int nice() const { return nice_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
  int nice_ = 0;
};

/// Writes a sequence while it runs on the model of 6.12.117, so that every step is legal.
class Recorder {
 public:
  explicit Recorder(int tasks);

  const Cpu& cpu() const { return cpu_; }
  const spec::Sequence& sequence() const { return sequence_; }

  void features(std::span<const FeatureToggle> toggles);
  void base_slice(std::uint64_t ns);
  void fork(int id, int nice, std::uint64_t slice);
  void slice(int id, std::uint64_t ns);
  void schedule();
  void advance(std::uint64_t ns);
  void tick(std::uint64_t ns);
  void block();
  void wake(int id);
  /// By sleeping, if the task runs, without delay; else by migrating away. Does nothing if it is
  /// not queued.
  void leave(int id);
  /// The way it left. Does nothing if it did not.
  void join(int id);

 private:
  Cpu cpu_;
  spec::Sequence sequence_;
};

/// One of two tasks runs for so long that the other's key, v - v_0, passes -`key`: it runs twice as
/// far, since V is in the middle. Then the other should be picked.
spec::Sequence run_ahead(int nice, std::int64_t key);

}  // namespace vlag::smt
