// SPDX-License-Identifier: GPL-2.0-only
// What every rejection must look like, whatever was rejected.
#pragma once

#include <algorithm>
#include <string>

#include "core/check.h"
#include "spec/result.h"

namespace vlag::tests {

/// One line that a terminal shows as it is, that starts with the file and does not end in a stop.
inline void check_message(const spec::Error& error, const std::string& file) {
  const std::string message = error.message();
  VLAG_CHECK(message.starts_with(file));
  VLAG_CHECK(!error.what.empty() && !message.ends_with('.'));
  VLAG_CHECK(error.what.size() < 300);
  VLAG_CHECK(std::all_of(message.begin(), message.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f;
  }));
}

}  // namespace vlag::tests
