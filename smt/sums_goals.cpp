// SPDX-License-Identifier: GPL-2.0-only
// The sums while entities come and go, for any number of them.
//
// Induction over the entities: the empty queue is the base, and each goal here is the step, that
// one more entity at (v, w) keeps the invariant. The rest of the queue is seen only through its
// sums A = sum(w k), W = sum(w), so over the reals a rest of weight W > 0 is one entity of that
// weight at A / W; that stands for any n.
#include "core/average.h"
#include "smt/goal.h"
#include "spec/invariants.h"

namespace vlag::smt {
namespace {

struct Joining {
  Point vruntime;
  Number weight;
};

Sums<Symbols> any_sums(Scene& scene) {
  Sums<Symbols> sums = {scene.point("zero_vruntime"), scene.number("sum_w_vruntime"),
                        scene.number("sum_weight")};
  scene.assume(sums.sum_weight > 0);
  return sums;
}

Joining joining(Scene& scene) {
  const Joining one = {scene.point("vruntime"), scene.number("weight")};
  scene.assume(one.weight > 0);
  return one;
}

spec::EntityView<Exact> view(const Sums<Symbols>& sums, const Joining& one) {
  return {exact(one.weight), exact(one.vruntime, sums.zero_vruntime), 0};
}

// The rest as one entity.
spec::EntityView<Exact> rest_of(const Sums<Symbols>& sums, Scene& scene) {
  const Exact mean = scene.quantity("mean_key");
  scene.assume(mean * exact(sums.sum_weight) == exact(sums.sum_w_vruntime));
  return {exact(sums.sum_weight), mean, 0};
}

spec::QueueView<Exact> queue(const Sums<Symbols>& sums,
                             std::vector<spec::EntityView<Exact>> timeline) {
  return {exact(sums.sum_w_vruntime), exact(sums.sum_weight), 0, std::move(timeline), {}};
}

void add_keeps(Scene& scene) {
  Sums<Symbols> sums = any_sums(scene);
  const auto rest = rest_of(sums, scene);
  const Joining one = joining(scene);
  sums.add(one.vruntime, one.weight);
  scene.claim(spec::sums_match(queue(sums, {rest, view(sums, one)})), "sums_match");
}

void add_another(Scene& scene) {
  Sums<Symbols> sums = any_sums(scene);
  const auto rest = rest_of(sums, scene);
  const Joining one = joining(scene);
  sums.add(one.vruntime, one.weight + Number(1));
  scene.claim(spec::sums_match(queue(sums, {rest, view(sums, one)})), "sums_match");
}

void remove_keeps(Scene& scene, bool same) {
  Sums<Symbols> sums = any_sums(scene);
  const auto rest = rest_of(sums, scene);
  const Joining one = joining(scene);
  sums.add(one.vruntime, one.weight);
  sums.remove(same ? one.vruntime : one.vruntime + Number(1), one.weight);
  scene.claim(spec::sums_match(queue(sums, {rest})), "sums_match");
}

// Hypothesis: the one with the least key is eligible.
void someone(Scene& scene, bool least_of_both) {
  Sums<Symbols> sums = any_sums(scene);
  const Number first = scene.number("least_key");
  scene.assume(eligible(sums, sums.zero_vruntime + first));
  const Joining one = joining(scene);
  const Number key = sums.key(one.vruntime);
  sums.add(one.vruntime, one.weight);
  scene.claim(eligible(sums, sums.zero_vruntime + (least_of_both ? least(first, key) : key)),
              "the one with the least key is eligible");
}

void alone(Scene& scene, std::int64_t behind) {
  Sums<Symbols> sums;
  sums.zero_vruntime = scene.point("zero_vruntime");
  const Joining one = joining(scene);
  sums.add(one.vruntime, one.weight);
  scene.claim(eligible(sums, one.vruntime + Number(behind)), "the only one is eligible");
}

void someone_of(Scene& scene, bool counted) {
  Sums<Symbols> sums;
  sums.zero_vruntime = scene.point("zero_vruntime");
  std::vector<spec::EntityView<Exact>> timeline;
  for (const char* number : {"_1", "_2", "_3"}) {
    const Joining one = {scene.point(std::string("vruntime") + number),
                         scene.number(std::string("weight") + number)};
    scene.assume(one.weight > 0);
    if (counted) sums.add(one.vruntime, one.weight);
    timeline.push_back(view(sums, one));
  }
  if (!counted) sums = any_sums(scene);
  scene.claim(spec::someone_eligible(queue(sums, timeline)), "someone_eligible");
}

// Hypothesis: the lags from some V sum to W V - A.
void lag_sum(Scene& scene, std::int64_t error) {
  Sums<Symbols> sums = any_sums(scene);
  const Exact average = scene.quantity("average");
  const Exact lags = scene.quantity("lags");
  scene.assume(lags == average * exact(sums.sum_weight) - exact(sums.sum_w_vruntime));
  const Joining one = joining(scene);
  const auto entity = view(sums, one);
  sums.add(one.vruntime, one.weight);
  scene.claim(lags + entity.weight * (average - entity.vruntime) + error ==
                  average * exact(sums.sum_weight) - exact(sums.sum_w_vruntime),
              "sum(w (V - v)) == W V - A");
}

void rebased(Scene& scene, bool with_sums) {
  const Sums<Symbols> before = any_sums(scene);
  const Number delta = scene.number("delta");
  const Point vruntime = scene.point("vruntime");
  Sums<Symbols> after = before;
  if (with_sums) {
    after.rebase(delta);
  } else {
    after.zero_vruntime += delta;
  }
  scene.claim(iff(eligible(before, vruntime), eligible(after, vruntime)), "the same are eligible");
  // A' / W + v0' == A / W + v0, multiplied by W.
  scene.claim(exact(after.sum_w_vruntime) +
                      exact(after.zero_vruntime, before.zero_vruntime) * exact(before.sum_weight) ==
                  exact(before.sum_w_vruntime),
              "V is the same");
}

void rebase_keeps(Scene& scene, bool with_sums) {
  Sums<Symbols> sums = any_sums(scene);
  const auto rest = rest_of(sums, scene);
  const Number delta = scene.number("delta");
  if (with_sums) {
    sums.rebase(delta);
  } else {
    sums.zero_vruntime += delta;
  }
  const spec::EntityView<Exact> moved = {rest.weight, rest.vruntime - exact(delta), 0};
  scene.claim(spec::sums_match(queue(sums, {moved})), "sums_match");
}

void rebased_floor(Scene& scene, bool with_sums) {
  constexpr std::int64_t sum_max = std::int64_t{1} << 61;
  const Sums<Symbols> before = {scene.point("zero_vruntime"),
                                scene.number("sum_w_vruntime", -sum_max, sum_max),
                                scene.number("sum_weight", 1, INT32_MAX)};
  const Number delta = scene.number("delta");
  const Exact moved = exact(delta) * exact(before.sum_weight);
  scene.assume(-Exact(sum_max) <= moved && moved <= Exact(sum_max));
  Sums<Symbols> after = before;
  if (with_sums) {
    after.rebase(delta);
  } else {
    after.zero_vruntime += delta;
  }
  const Number key_before = average_key(before, AverageRounding::floor);
  const Number key_after = average_key(after, AverageRounding::floor);
  scene.claim(key_after + delta == key_before, "floor(V) is the same");
}

}  // namespace

std::vector<Goal> sums_goals() {
  constexpr std::string_view add_source = "avg_vruntime_add(), avg_vruntime_sub(), 6.12.117";
  constexpr std::string_view rebase_source = "avg_vruntime_update(), 6.12.117; b3d99f43c72b";
  constexpr std::string_view any = "any n, by induction over the sums; any weights > 0; reals";
  return {
      {.name = "add_keeps_sums_match",
       .claim = "When an entity joins, the cached sums equal what they cache.",
       .source = add_source,
       .bounds = any,
       .theory = Theory::reals,
       .body = add_keeps,
       .canary = add_another},
      {.name = "remove_keeps_sums_match",
       .claim = "When an entity leaves, the cached sums equal what they cache.",
       .source = add_source,
       .bounds = any,
       .theory = Theory::reals,
       .body = [](Scene& scene) { remove_keeps(scene, true); },
       .canary = [](Scene& scene) { remove_keeps(scene, false); }},
      {.name = "rebase_keeps_sums_match",
       .claim = "When v_0 moves, the cached sums equal what they cache.",
       .source = rebase_source,
       .bounds = any,
       .theory = Theory::reals,
       .body = [](Scene& scene) { rebase_keeps(scene, true); },
       .canary = [](Scene& scene) { rebase_keeps(scene, false); }},
      {.name = "the_only_one_is_eligible",
       .claim = "An entity that is alone is eligible (base of the induction).",
       .source = "vruntime_eligible(), 6.12.117",
       .bounds = "n = 1; any weight > 0; reals",
       .theory = Theory::reals,
       .body = [](Scene& scene) { alone(scene, 0); },
       .canary = [](Scene& scene) { alone(scene, 1); }},
      {.name = "someone_is_eligible",
       .claim =
           "If the entity with the least vruntime is eligible, it still is, or the newcomer is, "
           "after any entity joins (step of the induction).",
       .source = "paper, Lemma 1; vruntime_eligible(), 6.12.117",
       .bounds = any,
       .theory = Theory::reals,
       .body = [](Scene& scene) { someone(scene, true); },
       .canary = [](Scene& scene) { someone(scene, false); }},
      {.name = "someone_is_eligible_of_three",
       .claim = "Of three entities one is eligible by the cached sums.",
       .source = "paper, Lemma 1; vruntime_eligible(), 6.12.117",
       .bounds = "n = 3; any weights > 0; reals",
       .kind = Kind::bounded,
       .theory = Theory::reals,
       .body = [](Scene& scene) { someone_of(scene, true); },
       .canary = [](Scene& scene) { someone_of(scene, false); }},
      {.name = "lag_sum_is_of_the_sums",
       .claim = "The lags, measured from any V, sum to W V - A: every entity that joins keeps that "
                "(step of the induction; lag_sum_is_in_range goes on).",
       .source = "avg_vruntime_add(), 6.12.117",
       .bounds = any,
       .theory = Theory::reals,
       .body = [](Scene& scene) { lag_sum(scene, 0); },
       .canary = [](Scene& scene) { lag_sum(scene, 1); }},
      {.name = "rebase_is_not_observable",
       .claim = "Moving v_0 changes neither V nor who is eligible.",
       .source = rebase_source,
       .bounds = any,
       .theory = Theory::reals,
       .body = [](Scene& scene) { rebased(scene, true); },
       .canary = [](Scene& scene) { rebased(scene, false); }},
      {.name = "rebase_keeps_the_floor",
       .claim = "Moving v_0 does not change V as it is rounded.",
       .source = rebase_source,
       .bounds = "any n; |sum_w_vruntime|, |delta| W <= 2^61, 1 <= W < 2^31",
       .theory = Theory::integers,
       .body = [](Scene& scene) { rebased_floor(scene, true); },
       .canary = [](Scene& scene) { rebased_floor(scene, false); }},
  };
}

}  // namespace vlag::smt
