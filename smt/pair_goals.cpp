// SPDX-License-Identifier: GPL-2.0-only
// The pairwise cap (spec/README.md): how far others can get ahead of one that waits. Any n, any
// joins and leaves of others: the argument does not say how V got its value, so the sums are
// arbitrary.
//
// j waits and k is picked. Picking says: k is eligible, and j is not, or its deadline is not
// earlier. One run of k ends at most O_k after its deadline, which is at most R_k = r_k / w_k after
// v_k. Between two runs v_k changes only by placement, which starts the pair anew; so the cap holds
// after each run, by induction over the runs.
#include "core/average.h"
#include "smt/goal.h"

namespace vlag::smt {
namespace {

struct Pair {
  Exact vk, dk, request, overshoot, end;  // k: picked at vk, runs to `end`.
  Exact vj, dj;
};

// All virtual times relative to v0.
Pair picked(Scene& scene, bool k_is_eligible = true, bool earliest = true) {
  const Sums<Symbols> sums = {scene.point("zero_vruntime"), scene.number("sum_w_vruntime"),
                              scene.number("sum_weight")};
  scene.assume(sums.sum_weight > 0);
  const Pair p = {scene.quantity("v_k"),       scene.quantity("d_k"),
                  scene.quantity("request_k"), scene.quantity("overshoot_k"),
                  scene.quantity("end_k"),     scene.quantity("v_j"),
                  scene.quantity("d_j")};
  const auto is_eligible = [&](const Exact& key) {
    return eligible(sums, sums.zero_vruntime + Number(key.term()));
  };
  if (k_is_eligible) scene.assume(is_eligible(p.vk));
  if (earliest) scene.assume(!is_eligible(p.vj) || p.dk <= p.dj);
  scene.assume(p.request >= 0 && p.overshoot >= 0);
  scene.assume(p.dk <= p.vk + p.request && p.end <= p.dk + p.overshoot);
  return p;
}

void capped(Scene& scene, bool k_is_eligible) {
  const Pair p = picked(scene, k_is_eligible);
  scene.claim(p.end <= greatest(p.dj, p.vj + p.request) + p.overshoot,
              "v_k <= max(d_j, v_j + R_k) + O_k");
}

void never_picked(Scene& scene, bool k_is_eligible) {
  const Pair p = picked(scene, k_is_eligible);
  scene.claim(!(p.vk >= p.vj && p.dk > p.dj), "not both behind in service and later");
}

void capped_when_ahead(Scene& scene, bool ahead) {
  const Pair p = picked(scene);
  if (ahead) scene.assume(p.vk >= p.vj);
  scene.claim(p.end <= p.dj + p.overshoot, "v_k <= d_j + O_k");
}

// While j waits, w_k (cap - v_k) pays for each ns that k runs.
void budget(Scene& scene, bool within) {
  const Exact weight = scene.quantity("w_k");
  const Exact before_run = scene.quantity("v_k");
  const Exact after_run = scene.quantity("end_k");
  const Exact cap = scene.quantity("cap");
  const Exact service = scene.quantity("service");
  const auto left = [&](const Exact& v) { return weight * greatest<Exact>(cap - v, 0); };
  scene.assume(weight > 0 && service >= 0);
  scene.assume(weight * (after_run - before_run) == service);
  if (within) scene.assume(after_run <= cap);
  scene.claim(left(after_run) == left(before_run) - service, "the budget pays exactly");
}

// T7: with the cap both ways at both ends, service differs by no more than both caps.
void fair(Scene& scene, bool both) {
  const Exact i1 = scene.quantity("v_i_first");
  const Exact i2 = scene.quantity("v_i_last");
  const Exact j1 = scene.quantity("v_j_first");
  const Exact j2 = scene.quantity("v_j_last");
  const Exact cap_i = scene.quantity("cap_ij");
  const Exact cap_j = scene.quantity("cap_ji");
  if (both) scene.assume(j1 - i1 <= cap_j);
  scene.assume(i2 - j2 <= cap_i);
  scene.claim((i2 - i1) - (j2 - j1) <= cap_i + cap_j, "S_i / w_i - S_j / w_j <= cap_ij + cap_ji");
}

}  // namespace

std::vector<Goal> pair_goals() {
  constexpr std::string_view source = "pick_eevdf(), update_deadline(), 6.12.117";
  constexpr std::string_view bounds =
      "any n, any joins and leaves of others; no buddy, k not running when the wait starts; reals";
  return {
      {.name = "a_run_ends_within_the_pair_cap",
       .claim = "While j waits, a run of k ends at most at max(d_j, v_j + r_k / w_k) plus what k "
                "overruns (T1).",
       .source = source,
       .bounds = bounds,
       .theory = Theory::rationals,
       .body = [](Scene& scene) { capped(scene, true); },
       .canary = [](Scene& scene) { capped(scene, false); }},
      {.name = "the_later_and_ahead_is_not_picked",
       .claim =
           "While j waits, k is not picked if it is ahead of j and its deadline is later (T1).",
       .source = source,
       .bounds = bounds,
       .theory = Theory::rationals,
       .body = [](Scene& scene) { never_picked(scene, true); },
       .canary = [](Scene& scene) { never_picked(scene, false); }},
      {.name = "a_run_from_ahead_ends_by_the_deadline_of_the_other",
       .claim = "While j waits, a run of k that starts ahead of j ends at most at d_j plus what k "
                "overruns (T1).",
       .source = source,
       .bounds = bounds,
       .theory = Theory::rationals,
       .body = [](Scene& scene) { capped_when_ahead(scene, true); },
       .canary = [](Scene& scene) { capped_when_ahead(scene, false); }},
      {.name = "a_run_is_paid_from_the_wait_budget",
       .claim =
           "A run within the cap lowers w_k (cap - v_k)^+ by exactly its length: the time that j "
           "waits is at most the sum of these budgets (T2).",
       .source = "theorem T2; update_curr(), 6.12.117",
       .bounds = "any n; reals",
       .theory = Theory::rationals,
       .body = [](Scene& scene) { budget(scene, true); },
       .canary = [](Scene& scene) { budget(scene, false); }},
      {.name = "a_queued_pair_is_served_fairly",
       .claim =
           "Two that stay queued get service, by weight, that differs by no more than both pair "
           "caps (T7).",
       .source = "theorem T7",
       .bounds = "any n, any joins and leaves of others; neither is placed anew; reals",
       .theory = Theory::rationals,
       .body = [](Scene& scene) { fair(scene, true); },
       .canary = [](Scene& scene) { fair(scene, false); }},
  };
}

}  // namespace vlag::smt
