// SPDX-License-Identifier: GPL-2.0-only
// The limit of the saved lag, for each weight. A tick lasts from 1 to 10 ms (HZ 1000 to 100).
#include "core/lag.h"
#include "core/slice.h"
#include "smt/goal.h"
#include "smt/tasks.h"
#include "spec/invariants.h"

namespace vlag::smt {
namespace {

constexpr std::int64_t tick_min = 1'000'000;
constexpr std::int64_t tick_max = 10'000'000;

struct Leaving {
  Number slice;
  Number tick;
  Number limit;
  Number distance;  // V - v
  Number vlag;
};

Leaving leaving(Scene& scene) {
  const Number slice = scene.number("slice", slice_min, slice_max);
  const Number tick = scene.number("tick", tick_min, tick_max);
  const Number limit = lag_limit<Symbols>(slice, tick, scene.weight());
  const Point average = scene.point("average");
  const Point vruntime = scene.point("vruntime");
  const Exact distance = exact(average, vruntime);
  const Exact far = Exact(1) << 62;
  scene.assume(-far < distance && distance < far);
  return {slice, tick, limit, average - vruntime, entity_lag<Symbols>(average, vruntime, limit)};
}

void limited(Scene& scene) {
  const Leaving one = leaving(scene);
  scene.claim(one.limit > 0, "the limit is positive");
  scene.claim(spec::lag_limited<Exact>(exact(one.vlag), exact(one.limit)), "lag_limited");
  scene.claim(implies(spec::lag_limited<Exact>(exact(one.distance), exact(one.limit)),
                      one.vlag == one.distance),
              "a lag within the limit is kept");
  scene.claim(
      implies(one.distance >= 0, one.vlag >= 0) && implies(one.distance <= 0, one.vlag <= 0),
      "its sign is kept");
}

// w |vlag| <= 1024 max(2 r, tick) (1 + 10^-8): in nice-0 nanoseconds, twice the request.
void owed(Scene& scene, std::int64_t requests) {
  const Leaving one = leaving(scene);
  const Exact weight = Exact(scene.weight().down().value);
  const Exact parts = 100'000'000;
  const Exact most = greatest(Exact(requests) * exact(one.slice), exact(one.tick)) * 1024;
  const Exact lag = exact(one.vlag) * weight;
  scene.claim(spec::lag_limited<Exact>(lag * parts, most * (parts + 1)), "w |vlag| within");
}

// The limit is what a charge of `requests` requests, or of a tick, would be.
void limit_is(Scene& scene, std::int64_t requests) {
  const Leaving one = leaving(scene);
  const Exact service = greatest(Exact(requests) * exact(one.slice), exact(one.tick));
  scene.claim(
      spec::service_charged<Exact>(exact(one.limit), service, Exact(scene.weight().down().value)),
      "service_charged");
}

// A task is queued with another of nice 0. One of them runs until V is that far ahead of it, or
// behind it, and it leaves.
spec::Sequence part_and_leave(const Model& model) {
  constexpr std::int64_t far = std::int64_t{1} << 32;
  constexpr std::int64_t unit = 1024;
  const std::int64_t slice = model.value("slice", slice_min, slice_max);
  const Weight whole = nice_weight(model.nice());
  const auto limit = [&](std::int64_t tick) { return lag_limit<Words>(slice, tick, whole).value; };
  std::int64_t lag = model.value("average", -far, far) - model.value("vruntime", -far, far);
  // As far beyond the limit of the replay's tick as the model is beyond that of its own, and a
  // little more, for what is rounded down.
  constexpr std::int64_t rounding = 8;
  const std::int64_t more =
      rounding + limit(tick_nsec) - limit(model.value("tick", tick_min, tick_max));
  lag += lag < 0 ? -more : more;
  const std::int64_t weight = whole.down().value;
  const std::int64_t waits = lag * (unit + weight) / unit;
  const std::int64_t runs = -lag * (unit + weight) / unit * weight / unit;
  Recorder recorder(2);
  const auto fork_it = [&] { recorder.fork(1, model.nice(), static_cast<std::uint64_t>(slice)); };
  if (lag < 0) fork_it();
  recorder.fork(0, 0, slice_max);
  recorder.schedule();
  if (lag >= 0) fork_it();
  recorder.tick(static_cast<std::uint64_t>(lag < 0 ? runs : waits));
  recorder.leave(1);
  return recorder.sequence();
}

}  // namespace

std::vector<Goal> lag_goals() {
  constexpr std::string_view source = "entity_lag(), update_entity_lag(), 6.12.117";
  constexpr std::string_view bounds =
      "40 nice levels and SCHED_IDLE; request 100 us .. 100 ms; tick 1 .. 10 ms; |V - v| < 2^62";
  return {
      {.name = "saved_lag_is_limited",
       .claim =
           "The saved lag is within its limit, keeps its sign, and is V - v if that is within.",
       .source = source,
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = limited,
       .canary =
           [](Scene& scene) {
             const Leaving one = leaving(scene);
             scene.claim(one.vlag == one.distance, "any lag is kept");
           },
       .sequence = part_and_leave,
       .breaks = "lag_is_limited_at_leave"},
      {.name = "lag_limit_is_two_requests_or_a_tick",
       .claim = "The limit is worth twice the request or a tick, to 10^-8 of it and one unit down.",
       .source = source,
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = [](Scene& scene) { limit_is(scene, 2); },
       .canary = [](Scene& scene) { limit_is(scene, 1); }},
      {.name = "owed_service_is_limited",
       .claim = "The service that a saved lag stands for is at most twice the request, or a tick.",
       .source = source,
       .bounds = bounds,
       .theory = Theory::integers,
       .each_weight = true,
       .body = [](Scene& scene) { owed(scene, 2); },
       .canary = [](Scene& scene) { owed(scene, 1); }},
  };
}

}  // namespace vlag::smt
