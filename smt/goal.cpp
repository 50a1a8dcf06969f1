// SPDX-License-Identifier: GPL-2.0-only
#include "smt/goal.h"

#include <array>

namespace vlag::smt {

std::string_view name_of(Kind kind) {
  static constexpr std::array<std::string_view, 4> names = {"full", "bounded", "open", "false"};
  return names[static_cast<std::size_t>(kind)];
}

std::span<const Weight> all_weights() {
  static const std::vector<Weight> weights = [] {
    std::vector<Weight> all;
    for (int nice = nice_min; nice <= nice_max; ++nice) all.push_back(nice_weight(nice));
    all.push_back(idle_weight());
    return all;
  }();
  return weights;
}

std::span<const Goal> goals() {
  static const std::vector<Goal> list = [] {
    std::vector<Goal> all;
    for (const auto stem :
         {machine_goals,  slice_goals, weight_goals,    lag_goals,      deadline_goals,
          average_goals,  sums_goals,  placement_goals, reweight_goals, pick_goals,
          preempt_goals,  delay_goals, pair_goals,      sequence_goals, visit_goals,
          fairness_goals, wait_goals,  energy_goals,    cfs_goals,      belief_goals}) {
      for (const Goal& goal : stem()) all.push_back(goal);
    }
    return all;
  }();
  return list;
}

const Goal* find_goal(std::string_view name) {
  for (const Goal& goal : goals()) {
    if (goal.name == name) return &goal;
  }
  return nullptr;
}

}  // namespace vlag::smt
