// SPDX-License-Identifier: GPL-2.0-only
// The energy of lags, over everyone of a closed population, queued or away with a saved lag l:
//
//   E = sum_queued w (v - V)^2 + sum_away w l^2
//
// It bounds every lag: w (v - V)^2 <= E. A queue without a pump never gains any by someone who
// leaves and joins again. Linux's gains w^2 l^2 (1/B - 1/A) when others of weight A are left and
// others of weight B joined; see LagInflation.
#pragma once

#include "props/property.h"

namespace vlag::props {

/// Whether a leave and the join that follows it raise E by more than rounding does.
Check start_round_trips(const BackendInfo& info);

}  // namespace vlag::props
