// SPDX-License-Identifier: GPL-2.0-only
// The sequences in tests/golden/, and a stream as text that can be checked by hand.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "spec/observation.h"
#include "spec/sequence.h"

namespace vlag::tests {

inline std::string golden_path(const std::string& file) {
  return std::string(VLAG_SOURCE_DIR) + "/tests/golden/" + file;
}

/// Those with a .trace. Each starts its virtual time at 0.
inline std::vector<std::string> golden_names() {
  return {"delayed_wakes_behind", "delayed_wakes_ahead", "delayed_completes",
          "short_slice_preempts", "yield_forfeits",      "nice_keeps_lag",
          "buddy_goes_first",     "hrtick_ends_request"};
}

/// "Q" queued, "D" delayed, "-" asleep, "M" migrating; "*" runs.
inline std::string state_text(const spec::Observation& now, const spec::EntityState& task) {
  std::string text = "-";
  if (spec::has(task, VLAG_ON_RQ)) text = "Q";
  if (spec::has(task, VLAG_DELAYED)) text = "D";
  if (spec::has(task, VLAG_TASK_MIGRATING)) text = "M";
  if (now.head->current == task.id) text += "*";
  return text;
}

/// One line for each operation, one for each task after it; virtual times in ns from 0.
inline std::string trace_text(const spec::Sequence& sequence, const spec::Trace& trace) {
  std::string text;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const spec::Observation now = trace[i];
    text += fmt::format("{}\n  V {}{}\n", spec::to_text(sequence[i]),
                        static_cast<std::int64_t>(now.queue->average),
                        now.head->need_resched != 0 ? " resched" : "");
    for (const spec::EntityState& task : now.entities) {
      const bool queued = spec::has(task, VLAG_ON_RQ);
      text += fmt::format("  {} {:<2} v {} d {}{}\n", task.id, state_text(now, task),
                          static_cast<std::int64_t>(task.vruntime),
                          static_cast<std::int64_t>(task.deadline),
                          queued ? "" : fmt::format(" vlag {}", task.vlag));
    }
  }
  return text;
}

}  // namespace vlag::tests
