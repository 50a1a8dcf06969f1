// SPDX-License-Identifier: GPL-2.0-only
// A change of weight, off the queue and on it. On the queue the rest is seen through its sums A, W.
//
// Around V (6.7 to 6.12): with W V + e = A for all, w' v' = w' V - w l + r, and l = V - v,
//
//   A' = A - w v + w' v' = (W - w + w') V + e + r       0 <= e < W, -w' < r < w'
//
// so V' = V but for rounding, and exactly if there is none (R1).
#include "core/average.h"
#include "core/placement.h"
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

struct OffQueue {
  Number load;
  Number new_load;
  Number vlag;
  Number result;
};

OffQueue reweighted(Scene& scene) {
  const Number load = scene.number("load", load_min, load_max);
  const Number new_load = scene.number("new_load", load_min, load_max);
  const Number vlag = scene.number("vlag");
  const Exact owed = exact(vlag) * exact(load);
  scene.assume(-Exact(owed_max) <= owed && owed <= Exact(owed_max));
  return {load, new_load, vlag, reweighted_lag<Symbols>(vlag, load, new_load)};
}

void keeps_owed(Scene& scene) {
  const OffQueue one = reweighted(scene);
  const Exact error = exact(one.result) * exact(one.new_load) - exact(one.vlag) * exact(one.load);
  const Exact unit = exact(one.new_load);
  scene.claim(-unit < error && error < unit, "|w' vlag' - w vlag| < w'");
  scene.claim(implies(one.vlag >= 0, one.result >= 0) && implies(one.vlag <= 0, one.result <= 0),
              "its sign is kept");
}

void keeps_owed_exactly(Scene& scene) {
  const OffQueue one = reweighted(scene);
  scene.claim(exact(one.result) * exact(one.new_load) == exact(one.vlag) * exact(one.load),
              "nothing is rounded");
}

void returns(Scene& scene, bool both) {
  const OffQueue one = reweighted(scene);
  const Number back = reweighted_lag<Symbols>(one.result, one.new_load, one.load);
  const Exact lost = (exact(one.vlag) - exact(back)) * exact(one.load);
  const Exact most = both ? exact(one.new_load) + exact(one.load) : exact(one.new_load);
  scene.claim(-most < lost && lost < most, "there and back");
}

// What is owed may be this much, in units of load times virtual time.
void assume_owed(Scene& scene, const Exact& owed) {
  scene.assume(-Exact(owed_max) <= owed && owed <= Exact(owed_max));
}

// |w' after - w before| < w', or `exactly` 0.
Truth scaled(const Exact& before, const Exact& after, const Number& load, const Number& new_load,
             bool exactly) {
  const Exact error = after * exact(new_load) - before * exact(load);
  if (exactly) return error == 0;
  return -exact(new_load) < error && error < exact(new_load);
}

void around(Scene& scene, bool exactly) {
  const Number load = scene.number("load", load_min, load_max);
  const Number new_load = scene.number("new_load", load_min, load_max);
  const Point average = scene.point("average");
  const Point deadline = scene.point("deadline");
  const Number lag = scene.number("lag");
  const Exact left = exact(deadline, average);
  assume_owed(scene, exact(lag) * exact(load));
  assume_owed(scene, left * exact(load));
  const auto one = reweighted_around<Symbols>(average, deadline, lag, load, new_load);
  scene.claim(scaled(exact(lag), exact(average, one.vruntime), load, new_load, exactly),
              "|w' (V - v') - w l| < w'");
  scene.claim(scaled(left, exact(one.deadline, average), load, new_load, exactly),
              "|w' (d' - V) - w (d - V)| < w'");
}

void deadline_only(Scene& scene, bool exactly) {
  const Number load = scene.number("load", load_min, load_max);
  const Number new_load = scene.number("new_load", load_min, load_max);
  const Point vruntime = scene.point("vruntime");
  const Number left = scene.number("left");
  assume_owed(scene, exact(left) * exact(load));
  const Point now = reweighted_deadline<Symbols>(vruntime, vruntime + left, load, new_load);
  scene.claim(scaled(exact(left), exact(now, vruntime), load, new_load, exactly),
              "|w' (d' - v) - w (d - v)| < w'");
}

// A queued entity among others.
struct Queued {
  Sums<Symbols> others;
  Sums<Symbols> all;
  Point vruntime;
  Number weight;
  Number new_weight;
};

Queued queued(Scene& scene) {
  const Sums<Symbols> others = {Point(), scene.number("sum_w_vruntime"),
                                scene.number("sum_weight")};
  const Point vruntime = scene.point("vruntime");
  const Number weight = scene.number("w");
  const Number new_weight = scene.number("new_w");
  scene.assume(others.sum_weight >= 1 && weight >= 1 && new_weight >= 1);
  Sums<Symbols> all = others;
  all.add(vruntime, weight);
  return {others, all, vruntime, weight, new_weight};
}

enum class Version : std::uint8_t { keeps_vruntime, around_average };

