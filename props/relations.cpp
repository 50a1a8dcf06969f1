// SPDX-License-Identifier: GPL-2.0-only
// The relations: what must not matter.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/runqueue.h"
#include "props/pairs.h"
#include "props/relation.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::has;
using spec::Observation;
using spec::Operation;
using spec::Sequence;
namespace op = spec::op;

template <std::size_t number>
std::size_t always(const Sequence&) {
  return number;
}
template <std::size_t variants>
std::size_t at_each(const Sequence& sequence) {
  return sequence.size() * variants;
}

std::vector<Pair> from(std::size_t first, std::size_t end, std::size_t shift) {
  std::vector<Pair> pairs;
  for (std::size_t i = first; i < end; ++i) pairs.push_back({i, i + shift});
  return pairs;
}

bool has(const Original& original, std::size_t index, Feature feature) {
  return original.features[index].has(feature);
}

const EntityState* running(const Observation& now) { return now.find(now.head->current); }

bool is_protected(const EntityState& entity) {
  return static_cast<std::uint64_t>(entity.vlag) == entity.deadline;
}

// Nothing has run that was not charged.
bool is_charged(const Observation& now) {
  const EntityState* current = running(now);
  return current == nullptr || current->exec_start == now.head->clock;
}

std::uint64_t base_slice_at(const Original& original, std::size_t index) {
  std::uint64_t slice = original.info.base_slice;
  for (std::size_t i = 0; i <= index; ++i) {
    if (original.sequence[i].code == VLAG_TUNABLE) slice = original.sequence[i].arg;
  }
  return slice;
}

// The original with `inserted` after operation `index`, after which everything is as it was.
Related with_inserted(const Original& original, std::size_t index, const Sequence& inserted) {
  Related related;
  related.right = original.sequence;
  related.right.insert(related.right.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                       inserted.begin(), inserted.end());
  related.compared = from(index, original.sequence.size(), inserted.size());
  related.change = fmt::format("with '{}' after operation {} ({})", spec::to_text(inserted.front()),
                               index, spec::to_text(original.sequence[index]));
  return related;
}

// --- Where time starts.

