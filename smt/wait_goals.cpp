// SPDX-License-Identifier: GPL-2.0-only
// How long one can wait on a fixed set, and what its lag is bounded by whatever the policy. Any n:
// the entities enter through sums. Service of dt moves w_k v_k by dt, so A = sum(w v) grows by
// exactly the time that passes, and W l_k = w_k (A - W v_k).
//
// T3. j waits from a time when the sum is A, until it runs for the first time, T later; D = d_j. A
// late one has d > D, an early one d <= D; c is the longest run, O the sum of all overshoots.
//   Some late one is picked: the last of them at A1 = A + T1. Then j and all early ones are not
//   eligible. It runs for c at most, then only early ones do, each up to D and its overshoot:
//   T <= T1 + c + sum_early(w (D - v)) + O                        (wait_after_a_late_pick, C1)
//   None is: whoever runs at first has at most c left, and then only early ones run:
//   T <= c + sum_early(w (D - v)) + O                             (wait_without_a_late_pick, C2)
//   (C2 for F_D <= 0; else F_max of fairness_goals.cpp takes the place of c.) In both cases
//   T <= W (v_j - V)^+ + c + (W - w_j)(D - v_j) + O, and with the lag that a run leaves (A4) this
//   is T <= (W/w_j - 1)(2 r_j + o_j) + c + O (a_wait_is_bounded_by_requests)
//
// T5. Whoever picks only eligible ones: a run of k leaves l_k >= -(1 - w_k/W) c_k (A4 in
// fairness_goals.cpp), and waiting only raises l_k (waiting_raises_the_lag). So by induction over
// the runs all l_k >= -(1 - w_k/W) c_k, and as all lags sum to 0, what j is owed is what the others
// owe (lag_is_what_the_others_owe, D1).
#include "core/average.h"
#include "smt/goal.h"

