// SPDX-License-Identifier: GPL-2.0-only
// Smaller sequences that are still legal: fewer operations, then simpler ones.
#pragma once

#include <rapidcheck.h>

#include <functional>

#include "core/policy.h"
#include "spec/sequence.h"

namespace vlag::props {

/// Drops, front to back, each operation that is not legal where it stands under `policy`.
spec::Sequence legalized(const spec::Sequence& sequence, const Policy& policy);

/// The candidates to try in place of `sequence`, most promising first. Every one is legal under
/// `policy` and smaller in a well-founded order, so that taking them repeatedly ends.
rc::Seq<spec::Sequence> shrinks(const spec::Sequence& sequence, const Policy& policy);

/// A smallest sequence that RapidCheck's descent over shrinks() finds for which `fails` holds.
/// Requires: fails(sequence). Ensures: fails(result); at most `budget` calls of `fails`.
spec::Sequence minimized(spec::Sequence sequence, const Policy& policy,
                         const std::function<bool(const spec::Sequence&)>& fails,
                         int budget = 20'000);

}  // namespace vlag::props
