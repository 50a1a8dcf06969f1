// SPDX-License-Identifier: GPL-2.0-only
// The hunt for the faults of the catalogue (spec/bugs.h): from a cold start, with all general
// properties, on a model that has the fault.
//
// Asked are the properties that the right policy keeps; that the model breaks down where a kernel
// would warn or crash counts as well. The first failing sequence is shrunk and run again under the
// right policy, where nothing may be wrong. The i-th sequence depends on the seed and on i alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "props/property.h"
#include "props/random_sequence.h"
#include "spec/bugs.h"

namespace vlag::props {

struct Hunt {
  std::uint64_t seed = 1;
  std::uint64_t operations = 1'000'000;  // at most, to the end of the sequence
  Scope scope = {};
};

/// The name under which a breakdown of the model is reported.
inline constexpr std::string_view breakdown_name = "nothing_breaks_down";

struct Catch {
  bool found = false;
  std::string property;  // or breakdown_name
  std::string summary;
  spec::Sequence sequence;       // shrunk
  std::uint64_t operations = 0;  // searched, the failing sequence with them
  double cpu_seconds = 0;        // search and shrinking
  std::string still_wrong;       // what is wrong with it under the right policy; empty: nothing

  bool good() const { return found && still_wrong.empty(); }
};

/// Requires: the bug is expressible.
Catch hunt(const spec::Bug& bug, const Hunt& how);

/// The properties that the right policy of the bug keeps, as far as is known.
std::vector<const Property*> properties_for(const spec::Bug& bug);

/// Which of properties(), and last whether a breakdown, show the bug in so many operations.
std::vector<bool> kills(const spec::Bug& bug, const Hunt& how);

/// The kill matrix of all expressible entries as a file in Markdown.
std::string kill_matrix(const Hunt& how, unsigned jobs);

}  // namespace vlag::props
