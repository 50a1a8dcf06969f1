// SPDX-License-Identifier: GPL-2.0-only
// What one would like to assert of a queue, and what is false on states that the scheduler reaches
// or stays in. Both are refuted by tasks that do nothing but run, sleep and wake.
#include <array>
#include <string>

#include "core/slice.h"
#include "smt/goal.h"
#include "smt/tasks.h"

namespace vlag::smt {
namespace {

constexpr std::array<int, 3> heavy_and_light = {-20, -10, -10};

// One heavy task with a longer request, and two lighter ones with the shortest, forked together:
// their deadlines come first, and each overruns its request by nearly a tick.
void lag_after_two_runs(Scene& scene) {
  Tasks tasks(scene);
  for (const int nice : heavy_and_light) {
    const std::string name = "slice_" + std::to_string(tasks.count() + 1);
    tasks.fork(nice_weight(nice), scene.number(name, slice_min, slice_max));
  }
  for (const std::size_t runner : {std::size_t{1}, std::size_t{2}}) {
    const Number service = scene.number("service_" + std::to_string(runner), slice_min, tick_nsec);
    scene.assume(tasks.is_eligible(runner) && tasks.is_first(runner));
    tasks.run(runner, true, service);
  }
  // Exceeded by a tenth of a ms, so that it shows in whole ns too.
  constexpr std::int64_t margin = 100'000;
  const Exact limit = exact(tasks[0].slice) * 2 + Exact(tick_nsec + margin);
  scene.claim(tasks.lag_is_within(0, limit), "the lag of the one that waits");
}

spec::Sequence two_runs(const Model& model) {
  Recorder recorder(static_cast<int>(heavy_and_light.size()));
  // The heavy one is forked last: of equal deadlines the first goes first.
  for (const int id : {1, 2, 0}) {
    const int nice = heavy_and_light[static_cast<std::size_t>(id)];
    const std::string name = "slice_" + std::to_string(id + 1);
    const std::int64_t slice = model.value(name, slice_min, slice_max);
    recorder.fork(id, nice, static_cast<std::uint64_t>(slice));
  }
  for (const char* service : {"service_1", "service_2"}) {
    recorder.schedule();
    recorder.tick(static_cast<std::uint64_t>(model.value(service, slice_min, tick_nsec)));
  }
  return recorder.sequence();
}

// The hog and three short sleepers, all with the default request.
constexpr std::size_t hog = 3;
constexpr std::array<int, 4> nices = {0, 3, -6, 0};
constexpr std::int64_t request = 3'000'000;

struct Turn {
  std::vector<std::size_t> wakes;
  std::size_t runs;  // And sleeps.
};

// One round of tests/golden/starvation.seq: 1 is queued when it begins, 0 and 2 are away.
const std::array<Turn, 6> round = {Turn{{2}, 1},    Turn{{0, 1}, 2}, Turn{{}, 0},
                                   Turn{{2, 0}, 1}, Turn{{}, 2},     Turn{{1}, 0}};

SymbolicTask any_state(Scene& scene, std::size_t i) {
  const std::string number = "_" + std::to_string(i);
  const bool queued = i == 1 || i == hog;
  SymbolicTask task{.weight = nice_weight(nices[i]),
                    .slice = request,
                    .vruntime = Point(),
                    .deadline = Point(),
                    .vlag = 0,
                    .queued = queued};
  if (!queued) {
    task.vlag = scene.number("lag" + number, 0, 2 * request);
    return task;
  }
  // Relative to the hog: only differences can be observed.
  if (i != hog) task.vruntime = Point() + scene.number("v" + number);
  task.deadline = task.vruntime + scene.number("request" + number, 0, 2 * request);
  return task;
}

Truth same_relative_state(const Tasks& before, const Tasks& after) {
  Truth same = true;
  for (std::size_t i = 0; i < before.count(); ++i) {
    if (before[i].queued) {
      same = same && exact(after[i].vruntime, before[i].vruntime) == 0 &&
             exact(after[i].deadline, before[i].deadline) == 0;
    } else {
      same = same && exact(after[i].vlag) == exact(before[i].vlag);
    }
  }
  return same;
}

// If a round in which the hog is not picked can end where it began, it can go on for ever.
void no_round_recurs(Scene& scene) {
  Tasks tasks(scene);
  for (std::size_t i = 0; i < nices.size(); ++i) tasks.add(any_state(scene, i));
  const Tasks before = tasks;
  Truth hog_waits = true;
  int turns = 0;
  for (const Turn& turn : round) {
    // Picked when the last one slept; its request is protected while others wake.
    scene.assume(tasks.is_eligible(turn.runs) && tasks.is_first(turn.runs));
    hog_waits = hog_waits && !tasks.is_eligible(hog);
    for (const std::size_t i : turn.wakes) tasks.join(i);
    const Number service = scene.number("service_" + std::to_string(++turns), 1'000, 20'000);
    scene.assume(tasks.is_eligible(turn.runs));
    tasks.run(turn.runs, true, service);
    // Sleeping while it is eligible, so its dequeue is not delayed.
    scene.assume(tasks.is_eligible(turn.runs));
    tasks.leave(turn.runs);
  }
  // 1 is queued again, as in the beginning.
  scene.claim(!(hog_waits && same_relative_state(before, tasks)), "no round recurs");
}

// The cycle of theory X3d. The model of the solver is a state in which it recurs exactly, in
// fractions of ns; from a fresh start in whole ns one gets near such a state and stays there, with
// short runs while the sleepers are owed little and longer ones while they are owed more.
class Cycle {
 public:
  spec::Sequence sequence() {
    reach();
    while (recorder_.cpu().clock() < long_enough) once();
    return recorder_.sequence();
  }

