// SPDX-License-Identifier: GPL-2.0-only
// calc_delta_fair() for each weight of the table: with the weight known, only a product with a
// constant and a shift are symbolic, which is linear.
#include "core/weight.h"
#include "smt/goal.h"
#include "spec/invariants.h"

namespace vlag::smt {
namespace {

constexpr std::int64_t delta_max = std::int64_t{1} << 53;

Number charged(const Number& delta) {
  return calc_delta_fair<Symbols>(delta, Scene::current().weight());
}
Exact down() { return Exact(Scene::current().weight().down().value); }

void close(Scene& scene) {
  const Number delta = scene.number("delta", 0, delta_max);
  const Exact advance = exact(charged(delta));
  scene.claim(spec::service_charged<Exact>(advance, exact(delta), down()), "service_charged");
  scene.claim(advance >= 0, "never backward");
}

void exactly(Scene& scene) {
  const Number delta = scene.number("delta", 0, delta_max);
  scene.claim(exact(charged(delta)) * down() == exact(delta) * 1024, "nothing is rounded");
}

void monotone(Scene& scene) {
  const Number less = scene.number("less", 0, delta_max);
  const Number more = scene.number("more", 0, delta_max);
  scene.assume(less <= more);
  scene.claim(charged(less) <= charged(more), "in order");
}

void strictly_monotone(Scene& scene) {
  const Number less = scene.number("less", 0, delta_max);
  const Number more = scene.number("more", 0, delta_max);
  scene.assume(less < more);
  scene.claim(charged(less) < charged(more), "in strict order");
}

}  // namespace

std::vector<Goal> weight_goals() {
  constexpr std::string_view source = "calc_delta_fair(), __calc_delta(), 6.12.117";
  constexpr std::string_view bounds = "40 nice levels and SCHED_IDLE; 0 <= delta <= 2^53 ns";
  return {
      {.name = "service_is_charged",
       .claim = "Service of delta ns is charged as delta * 1024 / w to 10^-8 of it and one unit "
                "down, without overflow.",
       .source = source,
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = close,
       .canary = exactly},
      {.name = "service_charge_is_monotone",
       .claim = "More service is never charged less.",
       .source = source,
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = monotone,
       .canary = strictly_monotone},
  };
}

}  // namespace vlag::smt
