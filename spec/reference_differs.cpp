// SPDX-License-Identifier: GPL-2.0-only
// An observation against the definition: numbers modulo 2^64, the timeline as its nodes link it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec/reference.h"

namespace vlag::spec {
namespace {

/// What 64 bits hold of it.
std::uint64_t modulo(const Integer& value) {
  static const Integer mask = ~std::uint64_t{0};
  const Integer magnitude = abs(value);
  const auto low = static_cast<std::uint64_t>(Integer(magnitude & mask));
  return value < 0 ? 0 - low : low;
}

std::int64_t signed_modulo(const Integer& value) {
  return static_cast<std::int64_t>(modulo(value));
}

/// Keeps the first difference.
class Comparison {
 public:
  explicit Comparison(int entity = VLAG_NO_ENTITY) : entity_(entity) {}

  template <class Value>
  void expect(const char* field, const Value& expected, const Value& seen) {
    if (found_ || expected == seen) return;
    found_ = Difference{field, entity_, fmt::format("{}", expected), fmt::format("{}", seen)};
  }
  std::optional<Difference> found() const { return found_; }

 private:
  int entity_;
  std::optional<Difference> found_;
};

/// The ids below `root`, by left and right. Ends early, and so differs, where the links do not
/// make a tree.
std::vector<std::int32_t> in_order(const Observation& seen, std::int32_t root) {
  const std::size_t most = seen.entities.size();
  std::vector<std::int32_t> order;
  std::vector<const EntityState*> path;
  std::int32_t at = root;
  while ((at != VLAG_NO_ENTITY || !path.empty()) && order.size() <= most) {
    if (at != VLAG_NO_ENTITY) {
      const EntityState* entity = seen.find(at);
      if (entity == nullptr || path.size() > most) break;
      path.push_back(entity);
      at = entity->left;
    } else {
      order.push_back(path.back()->id);
      at = path.back()->right;
      path.pop_back();
    }
  }
  return order;
}

std::int32_t id_of(const ReferenceTask* task) {
  return task == nullptr ? VLAG_NO_ENTITY : task->id;
}

}  // namespace

std::optional<Difference> Reference::differs(const Observation& seen) const {
  if (auto found = head_differs(*seen.head)) return found;
  if (auto found = queue_differs(*seen.queue)) return found;
  if (seen.entities.size() != tasks_.size()) {
    return Difference{"entities", VLAG_NO_ENTITY, fmt::format("{}", tasks_.size()),
                      fmt::format("{}", seen.entities.size())};
  }
  auto entity = seen.entities.begin();
  for (const auto& [id, task] : tasks_) {
    if (auto found = task_differs(task, *entity)) return found;
    ++entity;
  }
  return timeline_differs(seen);
}

std::optional<Difference> Reference::head_differs(const Head& seen) const {
  Comparison comparison;
  comparison.expect("clock", clock_, seen.clock);
  comparison.expect("hrtick", hrtick_, seen.hrtick);
  comparison.expect("current", id_of(running_), seen.current);
  comparison.expect("need_resched", std::uint32_t{need_resched_}, seen.need_resched);
  return comparison.found();
}

std::optional<Difference> Reference::queue_differs(const QueueState& seen) const {
  std::uint64_t load = 0;
  std::uint32_t delayed = 0;
  std::uint32_t idle = 0;
  for (const auto& [id, task] : tasks_) {
    if (!task.on_rq) continue;
    load += task.weight.load;
    delayed += task.sched_delayed ? 1 : 0;
    idle += task.idle() ? 1 : 0;
  }
  std::uint64_t sum_weight = 0;
  for (const Task* task : queue_) sum_weight += task->weight.down().bits();
  const auto queued_now = static_cast<std::uint32_t>(nr_running());

  Comparison comparison;
  comparison.expect("queue.load", load, seen.load);
  comparison.expect("queue.sum_weight", sum_weight, seen.sum_weight);
  comparison.expect("queue.average", modulo(floor_average()), seen.average);
  comparison.expect("queue.nr_running", queued_now, seen.nr_running);
  comparison.expect("queue.h_nr_queued", queued_now, seen.h_nr_queued);
  comparison.expect("queue.h_nr_runnable", queued_now - delayed, seen.h_nr_runnable);
  comparison.expect("queue.h_nr_delayed", delayed, seen.h_nr_delayed);
  comparison.expect("queue.idle_h_nr_running", idle, seen.idle_h_nr_running);
  comparison.expect("queue.rq_nr_running", queued_now, seen.rq_nr_running);
  comparison.expect("queue.curr", id_of(curr_), seen.curr);
  comparison.expect("queue.next", id_of(next_), seen.next);
  return comparison.found();
}

std::optional<Difference> Reference::timeline_differs(const Observation& seen) const {
  std::vector<std::int32_t> expected;
  for (const Task* task : timeline()) expected.push_back(task->id);
  const std::vector<std::int32_t> order = in_order(seen, seen.queue->root);
  if (order != expected) {
    return Difference{"queue.root", VLAG_NO_ENTITY, fmt::format("{}", expected),
                      fmt::format("{}", order)};
  }
  Comparison comparison;
  const std::int32_t leftmost = expected.empty() ? VLAG_NO_ENTITY : expected.front();
  comparison.expect("queue.leftmost", leftmost, seen.queue->leftmost);
  return comparison.found();
}

std::optional<Difference> Reference::task_differs(const Task& task, const EntityState& seen) const {
  Comparison comparison(task.id);
  comparison.expect("entity.id", std::int32_t{task.id}, seen.id);
  comparison.expect("entity.vruntime", modulo(task.vruntime), seen.vruntime);
  comparison.expect("entity.deadline", modulo(task.deadline), seen.deadline);
  comparison.expect("entity.vlag", signed_modulo(task.vlag), seen.vlag);
  comparison.expect("entity.slice", task.slice, seen.slice);
  comparison.expect("entity.weight", task.weight.load, seen.weight);
  comparison.expect("entity.exec_start", task.exec_start, seen.exec_start);
  comparison.expect("entity.sum_exec_runtime", task.sum_exec_runtime, seen.sum_exec_runtime);
  comparison.expect("entity.prev_sum_exec_runtime", task.prev_sum_exec_runtime,
                    seen.prev_sum_exec_runtime);
  comparison.expect("entity.inv_weight", task.weight.inverse, seen.inv_weight);
  comparison.expect("entity.nice", std::int32_t{task.nice}, seen.nice);
  comparison.expect("entity.flags", flags(task), seen.flags & ~std::uint32_t{VLAG_RED});
  return comparison.found();
}

std::uint32_t Reference::flags(const Task& task) const {
  std::uint32_t bits = std::uint32_t{task.policy} << VLAG_POLICY_SHIFT;
  if (task.on_rq) bits |= VLAG_ON_RQ;
  if (task.sched_delayed) bits |= VLAG_DELAYED;
  if (task.rel_deadline) bits |= VLAG_REL_DEADLINE;
  if (task.custom_slice) bits |= VLAG_CUSTOM_SLICE;
  if (task.state == Task::State::queued) bits |= VLAG_TASK_QUEUED;
  if (task.state == Task::State::migrating) bits |= VLAG_TASK_MIGRATING;
  if (task.on_rq && &task != curr_) bits |= VLAG_IN_TIMELINE;
  return bits;
}

}  // namespace vlag::spec
