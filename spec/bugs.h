// SPDX-License-Identifier: GPL-2.0-only
// The bug catalogue: faults that the fair class of released kernels, or of their development trees,
// had.
//
// A fault that one CPU without groups can show is a policy value like any other: a policy that is
// right (`base`), and the rule as it was before the fix (`change`). vlag bugs searches for each
// with the general properties, and shows the shortest sequence that it finds. An entry that cannot
// be expressed says why.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/policy.h"
#include "spec/result.h"

namespace vlag::spec {

struct Bug {
  std::string_view id;
  std::string_view title;
  std::string_view fix;        // commit, or what there is instead
  std::string_view source;     // where it is documented
  std::string_view affected;   // versions
  std::string_view component;  // pick, lag, overflow, reweight, slice, delayed, place, ...
  std::string_view invariant;  // that it violates, in words
  std::string_view base;       // "name=value ..." of the policy that is right, beside eevdf-6.12
  std::string_view change;  // "name=value ..." that brings the fault back; empty: not expressible
  std::string_view reason;  // why it is not expressible, and where it comes; empty if it is

  bool expressible() const { return !change.empty(); }
};

/// All entries, by component.
const std::vector<Bug>& bugs();
const Bug* find_bug(std::string_view id);

/// The entry with that id. Errors: there is none (with the nearest).
Result<const Bug*> known_bug(std::string_view id);

/// The policy without the fault: eevdf-6.12, and what `base` sets.
Policy right_policy(const Bug& bug);
/// The same with the fault. Requires: expressible.
Policy faulty_policy(const Bug& bug);

/// The settings that make `faulty_policy()` of the preset, as --set takes them.
std::vector<std::string> settings_of(const Bug& bug);

// The parts of bugs(), by component.
std::span<const Bug> pick_bugs();     // pick, lag, overflow
std::span<const Bug> request_bugs();  // reweight, slice
std::span<const Bug> sleep_bugs();    // delayed, place
std::span<const Bug> caller_bugs();   // buddy, yield, tick, features
std::span<const Bug> group_bugs();    // group, rt

}  // namespace vlag::spec
