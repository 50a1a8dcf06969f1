// SPDX-License-Identifier: GPL-2.0-only
// Policies as a user writes them: a preset, and what differs from it.
#pragma once

#include <string>
#include <vector>

#include "core/policy.h"
#include "spec/result.h"

namespace vlag::spec {

struct PolicyText {
  std::string preset = "eevdf-6.12";
  std::string features;           // "NEXT_BUDDY NO_PLACE_LAG"
  std::vector<std::string> sets;  // "hz=1000", "base_slice=3000000", "tie=lifo"
};

/// Errors: unknown preset, feature, rule or value (with the nearest known); HZ or base_slice out of
/// range.
Result<Policy> parse_policy(const PolicyText& text);

/// Applies a list of features, separated by blanks, as so many writes to sched/features.
Result<Features> apply_features(Features features, const std::string& list);

/// "A B NO_C": how `features` differ from `base`, in table order.
std::string feature_differences(Features features, Features base);

}  // namespace vlag::spec
