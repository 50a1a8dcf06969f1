// SPDX-License-Identifier: GPL-2.0-only
#include "core/slice.h"
#include "smt/goal.h"
#include "spec/invariants.h"

namespace vlag::smt {
namespace {

Number clamped(const Number& request) { return clamp_slice<Symbols>(request); }

void granted(Scene& scene) {
  const Number result = clamped(scene.number("request"));
  // The literals of the kernel, which the constants of core/ must equal.
  scene.claim(spec::slice_granted<Number>(result, 100'000, 100'000'000), "from 100 us to 100 ms");
}

void idempotent(Scene& scene) {
  const Number once = clamped(scene.number("request"));
  scene.claim(clamped(once) == once, "clamping twice is clamping once");
  const Number within = scene.number("within", 100'000, 100'000'000);
  scene.claim(clamped(within) == within, "from 100 us to 100 ms as asked");
}

void monotone(Scene& scene) {
  const Number less = scene.number("less");
  const Number more = scene.number("more");
  scene.assume(less <= more);
  scene.claim(clamped(less) <= clamped(more), "in order");
}

spec::Sequence ask_for(const Model& model) {
  Recorder recorder(1);
  const std::int64_t request = model.value("request", 1, INT64_MAX);
  recorder.fork(0, 0, 0);
  recorder.slice(0, static_cast<std::uint64_t>(request));
  return recorder.sequence();
}

}  // namespace

std::vector<Goal> slice_goals() {
  constexpr std::string_view source = "__setscheduler_params(), 6.12.117";
  constexpr std::string_view bounds = "every 64-bit request";
  return {
      {.name = "slice_is_granted",
       .claim = "Whatever is asked for, the request is from 100 us to 100 ms.",
       .source = source,
       .bounds = bounds,
       .body = granted,
       .canary =
           [](Scene& scene) {
             const Number result = clamped(scene.number("request"));
             scene.claim(spec::slice_granted<Number>(result, slice_min, slice_max - 1),
                         "less than slice_max");
           },
       .sequence = ask_for,
       .breaks = "slice_is_granted"},
      {.name = "slice_clamp_is_idempotent",
       .claim = "A request from 100 us to 100 ms is granted as it is.",
       .source = source,
       .bounds = bounds,
       .body = idempotent,
       .canary =
           [](Scene& scene) {
             const Number request = scene.number("request");
             scene.claim(clamped(request) == request, "any request is granted as it is");
           }},
      {.name = "slice_clamp_is_monotone",
       .claim = "Who asks for more is not granted less.",
       .source = source,
       .bounds = bounds,
       .body = monotone,
       .canary =
           [](Scene& scene) {
             const Number less = scene.number("less");
             const Number more = scene.number("more");
             scene.assume(less < more);
             scene.claim(clamped(less) < clamped(more), "in strict order");
           }},
  };
}

}  // namespace vlag::smt
