// SPDX-License-Identifier: GPL-2.0-only
// A sequence file on a backend: where an operation turned out to be illegal.
#pragma once

#include <optional>

#include "spec/sequence.h"

namespace vlag::cli {

/// The first operation of `source` that was refused, with its place in the file and the reason.
std::optional<spec::Error> first_refused(const spec::Source& source, const spec::Trace& trace);

}  // namespace vlag::cli
