// SPDX-License-Identifier: GPL-2.0-only
// Which properties and relations a command line asks for.
#pragma once

#include <string>
#include <vector>

#include "props/property.h"
#include "props/relation.h"
#include "spec/result.h"

namespace vlag::cli {

struct Asked {
  std::vector<const props::Property*> properties;
  std::vector<const props::Relation*> relations;
};

/// Those with these names, each once; all but the beliefs if there are none.
/// Errors: no such property, relation or belief (with the nearest).
spec::Result<Asked> asked_of(const std::vector<std::string>& names);

}  // namespace vlag::cli
