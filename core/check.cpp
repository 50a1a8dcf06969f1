// SPDX-License-Identifier: GPL-2.0-only
#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace vlag {
namespace {
CheckHandler handler = nullptr;
}

CheckHandler set_check_handler(CheckHandler next) {
  CheckHandler previous = handler;
  handler = next;
  return previous;
}

void check_failed(const char* file, int line, const char* condition) {
  if (handler != nullptr) handler(file, line, condition);
  std::fprintf(stderr, "vlag: internal error: %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace vlag
