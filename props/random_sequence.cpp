// SPDX-License-Identifier: GPL-2.0-only
#include "props/random_sequence.h"

#include <algorithm>
#include <array>

#include "core/check.h"
#include "core/slice.h"
#include "props/random.h"
#include "spec/legal.h"

namespace vlag::props {
namespace {

using spec::Operation;
namespace op = spec::op;

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t ms = 1'000'000;

// Times that meet each other: requests, ticks of the usual HZ, and the edges around them.
constexpr std::array<std::uint64_t, 16> usual_times = {
    0,      1,      2,      1 * us, 10 * us, 100 * us,     350 * us, 700 * us,
    1 * ms, 2 * ms, 3 * ms, 4 * ms, 5 * ms,  700 * us + 1, 10 * ms,  100 * ms,
};

constexpr std::array<int, 8> usual_nices = {0, 0, 0, 0, 5, -5, 19, -20};

constexpr std::array<std::uint64_t, 10> usual_slices = {
    0, 0, 0, 700 * us, 100 * us, 3 * ms, 100 * ms, 200 * us, 1, 1'000 * ms,
};

constexpr std::array<vlag_policy, 6> usual_policies = {
    VLAG_NORMAL, VLAG_NORMAL, VLAG_NORMAL, VLAG_NORMAL, VLAG_BATCH, VLAG_IDLE,
};

// What an operation of a random sequence may be.
enum class Kind : std::uint8_t {
  block,
  wake,
  nice,
  slice,
  policy,
  yield,
  yield_to,
  dequeue,
  enqueue,
  fork,
  exit,
  hrtick,
  advance,
  schedule,
  rare,
  tick,
  count,
};
using Weights = std::array<int, static_cast<std::size_t>(Kind::count)>;

enum class Times : std::uint8_t { any, up_to_a_tick, short_runs };

// How often which operation, and by what driver: a load. One is drawn for each sequence, since what
// some faults need, as many forks or none at all, hardly ever comes from a fair mixture.
struct Mix {
  Weights weights;
  Times times = Times::any;
  bool prompt = false;   // A request to reschedule is always acted on at once.
  bool extreme = false;  // Weights of nice -20, 19 and SCHED_IDLE.
  int most_tasks = VLAG_MAX_TASKS;
  int least_tasks = 1;
};

constexpr Mix everything{{6, 8, 2, 2, 2, 1, 1, 2, 2, 4, 1, 3, 2, 4, 2, 8}};

constexpr std::array<Mix, 9> loads = {{
    //  block wake nice slice policy yield yield_to deq enq fork exit hrtick advance sched rare tick
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 30}, Times::up_to_a_tick, true},   // steady
    {{6, 8, 0, 0, 0, 0, 0, 0, 0, 4, 1, 1, 1, 2, 0, 20}, Times::up_to_a_tick, true},   // sleepers
    {{2, 3, 0, 0, 0, 12, 2, 0, 0, 2, 0, 0, 1, 1, 0, 12}, Times::up_to_a_tick, true},  // yielders
    {{2, 3, 0, 0, 0, 0, 0, 0, 0, 12, 8, 0, 1, 2, 0, 10}, Times::short_runs, true},    // forks
    {{2, 3, 8, 8, 4, 0, 0, 0, 0, 2, 0, 0, 1, 1, 0, 14}, Times::up_to_a_tick, true},   // flapping
    {{12, 14, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 1, 2, 0, 10}, Times::short_runs, true},   // ping-pong
    {{6, 8, 3, 2, 2, 1, 1, 1, 1, 4, 1, 0, 1, 2, 0, 14}, Times::any, false, true},     // extreme
    {{8, 8, 2, 2, 1, 1, 1, 2, 2, 3, 2, 1, 1, 3, 1, 8}, Times::any, false, false, 2},  // near empty
    {{4, 6, 0, 0, 0, 0, 0, 3, 4, 6, 1, 0, 1, 2, 0, 16},                               // migrations
     Times::up_to_a_tick,
     true,
     false,
     VLAG_MAX_TASKS,
     4},
}};

