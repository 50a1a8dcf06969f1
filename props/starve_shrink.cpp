// SPDX-License-Identifier: GPL-2.0-only
// Smaller scenarios, and what is measured of one.
#include <algorithm>
#include <cstdlib>

#include "props/starve.h"

namespace vlag::props {
namespace {

constexpr Nanos brief = run_lengths.back();

using Holds = std::function<bool(const Scenario&)>;

Scenario without_member(const Scenario& scenario, int gone) {
  Scenario less = scenario;
  less.members.erase(less.members.begin() + gone);
  std::erase_if(less.round, [&](const Move& move) {
    return move.task == gone && move.kind != Move::Kind::sleep && move.kind != Move::Kind::run;
  });
  for (Move& move : less.round) move.task -= move.task > gone ? 1 : 0;
  return less;
}

// The first of the candidates that holds takes the place of `scenario`.
bool take_first(Scenario& scenario, const std::vector<Scenario>& candidates, const Holds& holds) {
  for (const Scenario& candidate : candidates) {
    if (candidate == scenario || candidate.round.empty() || !holds(candidate)) continue;
    scenario = candidate;
    return true;
  }
  return false;
}

std::vector<Scenario> fewer(const Scenario& scenario) {
  std::vector<Scenario> list;
  for (std::size_t i = 1; scenario.members.size() > 2 && i < scenario.members.size(); ++i) {
    list.push_back(without_member(scenario, static_cast<int>(i)));
  }
  for (std::size_t length = 4; length > 0; --length) {
    for (std::size_t i = 0; i + length <= scenario.round.size(); ++i) {
      Scenario less = scenario;
      const auto at = less.round.begin() + static_cast<std::ptrdiff_t>(i);
      less.round.erase(at, at + static_cast<std::ptrdiff_t>(length));
      list.push_back(less);
    }
  }
  // A wakeup and a sleep that are not neighbours.
  for (std::size_t i = 0; i < scenario.round.size(); ++i) {
    for (std::size_t j = i + 2; j < scenario.round.size(); ++j) {
      Scenario less = scenario;
      less.round.erase(less.round.begin() + static_cast<std::ptrdiff_t>(j));
      less.round.erase(less.round.begin() + static_cast<std::ptrdiff_t>(i));
      list.push_back(less);
    }
  }
  return list;
}

// Requests by default, equal shares, nice levels nearer to 0, a plainer start.
std::vector<Scenario> plainer(const Scenario& scenario, const Policy& policy) {
  std::vector<Scenario> list;
  const auto with = [&](const auto& change) {
    Scenario other = scenario;
    change(other);
    list.push_back(other);
  };
  with([](Scenario& other) {
    for (Member& member : other.members) member.slice = 0;
  });
  with([](Scenario& other) {
    for (Move& move : other.round) move.share = 1;
  });
  for (std::size_t i = 0; i < scenario.members.size(); ++i) {
    if (scenario.members[i].slice != 0) with([&](Scenario& other) { other.members[i].slice = 0; });
    const int nice = scenario.members[i].nice;
    for (const int nearer : {0, nice / 2, nice - (nice > 0 ? 1 : -1)}) {
      if (std::abs(nearer) < std::abs(nice)) {
        with([&](Scenario& other) { other.members[i].nice = nearer; });
      }
    }
  }
  for (std::size_t i = 0; i < scenario.round.size(); ++i) {
    if (scenario.round[i].share != 1) with([&](Scenario& other) { other.round[i].share = 1; });
  }
  const Nanos tick = policy.tunables.tick_nsec();
  if (scenario.first_tick != tick) with([&](Scenario& other) { other.first_tick = tick; });
  return list;
}

// Jittered runs, seeds 1 ..: the fewest rounds that any of them lasted.
std::uint64_t jittered(const Policy& policy, const Scenario& scenario, const Pace& pace,
                       std::uint64_t rounds) {
  std::uint64_t fewest = rounds;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Random random(seed);
    Player player(policy, scenario, nullptr);
    std::uint64_t lasted = 0;
    bool alive = player.start();
    while (alive && lasted < fewest) {
      alive = player.play(pace.unit(player.excess()), &random);
      lasted += alive ? 1 : 0;
    }
    fewest = std::min(fewest, lasted);
  }
  return fewest;
}

// Of the paces with as long or shorter runs, the first that lasts for `rounds`; or the one that
// lasts longest.
Jitter jitter_of(const Policy& policy, const Scenario& scenario, const Pace& pace,
                 std::uint64_t rounds) {
  Jitter best{pace.longer, 0, rounds};
  for (const Nanos longer : run_lengths) {
    if (longer > pace.longer) continue;
    const Pace gentler{pace.brief, longer, pace.threshold};
    const std::uint64_t lasted = jittered(policy, scenario, gentler, rounds);
    if (lasted > best.rounds) best = {longer, lasted, rounds};
    if (lasted == rounds) break;
  }
  return best;
}

// How the lead grows by brief runs after longer ones have brought it below `low`.
Growth growth_from(const Policy& policy, const Scenario& scenario, Nanos drain, std::int64_t low,
                   std::int64_t high) {
  constexpr std::uint64_t most_rounds = 400;
  Player player(policy, scenario, nullptr);
  bool alive = player.start();
  for (std::uint64_t i = 0; alive && player.excess() > low && i < most_rounds; ++i) {
    alive = player.play(drain);
  }
  Growth growth{player.excess(), player.excess(), 0};
  if (!alive || growth.low > low || growth.low <= 0) return {};
  while (alive && growth.high < high && growth.rounds < most_rounds) {
    alive = player.play(brief);
    growth.high = player.excess();
    ++growth.rounds;
  }
  return alive ? growth : Growth{};
}

// The best that is seen, from an eighth of the threshold up to it.
Growth growth_of(const Policy& policy, const Scenario& scenario, std::int64_t threshold) {
  Growth best;
  for (const std::int64_t part : {8, 4, 2}) {
    for (const Nanos drain : run_lengths) {
      const Growth growth = growth_from(policy, scenario, drain, threshold / part, threshold);
      if (growth.gain() > best.gain()) best = growth;
    }
  }
  return best;
}

}  // namespace

