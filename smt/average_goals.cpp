// SPDX-License-Identifier: GPL-2.0-only
// floor(V) and eligibility, on the sums: for any number of entities, since the sums are all that
// the rules see of them.
#include "core/average.h"
#include "smt/goal.h"
#include "spec/invariants.h"

namespace vlag::smt {
namespace {

constexpr std::int64_t sum_max = std::int64_t{1} << 62;
constexpr std::int64_t weight_max = INT32_MAX;  // What div_s64() can divide by.

Sums<Symbols> sums(Scene& scene) {
  return {scene.point("zero_vruntime"), scene.number("sum_w_vruntime", -sum_max, sum_max),
          scene.number("sum_weight", 1, weight_max)};
}

Point average(const Sums<Symbols>& total, AverageRounding rounding) {
  return total.zero_vruntime + average_key(total, rounding);
}

void floor_is_eligible(Scene& scene) {
  const Sums<Symbols> total = sums(scene);
  const Point floor = average(total, AverageRounding::floor);
  scene.claim(eligible(total, floor), "V is eligible");
  scene.claim(!eligible(total, floor + Number(1)), "V + 1 is not");
}

void truncated_is_eligible(Scene& scene) {
  const Sums<Symbols> total = sums(scene);
  const Point truncated = average(total, AverageRounding::truncate);
  scene.claim(eligible(total, truncated), "V is eligible");
}

// |k| W < 2^63, the exact bound under which the product fits.
Point entity(Scene& scene, const Sums<Symbols>& total, const Exact& product_limit) {
  const Point vruntime = scene.point("vruntime");
  const Exact product = exact(vruntime, total.zero_vruntime) * exact(total.sum_weight);
  scene.assume(-product_limit <= product && product <= product_limit);
  return vruntime;
}

void eligible_up_to(Scene& scene, AverageRounding rounding) {
  const Sums<Symbols> total = sums(scene);
  const Point vruntime = entity(scene, total, (Exact(1) << 63) - 1);
  const Number floor = average_key(total, rounding);
  scene.claim(iff(eligible(total, vruntime), total.key(vruntime) <= floor),
              "eligible(k) <=> k <= floor(A / W)");
}

// lag_sum_in_range of a queue whose lags sum to W V - A: see lag_sum_is_of_the_sums.
void lags(Scene& scene, AverageRounding rounding) {
  const Sums<Symbols> total = sums(scene);
  const Exact weight = exact(total.sum_weight);
  const Exact lag = weight * exact(average_key(total, rounding)) - exact(total.sum_w_vruntime);
  scene.claim(lag <= 0 && -weight < lag, "in (-W, 0]");
}

// 1,024 tasks of nice 0. With the weight known a counterexample is a matter of linear arithmetic.
constexpr std::int64_t many = std::int64_t{1} << 20;

// Everyone within `spread` of v0, so the sum is within W spread. `load`: W, or 0 for any.
void products_fit(Scene& scene, const Exact& limit, std::int64_t load) {
  const Point zero = scene.point("zero_vruntime");
  const Exact weight = scene.quantity("sum_weight");
  const Exact spread = scene.quantity("spread");
  const Exact sum = scene.quantity("sum_w_vruntime");
  scene.assume(weight >= 1 && weight <= weight_max && spread >= 0 && weight * spread < limit);
  if (load != 0) scene.assume(weight == load);
  scene.assume(-weight * spread <= sum && sum <= weight * spread);
  const Sums<Symbols> total = {zero, Number(sum.term()), Number(weight.term())};
  const Point vruntime = scene.point("vruntime");
  const Exact key = exact(vruntime, zero);
  scene.assume(-spread <= key && key <= spread);
  scene.claim(spec::fits_in_word<Exact>(key * weight), "fits_in_word");
  scene.claim(iff(eligible(total, vruntime), key * weight <= sum), "eligible <=> v <= V");
}

}  // namespace

std::vector<Goal> average_goals() {
  constexpr std::string_view average_source = "avg_vruntime(), 6.12.117; 650cad561cce";
  constexpr std::string_view eligible_source = "vruntime_eligible(), 6.12.117";
  constexpr std::string_view bounds = "any n; |sum_w_vruntime| <= 2^62, 1 <= W < 2^31";
  return {
      {.name = "average_is_the_last_eligible",
       .claim = "An entity at V is eligible, and one a nanosecond later is not.",
       .source = average_source,
       .bounds = bounds,
       .theory = Theory::integers,
       .body = floor_is_eligible,
       .canary = truncated_is_eligible},
      {.name = "eligible_is_up_to_the_average",
       .claim = "The test without division is the test with it: k W <= A if and only if "
                "k <= floor(A / W).",
       .source = eligible_source,
       .bounds = "any n; |sum_w_vruntime| <= 2^62, 1 <= W < 2^31, |k| W < 2^63",
       .theory = Theory::integers,
       .body = [](Scene& scene) { eligible_up_to(scene, AverageRounding::floor); },
       .canary = [](Scene& scene) { eligible_up_to(scene, AverageRounding::truncate); }},
      {.name = "lag_sum_is_in_range",
       .claim = "The lags, measured from the floored V, sum to something in (-W, 0].",
       .source = average_source,
       .bounds = bounds,
       .theory = Theory::integers,
       .body = [](Scene& scene) { lags(scene, AverageRounding::floor); },
       .canary = [](Scene& scene) { lags(scene, AverageRounding::truncate); }},
      {.name = "eligibility_does_not_overflow",
       .claim = "If everyone is within K of v_0 and K W < 2^63, then no product of the eligibility "
                "test overflows, and the test is v <= V.",
       .source = eligible_source,
       .bounds = "any n; 1 <= W < 2^31; K W < 2^63",
       .theory = Theory::integers,
       .body = [](Scene& scene) { products_fit(scene, Exact(1) << 63, 0); },
       .canary = [](Scene& scene) { products_fit(scene, (Exact(1) << 63) + 1, many); }},
      {.name = "eligibility_never_overflows",
       .claim = "The eligibility test is exact as soon as everyone is within K of v_0 and "
                "K W <= 2^63.",
       .source = eligible_source,
       .bounds = "W = 2^20, as 1,024 tasks of nice 0; K W <= 2^63, which is one more than holds",
       .kind = Kind::falsehood,
       .theory = Theory::integers,
       .body = [](Scene& scene) { products_fit(scene, (Exact(1) << 63) + 1, many); },
       // Of two tasks: W = 2^11, and a key of 2^52.
       .sequence = [](const Model&) { return run_ahead(0, (std::int64_t{1} << 52) + 1); },
       .breaks = "pick_is_the_earliest_eligible"},
  };
}

}  // namespace vlag::smt