class SequenceBuilder {
 public:
  SequenceBuilder(std::uint64_t seed, const Scope& scope, ModelBackend& model, spec::Trace& trace)
      : random_(seed), scope_(scope), model_(model), trace_(trace) {}

  spec::Sequence build() {
    trace_.clear();
    if (random_.one_in(2)) mix_ = &random_.pick<Mix>(loads);
    const int most = std::clamp(scope_.tasks, 1, mix_->most_tasks);
    tasks_ = random_.between(std::min(mix_->least_tasks, most), most);
    bool sound = stage();
    for (int i = 0; i < scope_.operations && sound; ++i) sound = add(choose());
    return std::move(sequence_);
  }

 private:
  bool add(const Operation& operation) {
    sequence_.push_back(operation);
    return model_.step(operation, trace_);
  }

  bool legal(const Operation& operation) const {
    const spec::Observation now = trace_.back();
    return spec::why_illegal(&now, operation).empty();
  }

  // Where time starts, the features, and the first tasks.
  bool stage() {
    bool sound = add(start());
    const Features base = model_.policy().features;
    Features features = feature_combination(base, static_cast<unsigned>(random_.below(1024)));
    if (scope_.features) features = *scope_.features;
    if (scope_.timers && random_.one_in(4)) features.set(Feature::HRTICK, true);
    sound = sound && add(op::features(used_features(), features.bits()));
    if (random_.one_in(4)) sound = sound && add(op::base_slice(base_slice()));
    for (int i = 0; i < tasks_ && sound; ++i) {
      if (!random_.one_in(4)) sound = add(fork(i));
    }
    return sound;
  }

  static std::uint64_t used_features() {
    Features mask;
    for (const Feature feature : deciding_features()) mask.set(feature, true);
    mask.set(Feature::HRTICK, true);
    return mask.bits();
  }

  Operation start() {
    const std::uint64_t clock = random_.one_in(2) ? 0 : time();
    if (random_.one_in(2)) return op::reset(clock);
    constexpr std::array<std::uint64_t, 4> wraps = {0, std::uint64_t{1} << 63, 0 - 5 * ms, 1};
    const std::uint64_t wrap = random_.pick<std::uint64_t>(wraps);
    return op::reset_at(clock, wrap - time());
  }

  // Nobody is queued, or one alone: then any time may pass.
  bool uncontended() const { return trace_.empty() || trace_.back().queue->nr_running <= 1; }

