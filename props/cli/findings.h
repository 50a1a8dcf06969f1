// SPDX-License-Identifier: GPL-2.0-only
// How a finding is shown, kept, and seen again.
#pragma once

#include <string>

#include "props/cli/common.h"
#include "props/search.h"

namespace vlag::cli {

/// Not explained by a known divergence.
bool is_violation(const props::Finding& finding);

/// Where findings are kept: writes the sequence to a file in the cache directory (to a temporary
/// name, then renamed) and returns its path; an error message if that fails.
spec::Result<std::string> save_finding(const props::Finding& finding);

/// The same with what the file is to say after its first line.
spec::Result<std::string> save_text(std::string_view rule, std::string_view summary,
                                    const spec::Sequence& sequence, std::string_view text);

/// Prints a finding: rule, what is wrong, the sequence, and how to see it again. `replay_on` is
/// what follows the file in that command.
void print_finding(const props::Finding& finding, const std::string& replay_on);

/// A finding as JSON: rule, summary, explained, sequence, reproduce.
Json finding_json(const props::Finding& finding, const std::string& replay_on);

/// A finding of the lockstep as JSON: id, explained, sequence.
Json divergence_json(const props::Finding& finding);

}  // namespace vlag::cli
