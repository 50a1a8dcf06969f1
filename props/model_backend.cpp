// SPDX-License-Identifier: GPL-2.0-only
#include "props/model_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "spec/legal.h"
#include "spec/sequence.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::Operation;

std::int32_t id_of(const Entity* entity) { return entity != nullptr ? entity->id : VLAG_NO_ENTITY; }

std::uint32_t flags_of(const Task& task, bool in_timeline) {
  const Entity& se = task.se;
  std::uint32_t flags = static_cast<std::uint32_t>(task.policy) << VLAG_POLICY_SHIFT;
  const auto add = [&](bool is, std::uint32_t flag) { flags |= is ? flag : 0U; };
  add(se.on_rq, VLAG_ON_RQ);
  add(se.sched_delayed, VLAG_DELAYED);
  add(se.rel_deadline, VLAG_REL_DEADLINE);
  add(se.custom_slice, VLAG_CUSTOM_SLICE);
  add(task.state == TaskState::queued, VLAG_TASK_QUEUED);
  add(task.state == TaskState::migrating, VLAG_TASK_MIGRATING);
  add(in_timeline, VLAG_IN_TIMELINE);
  add(in_timeline && se.node.red, VLAG_RED);
  return flags;
}

void observe_task(const Task& task, const Entity* curr, EntityState& out) {
  const Entity& se = task.se;
  const bool in_timeline = se.on_rq && curr != &se;
  out.vruntime = se.vruntime.value;
  out.deadline = se.deadline.value;
  out.vlag = se.vlag.value;
  out.slice = se.slice.bits();
  out.weight = se.weight.load;
  out.exec_start = se.exec_start;
  out.sum_exec_runtime = se.sum_exec_runtime;
  out.prev_sum_exec_runtime = se.prev_sum_exec_runtime;
  out.min_vruntime = in_timeline ? se.node.min_vruntime.value : 0;
  out.min_slice = in_timeline ? se.node.min_slice.bits() : 0;
  out.inv_weight = se.weight.inverse;
  out.id = se.id;
  out.left = in_timeline ? id_of(se.node.left) : VLAG_NO_ENTITY;
  out.right = in_timeline ? id_of(se.node.right) : VLAG_NO_ENTITY;
  out.nice = task.nice;
  out.flags = flags_of(task, in_timeline);
}

void observe_queue(const Cpu& cpu, spec::QueueState& out) {
  const Runqueue& queue = cpu.queue();
  out.load = queue.load();
  out.sum_w_vruntime = queue.sums().sum_w_vruntime.value;
  out.sum_weight = queue.sums().sum_weight.bits();
  out.zero_vruntime = queue.sums().zero_vruntime.value;
  out.average = queue.average().value;
  out.nr_running = queue.nr_running();
  out.h_nr_queued = queue.nr_running();
  out.h_nr_runnable = queue.nr_running() - cpu.delayed_tasks();
  out.h_nr_delayed = cpu.delayed_tasks();
  out.idle_h_nr_running = cpu.idle_tasks();
  out.rq_nr_running = queue.nr_running();
  out.curr = id_of(queue.curr());
  out.next = id_of(queue.next());
  out.root = id_of(queue.timeline().root());
  out.leftmost = id_of(queue.timeline().leftmost());
}

}  // namespace

ModelBackend::ModelBackend(const Policy& policy) : policy_(policy) {
  info_.name = fmt::format("model:{}", policy.name);
  info_.release = "vlag";
  info_.hz = policy.tunables.hz;
  info_.tick_nsec = policy.tunables.tick_nsec();
  info_.base_slice = policy.tunables.base_slice;
  info_.features = policy.features.bits();
  info_.rules = policy.rules;
}

Outcome ModelBackend::end(spec::Trace& trace) {
  trace.clear();
  for (const Operation& operation : operations_) {
    if (!step(operation, trace)) return {Outcome::Kind::faulted, std::string(breakdown())};
  }
  return {};
}

bool ModelBackend::step(const Operation& operation, spec::Trace& trace) {
  const spec::Observation before = trace.empty() ? spec::Observation{} : trace.back();
  const bool starts = trace.empty() || operation.code == VLAG_RESET;
  if (!spec::why_illegal(starts ? nullptr : &before, operation).empty()) {
    if (!cpu_) reset(spec::op::reset());
    observe(-EINVAL, trace);
    return true;
  }
  apply(operation);
  observe(0, trace);
  return breakdown().empty();
}

std::string_view ModelBackend::breakdown() const {
  if (!cpu_) return {};
  if (cpu_->placed_on_nothing()) return "place_entity() among others whose weight is 0: WARN";
  return cpu_->pick_failed() ? "pick_eevdf() found no eligible entity: NULL dereference" : "";
}

void ModelBackend::reset(const Operation& operation) {
  cpu_.emplace(policy_, VLAG_MAX_TASKS);
  live_.clear();
  cpu_->set_clock(operation.arg);
  if (operation.value != 0) cpu_->set_zero_vruntime(VTime(operation.extra));
}

void ModelBackend::apply(const Operation& operation) {
  const int id = operation.id;
  switch (operation.code) {
    case VLAG_RESET:
      return reset(operation);
    case VLAG_FEATURES:
      return cpu_->write_features(operation.extra, operation.arg);
    case VLAG_TUNABLE:
      return cpu_->set_base_slice(operation.arg);
    case VLAG_FORK:
      live_.insert(std::lower_bound(live_.begin(), live_.end(), id), id);
      return cpu_->fork(id, operation.value, static_cast<SchedPolicy>(operation.flags),
                        operation.arg);
    case VLAG_WAKE:
      return cpu_->wake(id);
    case VLAG_BLOCK:
      return cpu_->block(operation.flags == VLAG_SPECIAL);
    case VLAG_EXIT:
      live_.erase(std::lower_bound(live_.begin(), live_.end(), cpu_->current()->se.id));
      return cpu_->exit();
    case VLAG_DEQUEUE:
      return cpu_->dequeue(id);
    case VLAG_ENQUEUE:
      return cpu_->enqueue(id);
    case VLAG_TICK:
      return cpu_->tick(operation.arg);
    case VLAG_ADVANCE:
      return cpu_->advance(operation.arg);
    case VLAG_SCHEDULE:
      return cpu_->schedule();
    case VLAG_NICE:
      return cpu_->set_nice(id, operation.value);
    case VLAG_SLICE:
      return cpu_->set_slice(id, operation.arg);
    case VLAG_POLICY:
      return cpu_->set_policy(id, static_cast<SchedPolicy>(operation.flags));
    case VLAG_YIELD:
      return cpu_->yield();
    case VLAG_YIELD_TO:
      return cpu_->yield_to(id);
    case VLAG_HRTICK:
      return cpu_->expire_hrtick();
    default:
      VLAG_CHECK(!"an operation within its range");
  }
}

void ModelBackend::observe(int result, spec::Trace& trace) const {
  const auto slot = trace.append(static_cast<std::uint32_t>(live_.size()));
  slot.head->clock = cpu_->clock();
  slot.head->hrtick = cpu_->hrtick();
  slot.head->result = result;
  slot.head->current = cpu_->current() != nullptr ? cpu_->current()->se.id : VLAG_NO_ENTITY;
  slot.head->need_resched = cpu_->need_resched() ? 1 : 0;
  observe_queue(*cpu_, *slot.queue);
  EntityState* out = slot.entities;
  for (const int id : live_) observe_task(cpu_->task(id), cpu_->queue().curr(), *out++);
}

}  // namespace vlag::props
