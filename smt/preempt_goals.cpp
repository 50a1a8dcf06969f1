// SPDX-License-Identifier: GPL-2.0-only
// Slice protection: while an entity runs, its vlag holds the bits of the deadline it was picked
// with.
#include "core/deadline.h"
#include "core/preempt.h"
#include "core/slice.h"
#include "smt/goal.h"

namespace vlag::smt {
namespace {

Truth is_protected(const Number& vlag, const Point& deadline) {
  return slice_protected<Symbols>(vlag, deadline);
}

void set(Scene& scene) {
  const Point deadline = scene.point("deadline");
  scene.claim(is_protected(stash(deadline), deadline), "protected");
}

void not_set(Scene& scene) {
  const Point deadline = scene.point("deadline");
  scene.claim(is_protected(scene.number("vlag"), deadline), "protected whatever vlag is");
}

void cancelled(Scene& scene) {
  const Point deadline = scene.point("deadline");
  const Number vlag = cancelled_protection<Symbols>(deadline);
  scene.claim(!is_protected(vlag, deadline), "not protected");
}

void cancelled_and_moved(Scene& scene) {
  const Point deadline = scene.point("deadline");
  const Number vlag = cancelled_protection<Symbols>(deadline);
  scene.claim(!is_protected(vlag, scene.point("other_deadline")), "not protected");
}

void renewed(Scene& scene, bool used_up) {
  const Point vruntime = scene.point("vruntime");
  const Point deadline = scene.point("deadline");
  const Number slice = scene.number("slice", slice_min, slice_max);
  if (used_up) scene.assume(request_used_up<Symbols>(vruntime, deadline));
  const Point next = deadline_after<Symbols>(vruntime, slice, scene.weight());
  scene.claim(!is_protected(stash(deadline), next), "not protected");
}

struct Wakeup {
  Number woken_slice;
  Number current_slice;
  Truth woken_eligible;
  Truth current_eligible;
  Point woken_deadline;
  Point current_deadline;
  Truth preempts;
};

Wakeup wakeup(Scene& scene) {
  const Number woken_slice = scene.number("woken_slice");
  const Number current_slice = scene.number("current_slice");
  const Truth woken_eligible = scene.truth("woken_eligible");
  const Truth current_eligible = scene.truth("current_eligible");
  const Point woken_deadline = scene.point("woken_deadline");
  const Point current_deadline = scene.point("current_deadline");
  return {woken_slice,
          current_slice,
          woken_eligible,
          current_eligible,
          woken_deadline,
          current_deadline,
          preempts_short<Symbols>(woken_slice, current_slice, woken_eligible, current_eligible,
                                  woken_deadline, current_deadline)};
}

void only_if(Scene& scene) {
  const Wakeup w = wakeup(scene);
  scene.claim(implies(w.preempts, w.woken_eligible), "the woken one is eligible");
  scene.claim(implies(w.preempts, w.woken_slice < w.current_slice), "its request is shorter");
  scene.claim(implies(w.preempts,
                      before<Symbols>(w.woken_deadline, w.current_deadline) || !w.current_eligible),
              "it is earlier, or the current one is not eligible");
}

void only_if_earlier(Scene& scene) {
  const Wakeup w = wakeup(scene);
  scene.claim(implies(w.preempts, before<Symbols>(w.woken_deadline, w.current_deadline)),
              "it is earlier");
}

void if_shorter(Scene& scene, bool eligible) {
  const Wakeup w = wakeup(scene);
  scene.assume(w.woken_slice < w.current_slice && !w.current_eligible);
  if (eligible) scene.assume(w.woken_eligible);
  scene.claim(w.preempts, "it preempts");
}

}  // namespace

std::vector<Goal> preempt_goals() {
  constexpr std::string_view any = "all 64-bit values";
  constexpr std::string_view short_source = "do_preempt_short(), 6.12.117";
  return {
      {.name = "set_protection_protects",
       .claim = "An entity whose protection was just set is protected.",
       .source = "set_protect_slice(), protect_slice(), 6.12.117",
       .bounds = any,
       .body = set,
       .canary = not_set},
      {.name = "cancelled_protection_is_lost",
       .claim = "An entity whose protection was cancelled is not protected.",
       .source = "cancel_protect_slice(), 6.12.117",
       .bounds = any,
       .body = cancelled,
       .canary = cancelled_and_moved},
      {.name = "renewal_ends_protection",
       .claim = "When a used-up request is renewed, its protection ends.",
       .source = "update_deadline(), protect_slice(), 6.12.117",
       .bounds = "40 nice levels and SCHED_IDLE; request 100 us .. 100 ms; all points",
       .each_weight = true,
       .body = [](Scene& scene) { renewed(scene, true); },
       .canary = [](Scene& scene) { renewed(scene, false); }},
      {.name = "short_preempts_only_if_picked",
       .claim =
           "A woken entity overrides protection only with a shorter request, eligible, and with "
           "an earlier deadline or against one that is not eligible.",
       .source = short_source,
       .bounds = any,
       .body = only_if,
       .canary = only_if_earlier},
      {.name = "short_preempts_the_ineligible",
       .claim =
           "An eligible woken entity with a shorter request overrides the protection of one that "
           "is not eligible.",
       .source = short_source,
       .bounds = any,
       .body = [](Scene& scene) { if_shorter(scene, true); },
       .canary = [](Scene& scene) { if_shorter(scene, false); }},
  };
}

}  // namespace vlag::smt
