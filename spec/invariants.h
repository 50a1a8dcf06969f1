// SPDX-License-Identifier: GPL-2.0-only
// Every invariant, once, over exact numbers: integers make it a bool, symbols a formula.
//
// Invariants multiply instead of dividing, and use && and || but never if: the same text must
// serve both. Which operations keep which, and who checks it: spec/README.md.
//
//   V = sum(w_i v_i) / W over everyone queued          lag_i = w_i (V - v_i)
#pragma once

#include "spec/view.h"

namespace vlag::spec {

/// The cached sums equal what they cache.
template <class Num>
auto sums_match(const QueueView<Num>& q) {
  Num weight = q.sum_weight;
  Num w_vruntime = q.sum_w_vruntime;
  for (const auto& e : q.timeline) {
    weight = weight - e.weight;
    w_vruntime = w_vruntime - e.weight * e.vruntime;
  }
  return weight == 0 && w_vruntime == 0;
}

/// V is rounded down: the lags, measured from the rounded V, sum to something in (-W, 0].
template <class Num>
auto lag_sum_in_range(const QueueView<Num>& q) {
  Num weight = 0;
  Num lag = 0;
  for (const auto* side : {&q.timeline, &q.current}) {
    for (const auto& e : *side) {
      weight = weight + e.weight;
      lag = lag + e.weight * (q.average - e.vruntime);
    }
  }
  return lag <= 0 && (lag > -weight || weight == 0);
}

/// By the cached sums, as pick uses them, someone has a lag that is not negative.
template <class Num>
auto someone_eligible(const QueueView<Num>& q) {
  Num weight = q.sum_weight;
  Num w_vruntime = q.sum_w_vruntime;
  for (const auto& e : q.current) {
    weight = weight + e.weight;
    w_vruntime = w_vruntime + e.weight * e.vruntime;
  }
  auto found = Num(q.timeline.empty() && q.current.empty() ? 1 : 0) == 1;
  for (const auto* side : {&q.timeline, &q.current}) {
    for (const auto& e : *side) found = found || e.vruntime * weight <= w_vruntime;
  }
  return found;
}

/// The saved lag of one that left is within its limit.
template <class Num>
auto lag_limited(const Num& vlag, const Num& limit) {
  return -limit <= vlag && vlag <= limit;
}

/// One that joined with `lag` has it still: V' - v is in (lag - 1, lag + 2), where
/// V' = w_vruntime / weight counts the newcomer. The slack is the rounding of V and of the
/// inflation, less than one each.
template <class Num>
auto placement_keeps_lag(const Num& w_vruntime, const Num& weight, const Num& vruntime,
                         const Num& lag) {
  const Num gained = w_vruntime - (vruntime + lag) * weight;
  return -weight < gained && gained < weight + weight;
}

/// A renewed request ends after the vruntime that it starts from, and not before the old one.
template <class Num>
auto deadline_renewed(const Num& vruntime, const Num& deadline, const Num& old_deadline) {
  return vruntime < deadline && old_deadline <= deadline;
}

/// A custom request is within what sched_setattr(2) grants.
template <class Num>
auto slice_granted(const Num& slice, const Num& least, const Num& most) {
  return least <= slice && slice <= most;
}

/// Service of delta ns moves vruntime by delta * 1024 / w, to `error` 10^-8 of it (1: the table of
/// inverses is rounded; 0 where it is not used) and one unit down.
template <class Num>
auto service_charged(const Num& advance, const Num& delta, const Num& weight,
                     const Num& error = 1) {
  const Num parts = 100'000'000;
  const Num exact = delta * 1024;
  return advance * weight * parts <= exact * (parts + error) &&
         exact * (parts - error) < (advance + 1) * weight * parts;
}

/// The same rounded to the nearest, half a unit up or down.
template <class Num>
auto service_rounded(const Num& advance, const Num& delta, const Num& weight, const Num& error) {
  const Num parts = 100'000'000;
  const Num exact = delta * 2048;
  return (advance + advance - 1) * weight * parts <= exact * (parts + error) &&
         exact * (parts - error) < (advance + advance + 1) * weight * parts;
}

/// A product of the eligibility test fits in 64 bits.
template <class Num>
auto fits_in_word(const Num& product) {
  const Num limit = Num(1) << 63;
  return -limit <= product && product < limit;
}

}  // namespace vlag::spec