namespace vlag::smt {
namespace {

struct Waiting {
  Exact weight, vruntime, deadline;  // Of j.
  Exact all;                         // W
  Exact sum;                         // A, when the wait starts.
  Exact early_weight, early_sum;     // Of the early ones other than j.
  Exact longest, overshoots, time;   // c, O, T
};

Waiting waiting(Scene& scene) {
  const Waiting j = {scene.quantity("w_j"),       scene.quantity("v_j"),
                     scene.quantity("d_j"),       scene.quantity("W"),
                     scene.quantity("A"),         scene.quantity("early_weight"),
                     scene.quantity("early_sum"), scene.quantity("c"),
                     scene.quantity("O"),         scene.quantity("T")};
  scene.assume(j.weight > 0 && j.early_weight >= 0 && j.early_weight + j.weight <= j.all);
  scene.assume(j.vruntime <= j.deadline && j.longest >= 0 && j.overshoots >= 0);
  return j;
}

Exact bound(const Waiting& j) {
  return greatest<Exact>(j.all * j.vruntime - j.sum, 0) + j.longest +
         (j.all - j.weight) * (j.deadline - j.vruntime) + j.overshoots;
}

void after_late_pick(Scene& scene, bool ineligible) {
  const Waiting j = waiting(scene);
  const Exact first = scene.quantity("T_1");
  const Exact average = scene.quantity("V_1");
  scene.assume(first >= 0 && average * j.all == j.sum + first);
  const Sums<Symbols> sums = {Point(), Number((j.sum + first).term()), Number(j.all.term())};
  scene.assume(!eligible(sums, Point(j.vruntime.term())));
  if (ineligible) scene.assume(j.early_sum >= j.early_weight * average);
  scene.assume(j.time <=
               first + j.longest + (j.early_weight * j.deadline - j.early_sum) + j.overshoots);
  const Exact behind = j.vruntime - average;
  const Exact request = j.deadline - j.vruntime;
  if (ineligible) {
    scene.lemma(behind > 0, "V_1 < v_j");
    scene.lemma((j.all - j.early_weight) * behind >= 0, "(W - W_early)(v_j - V_1) >= 0");
    scene.lemma(j.early_weight * request <= (j.all - j.weight) * request, "W_early <= W - w_j");
  }
  scene.claim(j.time <= bound(j), "T within");
}

void without_late_pick(Scene& scene, bool slack) {
  const Waiting j = waiting(scene);
  const Exact late_weight = j.all - j.weight - j.early_weight;
  const Exact late_sum = j.sum - j.weight * j.vruntime - j.early_sum;
  if (slack) scene.assume(late_sum - late_weight * j.deadline <= 0);
  scene.assume(j.time <= j.longest + (j.early_weight * j.deadline - j.early_sum) + j.overshoots);
  scene.claim(j.time <= bound(j), "T within");
}

// w_j T <= (W - w_j)(2 r_j + o_j) + w_j (c + O)
void by_requests(Scene& scene, bool after_a_run) {
  const Waiting j = waiting(scene);
  const Exact overshoot = scene.quantity("o_j");
  const Exact unused = scene.quantity("unused");
  const Exact left = scene.quantity("left");
  const Exact others = j.all - j.weight;
  scene.assume(unused >= 0 && overshoot >= 0);
  const Exact request = j.weight * (j.deadline - j.vruntime) + unused;  // r_j
  scene.lemma(others * unused >= 0, "the others' share of the request");
  const Exact share = others * (j.deadline - j.vruntime);
  // How far j is ahead of V, in time: W (v_j - V)^+ = (-W l_j / w_j)^+.
  const Exact reached = j.all * j.vruntime - j.sum;
  const Exact run = scene.quantity("run");  // The longest of j.
  scene.assume(run == request + overshoot);
  scene.lemma(j.weight * (j.deadline - j.vruntime) >= 0, "the request is not negative");
  scene.lemma(run >= 0, "nor is a run");
  scene.lemma(others * run >= 0, "what it may owe");
  if (after_a_run) scene.assume(j.weight * reached <= others * run);
  scene.assume(j.time <= bound(j));
  const Exact ahead = reached > 0 ? reached : Exact(0);
  scene.assume(left == ahead + share + j.longest + j.overshoots - j.time);
  scene.lemma(left >= 0, "T within");
  scene.lemma(j.weight * left >= 0, "w_j T within");
  scene.claim(j.weight * j.time <=
                  others * (request + request + overshoot) + j.weight * (j.longest + j.overshoots),
              "w_j T within what requests say");
}

void waiting_raises(Scene& scene, std::int64_t sign) {
  const Exact weight = scene.quantity("w_k");
  const Exact all = scene.quantity("W");
  const Exact sum = scene.quantity("A");
  const Exact vruntime = scene.quantity("v_k");
  const Exact service = scene.quantity("service");
  scene.assume(weight > 0 && all >= weight && service >= 0);
  const auto owed = [&](const Exact& a) { return weight * (a - all * vruntime); };
  scene.claim(owed(sum + Exact(sign) * service) >= owed(sum), "W l_k does not fall");
}

void others_owe(Scene& scene, bool bounded) {
  Sums<Symbols> others = {Point(), scene.number("others_sum"), scene.number("others_weight")};
  const Number weight = scene.number("w_j");
  const Point vruntime = scene.point("v_j");
  const Exact most = scene.quantity("S");
  const Number time = scene.number("T");
  scene.assume(others.sum_weight > 0 && weight > 0 && time >= 0);
  const auto owed = [&](const Sums<Symbols>& rest) {  // W l_j
    Sums<Symbols> all = rest;
    all.add(vruntime, weight);
    return exact(weight) *
           (exact(all.sum_w_vruntime) - exact(all.key(vruntime)) * exact(all.sum_weight));
  };
  const Exact at_first = owed(others);
  const Exact all_weight = exact(others.sum_weight) + exact(weight);
  others.sum_w_vruntime += time;
  // sum_others(w_k (v_k - V)) <= S, with V W == A.
  const Exact average = scene.quantity("V");
  scene.assume(average * all_weight ==
               exact(others.sum_w_vruntime) + exact(weight) * exact(others.key(vruntime)));
  if (bounded) {
    scene.assume(exact(others.sum_w_vruntime) - average * exact(others.sum_weight) <= most);
  }
  scene.lemma(owed(others) == at_first + exact(weight) * exact(time), "l_j grows by w_j / W");
  scene.lemma(exact(weight) * (average - exact(others.key(vruntime))) ==
                  exact(others.sum_w_vruntime) - average * exact(others.sum_weight),
              "l_j is what the others owe");
  if (bounded) {
    scene.lemma(
        all_weight * (exact(weight) * (average - exact(others.key(vruntime)))) <= all_weight * most,
        "W times it");
  }
  scene.claim(owed(others) <= all_weight * most, "l_j <= S");
  scene.claim(exact(weight) * exact(time) <= all_weight * most - at_first,
              "w_j T <= W (S - l_j), l_j when the wait starts");
}

// Three entities of weights 4, 1, 1, in the unit in which w dv = dt; a request is 3, a tick 4.
struct Three {
  Sums<Symbols> sums;
  std::vector<Point> vruntime;
  std::vector<Number> weight;

