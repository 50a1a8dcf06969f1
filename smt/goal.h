// SPDX-License-Identifier: GPL-2.0-only
// A goal: one claim about the rules, how it is asked, and what shows that asking can fail.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "smt/scene.h"
#include "smt/witness.h"

namespace vlag::smt {

enum class Kind : std::uint8_t {
  full,       // For all numbers within the bounds, and where it speaks of a queue, for any n.
  bounded,    // For queues of the n in the bounds.
  open,       // Not decided yet.
  falsehood,  // Believed by many; the solver refutes it. Named `false` in reports.
};
std::string_view name_of(Kind kind);

struct Goal {
  std::string_view name;
  std::string_view claim;   // One sentence.
  std::string_view source;  // Where the rule comes from: kernel function and version, theorem.
  std::string_view bounds;  // Within which it is claimed.
  Kind kind = Kind::full;
  Theory theory = Theory::words;
  bool each_weight = false;  // Once for each nice level and for SCHED_IDLE.
  std::size_t at_once = 1;   // See Scene::explore(). All claims of one weight, if each_weight.
  void (*body)(Scene& scene) = nullptr;
  /// A variant that must be refuted (for one of the weights at least): it shows that the goal is
  /// not true of anything. None for a falsehood, which is refuted itself.
  void (*canary)(Scene& scene) = nullptr;
  /// A sequence that shows a counterexample, if there is one on a queue: with the property or
  /// belief of props/ that it breaks. Of a falsehood without: why there is none.
  spec::Sequence (*sequence)(const Model& model) = nullptr;
  std::string_view breaks = "";
  std::string_view no_sequence = "";
};

/// nice -20 .. 19 and SCHED_IDLE.
std::span<const Weight> all_weights();

/// All goals, by the stems of the rules.
std::span<const Goal> goals();
const Goal* find_goal(std::string_view name);

// One function for each <stem>_goals.cpp.
std::vector<Goal> machine_goals();
std::vector<Goal> slice_goals();
std::vector<Goal> weight_goals();
std::vector<Goal> lag_goals();
std::vector<Goal> deadline_goals();
std::vector<Goal> average_goals();
std::vector<Goal> sums_goals();
std::vector<Goal> placement_goals();
std::vector<Goal> reweight_goals();
std::vector<Goal> pick_goals();
std::vector<Goal> preempt_goals();
std::vector<Goal> delay_goals();
std::vector<Goal> pair_goals();
std::vector<Goal> sequence_goals();
std::vector<Goal> belief_goals();
std::vector<Goal> visit_goals();
std::vector<Goal> fairness_goals();
std::vector<Goal> wait_goals();
std::vector<Goal> energy_goals();
std::vector<Goal> cfs_goals();

}  // namespace vlag::smt
