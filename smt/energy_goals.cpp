// SPDX-License-Identifier: GPL-2.0-only
// The energy of lags (T9), over everyone of a closed population, queued or away with a saved lag l:
//
//   E = sum_queued w (v - V)^2 + sum_away w l^2
//
// One entity of weight w leaves others of weight A, and joins others of weight B. The others of
// weight A with mean m have sum w (v - V)^2 = Q + A (m - V)^2, and Q does not change when V does.
// All virtual times here are relative to m, where the sums have v0.
#include "core/average.h"
#include "core/placement.h"
#include "smt/goal.h"
#include "smt/tasks.h"

namespace vlag::smt {
namespace {

struct Visit {
  Exact change;  // Of E.
  Exact lag;
  Exact average;  // With the one queued.
};

// Divisions are exact here, so either rounding is none.
Exact average_of(const Sums<Symbols>& sums) {
  return exact(average_key(sums, AverageRounding::truncate));
}

Exact square(const Exact& a) { return a * a; }

// E of the one and its distance from the others, less what the others have among themselves.
Exact queued_energy(const Exact& others, const Exact& weight, const Exact& key,
                    const Exact& average) {
  return others * square(average) + weight * square(average - key);
}

Number positive(Scene& scene, const char* name) {
  const Number number = scene.number(name);
  scene.assume(number > 0);
  return number;
}

Visit leave(Scene& scene, const Number& others, const Number& weight) {
  Sums<Symbols> sums = {Point(), Number(0), others};
  const Point vruntime = scene.point("vruntime");
  sums.add(vruntime, weight);
  const Exact average = average_of(sums);
  const Exact key = exact(vruntime, sums.zero_vruntime);
  const Exact lag = average - key;
  scene.lemma(exact(others) * average == -exact(weight) * lag, "A V == -w l");
  const Exact before = queued_energy(exact(others), exact(weight), key, average);
  return {exact(weight) * square(lag) - before, lag, average};
}

Visit join(Scene& scene, const Number& others, const Number& weight, const Number& lag,
           const Number& placed) {
  Sums<Symbols> sums = {Point(), Number(0), others};
  const Point vruntime = sums.zero_vruntime - placed;
  sums.add(vruntime, weight);
  const Exact average = average_of(sums);
  const Exact key = exact(vruntime, sums.zero_vruntime);
  scene.lemma(exact(others) * average == exact(weight) * (key - average), "B V' == -w (V' - v)");
  const Exact after = queued_energy(exact(others), exact(weight), key, average);
  return {after - exact(weight) * square(exact(lag)), average - key, average};
}

void leaving(Scene& scene, std::int64_t sign) {
  const Number others = positive(scene, "A");
  const Number weight = positive(scene, "w");
  const Visit visit = leave(scene, others, weight);
  scene.claim(
      visit.change * exact(others) == Exact(sign) * square(exact(weight)) * square(visit.lag),
      "A dE == -w^2 l^2");
}

void joining(Scene& scene, LagInflation rule) {
  const Number others = positive(scene, "B");
  const Number weight = positive(scene, "w");
  const Number lag = scene.number("lag");
  const Number placed = placed_lag<Symbols>(rule, lag, others, others, weight);
  const Visit visit = join(scene, others, weight, lag, placed);
  if (rule == LagInflation::as_linux) scene.lemma(visit.lag == exact(lag), "V' - v == l");
  scene.claim(visit.change * exact(others) == square(exact(weight)) * square(exact(lag)),
              "B dE == w^2 l^2");
}

void joining_plainly(Scene& scene, std::int64_t sign) {
  const Number others = positive(scene, "B");
  const Number weight = positive(scene, "w");
  const Number lag = scene.number("lag");
  const Number placed = placed_lag<Symbols>(LagInflation::none, lag, others, others, weight);
  const Visit visit = join(scene, others, weight, lag, placed);
  scene.claim(visit.change * (exact(others) + exact(weight)) ==
                  Exact(sign) * square(exact(weight)) * square(exact(lag)),
              "(B + w) dE == -w^2 l^2");
}

// Leaves A, joins B. A dE_leave == -w^2 l^2 is the goal above, used here as a lemma.
struct RoundTrip {
  Exact change;
  Exact lag;
  Exact weight;
  Exact left;
  Exact joined;
  bool by_joined;  // Inflated by B.
};

// With A >= B, inflated by A. In units t = l / A and u = -V' / w everything is a polynomial:
//   dE == w (A + w) t (B u - A t)       (B + w)(B u - A t) == w t (B - A)
void inflated_by_left(Scene& scene, const RoundTrip& trip, const Visit& in, const Visit& out,
                      const Exact& placed) {
  const Exact t = scene.quantity("t");
  const Exact u = scene.quantity("u");
  const Exact w = trip.weight;
  scene.assume(trip.lag == trip.left * t);
  scene.lemma(placed == (trip.left + w) * t, "placed at (A + w) t");
  scene.assume(in.average == -(w * u));
  scene.lemma((trip.joined + w) * u == placed, "(B + w) u");
  scene.lemma(out.change == -(square(w) * trip.left * square(t)), "dE_leave == -w^2 A t^2");
  scene.lemma(in.change == w * trip.joined * u * placed - w * square(trip.lag),
              "dE_join == w B u placed - w l^2");
  const Exact ahead = scene.quantity("ahead");
  const Exact all = scene.quantity("all");
  scene.assume(ahead == trip.joined * u - trip.left * t && all == trip.joined + w);
  scene.lemma(all * ahead == w * t * (trip.joined - trip.left), "(B + w)(B u - A t)");
  const Exact slope = scene.quantity("slope");
  scene.assume(slope == w * (trip.left - trip.joined));
  scene.lemma(all > 0 && slope >= 0, "B + w > 0, w (A - B) >= 0");
  scene.lemma(all * ahead == -(slope * t), "(B + w)(B u - A t) == -w (A - B) t");
  scene.lemma(implies(t >= 0, ahead <= 0) && implies(t <= 0, ahead >= 0), "on opposite sides");
  const Exact gain = t * ahead;
  scene.lemma(gain <= 0, "t (B u - A t) <= 0");
  scene.lemma(in.change + out.change == w * (trip.left + w) * gain, "dE");
}

// Inflated by B: dE A B == w^2 l^2 (A - B).
void inflated_by_joined(Scene& scene, const RoundTrip& trip) {
  const Exact moved = square(trip.weight) * square(trip.lag);
  scene.lemma(trip.change * trip.left * trip.joined == moved * (trip.left - trip.joined),
              "dE == w^2 l^2 (1/B - 1/A)");
}

RoundTrip round_trip(Scene& scene, LagInflation rule) {
  const Number left = positive(scene, "A");
  const Number joined = positive(scene, "B");
  const Number weight = positive(scene, "w");
  const Visit out = leave(scene, left, weight);
  scene.lemma(out.change * exact(left) == -(square(exact(weight)) * square(out.lag)),
              "A dE == -w^2 l^2");
  const Number lag = scene.number("lag");
  const bool by_left = rule == LagInflation::capped && bool(joined < left);
  const Number placed = placed_lag<Symbols>(rule, lag, left, joined, weight);
  const Visit in = join(scene, joined, weight, lag, placed);
  if (!by_left) {
    scene.lemma(in.lag == exact(lag), "V' - v == l");
    scene.lemma(in.change * exact(joined) == square(exact(weight)) * square(exact(lag)),
                "B dE == w^2 l^2");
  }
  scene.assume(out.lag == exact(lag));
  const RoundTrip trip = {in.change + out.change, exact(lag), exact(weight), exact(left),
                          exact(joined),          !by_left};
  if (by_left) {
    inflated_by_left(scene, trip, in, out, exact(placed));
  } else {
    inflated_by_joined(scene, trip);
  }
  return trip;
}

// The equation above in three unknowns, which tells the sign of dE.
struct Signs {
  Exact change, moved, both;
};

Signs signs(Scene& scene, const RoundTrip& trip) {
  const Signs s = {scene.quantity("dE"), scene.quantity("moved"), scene.quantity("both")};
  scene.assume(s.change == trip.change);
  scene.assume(s.moved == square(trip.weight) * square(trip.lag));
  scene.assume(s.both == trip.left * trip.joined);
  scene.lemma(s.change * s.both == s.moved * (trip.left - trip.joined), "dE A B");
  scene.lemma(s.both > 0 && s.moved >= 0, "A B > 0, w^2 l^2 >= 0");
  return s;
}

void pump(Scene& scene, bool some_lag) {
  const RoundTrip trip = round_trip(scene, LagInflation::as_linux);
  if (some_lag) scene.assume(trip.lag != 0);
  const Signs s = signs(scene, trip);
  if (some_lag) scene.lemma(s.moved > 0, "w^2 l^2 > 0");
  // With the equation above, and without a lag, this fails.
  scene.claim(iff(s.change > 0, trip.joined < trip.left), "grows iff B < A");
}

// Both halves lower E.
void never_grows_plainly(Scene& scene) {
  const Number left = positive(scene, "A");
  const Number joined = positive(scene, "B");
  const Number weight = positive(scene, "w");
  const Visit out = leave(scene, left, weight);
  const Number lag = scene.number("lag");
  const Number placed = placed_lag<Symbols>(LagInflation::none, lag, left, joined, weight);
  const Visit in = join(scene, joined, weight, lag, placed);
  const Exact moved = scene.quantity("moved");
  scene.assume(out.lag == exact(lag) && moved == square(exact(weight)) * square(exact(lag)));
  scene.lemma(moved >= 0, "w^2 l^2 >= 0");
  scene.lemma(out.change * exact(left) == -moved, "A dE_leave == -w^2 l^2");
  scene.lemma(in.change * (exact(joined) + exact(weight)) == -moved, "(B + w) dE_join == -w^2 l^2");
  scene.lemma(out.change <= 0 && in.change <= 0, "neither raises E");
  scene.claim(in.change + out.change <= 0, "dE <= 0");
}

// With p^2 A B == l^2 (A + w)(B + w), and A (B + w) dE == w (A B p^2 - l^2 (A + w)(B + w)).
void conserved(Scene& scene, LagInflation rule) {
  const Number left = positive(scene, "A");
  const Number joined = positive(scene, "B");
  const Number weight = positive(scene, "w");
  const Visit out = leave(scene, left, weight);
  const Number lag = scene.number("lag");
  const Number placed = placed_lag<Symbols>(rule, lag, left, joined, weight);
  const Visit in = join(scene, joined, weight, lag, placed);
  scene.assume(out.lag == exact(lag));
  const Exact a = exact(left);
  const Exact b = exact(joined);
  const Exact w = exact(weight);
  const Exact p2 = scene.quantity("p2");
  const Exact l2 = scene.quantity("l2");
  scene.assume(p2 == square(exact(placed)) && l2 == square(exact(lag)));
  scene.lemma(out.change * a == -(w * w * l2), "A dE_leave == -w^2 l^2");
  scene.lemma(in.change * (b + w) == w * b * p2 - w * l2 * (b + w), "(B + w) dE_join");
  scene.lemma(p2 * a * b == l2 * (a + w) * (b + w), "p^2 A B == l^2 (A + w)(B + w)");
  scene.claim((in.change + out.change) * a * (b + w) == 0, "dE == 0");
}

void never_grows(Scene& scene, LagInflation rule) {
  const RoundTrip trip = round_trip(scene, rule);
  if (trip.by_joined) signs(scene, trip);
  scene.claim(trip.change <= 0, "dE <= 0");
}

void never_grows_from_heavy_to_light(Scene& scene) {
  const RoundTrip trip = round_trip(scene, LagInflation::as_linux);
  scene.assume(trip.weight == 1 && trip.left == 2 && trip.joined == 1);
  scene.claim(trip.change <= 0, "dE <= 0");
}

// Three of nice 0. 0 runs for a tick, so 1 is owed a third of it when it leaves two; it joins one.
spec::Sequence one_trip(const Model&) {
  Recorder recorder(3);
  for (const int id : {0, 1, 2}) recorder.fork(id, 0, 0);
  recorder.schedule();
  recorder.tick(tick_nsec);
  recorder.schedule();
  recorder.block();
  recorder.block();
  recorder.wake(1);
  return recorder.sequence();
}

}  // namespace

std::vector<Goal> energy_goals() {
  constexpr std::string_view bounds = "any n, any weights > 0; reals";
  constexpr std::string_view source = "theorem T9; place_entity(), update_entity_lag(), 6.12.117";
  const auto goal = [&](std::string_view name, std::string_view claim, void (*body)(Scene&),
                        void (*canary)(Scene&)) {
    return Goal{.name = name,
                .claim = claim,
                .source = source,
                .bounds = bounds,
                .theory = Theory::rationals,
                .body = body,
                .canary = canary,
                .no_sequence = canary != nullptr ? ""
                                                 : "any weights; what such trips lead to is "
                                                   "every_runnable_task_runs_in_bounded_time"};
  };
  return {
      goal(
          "leaving_lowers_the_energy", "Leaving others of weight A lowers E by w^2 l^2 / A.",
          [](Scene& scene) { leaving(scene, -1); }, [](Scene& scene) { leaving(scene, 1); }),
      goal(
          "joining_with_inflation_raises_the_energy",
          "Joining others of weight B as Linux places raises E by w^2 l^2 / B.",
          [](Scene& scene) { joining(scene, LagInflation::as_linux); },
          [](Scene& scene) { joining(scene, LagInflation::none); }),
      goal(
          "joining_without_inflation_lowers_the_energy",
          "Joining with the lag as it is lowers E by w^2 l^2 / (B + w).",
          [](Scene& scene) { joining_plainly(scene, -1); },
          [](Scene& scene) { joining_plainly(scene, 1); }),
      goal(
          "a_lighter_queue_pumps",
          "Leaving others of weight A and joining others of weight B changes E by "
          "w^2 l^2 (1/B - 1/A): it grows if and only if B < A.",
          [](Scene& scene) { pump(scene, true); }, [](Scene& scene) { pump(scene, false); }),
      goal(
          "inflating_by_the_heavier_never_pumps",
          "Placed with the heavier of both queues, a leave and a join never raise E.",
          [](Scene& scene) { never_grows(scene, LagInflation::capped); },
          [](Scene& scene) { never_grows(scene, LagInflation::as_linux); }),
      goal("not_inflating_never_pumps",
           "Placed with the lag as it was saved, a leave and a join never raise E.",
           never_grows_plainly, [](Scene& scene) { never_grows(scene, LagInflation::as_linux); }),
      goal(
          "the_geometric_mean_conserves_the_energy",
          "Placed with the geometric mean of what either queue would inflate to, a leave and a "
          "join keep E: it is the most that never pumps.",
          [](Scene& scene) { conserved(scene, LagInflation::geometric); },
          [](Scene& scene) { conserved(scene, LagInflation::as_linux); }),
      {.name = "a_round_trip_never_pumps",
       .claim = "As Linux places, a leave and a join never raise E, so lags cannot be pumped up.",
       .source = source,
       .bounds = "any n; w = 1, A = 2, B = 1; reals",
       .kind = Kind::falsehood,
       .theory = Theory::rationals,
       .body = never_grows_from_heavy_to_light,
       .sequence = one_trip,
       .breaks = "a_round_trip_never_pumps"},
  };
}

}  // namespace vlag::smt
