// SPDX-License-Identifier: GPL-2.0-only
// How long a run may last while others wait, and who may end it.
//
// Not true of 6.12.117 (spec/divergences.h): there a run is protected for its own request, however
// short those are that wait; the fixes are of 6.17.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/weight.h"
#include "props/property.h"
#include "props/protection.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::distance;
using spec::EntityState;
using spec::has;
using spec::Observation;

bool is_change(const spec::Operation& operation) {
  return operation.code == VLAG_NICE || operation.code == VLAG_SLICE ||
         operation.code == VLAG_POLICY;
}

bool joins(const Step& step, const EntityState& entity) {
  const EntityState* before = step.before->find(entity.id);
  if (!has(entity, VLAG_ON_RQ)) return false;
  if (before == nullptr || !has(*before, VLAG_ON_RQ)) return true;
  return before->slice != entity.slice && spec::targets(step.operation, entity.id);
}

std::uint64_t virtual_time(std::uint64_t service, const EntityState& entity) {
  const Weight weight = make_weight(entity.weight, entity.inv_weight);
  return static_cast<std::uint64_t>(calc_delta_fair<Words>(Word::wrapped(service), weight).value);
}

// The run of the current one: since when, and what was the shortest request meanwhile.
class Run {
 public:
  explicit Run(const BackendInfo& info) : base_slice_(info.base_slice) {}

  /// Follows a step. Returns the run that was under way before it if it still is, else nullptr.
  const EntityState* follow(const Step& step) {
    if (step.operation.code == VLAG_TUNABLE) base_slice_ = step.operation.arg;
    const EntityState* current = step.after.find(step.after.queue->curr);
    if (current == nullptr || !has(*current, VLAG_ON_RQ)) {
      id_ = VLAG_NO_ENTITY;
      return nullptr;
    }
    const bool goes_on = id_ == current->id && picked_at_ == current->prev_sum_exec_runtime;
    if (!goes_on) start(step, *current);
    // A change of the current one puts it back as if it was picked, or does nothing at all.
    const bool changed = is_change(step.operation) && spec::targets(step.operation, id_);
    if (changed && step.before != nullptr) change(step, *current);
    to_parity_ = to_parity_ && step.has(Feature::RUN_TO_PARITY);
    without_parity_ = without_parity_ && !step.has(Feature::RUN_TO_PARITY);
    return goes_on ? current : nullptr;
  }

  /// Those who joined at this step count from now on.
  void count_joins(const Step& step, const EntityState& current) {
    for (const EntityState& entity : step.after.entities) {
      if (entity.id == current.id || !joins(step, entity)) continue;
      disturbed_ = true;
      end_ = earlier_of(end_, current.vruntime + virtual_time(entity.slice, current));
    }
    disturbed_ = disturbed_ || step.operation.code == VLAG_WAKE || is_change(step.operation);
  }

  /// With RUN_TO_PARITY all the time: where the shortest request has been served.
  bool to_parity() const { return to_parity_; }
  std::uint64_t end() const { return end_; }
  /// Without it all the time: where a default request has been served.
  bool without_parity() const { return without_parity_; }
  std::uint64_t quantum_end() const { return quantum_end_; }
  /// Someone joined or woke since the run started.
  bool disturbed() const { return disturbed_; }

 private:
  void change(const Step& step, const EntityState& current) {
    const EntityState* before = step.before->find(current.id);
    const bool shows = before->nice != current.nice || before->slice != current.slice;
    start(step, current);
    // One that changed nothing to be seen may have done nothing.
    if (!shows) to_parity_ = without_parity_ = false;
  }

  static std::uint64_t earlier_of(std::uint64_t a, std::uint64_t b) {
    return distance(a, b) < 0 ? a : b;
  }

  void start(const Step& step, const EntityState& current) {
    id_ = current.id;
    picked_at_ = current.prev_sum_exec_runtime;
    to_parity_ = without_parity_ = true;
    disturbed_ = false;
    std::uint64_t shortest = current.slice;
    end_ = current.deadline;
    for (const EntityState& entity : step.after.entities) {
      if (has(entity, VLAG_ON_RQ)) shortest = std::min(shortest, entity.slice);
    }
    if (shortest != current.slice) {
      end_ = earlier_of(end_, current.vruntime + virtual_time(shortest, current));
    }
    const std::uint64_t quantum = std::min(current.slice, base_slice_);
    quantum_end_ = earlier_of(current.deadline, current.vruntime + virtual_time(quantum, current));
  }