// The root by bisection: the same digits everywhere.
double Growth::gain() const {
  if (rounds == 0 || low <= 0) return 1;
  const double whole = static_cast<double>(high) / static_cast<double>(low);
  double least = 1;
  double most = std::max(whole, 1.0);
  for (int i = 0; i < 60; ++i) {
    const double middle = (least + most) / 2;
    double power = 1;
    for (std::uint64_t n = 0; n < rounds && power <= whole; ++n) power *= middle;
    (power > whole ? most : least) = middle;
  }
  return least;
}

Scenario shrunk_scenario(const Policy& policy, Scenario scenario, std::uint64_t& operations) {
  constexpr std::uint64_t most = 200'000'000;
  std::uint64_t used = 0;
  const Holds holds = [&](const Scenario& candidate) {
    return used < most && hold_of(policy, candidate, used).has_value();
  };
  while (take_first(scenario, fewer(scenario), holds) ||
         take_first(scenario, plainer(scenario, policy), holds)) {
  }
  operations += used;
  return scenario;
}

Starvation measured(const Policy& policy, const Scenario& scenario, const Hold& hold) {
  constexpr std::uint64_t jitter_rounds = 10'000;
  Starvation found;
  found.scenario = scenario;
  found.hold = hold;
  found.growth = growth_of(policy, scenario, std::max(hold.pace.threshold, hold.least));
  found.jitter = jitter_of(policy, scenario, hold.pace, jitter_rounds);
  found.default_slices = std::all_of(scenario.members.begin(), scenario.members.end(),
                                     [](const Member& member) { return member.slice == 0; });
  return found;
}

Recording recording_of(const Policy& policy, const Scenario& scenario, const Hold& hold) {
  Recording recording;
  spec::Sequence& sequence = recording.sequence;
  Player player(policy, scenario, &sequence);
  bool alive = player.start();
  recording.start = sequence.size();
  const Nanos began = player.cpu().clock();
  for (std::uint64_t i = 0; alive && i < hold.rounds; ++i) {
    // Room for one more round, with its ticks.
    if (sequence.size() + 16 * scenario.round.size() > VLAG_MAX_OPERATIONS) break;
    alive = player.play(hold.pace.unit(player.excess()));
  }
  recording.time = player.cpu().clock() - began;
  return recording;
}

}  // namespace vlag::props
