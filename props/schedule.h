// SPDX-License-Identifier: GPL-2.0-only
// The schedule that a stream of observations shows: who ran when, and who waited how long.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spec/observation.h"

namespace vlag::props {

/// A stretch of time in which one task was current (VLAG_NO_ENTITY: nobody).
struct Run {
  int task = VLAG_NO_ENTITY;
  std::uint64_t start = 0;  // ns, task clock
  std::uint64_t end = 0;
};

struct TaskSummary {
  int task = 0;
  int nice = 0;
  std::uint64_t weight = 0;
  std::uint64_t service = 0;       // ns as current, uncharged time included
  std::uint64_t longest_wait = 0;  // ns, runnable and not current, in one go
  bool waiting = false;            // the last wait is not over
  std::int64_t lag = 0;            // V - v in virtual ns; the saved lag of one that left
  std::uint32_t flags = 0;         // as last seen
};

struct Schedule {
  std::vector<Run> runs;           // neighbours differ; empty stretches are left out
  std::vector<TaskSummary> tasks;  // by id, as last seen alive
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// Requires: trace is not empty.
Schedule schedule_of(const spec::Trace& trace);

}  // namespace vlag::props
