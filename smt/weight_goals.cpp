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

void scaled_down(Scene& scene, std::int64_t least_weight) {
  const Number weight = scene.number("weight", 0, INT64_MAX);
  const Number down = scale_load_down<Symbols>(weight);
  scene.claim(implies(down == 0, weight == 0) && implies(weight == 0, down == 0), "none of none");
  scene.claim(weight == 0 || down >= 2, "at least 2");
  scene.claim(implies(weight >= least_weight,
                      down * Number(1024) <= weight && weight - down * Number(1024) < 1024),
              "a 1024th, less the fraction");
  scene.claim(implies(weight < least_weight, down <= 2), "at most 2 of less");
}

// The literals are those of sched_prio_to_weight[]; what is claimed is that the tables agree.
void tables_agree(Scene& scene, bool rounded_down) {
  scene.claim(Truth(nice_to_weight.size() == 40 && nice_min == -20 && nice_max == 19), "40 levels");
  for (int level = 0; level <= 40; ++level) {
    const Weight weight = level == 40 ? idle_weight() : nice_weight(level - 20);
    const Number down = level == 40 ? Number(3) : Number(std::int64_t{nice_to_weight.at(level)});
    const Number off = Number(std::int64_t{1} << 32) - down * Number(std::int64_t{weight.inverse});
    scene.claim(Number(weight.down().value) == down, "weight");
    scene.claim(rounded_down ? off >= 0 : -down <= off * Number(2) && off < down, "inverse");
    scene.claim(Truth(weight.shift == 0 || weight.shift == 32 || weight.factor >> 31 == 1),
                "as many bits as fit");
  }
}

void inverted(Scene& scene, std::int64_t less) {
  const Number load = scene.number("load", 1, INT64_MAX);
  const Number inverse = computed_inverse<Symbols>(load);
  const Exact whole = Exact(std::int64_t{1} << 32);
  const Exact off = (whole - exact(inverse) * (exact(load) + 1)) * 2;
  scene.claim(exact(inverse) >= 1, "at least 1");
  scene.claim(implies(exact(load) >= whole, exact(inverse) == 1), "1 of the largest");
  scene.claim(implies(exact(load) < whole, -exact(load) - 3 <= off && off <= exact(load) - less),
              "the nearest");
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
      {.name = "weights_are_scaled_down",
       .claim = "The sums use a 1024th of a weight, rounded down, but at least 2; and 0 for none.",
       .source = "scale_load_down(), 6.12.117",
       .bounds = "0 <= weight < 2^63",
       .theory = Theory::integers,
       .body = [](Scene& scene) { scaled_down(scene, 2048); },
       .canary = [](Scene& scene) { scaled_down(scene, 1024); }},
      {.name = "the_tables_agree",
       .claim = "Each inverse is 2^32 / weight, less than one below or half above, and its factor "
                "keeps as many bits as fit.",
       .source = "sched_prio_to_weight[], sched_prio_to_wmult[], __calc_delta(), 6.12.117",
       .bounds = "40 nice levels and SCHED_IDLE",
       .theory = Theory::integers,
       .body = [](Scene& scene) { tables_agree(scene, false); },
       .canary = [](Scene& scene) { tables_agree(scene, true); }},
      {.name = "a_computed_inverse_is_the_nearest",
       .claim =
           "In 2.6.35 the inverse of a load is 2^32 / (load + 1), rounded to the nearest and up "
           "within 1 / (load + 1) of the middle, and at least 1.",
       .source = "calc_delta_mine(), 2.6.35",
       .bounds = "0 < load < 2^63",
       .theory = Theory::integers,
       .body = [](Scene& scene) { inverted(scene, 2); },
       .canary = [](Scene& scene) { inverted(scene, 3); }},
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
