// SPDX-License-Identifier: GPL-2.0-only
// A closed population on the model: one victim that never sleeps, and sleepers that take turns.
//
// What they do is a round of moves, played over and over. A move that cannot be made where it
// stands is left out (a wakeup of one that is awake, the last sleeper's sleep), so any list of
// moves is a round. The player does what hardware would: a tick every tick_nsec, and a reschedule
// as soon as one is requested. It ends where the victim is picked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cpu.h"
#include "props/random.h"
#include "spec/sequence.h"

namespace vlag::props {

struct Move {
  enum class Kind : std::uint8_t {
    wake,   // of `task`
    sleep,  // of the current one, after it ran for `share` units
    run,    // of the current one, for `share` units
    yield,  // of the current one
    nice,   // `task` gets the nice level `value`
    away,   // `task` migrates away: it may leave with a negative lag
    back,   // and back
  };
  Kind kind = Kind::sleep;
  int task = 0;             // 1 ..; 0 is the victim, whom no one touches
  int value = 0;            // a nice level
  std::uint32_t share = 1;  // of the unit of running

  friend bool operator==(const Move&, const Move&) = default;
};

struct Member {
  int nice = 0;
  Nanos slice = 0;  // 0: the default request

  friend bool operator==(const Member&, const Member&) = default;
};

/// The victim is forked first and runs until the tick that ends its first request; then the rounds
/// begin.
struct Scenario {
  std::vector<Member> members;  // by id; the victim is 0
  Nanos first_tick = 0;         // after the start, 1 .. tick_nsec
  std::vector<Move> round;

  friend bool operator==(const Scenario&, const Scenario&) = default;
};

inline constexpr int victim = 0;

class Player {
 public:
  /// `record`: where operations are written, or nullptr. Requires: they outlive the player.
  Player(const Policy& policy, const Scenario& scenario, spec::Sequence* record);

  /// Forks everyone. Returns false if the victim does not come to wait.
  bool start();
  /// One round with that unit of running; `jitter`: each run is made longer or shorter by up to
  /// half, at random. Returns false if the victim was picked.
  bool play(Nanos unit, Random* jitter = nullptr);

  const Cpu& cpu() const { return cpu_; }
  std::uint64_t operations() const { return operations_; }
  /// How far the victim is ahead of V: v - V. While this is positive it is not eligible.
  std::int64_t excess() const;
  /// All that decides what comes next, relative to the victim and to now.
  void append_state(std::vector<std::int64_t>& out) const;

 private:
  bool waits() const { return cpu_.current() == nullptr || cpu_.current()->se.id != victim; }
  void note(const spec::Operation& operation);
  void set_stage();
  void schedule();
  void schedule_if_needed();
  bool timer_due(Nanos until) const;
  void expire_hrtick();
  bool pass(Nanos delta);
  bool play(const Move& move, Nanos unit, Random* jitter);
  bool wake(int id);
  bool sleep();
  bool yield();
  bool renice(int id, int nice);
  bool away(int id);
  bool back(int id);
  Nanos length(const Move& move, Nanos unit, Random* jitter) const;

  const Policy& policy_;
  const Scenario& scenario_;
  spec::Sequence* record_;
  Cpu cpu_;
  Nanos next_tick_ = 0;
  std::uint64_t operations_ = 0;
};

/// The longest that the victim could wait if no one slept (theorem T3):
/// (W / w - 1) (2 r + o) + max(r_k + o) + sum(o), with o = a tick.
Nanos longest_fixed_wait(const Policy& policy, const Scenario& scenario);

}  // namespace vlag::props