  std::uint64_t time() {
    if (mix_->times == Times::up_to_a_tick) return time_up_to_a_tick();
    if (mix_->times == Times::short_runs && !random_.one_in(8)) return random_.below(200 * us);
    if (random_.one_in(64)) return random_.below(1'000 * ms);
    if (random_.one_in(64) && uncontended()) return random_.below(spec::longest_wait);
    if (random_.one_in(3)) return random_.below(8 * ms);
    return random_.pick<std::uint64_t>(usual_times);
  }

  std::uint64_t time_up_to_a_tick() {
    const std::uint64_t tick = model_.info().tick_nsec;
    if (random_.one_in(2)) return 1 + random_.below(tick);
    return std::min(tick, random_.pick<std::uint64_t>(usual_times));
  }

  std::uint64_t tick_time() { return random_.one_in(2) ? model_.info().tick_nsec : time(); }

  int nice() {
    if (mix_->extreme) return random_.one_in(2) ? -20 : 19;
    return random_.one_in(4) ? random_.between(-20, 19) : random_.pick<int>(usual_nices);
  }

  std::uint64_t slice() {
    return random_.one_in(4) ? random_.below(20 * ms) : random_.pick<std::uint64_t>(usual_slices);
  }

  std::uint64_t base_slice() { return std::max<std::uint64_t>(slice(), spec::base_slice_min); }

  Operation fork(int id) {
    const std::uint64_t asked = slice();
    const std::uint64_t slice =
        asked == 0 ? 0 : std::clamp<std::uint64_t>(asked, slice_min, slice_max);
    const vlag_policy policy = some_policy();
    return op::fork(id, nice(), slice, policy);
  }

  int some_task() { return random_.between(0, tasks_ - 1); }
  vlag_policy some_policy() {
    if (mix_->extreme && random_.one_in(3)) return VLAG_IDLE;
    return random_.pick<vlag_policy>(usual_policies);
  }

  // One draw in each full expression: the order in which arguments are evaluated is not the same
  // in all compilers.
  Operation change_nice() {
    const int value = nice();
    return op::nice(some_task(), value);
  }
  Operation change_slice() {
    const std::uint64_t slice_ns = slice();
    return op::slice(some_task(), slice_ns);
  }
  Operation change_policy() {
    const vlag_policy policy = some_policy();
    return op::policy(some_task(), policy);
  }

  Operation choose() {
    // A request to reschedule is mostly honoured at once, as on a real system.
    const bool pending = trace_.back().head->need_resched != 0;
    if (pending && (mix_->prompt || !random_.one_in(3))) return op::schedule();
    for (int tries = 0; tries < 8; ++tries) {
      const Operation operation = draw();
      if (legal(operation)) return operation;
    }
    return op::tick(tick_time());
  }

  Kind draw_kind() {
    int total = 0;
    for (const int weight : mix_->weights) total += weight;
    int left = random_.between(0, total - 1);
    std::size_t kind = 0;
    while (left >= mix_->weights[kind]) left -= mix_->weights[kind++];
    return static_cast<Kind>(kind);
  }

  Operation draw() {
    switch (draw_kind()) {
      case Kind::block:
        return op::block(random_.one_in(8));
      case Kind::wake:
        return op::wake(some_task());
      case Kind::nice:
        return change_nice();
      case Kind::slice:
        return change_slice();
      case Kind::policy:
        return change_policy();
      case Kind::yield:
        return op::yield();
      case Kind::yield_to:
        return op::yield_to(some_task());
      case Kind::dequeue:
        return op::dequeue(some_task());
      case Kind::enqueue:
        return op::enqueue(some_task());
      case Kind::fork:
        return fork(some_task());
      case Kind::exit:
        return op::exit();
      case Kind::hrtick:
        return op::hrtick();
      case Kind::advance:
        return op::advance(time());
      case Kind::schedule:
        return op::schedule();
      case Kind::rare:
        return rare();
      default:
        return op::tick(tick_time());
    }
  }

  Operation rare() {
    if (!random_.one_in(4)) return op::schedule();
    if (!scope_.switch_features || random_.one_in(2)) return op::base_slice(base_slice());
    const auto features = deciding_features();
    Features bit;
    bit.set(random_.pick<Feature>(features), true);
    return op::features(bit.bits(), random_.one_in(2) ? bit.bits() : 0);
  }

  Random random_;
  const Scope& scope_;
  ModelBackend& model_;
  spec::Trace& trace_;
  spec::Sequence sequence_;
  const Mix* mix_ = &everything;
  int tasks_ = 1;
};

}  // namespace

spec::Sequence random_sequence(std::uint64_t seed, const Scope& scope, ModelBackend& model,
                               spec::Trace& trace) {
  VLAG_CHECK(scope.tasks <= VLAG_MAX_TASKS);
  return SequenceBuilder(seed, scope, model, trace).build();
}

Features feature_combination(Features base, unsigned number) {
  VLAG_CHECK(number < feature_combinations);
  unsigned bit = 0;
  for (const Feature feature : deciding_features()) base.set(feature, (number >> bit++ & 1) != 0);
  return base;
}

}  // namespace vlag::props