  Exact owed(std::size_t i) const {  // W l_i
    return exact(weight[i]) *
           (exact(sums.sum_w_vruntime) - exact(sums.key(vruntime[i])) * exact(sums.sum_weight));
  }
};

void lag_is_inductive(Scene& scene) {
  constexpr std::int64_t request = 3;
  constexpr std::int64_t tick = 4;
  Three q = {{}, {}, {Number(4), Number(1), Number(1)}};
  std::vector<Point> deadline;
  for (std::size_t i = 0; i < q.weight.size(); ++i) {
    q.vruntime.push_back(scene.point("v_" + std::to_string(i + 1)));
    deadline.push_back(scene.point("d_" + std::to_string(i + 1)));
    const Exact left = exact(deadline[i], q.vruntime[i]);
    scene.assume(left > 0 && exact(q.weight[i]) * left <= request);
    q.sums.add(q.vruntime[i], q.weight[i]);
  }
  const Exact most = Exact(2 * request + tick) * exact(q.sums.sum_weight);
  const auto limited = [&](std::size_t i) { return -most <= q.owed(i) && q.owed(i) <= most; };
  for (std::size_t i = 0; i < q.weight.size(); ++i) {
    scene.assume(limited(i));
    // The second has the earliest deadline of the eligible.
    scene.assume(!eligible(q.sums, q.vruntime[i]) || exact(deadline[1], deadline[i]) <= 0);
  }
  scene.assume(eligible(q.sums, q.vruntime[1]));
  const Number service = scene.number("service", 0, tick);
  q.sums.remove(q.vruntime[1], q.weight[1]);
  q.vruntime[1] += service;
  q.sums.add(q.vruntime[1], q.weight[1]);
  for (std::size_t i = 0; i < q.weight.size(); ++i) {
    scene.claim(limited(i), "|l_" + std::to_string(i + 1) + "| <= 2 r + q");
  }
}

}  // namespace

std::vector<Goal> wait_goals() {
  constexpr std::string_view fixed = "any n, a fixed set; reals";
  const auto goal = [&](std::string_view name, std::string_view claim, std::string_view source,
                        void (*body)(Scene&), void (*canary)(Scene&)) {
    return Goal{.name = name,
                .claim = claim,
                .source = source,
                .bounds = fixed,
                .theory = Theory::rationals,
                .body = body,
                .canary = canary};
  };
  return {
      goal(
          "wait_after_a_late_pick",
          "If one with d > d_j was picked meanwhile, j waits at most W (v_j - V)^+ + c + "
          "(W - w_j)(d_j - v_j) + O (T3, C1).",
          "theorem T3; pick_eevdf(), 6.12.117", [](Scene& scene) { after_late_pick(scene, true); },
          [](Scene& scene) { after_late_pick(scene, false); }),
      goal(
          "wait_without_a_late_pick",
          "If none was, and the late ones are behind d_j, the same bound holds (T3, C2).",
          "theorem T3; pick_eevdf(), 6.12.117",
          [](Scene& scene) { without_late_pick(scene, true); },
          [](Scene& scene) { without_late_pick(scene, false); }),
      goal(
          "a_wait_is_bounded_by_requests",
          "One that has run waits at most (W / w_j - 1)(2 r_j + o_j) + c + O (T3).",
          "theorem T3; update_deadline(), 6.12.117", [](Scene& scene) { by_requests(scene, true); },
          [](Scene& scene) { by_requests(scene, false); }),
      goal(
          "waiting_raises_the_lag", "While others run, what one is owed does not fall (T5).",
          "theorem T5; update_curr(), 6.12.117", [](Scene& scene) { waiting_raises(scene, 1); },
          [](Scene& scene) { waiting_raises(scene, -1); }),
      goal(
          "lag_is_what_the_others_owe",
          "If the others owe at most S in all, j is owed at most S, and waits at most "
          "(W / w_j)(S - l_j), whoever eligible is picked (T5, D1).",
          "theorem T5; paper, the lags sum to 0", [](Scene& scene) { others_owe(scene, true); },
          [](Scene& scene) { others_owe(scene, false); }),
      {.name = "the_lag_bound_is_inductive",
       .claim = "If all lags are within 2 r + q, then they still are after the earliest eligible "
                "one ran for a tick.",
       .source = "believed of theorem 1 of the paper; N1",
       .bounds = "n = 3, weights 4, 1, 1; r = 3, q = 4, in the unit in which w dv = dt; reals",
       .kind = Kind::falsehood,
       .theory = Theory::rationals,
       .body = lag_is_inductive,
       .no_sequence = "a step from any state; lag_on_the_queue_is_within_two_requests_and_a_tick "
                      "has one from the start"},
  };
}

}  // namespace vlag::smt
