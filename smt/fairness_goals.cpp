// SPDX-License-Identifier: GPL-2.0-only
// Lag on a fixed set, and the spread of vruntimes under joins. Any n: the entities enter through
// sums over those with d <= D ("early", weight WB, sum of w v PB) and the others ("late", WN, PN).
//
// T4, upper bound. F_D = sum(w_i (v_i - D)) over the late ones. Picking a late one says that all
// early ones are ineligible, hence V < D and F_D < 0 (late_pick_means_slack). After that F_D grows
// only by that one run, and by at most o_i for each early one whose renewed deadline is late
// (a_renewal_adds_its_overshoot). So F_D <= max(r_k + o_k) + sum(o_i) for each D >= min(d_i), by
// induction over the runs, and the lag of j follows with D = d_j (lag_is_bounded_by_late_service).
#include "core/average.h"
#include "core/placement.h"
#include "smt/goal.h"

namespace vlag::smt {
namespace {

// V W == A, for the sums of the whole queue.
Exact average_of(Scene& scene, const Exact& weight, const Exact& sum) {
  const Exact average = scene.quantity("V");
  scene.assume(average * weight == sum);
  return average;
}

void late_pick(Scene& scene, bool ineligible) {
  const Exact early_weight = scene.quantity("early_weight");
  const Exact late_weight = scene.quantity("late_weight");
  const Exact early_sum = scene.quantity("early_sum");
  const Exact late_sum = scene.quantity("late_sum");
  const Exact deadline = scene.quantity("D");
  scene.assume(early_weight > 0 && late_weight > 0);
  const Exact average = average_of(scene, early_weight + late_weight, early_sum + late_sum);
  if (ineligible) scene.assume(early_sum > early_weight * average);
  scene.assume(early_sum <= early_weight * deadline);
  scene.claim(average < deadline, "V < D");
  scene.claim(late_sum - late_weight * deadline < 0, "F_D < 0");
}

void renewal(Scene& scene, bool was_early) {
  const Exact before = scene.quantity("F");
  const Exact weight = scene.quantity("w_i");
  const Exact reached = scene.quantity("v_i");
  const Exact old_deadline = scene.quantity("d_i");
  const Exact deadline = scene.quantity("D");
  const Exact overshoot = scene.quantity("o_i");
  scene.assume(weight > 0 && overshoot >= 0);
  scene.assume(weight * (reached - old_deadline) <= overshoot);
  if (was_early) scene.assume(old_deadline <= deadline);
  scene.claim(before + weight * (reached - deadline) <= before + overshoot, "F_D' <= F_D + o_i");
}

void lag_from_late(Scene& scene, bool bounded) {
  const Exact weight = scene.quantity("w_j");
  const Exact vruntime = scene.quantity("v_j");
  const Exact request = scene.quantity("r_j");
  const Exact deadline = scene.quantity("d_j");
  const Exact early_weight = scene.quantity("early_weight");
  const Exact early_sum = scene.quantity("early_sum");
  const Exact late_weight = scene.quantity("late_weight");
  const Exact late_sum = scene.quantity("late_sum");
  const Exact most = scene.quantity("F_max");
  scene.assume(weight > 0 && early_weight >= 0 && late_weight >= 0 && most >= 0);
  const Exact all = weight + early_weight + late_weight;
  const Exact sum = weight * vruntime + early_sum + late_sum;
  scene.assume(early_sum <= early_weight * deadline);
  scene.assume(weight * (deadline - vruntime) <= request);
  if (bounded) scene.assume(late_sum - late_weight * deadline <= most);
  // W lag_j = w_j (W V - W v_j), without a V that would have to be divided out.
  scene.lemma(sum - all * deadline <= most - weight * (deadline - vruntime), "W (V - d_j) bounded");
  scene.lemma(sum - all * vruntime <= most + (all - weight) * (deadline - vruntime),
              "W (V - v_j) bounded");
  scene.lemma((all - weight) * (weight * (deadline - vruntime)) <= (all - weight) * request,
              "the others' share of the request");
  scene.claim(weight * (sum - all * vruntime) <= (all - weight) * request + weight * most,
              "W l_j <= (W - w_j) r_j + w_j F_max");
}

void lower(Scene& scene, bool was_eligible) {
  const Exact weight = scene.quantity("w_k");
  const Exact all = scene.quantity("W");
  const Exact sum = scene.quantity("A");
  const Exact vruntime = scene.quantity("v_k");
  const Exact reached = scene.quantity("end_k");
  const Exact service = scene.quantity("service");
  scene.assume(weight > 0 && all >= weight && service >= 0);
  const Sums<Symbols> sums = {Point(), Number(sum.term()), Number(all.term())};
  if (was_eligible) scene.assume(eligible(sums, Point(vruntime.term())));
  scene.assume(weight * (reached - vruntime) == service);
  // W l_k = w_k (A' - W v_k'), where A' = A + service.
  scene.claim(weight * (sum + service - all * reached) >= -(all - weight) * service,
              "W l_k >= -(W - w_k) service");
}

void join_keeps_spread(Scene& scene, std::int64_t sign) {
  const Exact most = scene.quantity("max_v");
  const Exact least_v = scene.quantity("min_v");
  const Exact average = scene.quantity("V");
  const Exact lag = scene.quantity("placed_lag");
  const Exact spread = scene.quantity("spread");
  scene.assume(least_v <= average && average <= most && most - least_v <= spread);
  scene.assume(Exact(sign) * lag >= 0);
  const Exact vruntime = average - lag;
  scene.claim(vruntime <= most, "not beyond the furthest");
  scene.claim(most - vruntime <= spread + greatest<Exact>(lag, 0), "no further back than its lag");
}

// u is queued; the one that joins brings a saved lag in [0, L]; X >= L W_max / w_u.
void saved_lag_spread(Scene& scene, bool limited) {
  const Exact u = scene.quantity("v_u");
  const Exact least_v = scene.quantity("min_v");
  const Exact room = scene.quantity("room");  // X - (v_u - min_v)
  const Exact bound = u - least_v + room;
  const Exact weight_u = scene.quantity("w_u");
  const Exact limit = scene.quantity("L");
  const Exact most_weight = scene.quantity("W_max");
  const Sums<Symbols> rest = {Point(), scene.number("A"), scene.number("W")};
  const Number weight = scene.number("w");
  const Number lag = scene.number("lag");
  const Exact load = exact(rest.sum_weight);
  scene.assume(weight_u > 0 && load >= weight_u && weight > 0);
  scene.assume(load + exact(weight) <= most_weight);
  scene.assume(least_v <= u && room >= 0 && limit >= 0);
  scene.lemma((load - weight_u) * room >= 0, "(W - w_u) X >= (W - w_u)(v_u - min_v)");
  scene.assume(exact(rest.sum_w_vruntime) >= weight_u * u + (load - weight_u) * least_v);
  scene.assume(lag >= 0);
  if (limited) {
    scene.assume(exact(lag) <= limit && weight_u * bound >= limit * most_weight);
  }
  const Number average = average_key(rest, AverageRounding::truncate);  // Exact here.
  const Number inflated = inflated_lag<Symbols>(lag, rest.sum_weight, weight);
  if (limited) {
    scene.lemma(exact(lag) * (load + exact(weight)) <= limit * most_weight, "l (W + w) <= L W_max");
    scene.lemma(load * u - exact(rest.sum_w_vruntime) <= (load - weight_u) * bound,
                "W (u - V) <= (W - w_u) X");
  }
  scene.claim(load * (u - exact(average) + exact(inflated)) <= load * bound, "v_u - v <= X");
}

}  // namespace

std::vector<Goal> fairness_goals() {
  constexpr std::string_view fixed = "any n, a fixed set; reals";
  return {
      {.name = "a_late_pick_means_slack",
       .claim = "If one with d > D is picked, then V < D, and the late ones are behind D (T4, A1).",
       .source = "theorem T4; pick_eevdf(), 6.12.117",
       .bounds = fixed,
       .theory = Theory::rationals,
       .body = [](Scene& scene) { late_pick(scene, true); },
       .canary = [](Scene& scene) { late_pick(scene, false); }},
      {.name = "a_renewal_adds_its_overshoot",
       .claim =
           "One whose renewed deadline becomes late adds at most what it overran to F_D (T4, A2).",
       .source = "theorem T4; update_deadline(), 6.12.117",
       .bounds = fixed,
       .theory = Theory::rationals,
       .body = [](Scene& scene) { renewal(scene, true); },
       .canary = [](Scene& scene) { renewal(scene, false); }},
      {.name = "lag_is_bounded_by_late_service",
       .claim = "W l_j <= (W - w_j) r_j + w_j F_max: nobody is owed more than its request and what "
                "late ones ran (T4, A3).",
       .source = "theorem T4",
       .bounds = fixed,
       .theory = Theory::rationals,
       .body = [](Scene& scene) { lag_from_late(scene, true); },
       .canary = [](Scene& scene) { lag_from_late(scene, false); }},
      {.name = "lag_after_a_run_is_bounded_below",
       .claim = "One that is picked eligible and runs for c owes at most (1 - w_k / W) c (T4, A4).",
       .source = "theorem T4; vruntime_eligible(), 6.12.117",
       .bounds = fixed,
       .theory = Theory::rationals,
       .body = [](Scene& scene) { lower(scene, true); },
       .canary = [](Scene& scene) { lower(scene, false); }},
      {.name = "a_join_widens_the_spread_by_its_lag",
       .claim =
           "One that joins with a lag that is not negative is not beyond the furthest, and not "
           "further back than its lag (T6, B4).",
       .source = "theorem T6; place_entity(), 6.12.117",
       .bounds = "any n; reals",
       .theory = Theory::rationals,
       .body = [](Scene& scene) { join_keeps_spread(scene, 1); },
       .canary = [](Scene& scene) { join_keeps_spread(scene, -1); }},
      {.name = "saved_lags_keep_the_spread",
       .claim = "While saved lags are in [0, L], nobody is further behind u than "
                "X = L W_max / w_u (T6, E1).",
       .source = "theorem T6; place_entity(), 6.12.117",
       .bounds = "any n, any leaves; reals",
       .theory = Theory::rationals,
       .body = [](Scene& scene) { saved_lag_spread(scene, true); },
       .canary = [](Scene& scene) { saved_lag_spread(scene, false); }},
  };
}

}  // namespace vlag::smt
