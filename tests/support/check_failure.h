// SPDX-License-Identifier: GPL-2.0-only
// What a failed VLAG_CHECK throws in a test binary, so that RapidCheck can shrink it.
#pragma once

#include <stdexcept>
#include <string>

namespace vlag::tests {

struct CheckFailure : std::logic_error {
  CheckFailure(const char* file, int line, const char* condition)
      : std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + condition) {}
};

}  // namespace vlag::tests