  std::uint64_t base_slice_;
  int id_ = VLAG_NO_ENTITY;
  std::uint64_t picked_at_ = 0;  // Its service then
  bool to_parity_ = false;
  bool without_parity_ = false;
  bool disturbed_ = false;
  std::uint64_t end_ = 0;
  std::uint64_t quantum_end_ = 0;
};

bool was_charged(const Step& step, const EntityState& current) {
  const EntityState* before = step.before->find(current.id);
  return before != nullptr && before->sum_exec_runtime != current.sum_exec_runtime;
}

bool reschedules(const spec::Operation& operation) {
  return operation.code == VLAG_SCHEDULE || operation.code == VLAG_BLOCK ||
         operation.code == VLAG_EXIT || operation.code == VLAG_YIELD ||
         operation.code == VLAG_YIELD_TO;
}

class ShortestRequest {
 public:
  explicit ShortestRequest(const BackendInfo& info) : run_(info) {}

  std::string check(const Step& step) {
    const EntityState* current = run_.follow(step);
    if (current == nullptr || step.before == nullptr) return {};
    const std::string what = judge_charge(step, *current);
    run_.count_joins(step, *current);
    return what;
  }

 private:
  std::string judge_charge(const Step& step, const EntityState& current) const {
    if (!run_.to_parity() || reschedules(step.operation) || !was_charged(step, current)) return {};
    if (step.before->queue->nr_running <= 1 || step.after.queue->nr_running <= 1) return {};
    if (step.after.head->need_resched != 0) return {};
    const std::int64_t beyond = distance(current.vruntime, run_.end());
    if (beyond < 0) return {};
    return fmt::format(
        "task {} runs on, {} ns of virtual time after what the shortest request that is queued "
        "allows, and no reschedule is requested",
        current.id, beyond);
  }

  Run run_;
};

class Quantum {
 public:
  explicit Quantum(const BackendInfo& info) : run_(info) {}

  std::string check(const Step& step) {
    const std::string what = step.before != nullptr ? judge_switch(step) : std::string();
    const EntityState* current = run_.follow(step);
    if (current != nullptr && step.before != nullptr) run_.count_joins(step, *current);
    return what;
  }

 private:
  std::string judge_switch(const Step& step) const {
    if (step.operation.code != VLAG_SCHEDULE || run_.disturbed()) return {};
    if (!run_.without_parity() || step.has(Feature::RUN_TO_PARITY)) return {};
    if (step.before->queue->next != VLAG_NO_ENTITY) return {};
    const EntityState* ran = step.after.find(step.before->queue->curr);
    if (ran == nullptr || !has(*ran, VLAG_ON_RQ) || step.after.queue->curr == ran->id) return {};
    const bool eligible =
        spec::sums_of(step.after).eligible(spec::view_of(*step.after.queue, *ran).vruntime);
    const std::int64_t left = distance(run_.quantum_end(), ran->vruntime);
    if (!eligible || left <= 0) return {};
    return fmt::format("task {} gives way {} ns of virtual time before a default request is over",
                       ran->id, left);
  }

  Run run_;
};

std::string a_wakeup_that_loses_leaves_protection(const Step& step) {
  if (step.before == nullptr || step.before->head->need_resched != 0) return {};
  if (step.after.head->need_resched != 0) return {};
  const auto code = step.operation.code;
  if (code != VLAG_WAKE && code != VLAG_FORK && code != VLAG_ENQUEUE) return {};
  const EntityState* before = step.before->find(step.before->queue->curr);
  const EntityState* after = step.after.find(step.after.queue->curr);
  if (before == nullptr || after == nullptr || before->id != after->id) return {};
  if (!is_protected(step, *before) || is_protected(step, *after)) return {};
  const bool ended = step.rules->protection == Protection::request
                         ? before->deadline != after->deadline
                         : distance(static_cast<std::uint64_t>(before->vlag), after->vruntime) <= 0;
  if (ended) return {};
  return fmt::format("task {} woke and does not preempt, but task {} is not protected any more",
                     step.operation.id, after->id);
}

