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

class SequenceBuilder {
 public:
  SequenceBuilder(std::uint64_t seed, const Scope& scope, ModelBackend& model, spec::Trace& trace)
      : random_(seed), scope_(scope), model_(model), trace_(trace) {}

  spec::Sequence build() {
    trace_.clear();
    tasks_ = random_.between(1, std::max(1, scope_.tasks));
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
    if (random_.one_in(64)) return random_.below(1'000 * ms);
    if (random_.one_in(64) && uncontended()) return random_.below(spec::longest_wait);
    if (random_.one_in(3)) return random_.below(8 * ms);
    return random_.pick<std::uint64_t>(usual_times);
  }

  std::uint64_t tick_time() { return random_.one_in(2) ? model_.info().tick_nsec : time(); }

  int nice() {
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
  vlag_policy some_policy() { return random_.pick<vlag_policy>(usual_policies); }

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
    if (trace_.back().head->need_resched != 0 && !random_.one_in(3)) return op::schedule();
    for (int tries = 0; tries < 8; ++tries) {
      const Operation operation = draw();
      if (legal(operation)) return operation;
    }
    return op::tick(tick_time());
  }

  Operation draw() {
    switch (random_.below(24)) {
      case 0:
      case 1:
      case 2:
        return op::block(random_.one_in(8));
      case 3:
      case 4:
      case 5:
      case 6:
        return op::wake(some_task());
      case 7:
        return change_nice();
      case 8:
        return change_slice();
      case 9:
        return change_policy();
      case 10:
        return random_.one_in(2) ? op::yield() : op::yield_to(some_task());
      case 11:
        return op::dequeue(some_task());
      case 12:
        return op::enqueue(some_task());
      case 13:
      case 14:
        return fork(some_task());
      case 15:
        return random_.one_in(3) ? op::exit() : op::hrtick();
      case 16:
        return op::advance(time());
      case 17:
      case 18:
        return op::schedule();
      case 19:
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
