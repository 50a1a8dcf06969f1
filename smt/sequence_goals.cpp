// SPDX-License-Identifier: GPL-2.0-only
// Bounded sequences: everything that a few tasks can do in a few steps after they were forked
// together, with symbolic requests and run lengths. A step is a run of the task that is picked, or
// that one of the tasks leaves or joins.
//
// A run goes on until at most a tick after the request ended. Who is picked is said by what pick
// ensures (pick_is_the_first_eligible), among equal deadlines any one of them, and not forked on.
#include <array>
#include <string>

#include "core/slice.h"
#include "smt/goal.h"
#include "smt/tasks.h"
#include "spec/invariants.h"

namespace vlag::smt {
namespace {

// What is held wrong, for canaries.
enum class Break : std::uint8_t { nothing, ignores_deadlines, halves_the_limit };

std::string numbered(const char* name, std::size_t number) {
  return name + std::to_string(number + 1);
}

// The most that a run of `delta` ns charges: calc_delta_fair() before it is rounded down.
Exact most_charged(Scene& scene, const Exact& delta, const Weight& weight,
                   const std::string& name) {
  const Exact most = scene.quantity(name);
  scene.assume(most * (Exact(1) << weight.shift) == delta * Exact(weight.factor));
  return most;
}

Exact at(const Point& point) { return exact(point, Point()); }

class Play {
 public:
  Play(Scene& scene, std::span<const int> nices, Break broken)
      : scene_(scene), broken_(broken), tasks_(scene) {
    for (const int nice : nices) fork(nice_weight(nice));
    caps_.assign(nices.size(), std::vector<Exact>(nices.size(), Exact(0)));
    for (std::size_t j = 0; j < nices.size(); ++j) begin_pairs_of(j);
  }

  /// Returns what must hold after it.
  Truth step(std::size_t number) {
    const int kind = scene_.either(numbered("step_", number), static_cast<int>(tasks_.count()) + 1);
    if (kind == 0) return tasks_.nobody_queued() ? Truth(true) : run(number);
    const auto one = static_cast<std::size_t>(kind - 1);
    Truth holds = true;
    if (tasks_[one].queued) {
      const Number limit = tasks_.leave(one);
      holds = limited(tasks_[one].vlag, limit);
    } else {
      tasks_.join(one);
    }
    begin_pairs_of(one);
    return holds;
  }

 private:
  void fork(const Weight& weight) {
    const std::size_t number = tasks_.count();
    const Number slice = scene_.number(numbered("slice_", number), slice_min, slice_max);
    tasks_.fork(weight, slice);
    requests_.push_back(most_charged(scene_, exact(slice), weight, numbered("request_", number)));
    overshoots_.push_back(most_charged(scene_, tick_nsec, weight, numbered("overshoot_", number)));
  }

  Truth limited(const Number& vlag, const Number& limit) const {
    const Exact factor = broken_ == Break::halves_the_limit ? 2 : 1;
    return spec::lag_limited<Exact>(factor * exact(vlag), exact(limit));
  }

  // One of those who are queued is picked, and runs.
  Truth run(std::size_t number) {
    const Number who = scene_.number(numbered("picked_", number));
    const Number service = scene_.number(numbered("service_", number), 1, slice_max + tick_nsec);
    const auto is_picked = [&](std::size_t k) {
      return who == Number(static_cast<std::int64_t>(k) + 1);
    };
    Truth someone = false;
    for (std::size_t k = 0; k < tasks_.count(); ++k) {
      if (!tasks_[k].queued) continue;
      someone = someone || is_picked(k);
      scene_.assume(implies(is_picked(k), tasks_.is_eligible(k)));
      if (broken_ != Break::ignores_deadlines) {
        scene_.assume(implies(is_picked(k), tasks_.is_first(k)));
      }
    }
    scene_.assume(someone);
    Truth holds = true;
    for (std::size_t k = 0; k < tasks_.count(); ++k) {
      if (!tasks_[k].queued) continue;
      const Point deadline = tasks_[k].deadline;
      tasks_.run(k, is_picked(k), service);
      scene_.assume(implies(is_picked(k), exact(tasks_[k].vruntime, deadline) <= overshoots_[k]));
      holds = holds && within_caps(k);
    }
    for (std::size_t j = 0; j < tasks_.count(); ++j) begin_waits_of(j, is_picked(j));
    return holds;
  }

  // k did not get further than those who are queued were told when their wait began.
  Truth within_caps(std::size_t k) const {
    Truth holds = true;
    for (std::size_t j = 0; j < tasks_.count(); ++j) {
      if (j != k && tasks_[j].queued) holds = holds && at(tasks_[k].vruntime) <= caps_[j][k];
    }
    return holds;
  }

