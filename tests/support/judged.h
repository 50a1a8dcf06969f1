// SPDX-License-Identifier: GPL-2.0-only
// One property, one policy, one sequence: does it hold?
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "core/check.h"
#include "props/model_backend.h"
#include "props/property.h"
#include "spec/sequence.h"

// How RapidCheck shows a counterexample. It finds the function by the type's namespace.
inline void showValue(const vlag_operation& operation, std::ostream& out) {
  out << vlag::spec::to_text(operation);
}

namespace vlag::tests {

/// The policy with rules changed. Requires: `assignments` are "rule=value", separated by blanks.
inline Policy with_rule(Policy policy, std::string_view assignments) {
  const auto blank = assignments.find(' ');
  if (blank != std::string_view::npos) {
    policy = with_rule(policy, assignments.substr(blank + 1));
    assignments = assignments.substr(0, blank);
  }
  const std::string_view assignment = assignments;
  const auto sign = assignment.find('=');
  VLAG_CHECK(sign != std::string_view::npos &&
             set_rule(policy.rules, assignment.substr(0, sign), assignment.substr(sign + 1)));
  return policy;
}

/// What is wrong with the property in this stream; empty if it holds.
inline std::string violation(const props::Property& property, const spec::Sequence& sequence,
                             const spec::Trace& trace, const props::BackendInfo& info) {
  const props::Property* const only[] = {&property};
  const auto violations = props::judge(sequence, trace, info, only).violations;
  return violations.empty() ? "" : violations.front().what;
}

/// The same, of the model's stream of a sequence under `policy`.
inline std::string violation(const props::Property& property, const spec::Sequence& sequence,
                             const Policy& policy) {
  props::ModelBackend model(policy);
  spec::Trace trace;
  model.run(sequence, trace);
  return violation(property, sequence, trace, model.info());
}

/// Whether the model accepts every operation of the sequence.
inline bool legal_under(const spec::Sequence& sequence, const Policy& policy) {
  props::ModelBackend model(policy);
  spec::Trace trace;
  for (const spec::Operation& operation : sequence) {
    if (!spec::out_of_range(operation).empty()) return false;
    model.step(operation, trace);
    if (trace.back().head->result != 0) return false;
  }
  return !sequence.empty();
}

}  // namespace vlag::tests
