// SPDX-License-Identifier: GPL-2.0-only
// The wrapping order of core/machine.h: what before() is, and what it is not.
#include "smt/goal.h"

namespace vlag::smt {
namespace {

Truth earlier(const Point& a, const Point& b) { return before<Symbols>(a, b); }

Number half_of_all() { return Number(INT64_MIN); }

void antisymmetric(Scene& scene) {
  const Point a = scene.point("a");
  const Point b = a + scene.number("apart");
  scene.assume(a - b != half_of_all());
  scene.claim(!(earlier(a, b) && earlier(b, a)), "not both ways");
  scene.claim(a == b || earlier(a, b) || earlier(b, a), "one of the two, or the same point");
}

void antisymmetric_at_any_distance(Scene& scene) {
  const Point a = scene.point("a");
  const Point b = scene.point("b");
  scene.claim(!(earlier(a, b) && earlier(b, a)), "not both ways");
}

void order_within(Scene& scene, bool bounded) {
  const Point origin = scene.point("origin");
  const Number i = scene.number("i");
  const Number j = scene.number("j");
  if (bounded) scene.assume(i >= 0 && j >= 0);
  scene.claim(iff(earlier(origin + i, origin + j), i < j), "before(o + i, o + j) <=> i < j");
}

void transitive(Scene& scene) {
  const Point a = scene.point("a");
  const Point b = scene.point("b");
  const Point c = scene.point("c");
  // Not even where before() is antisymmetric.
  scene.assume(a - b != half_of_all() && b - c != half_of_all() && a - c != half_of_all());
  scene.assume(earlier(a, b) && earlier(b, c));
  scene.claim(earlier(a, c), "a before c");
}

}  // namespace

std::vector<Goal> machine_goals() {
  return {
      {.name = "before_is_antisymmetric",
       .claim = "Of two different points exactly one is before the other.",
       .source = "entity_before(), 6.12.117",
       .bounds = "all points that are not exactly 2^63 apart",
       .body = antisymmetric,
       .canary = antisymmetric_at_any_distance},
      {.name = "before_is_the_order_within_half_the_circle",
       .claim = "Among points in one half of the circle, before() is the order of their offsets.",
       .source = "entity_before(), 6.12.117",
       .bounds = "all points within 2^63 after some origin",
       .body = [](Scene& scene) { order_within(scene, true); },
       .canary = [](Scene& scene) { order_within(scene, false); }},
      {.name = "before_is_transitive",
       .claim = "If a is before b and b before c, then a is before c.",
       .source = "entity_before(), 6.12.117",
       .bounds = "all points that are not exactly 2^63 apart",
       .kind = Kind::falsehood,
       .body = transitive,
       .no_sequence = "virtual times 2^62 apart: products overflow long before"},
  };
}

}  // namespace vlag::smt
