// SPDX-License-Identifier: GPL-2.0-only
#include "core/deadline.h"
#include "core/slice.h"
#include "smt/goal.h"
#include "spec/invariants.h"

namespace vlag::smt {
namespace {

// The current entity after a charge, less than 2^62 of virtual time from its deadline.
struct Charged {
  Point vruntime;
  Point deadline;
  Number slice;
};

Charged charged(Scene& scene) {
  const Point vruntime = scene.point("vruntime");
  const Point deadline = scene.point("deadline");
  const Exact far = Exact(1) << 62;
  scene.assume(-far < exact(vruntime, deadline) && exact(vruntime, deadline) < far);
  return {vruntime, deadline, scene.number("slice", slice_min, slice_max)};
}

// spec::deadline_renewed, relative to vruntime.
Truth renewed(const Charged& one, const Point& deadline) {
  return spec::deadline_renewed<Exact>(0, exact(deadline, one.vruntime),
                                       exact(one.deadline, one.vruntime));
}

void renewal(Scene& scene) {
  const Charged one = charged(scene);
  Point deadline = one.deadline;
  if (request_used_up<Symbols>(one.vruntime, one.deadline)) {
    deadline = deadline_after<Symbols>(one.vruntime, one.slice, scene.weight());
  }
  scene.claim(renewed(one, deadline), "deadline_renewed");
}

void renewal_from_the_old_deadline(Scene& scene) {
  const Charged one = charged(scene);
  scene.assume(request_used_up<Symbols>(one.vruntime, one.deadline));
  const Point deadline = deadline_after<Symbols>(one.deadline, one.slice, scene.weight());
  scene.claim(renewed(one, deadline), "deadline_renewed");
}

void in_order(Scene& scene, bool longer) {
  const Point from = scene.point("from");
  const Number later = scene.number("later", 0, std::int64_t{1} << 62);
  const Number less = scene.number("less", slice_min, slice_max);
  const Number more = scene.number("more", slice_min, slice_max);
  if (longer) scene.assume(less <= more);
  const Point first = deadline_after<Symbols>(from, less, scene.weight());
  const Point second = deadline_after<Symbols>(from + later, more, scene.weight());
  scene.claim(exact(first, second) <= 0, "not earlier");
}

}  // namespace

std::vector<Goal> deadline_goals() {
  constexpr std::string_view bounds =
      "40 nice levels and SCHED_IDLE; request 100 us .. 100 ms; |v - d| < 2^62";
  return {
      {.name = "deadline_is_renewed_ahead",
       .claim = "After a charge the deadline is after vruntime, and never earlier than it was.",
       .source = "update_deadline(), 6.12.117",
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = renewal,
       .canary = renewal_from_the_old_deadline},
      {.name = "deadline_is_monotone",
       .claim = "A longer request, made later, does not end earlier.",
       .source = "update_deadline(), place_entity(), 6.12.117",
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = [](Scene& scene) { in_order(scene, true); },
       .canary = [](Scene& scene) { in_order(scene, false); }},
  };
}

}  // namespace vlag::smt
