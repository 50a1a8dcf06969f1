// SPDX-License-Identifier: GPL-2.0-only
// The main property: everything is as the definition, executed in exact rationals, says.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "props/property.h"
#include "spec/reference.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::has;

// A deadline that stayed marked relative while queued is the known divergence
// rel-deadline-toggle, which queued_deadline_is_absolute reports: virtual times become arbitrary
// from there on, and the definition has nothing to say about them.
bool has_lost_deadline(const spec::Observation& now) {
  for (const EntityState& entity : now.entities) {
    if (has(entity, VLAG_ON_RQ) && has(entity, VLAG_REL_DEADLINE)) return true;
  }
  return false;
}

class FollowsReference {
 public:
  explicit FollowsReference(const BackendInfo& info) : reference_(policy_of(info)) {}

  std::string check(const Step& step) {
    lost_ = lost_ || has_lost_deadline(step.after);
    if (lost_) return {};
    reference_.apply(step.operation);
    const auto difference = reference_.differs(step.after);
    if (!difference) return {};
    const std::string whose =
        difference->entity == VLAG_NO_ENTITY ? "" : fmt::format(" of task {}", difference->entity);
    return fmt::format("{}{} is {}, the definition gives {}", difference->field, whose,
                       difference->right, difference->left);
  }

 private:
  static Policy policy_of(const BackendInfo& info) {
    Policy policy = eevdf_6_12();
    policy.features = Features(info.features);
    policy.rules.rel_deadline = info.rules.rel_deadline;
    policy.rules.reweight_request = info.rules.reweight_request;
    policy.rules.change_lag = info.rules.change_lag;
    policy.rules.sleeper_lag = info.rules.sleeper_lag;
    policy.rules.wakeup_pick = info.rules.wakeup_pick;
    policy.rules.unchanged = info.rules.unchanged;
    policy.rules.lag_inflation = info.rules.lag_inflation;
    policy.tunables.hz = info.hz;
    policy.tunables.base_slice = info.base_slice;
    return policy;
  }

  spec::Reference reference_;
  bool lost_ = false;
};

Check start_reference(const BackendInfo& info) {
  return [state = std::make_shared<FollowsReference>(info)](const Step& step) {
    return state->check(step);
  };
}

}  // namespace

std::span<const Property> reference_properties() {
  static const std::array<Property, 1> list = {{
      {"follows_the_reference",
       "every decision and every number is that of the definition, executed in exact rationals",
       "yield=nothing", start_reference},
  }};
  return list;
}

}  // namespace vlag::props
