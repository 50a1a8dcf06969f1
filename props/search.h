// SPDX-License-Identifier: GPL-2.0-only
// Campaigns on the model: many random sequences under one policy, judged by properties; what fails
// is shrunk to a smallest sequence.
//
// The i-th sequence of a campaign depends on the seed and on i alone, and the finding of a property
// is its first in that order, so the result is the same whatever the number of jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "props/property.h"
#include "props/random_sequence.h"

namespace vlag::props {

/// Something that a user should see.
struct Finding {
  std::string rule;     // the property, or "divergence", "kernel-fault"
  std::string summary;  // one line
  spec::Sequence sequence;
  std::string divergence;  // id of the known divergence that explains it; else empty
};

struct PropertyTally {
  const Property* property = nullptr;
  std::uint64_t operations = 0;  // judged
  bool held = true;
  Reach reached;  // of a bound
};

struct Campaign {
  std::uint64_t seed = 1;
  std::uint64_t operations = 100'000;  // at least; whole sequences are run
  unsigned jobs = 1;
  Scope scope;
};

struct CheckReport {
  std::vector<PropertyTally> tallies;
  std::vector<Finding> findings;
  std::uint64_t operations = 0;
};

/// Told now and then how many operations are done.
using Meter = std::function<void(std::uint64_t done, std::uint64_t total)>;

CheckReport check(const Policy& policy, std::span<const Property* const> asked,
                  const Campaign& campaign, const Meter& meter);

/// All of properties().
std::vector<const Property*> all_properties();

/// Those that no known divergence of the kernel breaks.
std::vector<const Property*> unconditional_properties();

/// The id of the known divergence that explains why `policy` breaks the property: the policy has
/// the kernel's value of that rule. Empty if there is none.
std::string explanation(const Property& property, const Policy& policy);
/// The same of a divergence by its id; empty if there is none of that id.
std::string explanation(std::string_view divergence, const Policy& policy);

/// Runs `work(worker)` on that many threads, the first on this one; returns when all are done.
void in_parallel(unsigned jobs, const std::function<void(unsigned worker)>& work);

}  // namespace vlag::props
