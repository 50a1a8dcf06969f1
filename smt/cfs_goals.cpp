// SPDX-License-Identifier: GPL-2.0-only
// CFS of 6.1, one CPU. The bound on a wait (T8): let G be the largest wakeup granularity and S_k
// the longest run of k, both in virtual time.
//
//   k is picked within the granularity of the leftmost (a_buddy_delays_by_its_granularity), which
//   is not ahead of a waiting j, so a run of k ends at most at v_j + G + S_k
//   (a_run_of_cfs_is_capped, F1). A wakeup never moves k back (a_wakeup_does_not_add_to_the_wait,
//   F2). So with the room w_k (v_j + G + S_k - v_k)^+ of each k, asleep or not, every ns that j
//   waits is paid from a room, no wakeup adds to one, and by induction over runs and wakeups j
//   waits at most for their sum. A fork adds its own. Long sleepers are apart: they are placed
//   anew.
#include "core/cfs.h"
#include "core/weight.h"
#include "smt/goal.h"

namespace vlag::smt {
namespace {

constexpr std::int64_t granularity_max =
    100'000'000;  // ns, the most that sysctl takes is 10^9 / 10.
constexpr std::int64_t threshold_max = 1'000'000'000;

void near(Scene& scene, const Point& a, const Point& b) {
  const Exact far = Exact(1) << 62;
  scene.assume(-far < exact(a, b) && exact(a, b) < far);
}

void antisymmetric(Scene& scene, std::int64_t least_granularity) {
  const Point a = scene.point("a");
  const Point b = scene.point("b");
  near(scene, a, b);
  const Number of_a = scene.number("granularity_a", least_granularity, granularity_max);
  const Number of_b = scene.number("granularity_b", least_granularity, granularity_max);
  const Truth b_wins = wakeup_preempts<Symbols>(a, b, of_b);
  const Truth a_wins = wakeup_preempts<Symbols>(b, a, of_a);
  scene.claim(!(a_wins && b_wins), "not both ways");
  scene.claim(implies(b_wins, exact(b, a) < 0), "who preempts is behind");
}

struct Sleeper {
  Point min_vruntime;
  Point vruntime;
  Number threshold;
};

Sleeper sleeper(Scene& scene) {
  const Sleeper one = {scene.point("min_vruntime"), scene.point("vruntime"),
                       scene.number("threshold", 0, threshold_max)};
  return one;
}

void credit(Scene& scene, std::int64_t fraction) {
  const Number latency = scene.number("latency", 0, threshold_max);
  const Number half = sleeper_threshold<Symbols>(latency, true);
  scene.claim(sleeper_threshold<Symbols>(latency, false) == latency, "all of it");
  scene.claim(half + half <= latency && latency <= half + half + Number(fraction), "half of it");
}

void placed(Scene& scene, bool long_sleep) {
  const Sleeper one = sleeper(scene);
  near(scene, one.min_vruntime, one.vruntime);
  const Point now =
      place_sleeper<Symbols>(one.min_vruntime, one.vruntime, one.threshold, long_sleep);
  scene.claim(exact(now, one.vruntime) >= 0, "never backward");
  scene.claim(exact(now, one.min_vruntime) >= -exact(one.threshold),
              "not before min_vruntime - threshold");
  scene.claim(
      exact(now, one.vruntime) == 0 || exact(now, one.min_vruntime) == -exact(one.threshold),
      "one of the two");
}

void placed_forked(Scene& scene, bool debit) {
  const Sleeper one = sleeper(scene);
  near(scene, one.min_vruntime, one.vruntime);
  const Number vslice = scene.number("vslice", 0, std::int64_t{1} << 40);
  const Point now =
      place_forked<Symbols>(one.min_vruntime, one.vruntime, debit ? vslice : Number(0));
  scene.claim(exact(now, one.vruntime) >= 0, "never backward");
  scene.claim(exact(now, one.min_vruntime) >= exact(vslice), "not before min_vruntime + vslice");
}

// Words: `ahead` has no sign. In a ns the vruntime of the lightest, of weight 2, advances by 512.
void slept(Scene& scene, bool rule) {
  const Point vruntime = scene.point("vruntime");
  const Number ahead = scene.number("ahead");
  const Number threshold = scene.number("threshold", 0, threshold_max);
  const Number slept = scene.number("slept", 0, INT64_MAX);
  const Truth days_104 = slept > Number(std::int64_t{1} << 53);
  scene.assume(days_104 || (threshold <= ahead && ahead <= slept * Number(512)));
  const Truth slept_long = rule ? long_sleeper<Symbols>(slept) : Truth(false);
  const Point min_vruntime = vruntime + ahead;
  scene.claim(place_sleeper<Symbols>(min_vruntime, vruntime, threshold, slept_long) ==
                  min_vruntime - threshold,
              "placed at min_vruntime - threshold");
}

void slept_less(Scene& scene, std::int64_t longest) {
  const Sleeper one = sleeper(scene);
  near(scene, one.min_vruntime, one.vruntime);
  const Number slept = scene.number("slept", 0, longest);
  const Point now = place_sleeper<Symbols>(one.min_vruntime, one.vruntime, one.threshold,
                                           long_sleeper<Symbols>(slept));
  scene.claim(exact(now, one.vruntime) >= 0, "never backward");
}

void monotone(Scene& scene, bool advance) {
  const Point before = scene.point("min_vruntime");
  const Point least_vruntime = scene.point("least_vruntime");
  near(scene, before, least_vruntime);
  const Point now = advance ? advanced_min_vruntime<Symbols>(before, least_vruntime)
                            : earlier<Symbols>(before, least_vruntime);
  scene.claim(exact(now, before) >= 0, "never backward");
  scene.claim(exact(now, least_vruntime) >= 0, "nor behind the least");
}

// Whom pick takes, in virtual time.
Point picked(const Buddies<Symbols>& buddies, const Point& left, const Number& granularity) {
  const BuddyPick<Symbols> pick = pick_buddy<Symbols>(buddies, left, granularity);
  const Point plain = choose(pick.skips, buddies.second.vruntime, left);
  return choose(pick.next, buddies.next.vruntime, choose(pick.last, buddies.last.vruntime, plain));
}

Candidate<Symbols> candidate(Scene& scene, const char* name, const Point& left) {
  const Candidate<Symbols> one = {scene.truth(std::string("has_") + name), scene.point(name)};
  const Exact far = Exact(1) << 62;
  scene.assume(exact(one.vruntime, left) >= 0 && exact(one.vruntime, left) < far);
  return one;
}

void delayed_by_buddy(Scene& scene, std::int64_t less) {
  const Point left = scene.point("left");
  const Number ns = scene.number("granularity", 0, granularity_max);
  const Number granularity = calc_delta_fair<Symbols>(ns, scene.weight());
  const Buddies<Symbols> buddies = {candidate(scene, "second", left),
                                    candidate(scene, "next", left), candidate(scene, "last", left)};
  const Exact ahead = exact(picked(buddies, left, granularity), left);
  scene.claim(ahead >= 0 && ahead <= exact(granularity) - less, "within the granularity");
}

void one_of_three(Scene& scene, bool exists) {
  const Point left = scene.point("left");
  const Number granularity = scene.number("granularity", 0, granularity_max);
  const Buddies<Symbols> buddies = {candidate(scene, "second", left),
                                    candidate(scene, "next", left), candidate(scene, "last", left)};
  const BuddyPick<Symbols> pick = pick_buddy<Symbols>(buddies, left, granularity);
  scene.claim(!(pick.next && pick.last) && !(pick.next && pick.skips) && !(pick.last && pick.skips),
              "at most one");
  if (exists) {
    scene.claim(implies(pick.next, buddies.next.exists) && implies(pick.last, buddies.last.exists),
                "who is there");
  } else {
    scene.claim(implies(buddies.next.exists, pick.next), "next, wherever it is");
  }
}

// F1. All virtual times are those when k is picked; v_j does not change while j waits.
void run_is_capped(Scene& scene, bool leftmost) {
  const Point left = scene.point("left");
  const Point waiting = scene.point("v_j");
  const Point run_end = scene.point("end_k");
  const Number granularity = scene.number("granularity");
  const Exact most = scene.quantity("G");
  const Exact longest = scene.quantity("S_k");
  const Candidate<Symbols> buddy = {Truth(true), scene.point("v_k")};
  const Truth within = buddy_within<Symbols>(buddy.vruntime, left, granularity);
  scene.assume(within && exact(granularity) <= most);
  if (leftmost) scene.assume(exact(left, waiting) <= 0);
  scene.assume(exact(run_end, buddy.vruntime) <= longest);
  scene.claim(exact(run_end, waiting) <= most + longest, "v_k <= v_j + G + S_k");
}

// F2. `cap`: v_j + G + S_k.
void wakeup_keeps_room(Scene& scene, bool long_sleep) {
  const Sleeper one = sleeper(scene);
  const Point cap = scene.point("cap");
  const Exact weight = scene.quantity("w_k");
  scene.assume(weight > 0);
  const Point now =
      place_sleeper<Symbols>(one.min_vruntime, one.vruntime, one.threshold, long_sleep);
  const auto room = [&](const Point& v) { return greatest<Exact>(exact(cap, v), 0); };
  scene.lemma(room(now) <= room(one.vruntime), "no more room");
  scene.claim(weight * room(now) <= weight * room(one.vruntime), "no more to wait for");
}

}  // namespace

std::vector<Goal> cfs_goals() {
  constexpr std::string_view place = "place_entity(), 6.1.192";
  constexpr std::string_view spread = "|v - min_vruntime| < 2^62; threshold <= 1 s";
  constexpr std::string_view pick = "pick_next_entity(), wakeup_preempt_entity(), 6.1.192";
  return {
      {.name = "wakeup_preemption_is_antisymmetric",
       .claim = "Of two entities at most one preempts the other, and it is the one behind.",
       .source = "wakeup_preempt_entity(), 6.1.192",
       .bounds = "|v - v'| < 2^62; granularities 0 .. 1 s",
       .theory = Theory::integers,
       .body = [](Scene& scene) { antisymmetric(scene, 0); },
       .canary = [](Scene& scene) { antisymmetric(scene, -1); }},
      {.name = "a_sleepers_credit_is_half_the_latency",
       .claim = "The threshold is the latency, or half of it, rounded down, with "
                "GENTLE_FAIR_SLEEPERS.",
       .source = place,
       .bounds = "0 <= latency <= 1 s",
       .theory = Theory::integers,
       .body = [](Scene& scene) { credit(scene, 1); },
       .canary = [](Scene& scene) { credit(scene, 0); }},
      {.name = "a_sleep_of_104_days_is_not_long",
       .claim = "One that slept for 104 days (2^53 ns) or less is never placed backward.",
       .source = "entity_is_long_sleeper(), place_entity(), 6.1.192",
       .bounds = spread,
       .theory = Theory::integers,
       .body = [](Scene& scene) { slept_less(scene, std::int64_t{1} << 53); },
       .canary = [](Scene& scene) { slept_less(scene, (std::int64_t{1} << 53) + 1); }},
      {.name = "a_sleeper_is_placed_forward",
       .claim = "A woken sleeper is at its own vruntime or at min_vruntime - threshold, whichever "
                "is later.",
       .source = place,
       .bounds = spread,
       .theory = Theory::integers,
       .body = [](Scene& scene) { placed(scene, false); },
       .canary = [](Scene& scene) { placed(scene, true); }},
      {.name = "a_forked_task_is_placed_forward",
       .claim = "A forked task is not before its parent's vruntime, nor before min_vruntime + "
                "vslice.",
       .source = place,
       .bounds = "|v - min_vruntime| < 2^62; vslice <= 2^40",
       .theory = Theory::integers,
       .body = [](Scene& scene) { placed_forked(scene, true); },
       .canary = [](Scene& scene) { placed_forked(scene, false); }},
      {.name = "a_long_sleeper_is_placed_with_the_others",
       .claim =
           "However far min_vruntime has come meanwhile, one that slept for more than 104 days "
           "is placed at min_vruntime - threshold.",
       .source = "entity_is_long_sleeper(), place_entity(), 6.1.192",
       .bounds =
           "all points; threshold <= 1 s; in a shorter sleep min_vruntime got ahead by at least "
           "the threshold, and at most 512 in a ns (weight 2)",
       .body = [](Scene& scene) { slept(scene, true); },
       .canary = [](Scene& scene) { slept(scene, false); }},
      {.name = "a_sleeper_is_always_placed_with_the_others",
       .claim = "Without the rule for long sleepers, one that slept is placed at "
                "min_vruntime - threshold.",
       .source = "place_entity(), 6.1 before entity_is_long_sleeper()",
       .bounds = "all points; threshold <= 1 s; in 104 days or less as with the rule",
       .kind = Kind::falsehood,
       .body = [](Scene& scene) { slept(scene, false); },
       .no_sequence = "6.1 is no policy of the model yet"},
      {.name = "min_vruntime_is_monotone",
       .claim = "min_vruntime never goes back, and reaches the least vruntime.",
       .source = "update_min_vruntime(), 6.1.192",
       .bounds = "|least - min_vruntime| < 2^62",
       .theory = Theory::integers,
       .body = [](Scene& scene) { monotone(scene, true); },
       .canary = [](Scene& scene) { monotone(scene, false); }},
      {.name = "a_buddy_delays_by_its_granularity",
       .claim = "Whoever is picked is ahead of the leftmost by at most the leftmost's wakeup "
                "granularity.",
       .source = pick,
       .bounds = "40 nice levels and SCHED_IDLE; granularity 0 .. 1 s; buddies less than 2^62 "
                 "after the leftmost",
       .theory = Theory::integers,
       .each_weight = true,
       .body = [](Scene& scene) { delayed_by_buddy(scene, 0); },
       .canary = [](Scene& scene) { delayed_by_buddy(scene, 1); }},
      {.name = "one_buddy_is_picked",
       .claim = "At most one buddy is picked, and one that is there.",
       .source = pick,
       .bounds = "granularity 0 .. 1 s; buddies less than 2^62 after the leftmost",
       .theory = Theory::integers,
       .body = [](Scene& scene) { one_of_three(scene, true); },
       .canary = [](Scene& scene) { one_of_three(scene, false); }},
      {.name = "a_run_of_cfs_is_capped",
       .claim = "While j waits, a run of k ends at most at v_j + G + S_k (T8, F1).",
       .source = "theorem T8; pick_next_entity(), check_preempt_tick(), 6.1.192",
       .bounds = "any n, one CPU; reals",
       .theory = Theory::rationals,
       .body = [](Scene& scene) { run_is_capped(scene, true); },
       .canary = [](Scene& scene) { run_is_capped(scene, false); }},
      {.name = "a_wakeup_does_not_add_to_the_wait",
       .claim = "A wakeup never widens w_k (v_j + G + S_k - v_k)^+, unless k slept long (T8, F2).",
       .source = "theorem T8; place_entity(), 6.1.192",
       .bounds = "any n, one CPU; reals",
       .theory = Theory::rationals,
       .body = [](Scene& scene) { wakeup_keeps_room(scene, false); },
       .canary = [](Scene& scene) { wakeup_keeps_room(scene, true); }},
  };
}

}  // namespace vlag::smt
