// SPDX-License-Identifier: GPL-2.0-only
// Our own bugs: a failed VLAG_CHECK aborts, in every build.
//
// Test binaries install a handler that throws instead, because RapidCheck can shrink an
// exception and dies on an abort. Bad input is never a VLAG_CHECK: see spec/result.h.
#pragma once

namespace vlag {

using CheckHandler = void (*)(const char* file, int line, const char* condition);

/// What a failed check calls. Returns the handler that was there before.
CheckHandler set_check_handler(CheckHandler handler);

[[noreturn]] void check_failed(const char* file, int line, const char* condition);

}  // namespace vlag

#define VLAG_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::vlag::check_failed(__FILE__, __LINE__, #condition))
