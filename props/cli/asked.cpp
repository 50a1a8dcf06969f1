// SPDX-License-Identifier: GPL-2.0-only
#include "props/cli/asked.h"

#include <fmt/format.h>

#include <algorithm>

#include "props/search.h"
#include "spec/nearest.h"

namespace vlag::cli {

spec::Result<std::vector<const props::Property*>> asked_properties(
    const std::vector<std::string>& names) {
  if (names.empty()) return props::all_properties();
  std::vector<const props::Property*> asked;
  for (const std::string& name : names) {
    const props::Property* property = props::find_property(name);
    if (property == nullptr) {
      std::vector<std::string_view> known;
      for (const auto list : {props::properties(), props::beliefs()}) {
        for (const props::Property& one : list) known.push_back(one.name);
      }
      return spec::Error{fmt::format("'{}' is not a property; the nearest is {}", name,
                                     spec::nearest(name, known)),
                         {}};
    }
    if (std::find(asked.begin(), asked.end(), property) == asked.end()) asked.push_back(property);
  }
  return asked;
}

}  // namespace vlag::cli