std::optional<Related> shifted(const Original& original, std::size_t choice) {
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  constexpr std::array<std::array<std::uint64_t, 2>, 3> shifts = {{
      {1'234'567'891, 0},
      {0, half - 1'000'000},
      {977, half + 12'345'677},
  }};
  Related related;
  related.likeness.clock = shifts[choice][0];
  related.likeness.vruntime = shifts[choice][1];
  related.right = original.sequence;
  const Operation& reset = original.sequence.front();
  const std::uint64_t zero = reset.value != 0 ? reset.extra : initial_zero_vruntime;
  related.right.front() =
      op::reset_at(reset.arg + related.likeness.clock, zero + related.likeness.vruntime);
  related.compared = from(0, original.sequence.size(), 0);
  related.change = fmt::format("with the clock {} ns and virtual time {} ns later",
                               related.likeness.clock, related.likeness.vruntime);
  return related;
}

// --- Who is who.

bool names_a_task(const Operation& operation) {
  switch (operation.code) {
    case VLAG_FORK:
    case VLAG_WAKE:
    case VLAG_DEQUEUE:
    case VLAG_ENQUEUE:
    case VLAG_NICE:
    case VLAG_SLICE:
    case VLAG_POLICY:
    case VLAG_YIELD_TO:
      return true;
    default:
      return false;
  }
}

int tasks_in(const Sequence& sequence) {
  int tasks = 0;
  for (const Operation& operation : sequence) {
    if (names_a_task(operation)) tasks = std::max(tasks, operation.id + 1);
  }
  return tasks;
}

std::optional<Related> renamed(const Original& original, std::size_t choice) {
  const int tasks = tasks_in(original.sequence);
  if (tasks < 2) return {};
  Related related;
  for (int id = 0; id < tasks; ++id) {
    related.likeness.names.push_back(choice == 0 ? tasks - 1 - id : (id + 1) % tasks);
  }
  related.right = original.sequence;
  for (Operation& operation : related.right) {
    if (!names_a_task(operation)) continue;
    operation.id = static_cast<vlag_u16>(related.likeness.names[operation.id]);
  }
  related.compared = from(0, original.sequence.size(), 0);
  related.change = choice == 0 ? "with the ids of the tasks reversed" : "with the next id for each";
  return related;
}

// --- A tick in two.

std::optional<Related> split(const Original& original, std::size_t choice) {
  const std::size_t index = choice / 3;
  const Operation& tick = original.sequence[index];
  if (index == 0 || tick.code != VLAG_TICK || tick.arg < 3) return {};
  const std::array<std::uint64_t, 3> parts = {tick.arg / 2, tick.arg / 3, 1};
  const std::uint64_t part = parts[choice % 3];
  const Observation before = original.trace[index - 1];
  const EntityState* current = running(before);
  if (current == nullptr || !has(*current, VLAG_ON_RQ)) return {};
  // In between the request must not end, nor a short one preempt: then two charges are due.
  const std::uint64_t ran = before.head->clock + part - current->exec_start;
  const std::int64_t left = spec::distance(current->deadline, current->vruntime);
  if (virtual_time(ran, *current) >= left) return {};
  const bool may_preempt = has(original, index, Feature::PREEMPT_SHORT) &&
                           !is_protected(*current) && before.queue->nr_running > 1;
  if (may_preempt) return {};
  Related related;
  related.right = original.sequence;
  related.right[index] = op::tick(part);
  related.right.insert(related.right.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                       op::tick(tick.arg - part));
  related.change = fmt::format("with a tick after {} ns of operation {}", part, index);
  related.compared = from(index, original.sequence.size(), 1);
  if (current->nice != 0 || spec::is_idle_policy(*current)) {
    // Two charges are rounded down, each by less than one.
    const EntityState* after = original.trace[index].find(current->id);
    if (after == nullptr) return {};
    related.likeness.slack = 1;
    related.compared.resize(1);
  }
  return related;
}

// --- Other units: requests and times twice as long. What is rounded down is left out: other
// weights than that of nice 0, and placements by a V that is not a whole number.

std::optional<Sequence> on_a_fixed_set(const Original& original, std::uint64_t times) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 40;
  if (original.sequence.size() < 2 || original.sequence[1].code != VLAG_FEATURES) return {};
  if (has(original, 1, Feature::HRTICK)) return {};
  Sequence sequence = {op::reset(), original.sequence[1],
                       op::base_slice(original.info.base_slice * times)};
  std::vector<bool> there(VLAG_MAX_TASKS);
  for (const Operation& operation : original.sequence) {
    if (operation.code != VLAG_FORK || there[operation.id]) continue;
    there[operation.id] = true;
    const std::uint64_t slice =
        operation.arg == 0 ? 0 : std::clamp<std::uint64_t>(operation.arg, 100'000, 20'000'000);
    sequence.push_back(op::fork(operation.id, 0, slice * times));
  }
  if (sequence.size() < 5) return {};
  sequence.push_back(op::schedule());
  for (const Operation& operation : original.sequence) {
    if (operation.code == VLAG_TICK || operation.code == VLAG_ADVANCE) {
      sequence.push_back(operation);
      sequence.back().arg = std::min(operation.arg, longest) * times;
    } else if (operation.code == VLAG_SCHEDULE || operation.code == VLAG_YIELD) {
      sequence.push_back(operation);
    }
  }
  return sequence;
}

std::optional<Related> scaled(const Original& original, std::size_t) {
  Related related;
  related.left = on_a_fixed_set(original, 2);  // So that half a request is a whole number.
  const auto right = on_a_fixed_set(original, 4);
  if (!related.left || !right) return {};
  related.right = *right;
  related.likeness.scale = 1;
  related.compared = from(0, right->size(), 0);
  related.change = "in half the unit of time";
  return related;
}

// --- Order.

bool changes_a_sleeper(const Original& original, std::size_t index) {
  const Operation& change = original.sequence[index];
  const bool changes =
      change.code == VLAG_NICE || change.code == VLAG_SLICE || change.code == VLAG_POLICY;
  if (index == 0 || !changes) return false;
  const EntityState* entity = original.trace[index - 1].find(change.id);
  return entity != nullptr && !has(*entity, VLAG_ON_RQ);
}

std::optional<Related> swapped(const Original& original, std::size_t index) {
  if (index + 1 >= original.sequence.size() || !changes_a_sleeper(original, index)) return {};
  const Operation& change = original.sequence[index];
  const Operation& next = original.sequence[index + 1];
  if (next.code == VLAG_TUNABLE || (names_a_task(next) && next.id == change.id)) return {};
  Related related;
  related.right = original.sequence;
  std::swap(related.right[index], related.right[index + 1]);
  related.compared = from(index + 1, original.sequence.size(), 0);
  related.change = fmt::format("with '{}' after '{}'", spec::to_text(change), spec::to_text(next));
  return related;
}

// --- What changes nothing.

bool schedules(const Operation& operation) {
  return operation.code == VLAG_SCHEDULE || operation.code == VLAG_BLOCK ||
         operation.code == VLAG_EXIT;
}

// The operation that changes nothing there, by number; nullopt if it would.
std::optional<Operation> neutral(const Original& original, std::size_t index, std::size_t variant) {
  const Observation now = original.trace[index];
  const EntityState* current = running(now);
  const EntityState* task =
      now.entities.empty() ? nullptr : &now.entities[index % now.entities.size()];
  if (task != nullptr && has(*task, VLAG_TASK_MIGRATING)) task = nullptr;
  const bool fair = task != nullptr && !spec::is_idle_policy(*task);
  const bool asks = task != nullptr && (!fair || has(*task, VLAG_CUSTOM_SLICE));
  switch (variant) {
    case 0:
      return op::advance(0);
    case 1:
      if (is_charged(now)) return op::tick(0);
      return {};
    case 2:
      if (task != nullptr) return op::nice(task->id, task->nice);
      return {};
    case 3:
      if (asks) return op::slice(task->id, task->slice);
      return {};
    case 4:
      if (asks)
        return op::policy(task->id, static_cast<vlag_policy>(task->flags >> VLAG_POLICY_SHIFT));
      return {};
    case 5:
      if (current != nullptr) return op::wake(current->id);
      return {};
    case 6: {
      const bool considered =
          now.head->need_resched == 0 && has(original, index, Feature::WAKEUP_PREEMPTION);
      if (current == nullptr || considered || has(original, index, Feature::NEXT_BUDDY)) return {};
      if (task != nullptr && waits(now, task)) return op::wake(task->id);
      return {};
    }
    default: {
      const bool kept = current != nullptr && is_protected(*current) && is_charged(now) &&
                        has(original, index, Feature::RUN_TO_PARITY) &&
                        !has(original, index, Feature::HRTICK);
      const bool again = schedules(original.sequence[index]) && now.queue->next == VLAG_NO_ENTITY;
      if (kept && again) return op::schedule();
      return {};
    }
  }
}

constexpr std::size_t neutral_variants = 8;

std::optional<Related> with_neutral(const Original& original, std::size_t choice) {
  const std::size_t index = choice / neutral_variants;
  const auto operation = neutral(original, index, choice % neutral_variants);
  if (!operation) return {};
  return with_inserted(original, index, {*operation});
}

std::optional<Related> with_default_again(const Original& original, std::size_t choice) {
  const std::size_t index = choice / 2;
  const Observation now = original.trace[index];
  if (now.entities.empty()) return {};
  const EntityState& task = now.entities[index % now.entities.size()];
  if (has(task, VLAG_TASK_MIGRATING) || has(task, VLAG_CUSTOM_SLICE)) return {};
  if (spec::is_idle_policy(task) || task.slice != base_slice_at(original, index)) return {};
  const auto policy = static_cast<vlag_policy>(task.flags >> VLAG_POLICY_SHIFT);
  const Operation again = choice % 2 == 0 ? op::slice(task.id, 0) : op::policy(task.id, policy);
  if (!is_charged(now)) return {};
  Related related = with_inserted(original, index, {again});
  related.likeness.decisions = true;
  return related;
}

// --- Visitors. Nobody considers an idle task that joins, so it is gone before anyone was
// preempted.

std::optional<Related> with_visitor(const Original& original, std::size_t choice) {
  const std::size_t index = choice / 2;
  const Observation now = original.trace[index];
  const EntityState* current = running(now);
  const int visitor = tasks_in(original.sequence);
  if (current == nullptr || !is_charged(now) || visitor >= VLAG_MAX_TASKS) return {};
  if (has(original, index, Feature::HRTICK)) return {};
  const bool heavy = choice % 2 == 1 && !spec::is_idle_policy(*current);
  Related related =
      with_inserted(original, index,
                    {op::fork(visitor, heavy ? -20 : 0, 0, heavy ? VLAG_BATCH : VLAG_IDLE),
                     op::dequeue(visitor)});
  related.likeness.without = visitor;
  related.likeness.timeline = false;
  related.change += " that leaves at once";
  return related;
}

// --- The past.

// Everyone wakes up, runs and exits.
Sequence all_exit(const Observation& now) {
  Sequence sequence;
  for (const EntityState& entity : now.entities) {
    if (has(entity, VLAG_TASK_MIGRATING)) sequence.push_back(op::enqueue(entity.id));
    const bool asleep = !has(entity, VLAG_ON_RQ) && !has(entity, VLAG_TASK_MIGRATING);
    if (asleep || has(entity, VLAG_DELAYED)) sequence.push_back(op::wake(entity.id));
  }
  sequence.push_back(op::schedule());
  sequence.insert(sequence.end(), now.entities.size(), op::exit());
  return sequence;
}

std::optional<Related> after_a_past(const Original& original, std::size_t) {
  const Observation end = original.trace.back();
  // A timer that is armed when HRTICK is switched off stays so.
  if (end.head->hrtick != 0 && !original.features.back().has(Feature::HRTICK)) return {};
  Related related;
  related.right = original.sequence;
  const Sequence exits = all_exit(end);
  related.right.insert(related.right.end(), exits.begin(), exits.end());
  Features used;
  for (const Feature feature : deciding_features()) used.set(feature, true);
  used.set(Feature::HRTICK, true);
  related.right.push_back(op::features(used.bits(), original.info.features & used.bits()));
  related.right.push_back(op::base_slice(original.info.base_slice));
  const std::size_t start = related.right.size() - 1;
  related.right.insert(related.right.end(), original.sequence.begin() + 1, original.sequence.end());
  related.likeness.measured = true;
  related.compared = from(0, original.sequence.size(), start);
  related.change = "after the same once before, when all have exited";
  return related;
}

}  // namespace

