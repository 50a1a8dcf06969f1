// SPDX-License-Identifier: GPL-2.0-only
#include "smt/tasks.h"

#include <algorithm>

#include "core/deadline.h"
#include "core/lag.h"
#include "core/placement.h"

namespace vlag::smt {

bool Tasks::nobody_queued() const {
  return std::none_of(list_.begin(), list_.end(), [](const auto& task) { return task.queued; });
}

Point Tasks::average() const {
  if (nobody_queued()) return sums_.zero_vruntime;
  return sums_.zero_vruntime +
         scene_.merged([&] { return average_key(sums_, AverageRounding::floor); });
}

void Tasks::fork(const Weight& weight, const Number& slice) {
  const Number request = calc_delta_fair<Symbols>(slice, weight);
  const Point start = sums_.zero_vruntime;
  add({.weight = weight,
       .slice = slice,
       .vruntime = start,
       .deadline = start + initial_request<Symbols>(request),
       .vlag = 0});
}

void Tasks::add(const SymbolicTask& task) {
  list_.push_back(task);
  if (task.queued) sums_.add(task.vruntime, weight_of(task));
}

Number Tasks::leave(std::size_t i) {
  SymbolicTask& task = list_[i];
  const Number limit = lag_limit<Symbols>(task.slice, tick_nsec, task.weight);
  task.vlag = entity_lag<Symbols>(average(), task.vruntime, limit);
  sums_.remove(task.vruntime, weight_of(task));
  task.queued = false;
  return limit;
}

void Tasks::join(std::size_t i) {
  SymbolicTask& task = list_[i];
  const Number lag = nobody_queued()
                         ? Number(0)
                         : inflated_lag<Symbols>(task.vlag, sums_.sum_weight, weight_of(task));
  task.vruntime = average() - lag;
  task.deadline = deadline_after<Symbols>(task.vruntime, task.slice, task.weight);
  sums_.add(task.vruntime, weight_of(task));
  task.queued = true;
}

Truth Tasks::is_first(std::size_t i) const {
  Truth first = true;
  for (std::size_t j = 0; j < list_.size(); ++j) {
    if (j == i || !list_[j].queued) continue;
    first = first && (!is_eligible(j) || exact(list_[i].deadline, list_[j].deadline) <= 0);
  }
  return first;
}

void Tasks::run(std::size_t i, const Truth& runs, const Number& service) {
  SymbolicTask& task = list_[i];
  const Number advance = choose(runs, calc_delta_fair<Symbols>(service, task.weight), 0);
  const Point reached = task.vruntime + advance;
  const Point renewed = deadline_after<Symbols>(reached, task.slice, task.weight);
  const Truth ended = runs && request_used_up<Symbols>(reached, task.deadline);
  sums_.sum_w_vruntime += advance * weight_of(task);
  task.deadline = choose(ended, renewed, task.deadline);
  task.vruntime = reached;
}

Truth Tasks::lag_is_within(std::size_t i, const Exact& limit) const {
  const SymbolicTask& task = list_[i];
  const Exact all = exact(sums_.sum_weight);
  const Exact key = exact(task.vruntime, sums_.zero_vruntime);
  const Exact lag = exact(weight_of(task)) * (exact(sums_.sum_w_vruntime) - all * key);
  return lag <= all * limit * 1024 && -(all * limit * 1024) <= lag;
}

}  // namespace vlag::smt
