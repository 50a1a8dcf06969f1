// SPDX-License-Identifier: GPL-2.0-only
// A queue of small numbers and three entities of nice 0 with requests of 10 ns.
#pragma once

#include <gtest/gtest.h>

#include "tests/support/small_numbers.h"

namespace vlag::tests {

inline constexpr DequeueFlags sleeps{.sleep = true, .special = false, .delayed = false};
inline constexpr DequeueFlags sleeps_at_once{.sleep = true, .special = true, .delayed = false};
inline constexpr DequeueFlags completes{.sleep = true, .special = false, .delayed = true};
inline constexpr DequeueFlags moves{};

class RunqueueTest : public testing::Test {
 protected:
  void turn(Feature feature, bool on) { small.cpu.features.set(feature, on); }
  Runqueue& queue() { return small.queue; }
  int picked() { return queue().pick_eevdf()->id; }

  /// The entity runs, having been picked from the queue.
  void current(Entity& entity) { queue().set_next_entity(entity); }

  SmallQueue small;
  Entity one = entity(1);
  Entity two = entity(2);
  Entity three = entity(3);
};

}  // namespace vlag::tests
