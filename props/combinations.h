// SPDX-License-Identifier: GPL-2.0-only
// Which combinations of the ten deciding features to try.
#pragma once

#include <vector>

#include "core/policy.h"

namespace vlag::props {

/// Every one of the 1,024.
std::vector<Features> all_combinations(Features base);

/// A small set in which every `strength` features meet in all 2^strength ways (a covering array,
/// chosen greedily, so the same for everyone). Requires: 1 <= strength <= 3.
std::vector<Features> covering_combinations(Features base, int strength);

}  // namespace vlag::props