std::span<const Relation> relations() {
  static const std::array<Relation, 9> list = {{
      {"time_has_no_origin", "nothing depends on when time, or virtual time, started",
       "order=unsigned_deadline", shifted, always<3>},
      {"names_do_not_matter", "nothing depends on which id a task has", "tie=by_id", renamed,
       always<2>},
      {"a_tick_can_be_split",
       "one more tick in between, at which nothing is due, changes nothing, or a vruntime by one "
       "where it is rounded",
       "service=coarse", split, at_each<3>},
      {"units_do_not_matter",
       "on a fixed set at nice 0, all times and requests twice as long decide the same",
       "service=coarse", scaled, always<1>},
      {"a_sleepers_change_can_wait", "a change of a sleeper commutes with what does not concern it",
       "reweight_sums=asleep_too", swapped, at_each<1>},
      {"what_changes_nothing_is_neutral",
       "asking for what a task has, a wakeup of one that is awake, an update or a pick without "
       "time "
       "in between change nothing",
       "unchanged=never", with_neutral, at_each<neutral_variants>},
      {"the_default_again_is_neutral",
       "asking for the default request changes nothing for a task that has it",
       "unchanged=compared", with_default_again, at_each<2>, "default-again-is-a-change"},
      {"a_visitor_leaves_no_trace",
       "one who joins and leaves before time passes changes nothing for others", "average=truncate",
       with_visitor, at_each<2>},
      {"the_dead_are_forgotten",
       "when all have exited, the same happens as if nothing had been before",
       "reweight_sums=stale", after_a_past, always<1>},
  }};
  return list;
}

}  // namespace vlag::props
