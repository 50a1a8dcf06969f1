// SPDX-License-Identifier: GPL-2.0-only
// Which properties a command line asks for.
#pragma once

#include <string>
#include <vector>

#include "props/property.h"
#include "spec/result.h"

namespace vlag::cli {

/// Those with these names, each once; all but the beliefs if there are none.
/// Errors: no such property or belief (with the nearest).
spec::Result<std::vector<const props::Property*>> asked_properties(
    const std::vector<std::string>& names);

}  // namespace vlag::cli
