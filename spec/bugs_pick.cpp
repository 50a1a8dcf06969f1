// SPDX-License-Identifier: GPL-2.0-only
// The bug catalogue: pick, lag, overflow.
#include <array>

#include "spec/bugs.h"

namespace vlag::spec {

std::span<const Bug> pick_bugs() {
  static constexpr std::array<Bug, 9> list = {{
      {.id = "pick-heap-misses-best",
       .title = "the search by least deadlines passes by the earliest one",
       .fix = "b01db23d5923",
       .source = "git.kernel.org/tip/b01db23d5923",
       .affected = "6.6-rc1 to 6.6-rc5",
       .component = "pick",
       .invariant = "whoever is picked has the earliest deadline of all who are eligible",
       .base = "order=vruntime",
       .change = "heap_search=single_pass",
       .reason = {}},
      {.id = "pick-null-no-eligible",
       .title = "keys that overflow leave nobody eligible, and the pick dereferences NULL",
       .fix = "79f3f9bedd14 and others",
       .source = "crash reports of 2024 and 2025 on the linux-kernel list; "
                 "git.kernel.org/tip/79f3f9bedd14",
       .affected = "6.6 on, of several causes",
       .component = "pick",
       .invariant =
           "while anyone is queued someone is eligible: the least vruntime is not above the mean",
       .base = {},
       .change = "zero_vruntime=stays",
       .reason = {}},
      {.id = "avg-vruntime-ceil",
       .title = "V is rounded towards zero, so whoever is placed there may not be eligible",
       .fix = "650cad561cce",
       .source = "git.kernel.org/tip/650cad561cce",
       .affected = "6.6-rc1 to 6.6-rc4",
       .component = "lag",
       .invariant = "V is rounded down, wherever it is from the reference point",
       .base = {},
       .change = "average=truncate",
       .reason = {}},
      {.id = "min-vruntime-vs-avg-drift",
       .title = "keys are measured from a point that only moves forward, and V goes back",
       .fix = "79f3f9bedd14",
       .source = "git.kernel.org/tip/79f3f9bedd14",
       .affected = "6.6 to 6.18",
       .component = "overflow",
       .invariant = "the reference point stays near V, so that no product of a key overflows",
       .base = {},
       .change = "zero_vruntime=monotone",
       .reason = {}},
      {.id = "zero-vruntime-single-task-stall",
       .title =
           "the reference point follows V only when the tree changes, and not while one runs alone",
       .fix = "b3d99f43c72b",
       .source = "git.kernel.org/tip/b3d99f43c72b",
       .affected = "6.19, 7.0-rc1 and stable branches",
       .component = "overflow",
       .invariant = "the reference point stays near V also while one task runs alone, and V counts "
                    "each queued entity once",
       .base = {},
       .change = "zero_vruntime=at_insert_and_erase",
       .reason = {}},
      {.id = "reweight-vlag-unbounded",
       .title = "a change of weight scales a lag that nothing has limited",
       .fix = "1560d1f6eb6b",
       .source = "git.kernel.org/tip/1560d1f6eb6b",
       .affected = "6.7 to 6.9-rc5",
       .component = "overflow",
       .invariant = "a lag is limited wherever it is used",
       .base = "reweight=around_average",
       .change = "reweight=around_average_unlimited",
       .reason = {}},
      {.id = "flat-tg-runnable-overflow",
       .title = "a product in the accounting of a group's runnable load overflows",
       .fix = "4f166adb5cb0",
       .source = "push log of tip, 2026-06-30; only the title was seen",
       .affected = "up to 7.2",
       .component = "overflow",
       .invariant = "a product fits its type for every input that can be reached",
       .base = {},
       .change = {},
       .reason = "the load tracking of groups: there are no groups yet; it comes with the groups "
                 "issue, as far as that has load tracking"},
      {.id = "long-sleeper-overflow",
       .title = "a comparison of vruntimes inverts for one that slept very long",
       .fix = "829c1651e9c4",
       .source = "git.kernel.org/tip/829c1651e9c4",
       .affected = "CFS up to 6.2",
       .component = "overflow",
       .invariant = "vruntimes are compared only within half the circle",
       .base = {},
       .change = {},
       .reason = "where a sleeper is placed: CFS, which the model has no policy of yet; it comes "
                 "with the CFS issue"},
      {.id = "debug-avg-vruntime-unlocked",
       .title =
           "reading V for a debug file moves the reference point under those who compute with it",
       .fix = "e08d007f9d81",
       .source = "push logs of tip, April 2026",
       .affected = "7.0-rc2 to 7.0-rc6",
       .component = "overflow",
       .invariant =
           "the reference point and the sum that is relative to it change together, or not at all",
       .base = {},
       .change = "zero_vruntime=moves_alone",
       .reason = {}},
  }};
  return list;
}

}  // namespace vlag::spec
