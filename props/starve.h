// SPDX-License-Identifier: GPL-2.0-only
// The search for starvation: a closed population, and a round of moves that keeps one runnable
// member off the CPU for as long as it is repeated.
//
//   1. Attempts. A random population and a random round, improved move by move. What is maximized
//   is
//      how far the victim is ahead of V after some rounds of short runs: if leaving and joining
//      gain more than running costs, that grows.
//      Every eighth attempt instead minimizes how fast the victim's lead shrinks: runs that pass V
//      can make up for what others cost.
//   2. A hold. Short runs while the victim is less than a threshold ahead, longer ones while it is
//      more: the gain pays for the longer ones. It must last for a thousand rounds and for several
//      times what the victim could wait if no one slept, without the lead shrinking. If the whole
//      state recurs, relative to the victim, it lasts for ever.
//   3. Shrinking: fewer members, fewer moves, plainer numbers.
//
// Nothing is known beforehand but the moves. All is counted in operations, and the i-th attempt
// depends on the seed and on i alone, so the result is the same whatever the number of jobs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "props/search.h"
#include "props/starve_player.h"

namespace vlag::props {

/// Units of running, longest first.
inline constexpr std::array<Nanos, 10> run_lengths = {1'000'000, 500'000, 200'000, 100'000, 50'000,
                                                      20'000,    10'000,  5'000,   2'000,   1'000};

/// Long runs while the victim is more than `threshold` ahead of V, short ones else.
struct Pace {
  Nanos brief = 0;
  Nanos longer = 0;
  std::int64_t threshold = 0;

  Nanos unit(std::int64_t excess) const { return excess > threshold ? longer : brief; }
};

/// How a scenario held.
struct Hold {
  Pace pace;
  std::uint64_t rounds = 0;  // that were played
  Nanos time = 0;            // that they took
  std::int64_t least = 0;    // The victim's least lead in the last quarter of them.
  /// The state at the ends of two rounds was the same: it goes on for ever.
  std::optional<std::uint64_t> recurs_from;
  std::optional<std::uint64_t> recurs_at;
};

/// The lead grew by short runs, from `low` to `high` in so many rounds.
struct Growth {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::uint64_t rounds = 0;

  /// By which it is multiplied in each round.
  double gain() const;
};

/// With each run made longer or shorter by up to half, at random.
struct Jitter {
  Nanos longer = 0;          // The unit of the longer runs at which it was tried
  std::uint64_t rounds = 0;  // The fewest that it lasted, of several tries
  std::uint64_t most = 0;    // that were asked for
};

struct Starvation {
  Scenario scenario;
  Hold hold;
  Growth growth;
  Jitter jitter;
  bool default_slices = false;          // Suffice
  std::uint64_t attempt = 0;            // that found it
  std::uint64_t shrink_operations = 0;  // that shrinking took
};

struct StarveOptions {
  std::uint64_t seed = 1;
  std::uint64_t budget = 0;  // operations
  int tasks = 5;             // at most, with the victim
  unsigned jobs = 1;
  bool default_slices = false;   // no other
  std::vector<Move::Kind> also;  // than wake and sleep; back comes with away
};

struct StarveReport {
  std::uint64_t operations = 0;
  std::uint64_t attempts = 0;
  std::optional<Starvation> found;
};

/// Searches until one is found or the budget is used up.
StarveReport find_starvation(const Policy& policy, const StarveOptions& options,
                             const Meter& meter);

/// Whether, and how, a scenario keeps the victim off the CPU. `operations` is added to.
std::optional<Hold> hold_of(const Policy& policy, const Scenario& scenario,
                            std::uint64_t& operations);

/// A smaller scenario that holds.
Scenario shrunk_scenario(const Policy& policy, Scenario scenario, std::uint64_t& operations);

/// Growth, jitter and slices of a scenario that holds.
Starvation measured(const Policy& policy, const Scenario& scenario, const Hold& hold);

/// What was played, as a sequence.
struct Recording {
  spec::Sequence sequence;
  std::size_t start = 0;  // Operations until the victim waits.
  Nanos time = 0;         // that the rest takes
};

/// The start, and the rounds of the hold.
Recording recording_of(const Policy& policy, const Scenario& scenario, const Hold& hold);

}  // namespace vlag::props
