// SPDX-License-Identifier: GPL-2.0-only
// One entity comes and goes: where V moves. The rest of the queue is seen through its sums A, W, so
// it stands for any n; divisions are exact.
//
//   joining with lag l     V' = V - w l / W, and V' - v = l            (V1)
//   leaving with lag l     V' = V + w l / (W - w)                      (V2)
//   a visit at V           V is what it was: the service is forgotten  (V3)
//
// A sleeper joins others of another weight than it left, and so not where it left them (F3).
#include "core/average.h"
#include "core/placement.h"
#include "smt/goal.h"

namespace vlag::smt {
namespace {

Number positive(Scene& scene, const char* name) {
  const Number number = scene.number(name);
  scene.assume(number > 0);
  return number;
}

Sums<Symbols> rest(Scene& scene) { return {Point(), scene.number("A"), positive(scene, "W")}; }

// Divisions are exact here, so either rounding is none.
Number average_of(const Sums<Symbols>& sums) {
  return average_key(sums, AverageRounding::truncate);
}

void join(Scene& scene, bool inflated) {
  Sums<Symbols> sums = rest(scene);
  const Number weight = positive(scene, "w");
  const Number lag = scene.number("lag");
  const Number average = average_of(sums);
  const Number placed = inflated ? inflated_lag<Symbols>(lag, sums.sum_weight, weight) : lag;
  const Point vruntime = sums.zero_vruntime + average - placed;
  const Exact load = exact(sums.sum_weight);
  sums.add(vruntime, weight);
  const Exact key = exact(vruntime, sums.zero_vruntime);
  // W' (V' - v - l), and W (V - V') where V' = v + l.
  scene.claim(exact(sums.sum_w_vruntime) == (key + exact(lag)) * exact(sums.sum_weight),
              "V' - v == l");
  scene.claim(load * (exact(average) - key - exact(lag)) == exact(weight) * exact(lag),
              "W (V - V') == w l");
}

void leave(Scene& scene, std::int64_t sign) {
  Sums<Symbols> sums = rest(scene);
  const Number weight = positive(scene, "w");
  const Point vruntime = scene.point("v");
  sums.add(vruntime, weight);
  const Exact average = exact(average_of(sums));
  const Exact lag = average - exact(vruntime, sums.zero_vruntime);
  sums.remove(vruntime, weight);
  scene.claim(exact(sums.sum_w_vruntime) - exact(sums.sum_weight) * average ==
                  Exact(sign) * exact(weight) * lag,
              "(W - w)(V' - V) == w l");
}

void visit(Scene& scene, bool charged) {
  const Sums<Symbols> before = rest(scene);
  Sums<Symbols> sums = before;
  const Number weight = positive(scene, "w");
  const Point placed = sums.zero_vruntime + average_of(sums);
  const Point reached = placed + scene.number("advance");
  sums.add(placed, weight);
  sums.remove(placed, weight);
  sums.add(reached, weight);
  sums.remove(charged ? reached : placed, weight);
  scene.claim(sums.sum_w_vruntime == before.sum_w_vruntime, "A is as before");
  scene.claim(sums.sum_weight == before.sum_weight, "W is as before");
}

// Virtual times are relative to the mean of the others, which does not change.
struct Sleep {
  Exact vruntime, placed, lag, weight, left, joined;
};

Sleep sleep(Scene& scene) {
  const Number left = positive(scene, "W_1");
  const Number joined = positive(scene, "W_2");
  const Number weight = positive(scene, "w");
  const Point vruntime = scene.point("v");
  Sums<Symbols> sums = {Point(), Number(0), left};
  sums.add(vruntime, weight);
  const Number lag = sums.zero_vruntime + average_of(sums) - vruntime;
  const Number placed = inflated_lag<Symbols>(lag, joined, weight);
  return {exact(vruntime, Point()),
          -exact(placed),
          exact(lag),
          exact(weight),
          exact(left),
          exact(joined)};
}

void lands_back(Scene& scene, bool lighter) {
  const Sleep s = sleep(scene);
  scene.lemma(s.lag * (s.left + s.weight) == -(s.vruntime * s.left), "l (W_1 + w) == -v W_1");
  scene.lemma(s.left * s.joined * (s.vruntime - s.placed) == s.weight * s.lag * (s.left - s.joined),
              "W_1 W_2 (v - v') == w l (W_1 - W_2)");
  scene.assume(s.lag > 0);
  if (lighter) scene.assume(s.joined < s.left);
  const Exact product = s.left * s.joined;
  scene.lemma(product > 0, "W_1 W_2 > 0");
  if (lighter) scene.lemma(s.weight * s.lag * (s.left - s.joined) > 0, "w l (W_1 - W_2) > 0");
  scene.claim(s.placed < s.vruntime, "v' < v");
}

void never_back(Scene& scene) {
  const Sleep s = sleep(scene);
  scene.assume(s.lag >= 0 && s.weight == 1 && s.left == 2 && s.joined == 1);
  scene.claim(s.placed >= s.vruntime, "v' >= v");
}

// It sleeps while two others are queued, and wakes when one of them is.
spec::Sequence sleeper_sent_back() {
  constexpr std::uint64_t tick = 3'000'000;
  Recorder recorder(3);
  for (const int id : {0, 1, 2}) recorder.fork(id, 0, 0);
  for (int turn = 0; turn < 2; ++turn) {
    recorder.schedule();
    recorder.tick(tick);
  }
  recorder.schedule();
  recorder.block();
  recorder.leave(1);
  recorder.wake(2);
  return recorder.sequence();
}

}  // namespace

std::vector<Goal> visit_goals() {
  constexpr std::string_view bounds = "any n, any weights > 0; reals";
  constexpr std::string_view place = "place_entity(), 6.12.117";
  const auto goal = [&](std::string_view name, std::string_view claim, std::string_view source,
                        void (*body)(Scene&), void (*canary)(Scene&)) {
    return Goal{.name = name,
                .claim = claim,
                .source = source,
                .bounds = bounds,
                .theory = Theory::rationals,
                .body = body,
                .canary = canary};
  };
  return {
      goal(
          "a_join_moves_the_average_back_by_its_lag",
          "One that joins with lag l has it afterwards, and moves V back by w l / W (V1).", place,
          [](Scene& scene) { join(scene, true); }, [](Scene& scene) { join(scene, false); }),
      goal(
          "a_leave_moves_the_average_by_its_lag",
          "One that leaves with lag l moves V by w l / (W - w), forward if it was owed (V2).",
          "dequeue_entity(), 6.12.117", [](Scene& scene) { leave(scene, 1); },
          [](Scene& scene) { leave(scene, -1); }),
      goal(
          "a_visit_is_forgotten",
          "One that joins at V, runs and leaves, leaves V where it was (V3).",
          "theorem T7; place_entity(), dequeue_entity(), 6.12.117",
          [](Scene& scene) { visit(scene, true); }, [](Scene& scene) { visit(scene, false); }),
      goal(
          "a_lighter_queue_takes_a_sleeper_back",
          "One that is owed, leaves, and joins when the others weigh less but stand where they "
          "were, is placed behind where it was: W_1 W_2 (v - v') = w l (W_1 - W_2) (F3).",
          place, [](Scene& scene) { lands_back(scene, true); },
          [](Scene& scene) { lands_back(scene, false); }),
      {.name = "a_wakeup_never_moves_backward",
       .claim = "A sleeper that is owed, and whose others stand where they were, is not placed "
                "behind where it was (F3).",
       .source = place,
       .bounds = "w = 1, W = 2 when it leaves, W = 1 when it joins; reals",
       .kind = Kind::falsehood,
       .theory = Theory::rationals,
       .body = never_back,
       .sequence = [](const Model&) { return sleeper_sent_back(); },
       .breaks = "a_wakeup_never_moves_backward"},
  };
}

}  // namespace vlag::smt
