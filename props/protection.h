// SPDX-License-Identifier: GPL-2.0-only
// How to read slice protection from a stream: what vlag says while its entity runs depends on the
// rule (core/policy.h, Protection).
#pragma once

#include "props/property.h"
#include "spec/view.h"

namespace vlag::props {

/// Whether the running entity is protected, as far as its own state says.
inline bool is_protected(const Step& step, const spec::EntityState& running) {
  const auto stashed = static_cast<std::uint64_t>(running.vlag);
  if (step.rules->protection == Protection::request) return stashed == running.deadline;
  return spec::distance(stashed, running.vruntime) > 0;
}

/// Whether a pick asks for that: from 6.17 on, RUN_TO_PARITY decides only how long it lasts.
inline bool protection_counts(const Step& step) {
  return step.has(Feature::RUN_TO_PARITY) || step.rules->protection != Protection::request;
}

/// Whether it does not count against the one that woke.
inline bool overrides_protection(const Step& step, const spec::EntityState& woken,
                                 const spec::EntityState& running) {
  return step.rules->short_preemption == ShortPreemption::if_picked &&
         step.has(Feature::PREEMPT_SHORT) && woken.slice < running.slice;
}

}  // namespace vlag::props