 private:
  static constexpr std::uint64_t us = 1'000;
  static constexpr Nanos long_enough = 300'000 * us;

  void reach() {
    recorder_.base_slice(request);
    recorder_.fork(static_cast<int>(hog), nices[hog], 0);
    recorder_.schedule();
    for (const int id : {0, 1, 2}) recorder_.fork(id, nices[static_cast<std::size_t>(id)], 0);
    recorder_.tick(1'500 * us);
    recorder_.schedule();
    sleep({10, 10});
    wake_and_sleep({2}, {10});
    wake_and_sleep({0}, {10});
    wake_and_sleep({2, 1}, {1, 1});
    wake_and_sleep({0}, {10});
    wake_and_sleep({2}, {10});
    wake_and_sleep({0, 1}, {100, 100});
  }

  void once() {
    const std::uint64_t run = most_owed() > request ? 20 : 1;
    for (const Turn& turn : round) {
      for (const std::size_t id : turn.wakes) recorder_.wake(static_cast<int>(id));
      sleep({run});
    }
    if (recorder_.cpu().clock() - ticked_ < tick_nsec - 200 * us) return;
    recorder_.tick(0);
    ticked_ = recorder_.cpu().clock();
  }

  // To a sleeper: its saved lag, or how far it is behind the hog.
  std::int64_t most_owed() const {
    std::int64_t most = 0;
    for (const int id : {0, 1, 2}) {
      const Entity& se = recorder_.cpu().task(id).se;
      const Word owed = se.on_rq ? victim().vruntime - se.vruntime : se.vlag;
      most = std::max(most, owed.value);
    }
    return most;
  }

  const Entity& victim() const { return recorder_.cpu().task(static_cast<int>(hog)).se; }

  void wake_and_sleep(std::initializer_list<int> wakes, std::initializer_list<std::uint64_t> runs) {
    for (const int id : wakes) recorder_.wake(id);
    sleep(runs);
  }

  // The current task runs for so many us, and sleeps; then the next.
  void sleep(std::initializer_list<std::uint64_t> runs) {
    for (const std::uint64_t run : runs) {
      recorder_.advance(run * us);
      recorder_.block();
    }
  }

  Recorder recorder_{static_cast<int>(nices.size())};
  Nanos ticked_ = 0;
};

spec::Sequence starve(const Model&) { return Cycle().sequence(); }

}  // namespace

std::vector<Goal> belief_goals() {
  return {
      {.name = "lag_on_the_queue_is_within_two_requests_and_a_tick",
       .claim = "Nobody who is queued is owed more than twice its request and a tick.",
       .source =
           "theorem T4, counterexample X1; entity_lag() of 6.12.117 limits only what is saved",
       .bounds = "n = 3, nice -20, -10 and -10; 2 runs after a fork; tick 4 ms",
       .kind = Kind::falsehood,
       .theory = Theory::integers,
       .body = lag_after_two_runs,
       .sequence = two_runs,
       .breaks = "lag_on_the_queue_is_within_two_requests_and_a_tick"},
      {.name = "every_runnable_task_runs_in_bounded_time",
       .claim = "A task that stays runnable is picked at last, whatever a closed population of "
                "sleepers does.",
       .source = "counterexample X3d; place_entity(), 6.12.117",
       .bounds = "n = 4, nice 0, 0, 3 and -6, request 3 ms; runs of 1 .. 20 us; rationals",
       .kind = Kind::falsehood,
       .theory = Theory::rationals,
       .body = no_round_recurs,
       .sequence = starve,
       .breaks = "every_runnable_task_runs_in_bounded_time"},
  };
}

}  // namespace vlag::smt
