// SPDX-License-Identifier: GPL-2.0-only
// "Did you mean": the known name that is nearest to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace vlag::spec {

/// The candidate with the least edit distance, ignoring case; the first among equals.
/// Requires: candidates is not empty.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace vlag::spec
