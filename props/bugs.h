// SPDX-License-Identifier: GPL-2.0-only
// The hunt for the faults of the catalogue (spec/bugs.h): from a cold start, with all general
// properties, on a model that has the fault.
//
// Asked are the properties that the right policy keeps; that the model breaks down where a kernel
// would warn or crash counts as well. The first failing sequence is shrunk and run again under the
// right policy, where nothing may be wrong; unless that policy is another version's, which may have
// faults of its own: then the hunt goes on without that property, and says so. The i-th sequence
// depends on the seed and on i alone.
#pragma once

#include <cstdint>
#include <span>
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
  /// Properties that failed before, and fail under the right policy just so: where that is another
  /// version's, it may have faults of its own.
  std::vector<std::string> not_kept;

  bool good() const { return found && still_wrong.empty(); }
};

/// Requires: the bug is expressible.
Catch hunt(const spec::Bug& bug, const Hunt& how);

/// The properties that the right policy of the bug keeps, as far as is known.
std::vector<const Property*> properties_for(const spec::Bug& bug);

/// Which of properties(), and last whether a breakdown, show the bug in so many operations: the
/// first sequence in which it fails under the faulty policy and not under the right one counts, and
/// if it fails under both the property is none of the right policy's.
std::vector<bool> kills(const spec::Bug& bug, const Hunt& how);

/// The name of the i-th column of kills().
std::string_view column_name(std::size_t column);

/// kills() of every expressible entry, in the order of the catalogue.
struct KillRow {
  const spec::Bug* bug = nullptr;
  std::vector<bool> killed;
};
std::vector<KillRow> kill_matrix(const Hunt& how, unsigned jobs);

/// The matrix as it stands in spec/bugs.md.
std::string matrix_text(std::span<const KillRow> rows, const Hunt& how);

/// What the file in the tree was made with.
inline constexpr Hunt matrix_hunt{.seed = 1, .operations = 100'000};

}  // namespace vlag::props
