// SPDX-License-Identifier: GPL-2.0-only
// Parts of the reference that are not the same in all versions: slice protection, and a change of
// weight while queued.
#include <algorithm>

#include "spec/reference.h"

namespace vlag::spec {
namespace {

Integer virtual_time(const ReferenceTask& task, std::uint64_t delta) {
  return calc_delta_fair<Words>(Word::wrapped(delta), task.weight).bits();
}

}  // namespace

// vlag, which has no other use while a task runs, holds the deadline that it was picked with:
// another deadline is another request. From 6.17 on it holds where in virtual time protection ends.
bool Reference::is_protected(const Task& task) const {
  if (policy_.rules.protection == Protection::request) return task.vlag == task.deadline;
  return task.vruntime < task.vlag;
}

void Reference::cancel_protection(Task& task) const {
  if (!is_protected(task)) return;
  const bool parity = policy_.rules.protection == Protection::request;
  task.vlag = parity ? task.deadline : task.vruntime;
  if (parity) ++task.vlag;
}

// For one that was picked, while the others wait.
Integer Reference::protection_of(const Task& picked) const {
  if (policy_.rules.protection == Protection::request) return picked.deadline;
  std::uint64_t shortest = picked.slice;
  if (!feature(Feature::RUN_TO_PARITY)) {
    shortest = std::min(shortest, base_slice_);
  } else {
    for (const Task* task : queue_) shortest = std::min(shortest, task->slice);
  }
  if (shortest == picked.slice) return picked.deadline;
  const Integer end = picked.vruntime + virtual_time(picked, shortest);
  return end < picked.deadline ? end : picked.deadline;
}

// Someone has joined.
void Reference::limit_protection() {
  if (policy_.rules.protection == Protection::request) return;
  if (!has_curr() || !feature(Feature::RUN_TO_PARITY)) return;
  std::uint64_t shortest = curr_->slice;
  for (const Task* task : queue_) shortest = std::min(shortest, task->slice);
  const Integer end = curr_->vruntime + virtual_time(*curr_, shortest);
  if (end < curr_->vlag) curr_->vlag = end;
}

// A queued entity keeps w (V - v) and w (d - V), and so V stays.
void Reference::reweight(Task& task, const Weight& weight) {
  update_curr();
  const Integer average = floor_average();
  const Integer lag = entity_lag(task);
  task.vruntime = average - lag * task.weight.load / weight.load;
  task.deadline = average + (task.deadline - average) * task.weight.load / weight.load;
  task.weight = weight;
  if (&task == curr_) return;
  remove_waiting(task);
  queue_.push_back(&task);
}

}  // namespace vlag::spec