// check_preempt_wakeup_fair(), where the current one is idle and the woken one is not.
std::string a_wakeup_ends_the_protection_of_the_idle(const Step& step) {
  if (step.before == nullptr || !step.has(Feature::WAKEUP_PREEMPTION)) return {};
  const auto code = step.operation.code;
  if (code != VLAG_WAKE && code != VLAG_FORK && code != VLAG_ENQUEUE) return {};
  if (step.before->head->need_resched != 0) return {};
  const EntityState* current = step.after.find(step.after.queue->curr);
  const EntityState* woken = step.after.find(step.operation.id);
  if (current == nullptr || current == woken) return {};
  if (!spec::is_idle_policy(*current) || spec::is_idle_policy(*woken)) return {};
  // A charge on the way may have asked already, and then nothing is compared.
  const EntityState* before = step.before->find(current->id);
  if (was_charged(step, *current) || !is_protected(step, *before)) return {};
  if (!is_protected(step, *current)) return {};
  return fmt::format("task {} woke, and task {}, which is idle, is still protected", woken->id,
                     current->id);
}

std::string a_sleeper_asks_for_nothing(const Step& step) {
  if (step.before == nullptr || step.operation.code != VLAG_NICE) return {};
  const EntityState* sleeper = step.before->find(step.operation.id);
  if (sleeper == nullptr || !has(*sleeper, VLAG_DELAYED)) return {};
  if (step.before->head->need_resched != 0 || step.after.head->need_resched == 0) return {};
  if (step.has(Feature::HRTICK)) return {};  // It may have found that the request is over.
  const EntityState* current = step.after.find(step.after.queue->curr);
  if (current != nullptr && was_charged(step, *current)) return {};
  return fmt::format("task {} sleeps, and its new nice value asks for a reschedule", sleeper->id);
}

std::string the_high_resolution_tick_ends_the_request(const Step& step) {
  if (step.before == nullptr || step.after.head->hrtick == 0) return {};
  if (step.after.head->hrtick == step.before->head->hrtick) return {};
  // Of a single one the timer is not set; one that was set for another stays.
  if (step.after.queue->nr_running <= 1) return {};
  const EntityState* current = step.after.find(step.after.queue->curr);
  if (current == nullptr) return {};
  constexpr std::int64_t shortest = 10'000;  // ns that a timer is armed for, at least
  const std::int64_t ahead = distance(current->deadline, current->vruntime);
  const spec::Exact left = static_cast<spec::Exact>(ahead) *
                           static_cast<spec::Exact>(current->weight) /
                           static_cast<spec::Exact>(nice_0_load);
  const std::int64_t armed = distance(step.after.head->hrtick, step.after.head->clock);
  if (armed == std::max(shortest, static_cast<std::int64_t>(left))) return {};
  return fmt::format(
      "the high-resolution tick is armed for {} ns; the request of task {} ends in {}", armed,
      current->id, static_cast<std::int64_t>(left));
}

template <class State>
Check start(const BackendInfo& info) {
  return [state = std::make_shared<State>(info)](const Step& step) { return state->check(step); };
}

}  // namespace

std::span<const Property> protection_properties() {
  static const std::array<Property, 6> list = {{
      {"the_shortest_request_ends_a_run",
       "once one has run for the shortest request of all who are queued, since it was picked or "
       "since that one joined, a reschedule is requested",
       "protection=request", start<ShortestRequest>, "parity-own-request"},
      {"a_run_lasts_for_a_quantum",
       "without RUN_TO_PARITY one that is eligible runs for a default request, or its own if that "
       "is shorter, unless someone wakes",
       "protection=request", start<Quantum>, "no-parity-no-quantum"},
      {"a_wakeup_that_loses_leaves_protection",
       "a wakeup that does not preempt leaves the current one its protection",
       "short_preemption=before_pick", stateless<a_wakeup_that_loses_leaves_protection>,
       "short-preemption-that-loses"},
      {"a_wakeup_ends_the_protection_of_the_idle",
       "a SCHED_IDLE task is not protected against one that is not idle and wakes",
       "idle_protection=kept", stateless<a_wakeup_ends_the_protection_of_the_idle>},
      {"a_sleeper_asks_for_nothing",
       "a change of nice of one that sleeps requests no reschedule, though the queue may hold it",
       "delayed_renice=preempts", stateless<a_sleeper_asks_for_nothing>, "renice-of-a-sleeper"},
      {"the_high_resolution_tick_ends_the_request",
       "when the high-resolution tick is armed, it is for when the current request ends",
       "hrtick=slice_left", stateless<the_high_resolution_tick_ends_the_request>,
       "hrtick-of-the-slice"},
  }};
  return list;
}

}  // namespace vlag::props
