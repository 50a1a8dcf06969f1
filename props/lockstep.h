// SPDX-License-Identifier: GPL-2.0-only
// Model against kernel: the same sequences on both, every field equal after every operation.
//
// The model generates (it must run along to know what is legal) while the kernel works on what was
// generated before. Where the two streams are the same bytes, a property that holds on one holds on
// the other, so it is judged once; from the first difference on the kernel's own stream is judged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "props/search.h"

namespace vlag::props {

/// Makes a backend for one worker. Errors: it cannot be started.
using BackendMaker = std::function<spec::Result<std::unique_ptr<Backend>>()>;

struct LockstepPlan {
  std::uint64_t seed = 1;
  std::vector<Features> combinations;               // each is tried equally often
  std::uint64_t operations_per_combination = 1000;  // at least
  unsigned jobs = 1;
  std::vector<const Property*> asked;  // may be empty
  std::size_t most_findings = 3;       // then stop
  bool compares =
      true;  // false: `asked` are judged on what the kernel shows, whatever the model does
  Scope scope;
};

struct LockstepReport {
  std::uint64_t combinations = 0;  // of features, each run in full
  std::uint64_t operations = 0;    // compared on both sides
  std::vector<PropertyTally> tallies;
  std::vector<Finding> findings;  // rule "divergence", "kernel-fault" or a property
  std::string inconclusive;       // why not all could be compared; empty if it was
};

/// A comparison ends after the round in which something is found.
LockstepReport lockstep(const Policy& policy, const BackendMaker& make_backend,
                        const LockstepPlan& plan, const Meter& meter);

/// The first operation after which two backends differ on a sequence, or that one did not survive.
struct Comparison {
  enum class Kind { equal, differs, faulted, lost } kind = Kind::equal;
  std::size_t index = 0;
  spec::Difference difference;  // if it differs
  std::string text;             // if a backend did not complete
};
Comparison compare(std::span<const spec::Operation> sequence, const spec::Trace& left,
                   const Outcome& left_outcome, const spec::Trace& right,
                   const Outcome& right_outcome);

/// One line: where, which field, both values.
std::string describe(const Comparison& comparison, std::span<const spec::Operation> sequence);

}  // namespace vlag::props