// A' - W' V of the queue after the change; V is rounded as it is read.
void average_stays(Scene& scene, Version version, AverageRounding rounding) {
  const Queued one = queued(scene);
  const Number key = average_key(one.all, rounding);
  const Point average = one.all.zero_vruntime + key;
  const auto moved = reweighted_around<Symbols>(average, average, average - one.vruntime,
                                                one.weight, one.new_weight);
  Sums<Symbols> sums = one.all;
  sums.remove(one.vruntime, one.weight);
  sums.add(version == Version::around_average ? moved.vruntime : one.vruntime, one.new_weight);
  const Exact error = exact(sums.sum_w_vruntime) - exact(sums.sum_weight) * exact(key);
  if (rounding == AverageRounding::floor) {
    const Exact most = exact(one.all.sum_weight) + exact(one.new_weight);
    scene.claim(-most < error && error < most, "W' |V' - V| < W + w'");
  } else {
    scene.claim(error == 0, "V' == V");
  }
}

// 6.13: out of the queue, placed among `others` with the scaled lag. `running`: the sums still
// have the entity in them.
void by_placement(Scene& scene, bool running) {
  const Queued one = queued(scene);
  const Number key = average_key(one.all, AverageRounding::truncate);
  const Exact lag = exact(key) - exact(one.vruntime, one.all.zero_vruntime);
  const Number kept = reweighted_lag<Symbols>(Number(lag.term()), one.weight, one.new_weight);
  const Sums<Symbols>& seen = running ? one.all : one.others;
  const Number base = average_key(seen, AverageRounding::truncate);
  const Number placed = inflated_lag<Symbols>(kept, seen.sum_weight, one.new_weight);
  Sums<Symbols> sums = one.others;
  const Point vruntime = sums.zero_vruntime + base - placed;
  sums.add(vruntime, one.new_weight);
  if (!running) {
    const Exact others = exact(one.others.sum_weight);
    const Exact owed = exact(one.weight) * lag;
    scene.lemma(exact(one.new_weight) * exact(kept) == owed, "w' l' == w l");
    scene.lemma(others * (exact(base) - exact(key)) == owed, "(W - w) (V_others - V) == w l");
    scene.lemma(others * exact(placed) == others * exact(kept) + owed, "inflated");
    scene.lemma(others * (exact(key) - exact(vruntime, sums.zero_vruntime)) == others * exact(kept),
                "(W - w) (V - v') == (W - w) l'");
    scene.lemma(exact(key) - exact(vruntime, sums.zero_vruntime) == exact(kept), "V - v' == l'");
  }
  scene.claim(exact(sums.sum_w_vruntime) == exact(sums.sum_weight) * exact(key), "V' == V");
}

}  // namespace

std::vector<Goal> reweight_goals() {
  constexpr std::string_view source = "reweight_entity() off the queue, 6.12.117";
  constexpr std::string_view bounds =
      "any two loads from SCHED_IDLE to nice -20; w |vlag| <= 2^38 ns of service";
  constexpr std::string_view around_source = "reweight_eevdf(), 6.9 to 6.12";
  constexpr std::string_view queued_bounds =
      "any two loads from SCHED_IDLE to nice -20; w |lag|, w |d - V| <= 2^38 ns of service";
  constexpr std::string_view any = "any n, any weights >= 1; reals";
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
       .body = [](Scene& scene) { returns(scene, true); },
       .canary = [](Scene& scene) { returns(scene, false); }},
      {.name = "reweight_around_the_average_keeps_owed_service",
       .claim = "On the queue, a change of weight keeps w (V - v) and w (d - V) to less than w'.",
       .source = around_source,
       .bounds = queued_bounds,
       .theory = Theory::integers,
       .body = [](Scene& scene) { around(scene, false); },
       .canary = [](Scene& scene) { around(scene, true); }},
      {.name = "reweight_around_the_average_keeps_it",
       .claim = "On the queue, a change of weight leaves V where it is, if the lag was within its "
                "limit (R1).",
       .source = around_source,
       .bounds = any,
       .theory = Theory::rationals,
       .body =
           [](Scene& scene) {
             average_stays(scene, Version::around_average, AverageRounding::truncate);
           },
       .canary =
           [](Scene& scene) {
             average_stays(scene, Version::keeps_vruntime, AverageRounding::truncate);
           }},
      {.name = "reweight_around_the_average_keeps_it_to_rounding",
       .claim = "Where V and the lag are rounded, W' |V' - V| is less than W + w'.",
       .source = around_source,
       .bounds = any,
       .theory = Theory::reals,
       .body =
           [](Scene& scene) {
             average_stays(scene, Version::around_average, AverageRounding::floor);
           },
       .canary =
           [](Scene& scene) {
             average_stays(scene, Version::keeps_vruntime, AverageRounding::floor);
           }},
      {.name = "reweight_of_6_6_keeps_the_request",
       .claim = "With vruntime kept, a change of weight keeps w (d - v) to less than w'.",
       .source = "reweight_eevdf(), 6.6",
       .bounds = queued_bounds,
       .theory = Theory::integers,
       .body = [](Scene& scene) { deadline_only(scene, false); },
       .canary = [](Scene& scene) { deadline_only(scene, true); }},
      {.name = "reweight_by_placement_keeps_the_average",
       .claim = "Taken out, scaled and placed among the others, an entity leaves V where it was; "
                "but not the running one, whose others have it in them.",
       .source = "reweight_entity(), 6.13 to 7.0 (6d71a9c61604, 101f3498b4bd)",
       .bounds = any,
       .theory = Theory::rationals,
       .body = [](Scene& scene) { by_placement(scene, false); },
       .canary = [](Scene& scene) { by_placement(scene, true); }},
  };
}

}  // namespace vlag::smt
