// SPDX-License-Identifier: GPL-2.0-only
// A schedulable entity, and the task around it. Fields are named as in struct sched_entity and
// struct task_struct of Linux 6.12.
#pragma once

#include <cstdint>

#include "core/machine.h"
#include "core/weight.h"

namespace vlag {

struct Entity;

/// An entity's place in the timeline (core/timeline.h). Meaningful only while it is in there.
struct TimelineNode {
  Entity* parent = nullptr;
  Entity* left = nullptr;
  Entity* right = nullptr;
  bool red = false;
  VTime min_vruntime;  // Least vruntime in this subtree; least deadline if vruntime is the order.
  Word min_slice;      // Least slice in this subtree.
};

struct Entity {
  TimelineNode node;
  VTime vruntime;
  VTime deadline;  // Relative to vruntime while rel_deadline.
  Word vlag;       // Off the queue: the saved lag. While running: see core/preempt.h.
  Word load_left;  // The weight of the others when it last left the queue (LagInflation).
  Word slice;      // The request, in ns.
  Weight weight;
  Nanos exec_start = 0;
  Nanos sum_exec_runtime = 0;
  Nanos prev_sum_exec_runtime = 0;  // At the last set_next_entity().
  int id = 0;
  bool on_rq = false;
  bool sched_delayed = false;
  bool rel_deadline = false;
  bool custom_slice = false;
  bool idle = false;  // SCHED_IDLE.
};

enum class SchedPolicy : std::uint8_t { normal = 0, batch = 3, idle = 5 };  // SCHED_*

/// p->on_rq, and whether there is such a task at all.
enum class TaskState : std::uint8_t { dead, sleeping, queued, migrating };

struct Task {
  Entity se;
  TaskState state = TaskState::dead;
  SchedPolicy policy = SchedPolicy::normal;
  int nice = 0;
};

}  // namespace vlag
