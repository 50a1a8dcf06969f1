// SPDX-License-Identifier: GPL-2.0-only
// Random sequences as a RapidCheck generator.
#pragma once

#include <rapidcheck.h>

#include "props/random_sequence.h"

namespace vlag::props {

/// Sequences that are legal under `policy`, and shrink to such.
rc::Gen<spec::Sequence> sequences(const Policy& policy, const Scope& scope);

}  // namespace vlag::props
