// SPDX-License-Identifier: GPL-2.0-only
// Random sequences. Each operation is legal where it stands, because the model runs along; ranges
// are narrow so that ties happen, and virtual time often starts next to a wrap-around.
#pragma once

#include <cstdint>
#include <optional>

#include "core/policy.h"
#include "props/model_backend.h"
#include "spec/sequence.h"

namespace vlag::props {

/// What a generated sequence may contain.
struct Scope {
  int operations = 100;              // after the reset and what sets the stage
  int tasks = 8;                     // at most, and at most VLAG_MAX_TASKS
  std::optional<Features> features;  // set at the start; otherwise drawn at random
  bool switch_features = true;       // sometimes again in between, as an administrator may
  bool timers = true;                // HRTICK may be on
};

/// The sequence that belongs to `seed`. `trace` receives the model's observations of it; the
/// sequence ends early if the policy breaks down. The same arguments give the same bytes.
spec::Sequence random_sequence(std::uint64_t seed, const Scope& scope, ModelBackend& model,
                               spec::Trace& trace);

/// All values of the ten deciding features, by number 0 .. 1023; the other features as in `base`.
Features feature_combination(Features base, unsigned number);
inline constexpr unsigned feature_combinations = 1024;

}  // namespace vlag::props
