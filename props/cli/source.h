// SPDX-License-Identifier: GPL-2.0-only
// A sequence file on a backend: where an operation turned out to be illegal.
#pragma once

#include <cstddef>
#include <optional>

#include "spec/sequence.h"

namespace vlag::cli {

/// The first operation that the backend refused; trace.size() if it took them all.
std::size_t first_refused(const spec::Trace& trace);

/// The same as an error with its place in the file and the reason.
std::optional<spec::Error> refusal(const spec::Source& source, const spec::Trace& trace);

}  // namespace vlag::cli
