// SPDX-License-Identifier: GPL-2.0-only
#include "props/starve.h"

#include <algorithm>
#include <array>

namespace vlag::props {
namespace {

constexpr Nanos us = 1'000;
constexpr Nanos brief = 1 * us;

// ------------------------------------------------------------------------- what holds

// What a thousand rounds must last for, in times of the wait if no one slept.
constexpr std::uint64_t least_rounds = 1'000;
constexpr std::uint64_t times_the_wait = 10;
// No attempt to hold plays more than this.
constexpr std::uint64_t most_operations = 2'000'000;

// Whether a state comes back. Only one earlier state is kept, that of the last power of two
// (Brent's algorithm): a cycle is met once its length is no greater than the round's number.
class Recurrence {
 public:
  /// The earlier round whose end this is the same as, if any.
  std::optional<std::uint64_t> seen(const Player& player, std::uint64_t round) {
    state_.clear();
    player.append_state(state_);
    if (state_ == kept_) return kept_round_;
    if (round >= 2 * kept_round_) {
      kept_ = state_;
      kept_round_ = round;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::int64_t> state_;
  std::vector<std::int64_t> kept_;
  std::uint64_t kept_round_ = 0;
};

// The leads, by quarters of what was played.
class Leads {
 public:
  void add(std::int64_t lead) { leads_.push_back(lead); }
  std::int64_t least(std::size_t quarter) const {
    return *std::min_element(at(quarter), at(quarter + 1));
  }
  /// Whether they became less, by more than a fiftieth, which is what a threshold leaves to swing:
  /// from `quarter` to the last.
  bool shrink_from(std::size_t quarter) const {
    const std::int64_t then = least(quarter);
    return least(3) < then - std::abs(then) / 50;
  }
  std::int64_t greatest(std::size_t quarter) const {
    return *std::max_element(at(quarter), at(quarter + 1));
  }

 private:
  std::vector<std::int64_t>::const_iterator at(std::size_t quarter) const {
    return leads_.begin() + static_cast<std::ptrdiff_t>(leads_.size() * quarter / 4);
  }

  std::vector<std::int64_t> leads_;
};

std::optional<Hold> held_at(const Policy& policy, const Scenario& scenario, const Pace& pace,
                            std::uint64_t& operations) {
  Player player(policy, scenario, nullptr);
  Recurrence recurrence;
  Leads leads;
  Hold hold;
  hold.pace = pace;
  const Nanos long_enough = times_the_wait * longest_fixed_wait(policy, scenario);
  bool alive = player.start();
  const Nanos began = player.cpu().clock();
  const auto lasted = [&] {
    return hold.rounds >= least_rounds && (hold.recurs_at || hold.time >= long_enough);
  };
  while (alive && !lasted() && player.operations() < most_operations) {
    const Nanos before = player.cpu().clock();
    alive = player.play(pace.unit(player.excess())) && player.cpu().clock() > before;
    leads.add(player.excess());
    hold.time = player.cpu().clock() - began;
    if (!hold.recurs_at) {
      hold.recurs_from = recurrence.seen(player, hold.rounds);
      if (hold.recurs_from) hold.recurs_at = hold.rounds;
    }
    ++hold.rounds;
    // Looked at now and then, so that what shrinks is not played to its end.
    const bool look = hold.rounds >= 512 && (hold.rounds & (hold.rounds - 1)) == 0;
    if (look && leads.shrink_from(2)) break;
  }
  operations += player.operations();
  if (!alive || !lasted() || hold.time == 0) return std::nullopt;
  hold.least = leads.least(3);
  return hold.recurs_at || !leads.shrink_from(1) ? std::optional(hold) : std::nullopt;
}

// The greatest lead that short runs lead to; 0 if they lead to the victim's turn.
std::int64_t greatest_lead(const Policy& policy, const Scenario& scenario,
                           std::uint64_t& operations) {
  constexpr int rounds = 800;
  Player player(policy, scenario, nullptr);
  Leads leads;
  bool alive = player.start();
  for (int i = 0; alive && i < rounds; ++i) {
    alive = player.play(brief);
    leads.add(player.excess());
  }
  operations += player.operations();
  return alive && leads.greatest(3) >= leads.greatest(1) / 20 * 19 ? leads.greatest(3) : 0;
}

// ------------------------------------------------------------------------ attempts

// Tried from a clean start: after so many rounds, how far is the victim ahead?
constexpr int settling_rounds = 10;
constexpr int trial_rounds = 60;
constexpr std::int64_t survived = 1'000'000;

// a / b in thousandths, at most `survived`. Requires: a > 0, b > 0.
std::int64_t thousandths(std::int64_t a, std::int64_t b) {
  return std::min(a / b * 1'000 + a % b * 1'000 / b, survived);
}

// How many rounds it survived; and if all, by what the lead grew, in thousandths. Near 0 a lead
// says nothing: then it is compared with an eighth of the first.
std::int64_t score_of(const Policy& policy, const Scenario& scenario, Nanos unit,
                      std::uint64_t& operations) {
  Player player(policy, scenario, nullptr);
  std::int64_t score = 0;
  bool alive = player.start();
  std::int64_t settled = std::max<std::int64_t>(player.excess() / 8, 1);
  while (alive && score < trial_rounds) {
    const Nanos began = player.cpu().clock();
    alive = player.play(unit) && player.cpu().clock() > began;
    score += alive ? 1 : 0;
    if (score == settling_rounds) settled = std::max(player.excess(), settled);
  }
  operations += player.operations();
  if (score < trial_rounds) return score;
  // A victim that is not ahead and was not picked all the same is the best find of all.
  if (player.excess() <= 0) return survived * 3;
  return survived + thousandths(player.excess(), settled);
}

bool grows(std::int64_t score) { return score > survived + 1'050; }

// How fast the lead of the victim shrinks, in millionths of how fast it would if no one left or
// joined: V moves forward by 1/W of the time. What was not even survived is worse than all else.
constexpr std::int64_t whole_drift = 1'000'000;
constexpr std::int64_t undone = 1'000 * whole_drift;
constexpr Nanos least_round = 20 * us;  // Shorter ones are left to the other attempts.

std::int64_t drift_of(const Policy& policy, const Scenario& scenario, std::uint64_t& operations) {
  __extension__ using Wide = __int128;
  constexpr int settled_rounds = 300;
  constexpr int rounds = 900;
  Player player(policy, scenario, nullptr);
  bool alive = player.start();
  Nanos began = 0;
  std::int64_t lead = 0;
  int round = 0;
  for (; alive && round < rounds; ++round) {
    const Nanos before = player.cpu().clock();
    alive = player.play(brief) && player.cpu().clock() > before;
    if (round != settled_rounds) continue;
    began = player.cpu().clock();
    lead = player.excess();
  }
  operations += player.operations();
  if (!alive) return undone + rounds - round;
  const Nanos time = player.cpu().clock() - began;
  if (time < least_round * (rounds - settled_rounds)) return undone;
  Wide weight = 0;
  for (const Member& member : scenario.members) weight += nice_weight(member.nice).down().value;
  const Wide lost = Wide{lead - player.excess()} * weight * whole_drift;
  return static_cast<std::int64_t>(lost / 1024 / static_cast<Wide>(time));
}

class Attempt {
 public:
  Attempt(const Policy& policy, const StarveOptions& options, std::uint64_t index)
      : policy_(policy),
        options_(options),
        index_(index),
        random_(derive_seed(options.seed, index)) {}

  std::uint64_t operations() const { return operations_; }

  /// Most attempts look for a lead that grows. Every eighth, once those had their chance, looks for
  /// one that does not shrink, which takes long: runs that pass V pay for those that do not.
  std::optional<Scenario> run() {
    draw();
    return index_ >= 256 && index_ % 8 == 0 ? steadiest() : greatest();
  }

 private:
  std::optional<Scenario> greatest() {
    std::int64_t score = score_of(policy_, scenario_, unit_, operations_);
    for (int i = 0; i < changes_; ++i) {
      Scenario changed = scenario_;
      change(changed);
      const std::int64_t its = score_of(policy_, changed, unit_, operations_);
      if (its < score) continue;
      const bool better = its > score;
      scenario_ = std::move(changed);
      score = its;
      if (better && grows(score) && hold_of(policy_, scenario_, operations_)) return scenario_;
    }
    return std::nullopt;
  }

  // Takes what is worse by no more than what is allowed, which becomes less and less.
  std::optional<Scenario> steadiest() {
    constexpr std::int64_t allowed_at_first = whole_drift / 50;
    constexpr int changes = 15'000;
    int holds_left = 100;  // to be tried: most of what seems steady is only slow to settle
    // Each run has a length of its own, in units of 1 us.
    for (Move& move : scenario_.round) move.share = draw_length();
    std::int64_t drift = drift_of(policy_, scenario_, operations_);
    for (int i = 0; i < changes; ++i) {
      Scenario changed = scenario_;
      for (int n = random_.between(1, 3); n > 0; --n) adjust(changed);
      const std::int64_t its = drift_of(policy_, changed, operations_);
      if (its > drift + (drift < undone ? allowed_at_first * (changes - i) / changes : 0)) continue;
      scenario_ = std::move(changed);
      drift = std::max<std::int64_t>(its, 0);
      if (drift > whole_drift / 1000 || holds_left == 0) continue;
      --holds_left;
      if (hold_of(policy_, scenario_, operations_)) return scenario_;
    }
    return std::nullopt;
  }

  std::uint32_t draw_length() {
    constexpr std::array<std::uint32_t, 12> lengths = {1,  1,  1,   2,   5,   10,
                                                       20, 50, 100, 150, 200, 300};
    return random_.pick(std::span<const std::uint32_t>(lengths));
  }

  // A change of one number, or any other.
  void adjust(Scenario& scenario) {
    Move& move = scenario.round[random_.below(scenario.round.size())];
    switch (random_.below(4)) {
      case 0:
        move.share =
            std::max(1U, move.share * static_cast<std::uint32_t>(50 + random_.below(101)) / 100);
        return;
      case 1: {
        Member& member = scenario.members[random_.below(scenario.members.size())];
        member.nice = std::clamp(member.nice + random_.between(-3, 3), -15, 15);
        return;
      }
      case 2:
        change(scenario);
        return;
      default:
        move = draw_move();
        move.share = draw_length();
        return;
    }
  }

  static constexpr int changes_ = 60;
  static constexpr std::size_t longest_round = 16;

  int sleepers() const { return static_cast<int>(scenario_.members.size()) - 1; }

  void draw() {
    const int count = random_.between(std::min(3, options_.tasks - 1), options_.tasks - 1);
    for (int i = 0; i <= count; ++i) scenario_.members.push_back(draw_member());
    scenario_.first_tick = (1 + random_.below(policy_.tunables.tick_nsec() / us)) * us;
    const int moves = random_.between(4, 14);
    for (int i = 0; i < moves; ++i) scenario_.round.push_back(draw_move());
    constexpr std::array<Nanos, 6> units = {1, 1, 1, 1, 10, 100};
    unit_ = random_.pick(std::span<const Nanos>(units)) * us;
  }

  Member draw_member() {
    constexpr std::array<Nanos, 8> slices = {0, 0, 0, 100, 300, 1'000, 10'000, 100'000};
    Member member;
    member.nice = random_.one_in(3) ? 0 : random_.between(-10, 10);
    if (!options_.default_slices) member.slice = random_.pick(std::span<const Nanos>(slices)) * us;
    return member;
  }

  Move draw_move() {
    constexpr std::array<std::uint32_t, 6> shares = {1, 1, 1, 1, 10, 100};
    Move move;
    move.kind = random_.one_in(2) ? Move::Kind::wake : Move::Kind::sleep;
    if (!options_.also.empty() && random_.one_in(4)) {
      move.kind = random_.pick(std::span<const Move::Kind>(options_.also));
      if (move.kind == Move::Kind::away && random_.one_in(2)) move.kind = Move::Kind::back;
    }
    move.task = random_.between(1, sleepers());
    if (move.kind == Move::Kind::nice) move.value = random_.between(-15, 15);
    move.share = random_.pick(std::span<const std::uint32_t>(shares));
    return move;
  }

  void change(Scenario& scenario) {
    auto& round = scenario.round;
    const auto any = [&] {
      return round.begin() + static_cast<std::ptrdiff_t>(random_.below(round.size()));
    };
    switch (random_.below(6)) {
      case 0:
        if (round.size() < longest_round) round.insert(any(), draw_move());
        return;
      case 1:
        if (round.size() > 2) round.erase(any());
        return;
      case 2:
        *any() = draw_move();
        return;
      case 3:
        std::swap(*any(), *any());
        return;
      case 4:
        std::rotate(round.begin(), any(), round.end());
        return;
      default:
        scenario.members[random_.below(scenario.members.size())] = draw_member();
        return;
    }
  }

  const Policy& policy_;
  const StarveOptions& options_;
  std::uint64_t index_;
  Random random_;
  Scenario scenario_;
  Nanos unit_ = brief;
  std::uint64_t operations_ = 0;
};

}  // namespace

std::optional<Hold> hold_of(const Policy& policy, const Scenario& scenario,
                            std::uint64_t& operations) {
  const std::int64_t greatest = greatest_lead(policy, scenario, operations);
  if (greatest == 0) return held_at(policy, scenario, Pace{brief, brief, 0}, operations);
  for (const Nanos longer : run_lengths) {
    for (const int percent : {0, 75, 50, 25}) {
      const Pace pace{brief, longer, greatest / 100 * percent};
      if (auto hold = held_at(policy, scenario, pace, operations)) return hold;
    }
  }
  return std::nullopt;
}

StarveReport find_starvation(const Policy& policy, const StarveOptions& options,
                             const Meter& meter) {
  StarveReport report;
  // A fixed number of attempts in flight, so that the jobs do not decide where the search ends.
  constexpr unsigned in_flight = 16;
  struct Slot {
    std::optional<Scenario> scenario;
    std::uint64_t operations = 0;
  };
  while (report.operations < options.budget) {
    std::vector<Slot> slots(in_flight);
    const unsigned jobs = std::clamp(options.jobs, 1U, in_flight);
    in_parallel(jobs, [&](unsigned worker) {
      for (unsigned i = worker; i < in_flight; i += jobs) {
        Attempt attempt(policy, options, report.attempts + i);
        slots[i].scenario = attempt.run();
        slots[i].operations = attempt.operations();
      }
    });
    for (const Slot& slot : slots) {
      ++report.attempts;
      report.operations += slot.operations;
      if (!slot.scenario) continue;
      std::uint64_t shrinking = 0;
      const Scenario small = shrunk_scenario(policy, *slot.scenario, shrinking);
      report.found = measured(policy, small, *hold_of(policy, small, shrinking));
      report.found->attempt = report.attempts;
      report.found->shrink_operations = shrinking;
      return report;
    }
    meter(std::min(report.operations, options.budget), options.budget);
  }
  return report;
}

}  // namespace vlag::props
