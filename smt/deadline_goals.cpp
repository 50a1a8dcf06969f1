// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>

#include "core/average.h"
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

void yielding(Scene& scene, bool only_eligible) {
  const Charged one = charged(scene);
  scene.assume(!request_used_up<Symbols>(one.vruntime, one.deadline));
  const Truth is_eligible = scene.truth("eligible");
  const Truth may = only_eligible ? is_eligible : Truth(true);
  const Point vruntime = yielded_vruntime<Symbols>(may, one.vruntime, one.deadline);
  Point deadline = one.deadline;
  if (request_used_up<Symbols>(vruntime, deadline)) {
    deadline = deadline_after<Symbols>(vruntime, one.slice, scene.weight());
  }
  scene.claim(exact(vruntime, one.vruntime) >= 0, "never backward");
  scene.claim(
      spec::deadline_renewed<Exact>(0, exact(deadline, vruntime), exact(one.deadline, vruntime)),
      "deadline_renewed");
  scene.claim(implies(is_eligible, exact(vruntime, one.deadline) >= 0),
              "not before the old deadline");
  scene.claim(
      is_eligible || (exact(vruntime, one.vruntime) == 0 && exact(deadline, one.deadline) == 0),
      "else nothing happens");
}

// R: the longest request, in virtual time. The rest of the queue is seen through its sums.
// Induction over the yields: the claim is the hypothesis again.
void yields(Scene& scene, bool only_eligible) {
  Sums<Symbols> sums = {Point(), scene.number("sum_w_vruntime"), scene.number("sum_weight")};
  const Number weight = scene.number("weight");
  const Exact request = scene.quantity("R");
  const Point vruntime = scene.point("vruntime");
  const Point deadline = scene.point("deadline");
  scene.assume(sums.sum_weight >= 0 && weight > 0);
  scene.assume(exact(deadline, vruntime) > 0 && exact(deadline, vruntime) <= request);
  const auto ahead = [&](const Point& v) {  // W (v - V)
    return exact(v, sums.zero_vruntime) * exact(sums.sum_weight) - exact(sums.sum_w_vruntime);
  };
  sums.add(vruntime, weight);
  scene.assume(ahead(vruntime) <= request * exact(sums.sum_weight));
  const Truth may = only_eligible ? eligible(sums, vruntime) : Truth(true);
  const Point yielded = yielded_vruntime<Symbols>(may, vruntime, deadline);
  sums.remove(vruntime, weight);
  sums.add(yielded, weight);
  scene.claim(ahead(yielded) <= request * exact(sums.sum_weight), "v - V <= R");
}

// A task runs as far beyond its request.
spec::Sequence run_over(const Model& model) {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  const std::int64_t slice = model.value("slice", slice_min, slice_max);
  const std::int64_t over = model.value("vruntime", -far, far) - model.value("deadline", -far, far);
  const std::int64_t weight = nice_weight(model.nice()).down().value;
  Recorder recorder(1);
  recorder.fork(0, model.nice(), static_cast<std::uint64_t>(slice));
  recorder.schedule();
  recorder.tick(
      static_cast<std::uint64_t>(slice + std::max<std::int64_t>(over, 0) * weight / 1024));
  return recorder.sequence();
}

}  // namespace

std::vector<Goal> deadline_goals() {
  constexpr std::string_view bounds =
      "40 nice levels and SCHED_IDLE; request 100 us .. 100 ms; |v - d| < 2^62";
  constexpr std::string_view yield_source = "yield_task_fair(), 6.12.117 (79104becf42b)";
  return {
      {.name = "deadline_is_renewed_ahead",
       .claim = "After a charge the deadline is after vruntime, and never earlier than it was.",
       .source = "update_deadline(), 6.12.117",
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = renewal,
       .canary = renewal_from_the_old_deadline,
       .sequence = run_over,
       .breaks = "deadline_is_renewed_ahead"},
      {.name = "deadline_is_monotone",
       .claim = "A longer request, made later, does not end earlier.",
       .source = "update_deadline(), place_entity(), 6.12.117",
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = [](Scene& scene) { in_order(scene, true); },
       .canary = [](Scene& scene) { in_order(scene, false); }},
      {.name = "a_yield_forfeits_the_request",
       .claim = "A yield never moves vruntime backward, takes an eligible entity to its deadline, "
                "renews the request, and does nothing to one that is not eligible.",
       .source = yield_source,
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = [](Scene& scene) { yielding(scene, true); },
       .canary = [](Scene& scene) { yielding(scene, false); }},
      {.name = "yields_stay_within_a_request_of_the_average",
       .claim = "However often it yields, an entity is at most one request ahead of V.",
       .source = yield_source,
       .bounds = "any n, by induction over the yields; any weights > 0; reals",
       .theory = Theory::rationals,
       .body = [](Scene& scene) { yields(scene, true); },
       .canary = [](Scene& scene) { yields(scene, false); }},
  };
}

}  // namespace vlag::smt
