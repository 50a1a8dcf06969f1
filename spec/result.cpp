// SPDX-License-Identifier: GPL-2.0-only
#include "spec/result.h"

#include <fmt/format.h>

namespace vlag::spec {

namespace {

// A file may be called anything; a message is one line that a terminal can print.
std::string printable(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return text;
}

}  // namespace

std::string Error::message() const {
  std::string place = printable(where.file);
  if (where.line > 0) place += fmt::format(":{}", where.line);
  if (where.line > 0 && where.column > 0) place += fmt::format(":{}", where.column);
  return place.empty() ? what : fmt::format("{}: {}", place, what);
}

}  // namespace vlag::spec
