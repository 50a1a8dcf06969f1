// SPDX-License-Identifier: GPL-2.0-only
#include "spec/bugs.h"

#include <fmt/format.h>

#include <sstream>
#include <string>

#include "core/check.h"
#include "spec/nearest.h"
#include "spec/policy_text.h"

namespace vlag::spec {
namespace {

void append_words(std::vector<std::string>& words, std::string_view text) {
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) words.push_back(word);
}

// The catalogue is our own text: that it parses is for the tests to show.
Policy policy_with(std::vector<std::string> settings) {
  PolicyText text;
  text.sets = std::move(settings);
  const Result<Policy> policy = parse_policy(text);
  VLAG_CHECK(policy.ok());
  return *policy;
}

}  // namespace

const std::vector<Bug>& bugs() {
  static const std::vector<Bug> all = [] {
    std::vector<Bug> list;
    for (const auto part :
         {pick_bugs(), request_bugs(), sleep_bugs(), caller_bugs(), group_bugs()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    return list;
  }();
  return all;
}

const Bug* find_bug(std::string_view id) {
  for (const Bug& bug : bugs()) {
    if (bug.id == id) return &bug;
  }
  return nullptr;
}

Result<const Bug*> known_bug(std::string_view id) {
  if (const Bug* bug = find_bug(id)) return bug;
  std::vector<std::string_view> ids;
  for (const Bug& bug : bugs()) ids.push_back(bug.id);
  return Error{
      fmt::format("'{}' is not in the bug catalogue; the nearest is {}", id, nearest(id, ids)), {}};
}

std::vector<std::string> settings_of(const Bug& bug) {
  std::vector<std::string> settings;
  append_words(settings, bug.base);
  append_words(settings, bug.change);
  return settings;
}

Policy right_policy(const Bug& bug) {
  std::vector<std::string> settings;
  append_words(settings, bug.base);
  return policy_with(std::move(settings));
}

Policy faulty_policy(const Bug& bug) {
  VLAG_CHECK(bug.expressible());
  return policy_with(settings_of(bug));
}

}  // namespace vlag::spec
