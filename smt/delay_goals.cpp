// SPDX-License-Identifier: GPL-2.0-only
// Delayed dequeue. The rest of the queue is seen through its sums, so that it stands for any n.
#include "core/average.h"
#include "core/delay.h"
#include "core/placement.h"
#include "smt/goal.h"
#include "spec/invariants.h"

namespace vlag::smt {
namespace {

void debt_is_kept(Scene& scene, bool debt) {
  const Number lag = scene.number("lag");
  const Number kept = delayed_lag<Symbols>(lag);
  scene.claim(kept <= 0, "never positive");
  if (debt) scene.assume(lag <= 0);
  scene.claim(kept == lag, "a debt is kept");
}

void places_if_credited(Scene& scene, std::int64_t most) {
  const Number lag = scene.number("lag");
  scene.claim(iff(requeue_places<Symbols>(lag), delayed_lag<Symbols>(lag) < lag + Number(most)),
              "placed anew <=> something is taken");
}

void debt_shrinks(Scene& scene, bool compared) {
  const Number saved = scene.number("saved");
  const Number lag = scene.number("lag");
  scene.assume(saved <= 0);
  const Number left = compared ? remaining_debt<Symbols>(lag, saved) : delayed_lag<Symbols>(lag);
  scene.claim(saved <= left && left <= 0, "between what it was and nothing");
}

struct Delayed {
  Sums<Symbols> others;
  Point vruntime;
  Number weight;
  Exact load;     // Of all.
  Exact average;  // V of all, relative to v0.
  Exact lag;      // V - v
};

Delayed delayed(Scene& scene) {
  const Sums<Symbols> others = {scene.point("zero_vruntime"), scene.number("sum_w_vruntime"),
                                scene.number("sum_weight")};
  const Point vruntime = scene.point("vruntime");
  const Number weight = scene.number("weight");
  scene.assume(others.sum_weight >= 1 && weight >= 1);
  Sums<Symbols> all = others;
  all.add(vruntime, weight);
  const Exact average = scene.quantity("V");
  scene.assume(average * exact(all.sum_weight) == exact(all.sum_w_vruntime));
  return {others,  vruntime,
          weight,  exact(all.sum_weight),
          average, average - exact(vruntime, others.zero_vruntime)};
}

// The steps of the requeue: out, placed with what is left of the lag, in.
struct Requeued {
  Sums<Symbols> all;
  Point vruntime;
};

Requeued requeued(const Delayed& one, AverageRounding rounding) {
  Sums<Symbols> sums = one.others;
  sums.add(one.vruntime, one.weight);
  sums.remove(one.vruntime, one.weight);
  const Number kept = delayed_lag<Symbols>(Number(one.lag.term()));
  const Number placed = inflated_lag<Symbols>(kept, sums.sum_weight, one.weight);
  const Point vruntime = sums.zero_vruntime + average_key(sums, rounding) - placed;
  sums.add(vruntime, one.weight);
  return {sums, vruntime};
}

void requeue_forgets(Scene& scene, bool credit) {
  const Delayed one = delayed(scene);
  if (credit) scene.assume(requeue_places<Symbols>(Number(one.lag.term())));
  const Requeued now = requeued(one, AverageRounding::floor);
  scene.claim(
      spec::placement_keeps_lag<Exact>(exact(now.all.sum_w_vruntime), exact(now.all.sum_weight),
                                       exact(now.vruntime, now.all.zero_vruntime), 0),
      "placement_keeps_lag of no lag");
}

// W' (V' - V) == A' - W V, as W' == W.
Exact moved(const Delayed& one, const Requeued& now) {
  return exact(now.all.sum_w_vruntime) - one.load * one.average;
}

void requeue_moves_average(Scene& scene, bool credit) {
  const Delayed one = delayed(scene);
  if (credit) scene.assume(requeue_places<Symbols>(Number(one.lag.term())));
  const Requeued now = requeued(one, AverageRounding::truncate);
  const Exact others = exact(one.others.sum_weight);
  const Exact key = exact(now.vruntime, now.all.zero_vruntime);
  if (credit) {
    scene.lemma(others * key == exact(one.others.sum_w_vruntime), "placed at V of the others");
    scene.lemma(exact(now.all.sum_w_vruntime) == one.load * key, "so that V' is there too");
  }
  scene.claim(others * (key - one.average) == exact(one.weight) * one.lag, "(W - w) (V' - V)");
  scene.claim(moved(one, now) >= 0, "never backward");
}

void requeue_keeps_average(Scene& scene) {
  const Delayed one = delayed(scene);
  scene.assume(requeue_places<Symbols>(Number(one.lag.term())));
  scene.claim(moved(one, requeued(one, AverageRounding::truncate)) == 0, "V' == V");
}

// The others are left with A - w v.
void reaping(Scene& scene, bool eligible_one) {
  const Delayed one = delayed(scene);
  Sums<Symbols> sums = one.others;
  sums.add(one.vruntime, one.weight);
  if (eligible_one) scene.assume(eligible(sums, one.vruntime));
  sums.remove(one.vruntime, one.weight);
  scene.lemma(exact(sums.sum_w_vruntime) - exact(sums.sum_weight) * one.average ==
                  exact(one.weight) * one.lag,
              "(W - w) (V' - V) == w l");
  scene.claim(exact(sums.sum_w_vruntime) >= exact(sums.sum_weight) * one.average, "V' >= V");
}

// One of three tasks blocks when it ran ahead, and is woken when the others have caught up and
// more.
spec::Sequence requeue_with_a_credit() {
  constexpr std::uint64_t tick = 4'000'000;
  Recorder recorder(3);
  for (const int id : {0, 1, 2}) recorder.fork(id, 0, 0);
  recorder.schedule();
  recorder.tick(tick);
  recorder.block();
  recorder.tick(tick);
  recorder.schedule();
  recorder.tick(2 * tick);
  recorder.wake(0);
  return recorder.sequence();
}

}  // namespace

std::vector<Goal> delay_goals() {
  constexpr std::string_view source = "requeue_delayed_entity(), 6.12.117 (DELAY_ZERO)";
  constexpr std::string_view any = "any n, any weights >= 1; reals";
  constexpr std::string_view words = "all 64-bit values";
  return {
      {.name = "a_delayed_entity_keeps_its_debt",
       .claim = "What a delayed entity takes along is its debt, and never a credit.",
       .source = "dequeue_entity(), 6.12.117 (DELAY_ZERO)",
       .bounds = words,
       .body = [](Scene& scene) { debt_is_kept(scene, true); },
       .canary = [](Scene& scene) { debt_is_kept(scene, false); }},
      {.name = "a_requeue_places_what_gained",
       .claim = "A woken delayed entity is placed anew if and only if it has a credit to lose.",
       .source = source,
       .bounds = words,
       .body = [](Scene& scene) { places_if_credited(scene, 0); },
       .canary = [](Scene& scene) { places_if_credited(scene, 1); }},
      {.name = "a_delayed_debt_only_shrinks",
       .claim = "While an entity is delayed its debt never grows, and never becomes a credit.",
       .source = "update_entity_lag(), 7.1 (059258b0d424, c5cd6fd75b6a)",
       .bounds = words,
       .body = [](Scene& scene) { debt_shrinks(scene, true); },
       .canary = [](Scene& scene) { debt_shrinks(scene, false); }},
      {.name = "a_requeue_forgets_the_credit",
       .claim =
           "A delayed entity that is requeued with a credit is at V afterwards, to the rounding "
           "of V.",
       .source = source,
       .bounds = any,
       .theory = Theory::reals,
       .body = [](Scene& scene) { requeue_forgets(scene, true); },
       .canary = [](Scene& scene) { requeue_forgets(scene, false); }},
      {.name = "a_requeue_moves_the_average_as_a_leave_does",
       .claim =
           "Requeuing one with a credit l moves V forward by w l / (W - w), as if it had left and "
           "a new one had joined without lag.",
       .source = source,
       .bounds = any,
       .theory = Theory::rationals,
       .body = [](Scene& scene) { requeue_moves_average(scene, true); },
       .canary = [](Scene& scene) { requeue_moves_average(scene, false); }},
      {.name = "a_requeue_keeps_the_average",
       .claim = "Requeuing a delayed entity leaves V where it is.",
       .source = source,
       .bounds = any,
       .kind = Kind::falsehood,
       .theory = Theory::rationals,
       .body = requeue_keeps_average,
       .sequence = [](const Model&) { return requeue_with_a_credit(); },
       .breaks = "a_requeue_keeps_the_average"},
      {.name = "reaping_never_moves_the_average_backward",
       .claim = "When a delayed entity has become eligible and leaves, V does not move backward "
                "(B7).",
       .source = "pick_next_entity(), dequeue_entities(), 6.12.117",
       .bounds = any,
       .theory = Theory::rationals,
       .body = [](Scene& scene) { reaping(scene, true); },
       .canary = [](Scene& scene) { reaping(scene, false); }},
  };
}

}  // namespace vlag::smt
