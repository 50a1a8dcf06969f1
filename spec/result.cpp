// SPDX-License-Identifier: GPL-2.0-only
#include "spec/result.h"

#include <fmt/format.h>

namespace vlag::spec {

std::string Error::message() const {
  std::string place = where.file;
  if (where.line > 0) place += fmt::format(":{}", where.line);
  if (where.line > 0 && where.column > 0) place += fmt::format(":{}", where.column);
  return place.empty() ? what : fmt::format("{}: {}", place, what);
}

}  // namespace vlag::spec
