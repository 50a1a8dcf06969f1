// SPDX-License-Identifier: GPL-2.0-only
// A property is a function over the stream of (operation, observation). It does not know which
// backend produced the stream, so each can be asked of the model, of a mutant, and of a kernel.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy.h"
#include "props/backend.h"
#include "spec/observation.h"
#include "spec/sequence.h"
#include "spec/view.h"

namespace vlag::props {

/// How close a stream came to a bound: the greatest part of it that was used up, in millionths. A
/// bound that nothing comes near says little.
class Reach {
 public:
  /// `used` of at most `bound` was used up. Nothing is noted of a bound that is not positive.
  void note(spec::Exact used, spec::Exact bound);
  void note(const Reach& other) { parts_ = std::max(parts_, other.parts_); }
  std::uint32_t millionths() const { return parts_; }

 private:
  std::uint32_t parts_ = 0;
};

/// One step of a stream, with what was in force when the operation ran.
struct Step {
  const spec::Observation* before;  // nullptr at the first operation
  const spec::Operation& operation;
  const spec::Observation& after;
  Features features;
  std::uint32_t tick_nsec;
  Reach* reach = nullptr;        // where a property notes how close it came; may be nullptr
  const Rules* rules = nullptr;  // that the backend follows

  bool has(Feature feature) const { return features.has(feature); }
};

/// Returns what is wrong, in words with numbers; an empty text if the property holds.
using Check = std::function<std::string(const Step&)>;

struct Property {
  std::string_view name;    // a sentence in snake_case
  std::string_view claim;   // the same in words
  std::string_view mutant;  // "rule=value ...": a policy that it kills (a test shows it)
  /// A check for one sequence; it may remember earlier steps.
  Check (*start)(const BackendInfo& info);
  /// The known divergence (spec/divergences.h) that breaks it under the kernel's own rules.
  std::string_view divergence = {};
  /// Whether it is a bound, and notes how close a stream comes to it.
  bool bounds = false;
};

/// All properties, in the order of spec/README.md.
std::span<const Property> properties();
/// What is believed, and is false under the kernel's own rules: not among properties(). Named as
/// the goal of smt/ that refutes it.
std::span<const Property> beliefs();
/// Of either.
const Property* find_property(std::string_view name);

struct Violation {
  const Property* property = nullptr;
  std::size_t index = 0;  // of the operation after which it fails
  std::string what;
};

struct Verdict {
  std::vector<Violation> violations;  // the first of each property that fails
  std::vector<Reach> reached;         // for each property that was asked, in that order
  std::size_t steps = 0;              // that were checked
};

/// Where checking ends.
enum class Claimed : std::uint8_t {
  within_bounds,  // Where the stream leaves the bounds for which properties are claimed.
  everywhere,     // At the end of the stream: to see what breaks beyond them.
};

/// Runs checks over a whole trace. Operations that the backend refused are not steps.
/// Requires: trace.size() <= operations.size().
Verdict judge(std::span<const spec::Operation> operations, const spec::Trace& trace,
              const BackendInfo& info, std::span<const Property* const> asked,
              Claimed claimed = Claimed::within_bounds);

// The parts of properties(), by subject.
std::span<const Property> queue_properties();
std::span<const Property> timeline_properties();
std::span<const Property> pick_properties();
std::span<const Property> entity_properties();
std::span<const Property> protection_properties();
std::span<const Property> request_properties();
std::span<const Property> pair_properties();
std::span<const Property> fixed_set_properties();
std::span<const Property> conservation_properties();
std::span<const Property> bound_properties();
std::span<const Property> reference_properties();

/// A Check without memory.
template <std::string (*function)(const Step&)>
Check stateless(const BackendInfo&) {
  return function;
}

}  // namespace vlag::props
