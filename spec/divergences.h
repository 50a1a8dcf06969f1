// SPDX-License-Identifier: GPL-2.0-only
// Where a kernel departs from what its authors intend.
//
// The model has both values of the rule: as-linux, which the lockstep runs with, and intended. An
// entry is a finding about the kernel: the property that it breaks, and a smallest sequence. Tests
// replay each: the property fails under as-linux and on the kernel, and holds under intended.
#pragma once

#include <span>
#include <string_view>

namespace vlag::spec {

struct Divergence {
  std::string_view id;
  std::string_view title;
  std::string_view property;  // that it breaks
  std::string_view rule;      // of core/policy.h
  std::string_view as_linux;  // value of that rule
  std::string_view intended;  // value of that rule
  std::string_view explanation;
  std::string_view sequence;    // text
  std::string_view needs = {};  // "rule=value": without it `intended` does not hold everywhere
};

std::span<const Divergence> divergences();
const Divergence* find_divergence(std::string_view id);

}  // namespace vlag::spec
