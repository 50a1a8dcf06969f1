// SPDX-License-Identifier: GPL-2.0-only
#include "props/pairs.h"

#include "core/deadline.h"

namespace vlag::props {

using spec::EntityState;
using spec::Exact;
using spec::has;

bool waits(const spec::Observation& now, const EntityState* entity) {
  return entity != nullptr && has(*entity, VLAG_ON_RQ) && !has(*entity, VLAG_DELAYED) &&
         now.queue->curr != entity->id;
}

namespace {

bool changes_a_task(const spec::Operation& operation) {
  return operation.code == VLAG_NICE || operation.code == VLAG_SLICE ||
         operation.code == VLAG_POLICY;
}

bool moved(const EntityState& before, const EntityState& after) {
  return before.vruntime != after.vruntime || before.deadline != after.deadline ||
         before.weight != after.weight || before.slice != after.slice;
}

}  // namespace

bool is_placed(const Step& step, const EntityState& after) {
  const EntityState* before = step.before != nullptr ? step.before->find(after.id) : nullptr;
  if (before == nullptr || !has(*before, VLAG_ON_RQ)) return true;
  const bool changed = spec::targets(step.operation, after.id) && changes_a_task(step.operation);
  // One that was charged and then placed may be where it was before.
  if (changed && before->sum_exec_runtime != after.sum_exec_runtime) return true;
  return moved(*before, after) && (changed || step.before->queue->curr != after.id);
}

bool was_waiting(const Step& step, const EntityState& after) {
  return step.before != nullptr && waits(*step.before, step.before->find(after.id)) &&
         !is_placed(step, after);
}

bool goes_on_waiting(const Step& step, const EntityState& after) {
  return waits(step.after, &after) && was_waiting(step, after);
}

bool another_left(const Step& step) {
  return std::any_of(step.after.entities.begin(), step.after.entities.end(),
                     [&](const EntityState& after) {
                       const EntityState* before = step.before->find(after.id);
                       return after.id != step.operation.id && before != nullptr &&
                              has(*before, VLAG_ON_RQ) && !has(after, VLAG_ON_RQ);
                     });
}

bool is_buddy_pick(const Step& step, const EntityState& entity) {
  if (step.before == nullptr || step.after.queue->curr != entity.id ||
      step.before->queue->curr == entity.id) {
    return false;
  }
  return step.before->queue->next == entity.id ||
         (step.operation.code == VLAG_YIELD_TO && step.operation.id == entity.id);
}

Exact Charge::rounding() const {
  return spec::down_of(*after) + static_cast<Exact>(service) * service_unit / 100'000'000 + 1;
}

Charge charge_of(const Step& step) {
  if (step.before == nullptr) return {};
  const EntityState* before = step.before->find(step.before->queue->curr);
  const EntityState* after = before != nullptr ? step.after.find(before->id) : nullptr;
  if (after == nullptr || after->sum_exec_runtime == before->sum_exec_runtime) return {};
  return {before, after, after->sum_exec_runtime - before->sum_exec_runtime,
          step.before->head->need_resched != 0};
}

std::int64_t virtual_time(std::uint64_t real, const EntityState& entity) {
  const Weight weight = make_weight(entity.weight, entity.inv_weight);
  return calc_delta_fair<Words>(Word::wrapped(real), weight).value;
}

std::int64_t longest_request(const EntityState& entity, std::uint64_t base_slice) {
  const std::int64_t longest = std::max(virtual_time(entity.slice, entity),
                                        spec::distance(entity.deadline, entity.vruntime));
  if (has(entity, VLAG_CUSTOM_SLICE)) return longest;
  return std::max(longest, virtual_time(base_slice, entity));
}

}  // namespace vlag::props
