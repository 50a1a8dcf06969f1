// SPDX-License-Identifier: GPL-2.0-only
// Placing keeps the lag. With the quotient equations A = W V + e and l (W + w) = W t + r, an entity
// placed at v = V - t leaves the sums with
//
//   A' - (v + l) W' = A - v W - l (W + w) = e - r      -W < e - r < 2 W
//
// which is an identity over the reals, so it holds for any queue.
#include "core/average.h"
#include "core/lag.h"
#include "core/placement.h"
#include "core/slice.h"
#include "smt/goal.h"
#include "spec/invariants.h"

namespace vlag::smt {
namespace {

void placed(Scene& scene, bool inflated) {
  Sums<Symbols> sums = {scene.point("zero_vruntime"), scene.number("sum_w_vruntime"),
                        scene.number("sum_weight")};
  const Number weight = scene.number("weight");
  const Number lag = scene.number("lag");
  scene.assume(sums.sum_weight >= 1 && weight >= 1);
  const Number place = inflated ? inflated_lag<Symbols>(lag, sums.sum_weight, weight) : lag;
  const Point vruntime = sums.zero_vruntime + average_key(sums, AverageRounding::floor) - place;
  sums.add(vruntime, weight);
  scene.claim(spec::placement_keeps_lag<Exact>(exact(sums.sum_w_vruntime), exact(sums.sum_weight),
                                               exact(vruntime, sums.zero_vruntime), exact(lag)),
              "placement_keeps_lag");
}

// The load up to which a saved lag within its limit can be inflated in 64 bits.
constexpr std::int64_t load_max = std::int64_t{1} << 27;

// 1024 max(2 r, tick) / w, to 10^-8 and one unit: what lag_limit() is at most.
std::int64_t most_lag(std::int64_t weight) { return (2 * slice_max + 2) * 1024 / weight + 1; }

void limit_known(Scene& scene, std::int64_t less) {
  const Number slice = scene.number("slice", slice_min, slice_max);
  const Number tick = scene.number("tick", 1'000'000, 10'000'000);
  const Number limit = lag_limit<Symbols>(slice, tick, scene.weight());
  scene.claim(limit <= most_lag(scene.weight().down().value) - less, "the limit is at most that");
}

void inflation_fits(Scene& scene, std::int64_t most) {
  const Number weight = scene.weight().down().value;
  const std::int64_t most_now = most_lag(scene.weight().down().value);
  const Number lag = scene.number("lag", -most_now, most_now);
  const Number load = scene.number("load", 1, most - scene.weight().down().value);
  scene.claim(spec::fits_in_word<Exact>(exact(lag) * (exact(load) + exact(weight))),
              "fits_in_word");
  inflated_lag<Symbols>(lag, load, weight);
}

void inflation_inflates(Scene& scene, std::int64_t by) {
  const Number lag = scene.number("lag", -(std::int64_t{1} << 37), std::int64_t{1} << 37);
  const Number load = scene.number("load", 1, std::int64_t{1} << 25);
  const Number weight = scene.number("weight", 1, 88761);
  const Number inflated = inflated_lag<Symbols>(lag, load, weight);
  scene.claim(implies(lag >= 0, inflated >= lag + Number(by)), "not less than it was");
  scene.claim(implies(lag <= 0, inflated <= lag - Number(by)), "nor greater, if it was negative");
}

void half(Scene& scene, std::int64_t least) {
  const Number request = scene.number("request", least, std::int64_t{1} << 62);
  const Number initial = initial_request<Symbols>(request);
  scene.claim(initial > 0 && initial < request, "shorter than the whole");
}

}  // namespace

std::vector<Goal> placement_goals() {
  constexpr std::string_view source = "place_entity(), 6.12.117";
  return {
      {.name = "placement_keeps_lag",
       .claim =
           "An entity that joins with a saved lag has that lag afterwards, to the rounding of V "
           "and of the inflation: V' - v is in (l - 1, l + 2).",
       .source = source,
       .bounds = "any n; any weights >= 1; reals",
       .theory = Theory::reals,
       .body = [](Scene& scene) { placed(scene, true); },
       .canary = [](Scene& scene) { placed(scene, false); }},
      {.name = "lag_limit_is_known",
       .claim = "The limit of the saved lag is at most that of the longest request.",
       .source = "entity_lag(), 6.12.117",
       .bounds = "40 nice levels and SCHED_IDLE; request 100 us .. 100 ms; tick 1 .. 10 ms",
       .theory = Theory::integers,
       .each_weight = true,
       .body = [](Scene& scene) { limit_known(scene, 0); },
       .canary = [](Scene& scene) { limit_known(scene, 100); }},
      {.name = "placement_does_not_overflow",
       .claim =
           "Inflating a saved lag that is within its limit (lag_limit_is_known) fits in 64 bits.",
       .source = source,
       .bounds =
           "40 nice levels and SCHED_IDLE; any n with W + w <= 2^27 (1,512 tasks of nice -20); "
           "request 100 us .. 100 ms; tick 1 .. 10 ms",
       .theory = Theory::integers,
       .each_weight = true,
       .body = [](Scene& scene) { inflation_fits(scene, load_max); },
       .canary = [](Scene& scene) { inflation_fits(scene, INT32_MAX); }},
      {.name = "inflation_never_shrinks_the_lag",
       .claim =
           "What an entity is placed with is at least the lag that it brought, on its side of 0.",
       .source = source,
       .bounds = "|lag| <= 2^37, 1 <= W <= 2^25, 1 <= w <= 88761",
       .theory = Theory::integers,
       .body = [](Scene& scene) { inflation_inflates(scene, 0); },
       .canary = [](Scene& scene) { inflation_inflates(scene, 1); }},
      {.name = "initial_request_is_shorter",
       .claim = "The first request of a forked task is shorter than a whole one, and not empty.",
       .source = source,
       .bounds = "2 <= request <= 2^62",
       .theory = Theory::integers,
       .body = [](Scene& scene) { half(scene, 2); },
       .canary = [](Scene& scene) { half(scene, 1); }},
  };
}

}  // namespace vlag::smt
