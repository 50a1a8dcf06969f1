// SPDX-License-Identifier: GPL-2.0-only
#include "smt/bounds.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/average.h"
#include "core/lag.h"
#include "core/placement.h"
#include "core/slice.h"
#include "core/weight.h"
#include "smt/process.h"
#include "smt/witness.h"

namespace vlag::smt {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

struct Kind {
  std::string_view name;
  Weight weight;
  int nice;
};

const std::array<Kind, 3> kinds = {{{"nice -20", nice_weight(-20), -20},
                                    {"nice 0", nice_weight(0), 0},
                                    {"nice 19", nice_weight(19), 19}}};

const Kind idle = {"SCHED_IDLE", idle_weight(), 0};

std::int64_t down(const Kind& kind) { return kind.weight.down().value; }

// Everyone within `spread` of v0, in a queue of weight `load`.
void test_eligibility(Scene& scene, std::int64_t load, std::int64_t spread) {
  const Exact most = Exact(load) * Exact(spread);
  const Exact sum = scene.quantity("sum_w_vruntime");
  scene.assume(-most <= sum && sum <= most);
  const Point zero = scene.point("zero_vruntime");
  const Sums<Symbols> total = {zero, Number(sum.term()), Number(load)};
  const Point vruntime = scene.point("vruntime");
  const Exact key = exact(vruntime, zero);
  scene.assume(-Exact(spread) <= key && key <= Exact(spread));
  eligible(total, vruntime);
}

Limit product_limit(const Kind& kind, std::int64_t tasks) {
  Limit limit{
      .name = "products",
      .where = fmt::format("{} tasks of {}", tasks, kind.name),
      .what = "virtual ns from v_0",
      .rule = "vruntime_eligible()",
      .beyond = largest / 2,
      .body = [load = tasks * down(kind)](
                  Scene& scene, std::int64_t spread) { test_eligibility(scene, load, spread); },
      .sequence = nullptr};
  if (tasks == 2) {
    limit.sequence = [nice = kind.nice](std::int64_t key) { return run_ahead(nice, key); };
  } else {
    limit.no_sequence = "as with two tasks of that weight";
  }
  return limit;
}

constexpr std::string_view too_many = "more tasks than a sequence holds (256)";

Limit divisor_limit(const Kind& kind) {
  return {.name = "divisor",
          .where = fmt::format("tasks of {}", kind.name),
          .what = "tasks",
          .rule = "avg_vruntime(), div_s64()",
          .beyond = std::int64_t{1} << 32,
          .body =
              [&kind](Scene& scene, std::int64_t tasks) {
                const Number sum = scene.number("sum_w_vruntime", -(std::int64_t{1} << 40), 0);
                average_key<Symbols>({Point(), sum, Number(tasks * down(kind))},
                                     AverageRounding::truncate);
              },
          .sequence = nullptr,
          .no_sequence = too_many};
}

// One that brings the most lag joins a queue of tasks of nice -20.
Limit inflation_limit(const Kind& joining, std::int64_t tick_nsec) {
  return {.name = "inflation",
          .where = fmt::format("one of {} joins tasks of nice -20", joining.name),
          .what = "tasks",
          .rule = "place_entity()",
          .beyond = std::int64_t{1} << 32,
          .body =
              [&joining, tick_nsec](Scene& scene, std::int64_t tasks) {
                const Word most = lag_limit<Words>(slice_max, tick_nsec, joining.weight);
                const Number lag = scene.number("lag", -most.value, most.value);
                inflated_lag<Symbols>(lag, Number(tasks * down(kinds[0])), Number(down(joining)));
              },
          .sequence = nullptr,
          .no_sequence = too_many};
}

Limit charge_limit(const Kind& kind) {
  return {.name = "charge",
          .where = fmt::format("a run of {}", kind.name),
          .what = "ns",
          .rule = "calc_delta_fair()",
          .beyond = largest,
          .body =
              [&kind](Scene& scene, std::int64_t most) {
                calc_delta_fair<Symbols>(scene.number("delta", 0, most), kind.weight);
              },
          .sequence = nullptr,
          .no_sequence = "a tick lasts 2^54 ns at most"};
}

// Whether any of it can fail, and which.
Answer ask_all(const Limit& limit, std::int64_t number, Solvers solvers, double seconds,
               std::string& fails) {
  Answer all{.z3 = solvers.z3 ? Status::unsat : Status::unknown,
             .cvc5 = solvers.cvc5 ? Status::unsat : Status::unknown,
             .model = {}};
  Scene scene(Theory::integers);
  scene.explore([&](Scene& here) { limit.body(here, number); });
  for (const Query& query : scene.queries()) {
    Answer one = ask(query.text, solvers, {seconds, seconds});
    if (one.status() == Status::sat) {
      fails = fmt::format("not so: {}: {}", query.label, one.model);
      return one;
    }
    if (one.z3 != Status::unsat) all.z3 = one.z3;
    if (one.cvc5 != Status::unsat) all.cvc5 = one.cvc5;
  }
  return all;
}

// The same by Z3 in this process.
bool can_fail(const Limit& limit, std::int64_t number) {
  Scene scene(Theory::integers);
  scene.explore([&](Scene& here) { limit.body(here, number); });
  for (const Query& query : scene.queries()) {
    z3::solver solver(scene.context());
    solver.from_string(query.text.c_str());
    const z3::check_result result = solver.check();
    if (result == z3::unknown) throw std::runtime_error("undecided");
    if (result == z3::sat) return true;
  }
  return false;
}

// The largest number that is safe, by bisection.
std::int64_t search(const Limit& limit) {
  std::int64_t low = 1;
  std::int64_t high = limit.beyond;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (can_fail(limit, middle) ? high : low) = middle;
  }
  return low;
}

}  // namespace

std::vector<Limit> limits_of(const Policy& policy) {
  std::vector<Limit> all;
  for (const std::int64_t tasks : {2, 10, 100, 1'000, 10'000}) {
    for (const Kind& kind : kinds) all.push_back(product_limit(kind, tasks));
  }
  for (const Kind& kind : kinds) all.push_back(divisor_limit(kind));
  for (const Kind& kind : kinds) {
    all.push_back(inflation_limit(kind, policy.tunables.tick_nsec()));
  }
  // A heavier task is charged less than its service.
  for (const Kind* kind : {&kinds[2], &idle}) all.push_back(charge_limit(*kind));
  return all;
}

Bound find_bound(const Limit& limit, Solvers solvers, double seconds) {
  Bound bound;
  bound.limit = &limit;
  // Many questions, in one process that can be lost; what it found is asked again.
  Child child([&] { return std::to_string(search(limit)); });
  const std::string text = output_of(child, seconds);
  if (text.empty()) return bound;
  bound.safe = std::stoll(text);
  std::string none;
  bound.at_safe = ask_all(limit, bound.safe, solvers, seconds, none);
  bound.beyond = ask_all(limit, bound.safe + 1, solvers, seconds, bound.fails);
  return bound;
}

}  // namespace vlag::smt
