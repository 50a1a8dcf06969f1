// SPDX-License-Identifier: GPL-2.0-only
// Smaller sequences that are still legal: fewer operations, then simpler ones.
//
// The order is well-founded, so that taking smaller and smaller sequences ends: first by the number
// of operations; among as many, by the first operation that differs: the simpler kind (advance
// before tick, block before exit), the lower task, no flag, the nice value nearer to 0, the number
// that takes fewer digits to write, the lower number.
#pragma once

#include <rapidcheck.h>

#include <functional>

#include "core/policy.h"
#include "spec/sequence.h"

namespace vlag::props {

/// Whether `left` comes before `right` in that order.
bool smaller(const spec::Sequence& left, const spec::Sequence& right);

/// Drops, front to back, each operation that is not legal where it stands under `policy`.
spec::Sequence legalized(const spec::Sequence& sequence, const Policy& policy);

/// The candidates to try in place of `sequence`, most promising first. Requires: it is legal under
/// `policy`. Ensures: so is every candidate, and it is smaller.
rc::Seq<spec::Sequence> shrinks(const spec::Sequence& sequence, const Policy& policy);

/// A smallest sequence that a descent over shrinks() finds for which `fails` holds.
/// Requires: fails(sequence), legal under `policy`. Ensures: fails(result); at most `budget` calls
/// of `fails`.
spec::Sequence minimized(spec::Sequence sequence, const Policy& policy,
                         const std::function<bool(const spec::Sequence&)>& fails,
                         int budget = 20'000);

}  // namespace vlag::props
