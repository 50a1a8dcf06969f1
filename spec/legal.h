// SPDX-License-Identifier: GPL-2.0-only
// When an operation is legal. The one definition: the generator, the shrinker, the reader of files
// and the backends all ask here, and the kernel harness's own guard is tested against it.
//
// An operation is legal where a real system could perform it: only the running task can block, a
// task that is migrating can do nothing but arrive, and so on. It depends on what a backend shows,
// not on which backend.
#pragma once

#include <string_view>

#include "spec/observation.h"

namespace vlag::spec {

/// Why `operation` cannot follow `before`, as a clause ("no task is running"); empty if it can.
/// `before` is nullptr at the start of a sequence. Requires: out_of_range(operation) is empty.
std::string_view why_illegal(const Observation* before, const Operation& operation);

}  // namespace vlag::spec