  // spec/README.md, "The pairwise cap": nobody is running between two steps.
  Exact cap(std::size_t j, std::size_t k) const {
    const Exact from = at(tasks_[k].vruntime);
    const Exact waiting = at(tasks_[j].vruntime);
    const Exact deadline = at(tasks_[j].deadline);
    const Exact behind = greatest(deadline, waiting + requests_[k]) + overshoots_[k];
    const Exact level = deadline + overshoots_[k];
    const Truth may_be_picked = at(tasks_[k].deadline) <= deadline;
    return greatest(from, choose(from < waiting, behind, choose(may_be_picked, level, from)));
  }

  void begin_waits_of(std::size_t j, const Truth& now) {
    for (std::size_t k = 0; k < tasks_.count(); ++k) {
      if (j != k) caps_[j][k] = choose(now, cap(j, k), caps_[j][k]);
    }
  }

  // Those of one that was placed.
  void begin_pairs_of(std::size_t one) {
    for (std::size_t other = 0; other < tasks_.count(); ++other) {
      if (other == one) continue;
      caps_[one][other] = cap(one, other);
      caps_[other][one] = cap(other, one);
    }
  }

  Scene& scene_;
  Break broken_;
  Tasks tasks_;
  std::vector<Exact> requests_;
  std::vector<Exact> overshoots_;
  std::vector<std::vector<Exact>> caps_;  // [j][k]: how far k gets while j waits.
};

void play(Scene& scene, std::span<const int> nices, std::size_t steps, Break broken) {
  Play play(scene, nices, broken);
  for (std::size_t number = 0; number < steps; ++number) {
    scene.claim(play.step(number), "after step " + std::to_string(number + 1));
  }
}

constexpr std::array<int, 2> two = {0, 5};
constexpr std::array<int, 3> three = {0, 5, -5};

// With the joins of the goal: the deadline is new, and nobody lingers.
constexpr std::array<FeatureToggle, 2> plain = {FeatureToggle{Feature::PLACE_REL_DEADLINE, false},
                                                FeatureToggle{Feature::DELAY_DEQUEUE, false}};

spec::Sequence replay(const Model& model, std::span<const int> nices) {
  Recorder recorder(static_cast<int>(nices.size()));
  recorder.features(plain);
  for (std::size_t i = 0; i < nices.size(); ++i) {
    const std::int64_t slice = model.value(numbered("slice_", i), slice_min, slice_max);
    recorder.fork(static_cast<int>(i), nices[i], static_cast<std::uint64_t>(slice));
  }
  for (std::size_t number = 0; model.has(numbered("step_", number)); ++number) {
    const auto most = static_cast<std::int64_t>(nices.size());
    const auto kind = static_cast<int>(model.value(numbered("step_", number), 0, most));
    if (kind == 0) {
      recorder.schedule();
      const std::int64_t service =
          model.value(numbered("service_", number), 1, slice_max + tick_nsec);
      recorder.tick(static_cast<std::uint64_t>(service));
    } else if (recorder.cpu().task(kind - 1).state == TaskState::queued) {
      recorder.leave(kind - 1);
    } else {
      recorder.join(kind - 1);
    }
  }
  return recorder.sequence();
}

}  // namespace

std::vector<Goal> sequence_goals() {
  constexpr std::string_view source = "theorem T1; update_entity_lag(), 6.12.117";
  return {
      {.name = "two_tasks_stay_within_the_caps",
       .claim = "Whatever two tasks do in six steps, none gets further ahead of a waiting one than "
                "the pair cap, and what is saved of a lag is within its limit.",
       .source = source,
       .bounds = "n = 2, nice 0 and 5; 6 steps; request 100 us .. 100 ms; tick 4 ms; reals",
       .kind = Kind::bounded,
       .theory = Theory::reals,
       .at_once = 24,
       .body = [](Scene& scene) { play(scene, two, 6, Break::nothing); },
       .canary = [](Scene& scene) { play(scene, two, 3, Break::ignores_deadlines); },
       .sequence = [](const Model& model) { return replay(model, two); },
       .breaks = "others_stay_within_the_cap"},
      {.name = "three_tasks_stay_within_the_caps",
       .claim = "Whatever three tasks do in three steps, none gets further ahead of a waiting one "
                "than the pair cap, and what is saved of a lag is within its limit.",
       .source = source,
       .bounds = "n = 3, nice 0, 5 and -5; 3 steps; request 100 us .. 100 ms; tick 4 ms; reals",
       .kind = Kind::bounded,
       .theory = Theory::reals,
       .at_once = 8,
       .body = [](Scene& scene) { play(scene, three, 3, Break::nothing); },
       .canary = [](Scene& scene) { play(scene, three, 3, Break::halves_the_limit); },
       .sequence = [](const Model& model) { return replay(model, three); },
       .breaks = "others_stay_within_the_cap"},
  };
}

}  // namespace vlag::smt
