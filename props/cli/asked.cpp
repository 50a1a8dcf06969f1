// SPDX-License-Identifier: GPL-2.0-only
#include "props/cli/asked.h"

#include <fmt/format.h>

#include <algorithm>

#include "props/relation_search.h"
#include "props/search.h"
#include "spec/nearest.h"

namespace vlag::cli {
namespace {

std::string nearest_to(const std::string& name) {
  std::vector<std::string_view> known;
  for (const auto list : {props::properties(), props::beliefs()}) {
    for (const props::Property& one : list) known.push_back(one.name);
  }
  for (const props::Relation& one : props::relations()) known.push_back(one.name);
  return std::string(spec::nearest(name, known));
}

template <class T>
void add_once(std::vector<const T*>& list, const T* one) {
  if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

}  // namespace

spec::Result<Asked> asked_of(const std::vector<std::string>& names) {
  if (names.empty()) return Asked{props::all_properties(), props::all_relations()};
  Asked asked;
  for (const std::string& name : names) {
    if (const auto* property = props::find_property(name)) {
      add_once(asked.properties, property);
    } else if (const auto* relation = props::find_relation(name)) {
      add_once(asked.relations, relation);
    } else {
      return spec::Error{
          fmt::format("'{}' is not a property; the nearest is {}", name, nearest_to(name)), {}};
    }
  }
  return asked;
}

}  // namespace vlag::cli
