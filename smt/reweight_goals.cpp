// SPDX-License-Identifier: GPL-2.0-only
#include "core/reweight.h"
#include "core/weight.h"
#include "smt/goal.h"

namespace vlag::smt {
namespace {

constexpr auto load_max = static_cast<std::int64_t>(nice_weight(nice_min).load);
constexpr auto load_min = static_cast<std::int64_t>(idle_weight().load);
// More than any lag within its limit is worth: 2^38 ns of service (owed_service_is_limited),
// scaled.
constexpr std::int64_t owed_max = std::int64_t{1} << 48;

struct Reweighted {
  Number load;
  Number new_load;
  Number vlag;
  Number result;
};

Reweighted reweighted(Scene& scene) {
  const Number load = scene.number("load", load_min, load_max);
  const Number new_load = scene.number("new_load", load_min, load_max);
  const Number vlag = scene.number("vlag");
  const Exact owed = exact(vlag) * exact(load);
  scene.assume(-Exact(owed_max) <= owed && owed <= Exact(owed_max));
  return {load, new_load, vlag, reweighted_lag<Symbols>(vlag, load, new_load)};
}

void keeps_owed(Scene& scene) {
  const Reweighted one = reweighted(scene);
  const Exact error = exact(one.result) * exact(one.new_load) - exact(one.vlag) * exact(one.load);
  const Exact unit = exact(one.new_load);
  scene.claim(-unit < error && error < unit, "|w' vlag' - w vlag| < w'");
  scene.claim(implies(one.vlag >= 0, one.result >= 0) && implies(one.vlag <= 0, one.result <= 0),
              "its sign is kept");
}

void keeps_owed_exactly(Scene& scene) {
  const Reweighted one = reweighted(scene);
  scene.claim(exact(one.result) * exact(one.new_load) == exact(one.vlag) * exact(one.load),
              "nothing is rounded");
}

void returns(Scene& scene, std::int64_t most) {
  const Reweighted one = reweighted(scene);
  const Number back = reweighted_lag<Symbols>(one.result, one.new_load, one.load);
  const Exact lost = (exact(one.vlag) - exact(back)) * exact(one.load);
  const Exact unit = exact(one.new_load) + exact(one.load);
  scene.claim(-unit * most < lost && lost < unit * most, "there and back");
}

}  // namespace

std::vector<Goal> reweight_goals() {
  constexpr std::string_view source = "reweight_entity() off the queue, 6.12.117";
  constexpr std::string_view bounds =
      "any two loads from SCHED_IDLE to nice -20; w |vlag| <= 2^38 ns of service";
  return {
      {.name = "reweight_keeps_owed_service",
       .claim = "A change of weight keeps w vlag to less than w', and its sign.",
       .source = source,
       .bounds = bounds,
       .theory = Theory::integers,
       .body = keeps_owed,
       .canary = keeps_owed_exactly},
      {.name = "reweight_there_and_back_loses_less_than_both_weights",
       .claim = "A change of weight that is taken back loses less than w + w' of w vlag.",
       .source = source,
       .bounds = bounds,
       .theory = Theory::integers,
       .body = [](Scene& scene) { returns(scene, 1); },
       .canary = [](Scene& scene) { returns(scene, 0); }},
  };
}

}  // namespace vlag::smt
