// SPDX-License-Identifier: GPL-2.0-only
// calc_delta_fair() of each version for each weight of the table: with the weight known, only a
// product with a constant and a shift are symbolic, which is linear.
#include "core/calc_delta.h"
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

using Charge = Number (*)(const Number& delta, const Weight& weight);

constexpr std::int64_t rounded_max = std::int64_t{1} << 38;
constexpr std::int64_t divided_max = (std::int64_t{1} << 43) - 1;

// 8 10^-6 of it: the first step rounds delta * 1024 >= 2^32 to whole 2^16, which is 2^-17 of it.
void rounded(Scene& scene, std::int64_t error) {
  const Number delta = scene.number("delta", 0, rounded_max);
  const Number advance = calc_delta_fair_rounded<Symbols>(delta, scene.weight());
  scene.claim(spec::service_rounded<Exact>(exact(advance), exact(delta), down(), error),
              "service_rounded");
}

void divided(Scene& scene, std::int64_t most, std::int64_t missing) {
  const Number delta = scene.number("delta", 0, most);
  const Number advance = calc_delta_fair_divided<Symbols>(delta, scene.weight());
  scene.claim(spec::service_charged<Exact>(exact(advance) + missing, exact(delta), down(), 0),
              "service_charged");
}

// As words, where the product wraps at 2^44.
void divided_words(Scene& scene) {
  constexpr std::int64_t most = std::int64_t{1} << 44;
  const Weight weight = nice_weight(nice_max);
  const Number less = scene.number("less", 0, most);
  scene.claim(calc_delta_fair_divided<Symbols>(less, weight) <=
                  calc_delta_fair_divided<Symbols>(most, weight),
              "in order");
}

// The step of an induction over the nanoseconds, which is easier than any two lengths.
template <Charge charge>
void in_order(Scene& scene, std::int64_t most, std::int64_t apart) {
  const Number delta = scene.number("delta", 0, most - 1);
  const Number less = charge(delta, scene.weight());
  const Number more = charge(delta + Number(1), scene.weight());
  scene.claim(less + Number(apart) <= more, "in order");
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

spec::Sequence run_for(const Model& model) {
  Recorder recorder(1);
  recorder.fork(0, model.nice(), 0);
  recorder.schedule();
  recorder.tick(static_cast<std::uint64_t>(model.value("delta", 0, delta_max)));
  return recorder.sequence();
}

}  // namespace

std::vector<Goal> weight_goals() {
  constexpr std::string_view source = "calc_delta_fair(), __calc_delta(), 6.12.117";
  constexpr std::string_view bounds = "40 nice levels and SCHED_IDLE; 0 <= delta <= 2^53 ns";
  constexpr std::string_view rounded_source = "calc_delta_mine(), calc_delta_fair(), 2.6.35";
  constexpr std::string_view rounded_bounds =
      "40 nice levels and SCHED_IDLE; 0 <= delta <= 2^38 ns";
  constexpr std::string_view divided_source = "__calc_delta(), 7.1 (db4551e2ba34)";
  constexpr std::string_view divided_bounds = "40 nice levels and SCHED_IDLE; 0 <= delta < 2^43 ns";
  return {
      {.name = "service_is_charged",
       .claim = "Service of delta ns is charged as delta * 1024 / w to 10^-8 of it and one unit "
                "down, without overflow.",
       .source = source,
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = close,
       .canary = exactly,
       .sequence = run_for,
       .breaks = "vruntime_moves_only_with_service"},
      {.name = "service_charge_is_monotone",
       .claim = "More service is never charged less.",
       .source = source,
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = monotone,
       .canary = strictly_monotone},
      {.name = "rounded_service_is_charged",
       .claim =
           "In 2.6.35 service is charged to 8 10^-6 of it and half a unit, up or down, without "
           "overflow.",
       .source = rounded_source,
       .bounds = rounded_bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = [](Scene& scene) { rounded(scene, 800); },
       .canary = [](Scene& scene) { rounded(scene, 700); }},
      {.name = "rounded_service_charge_is_monotone",
       .claim =
           "In 2.6.35 a nanosecond more is never charged less, also where the rounding changes.",
       .source = rounded_source,
       .bounds = rounded_bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body =
           [](Scene& scene) { in_order<calc_delta_fair_rounded<Symbols>>(scene, rounded_max, 0); },
       .canary =
           [](Scene& scene) { in_order<calc_delta_fair_rounded<Symbols>>(scene, rounded_max, 1); }},
      {.name = "divided_service_is_charged",
       .claim =
           "In 7.1 service is charged as delta * 1024 / w and one unit down, without overflow.",
       .source = divided_source,
       .bounds = divided_bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = [](Scene& scene) { divided(scene, divided_max, 0); },
       .canary = [](Scene& scene) { divided(scene, divided_max, 1); }},
      {.name = "divided_service_charge_is_monotone",
       .claim = "In 7.1 a nanosecond more is never charged less.",
       .source = divided_source,
       .bounds = divided_bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body =
           [](Scene& scene) { in_order<calc_delta_fair_divided<Symbols>>(scene, divided_max, 0); },
       .canary =
           [](Scene& scene) { in_order<calc_delta_fair_divided<Symbols>>(scene, divided_max, 1); }},
      {.name = "divided_service_never_overflows",
       .claim = "In 7.1 more service is never charged less, whatever its length.",
       .source = divided_source,
       .bounds = "nice 19; 0 <= delta <= 2^44 ns, of which the last wraps",
       .kind = Kind::falsehood,
       .body = divided_words,
       .no_sequence = "7.1 is no policy of the model yet"},
  };
}

}  // namespace vlag::smt
