// SPDX-License-Identifier: GPL-2.0-only
#include "spec/policy_text.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <sstream>

#include "spec/nearest.h"
#include "spec/sequence.h"

namespace vlag::spec {
namespace {

constexpr std::uint64_t hz_min = 24;  // The kernel's range.
constexpr std::uint64_t hz_max = 1000;

Error bad(std::string what) { return Error{std::move(what), {}}; }

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> setting_names() {
  std::vector<std::string_view> names = {"hz", "base_slice"};
  for (const RuleInfo& rule : rule_table()) names.push_back(rule.name);
  return names;
}

std::optional<Error> set_number(std::string_view name, std::string_view value, std::uint64_t least,
                                std::uint64_t most, std::uint64_t& out) {
  const std::optional<std::uint64_t> parsed = number(value);
  if (!parsed || *parsed < least || *parsed > most) {
    return bad(
        fmt::format("{} is a whole number from {} to {}, not '{}'", name, least, most, value));
  }
  out = *parsed;
  return std::nullopt;
}

std::optional<Error> set_named_rule(Policy& policy, std::string_view name, std::string_view value) {
  if (set_rule(policy.rules, name, value)) return std::nullopt;
  for (const RuleInfo& rule : rule_table()) {
    if (rule.name != name) continue;
    return bad(fmt::format("'{}' is not a value of rule {}; it can be {}", value, name,
                           fmt::join(rule.values, ", ")));
  }
  return bad(fmt::format("'{}' is not a rule or tunable; the nearest is {}", name,
                         nearest(name, setting_names())));
}

std::optional<Error> apply_set(Policy& policy, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return bad(fmt::format("'{}' is not a setting: NAME=VALUE is expected", text));
  }
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  if (name == "hz") {
    std::uint64_t hz = 0;
    auto error = set_number(name, value, hz_min, hz_max, hz);
    if (!error) policy.tunables.hz = static_cast<std::uint32_t>(hz);
    return error;
  }
  if (name == "base_slice") {
    return set_number(name, value, base_slice_min, base_slice_max, policy.tunables.base_slice);
  }
  return set_named_rule(policy, name, value);
}

}  // namespace

Result<Features> apply_features(Features features, const std::string& list) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < feature_count; ++i) {
    names.push_back(feature_name(static_cast<Feature>(i)));
  }
  std::istringstream words(list);
  for (std::string word; words >> word;) {
    const std::optional<FeatureToggle> toggle = parse_feature(word);
    if (!toggle) {
      const std::string_view name =
          word.starts_with("NO_") ? std::string_view(word).substr(3) : std::string_view(word);
      return bad(
          fmt::format("'{}' is not a feature; the nearest is {}", word, nearest(name, names)));
    }
    features.set(toggle->feature, toggle->on);
  }
  return features;
}

Result<Policy> parse_policy(const PolicyText& text) {
  const std::optional<Policy> preset = find_preset(text.preset);
  if (!preset) {
    std::vector<std::string_view> names;
    for (const Policy& policy : presets()) names.push_back(policy.name);
    return bad(fmt::format("'{}' is not a policy; the nearest is {}", text.preset,
                           nearest(text.preset, names)));
  }
  Policy policy = *preset;
  for (const std::string& set : text.sets) {
    if (auto error = apply_set(policy, set)) return *error;
  }
  const Result<Features> features = apply_features(policy.features, text.features);
  if (!features) return features.error();
  policy.features = *features;
  return policy;
}

std::string feature_differences(Features features, Features base) {
  std::string text;
  for (std::size_t i = 0; i < feature_count; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (features.has(feature) == base.has(feature)) continue;
    if (!text.empty()) text += ' ';
    text += features.has(feature) ? "" : "NO_";
    text += feature_name(feature);
  }
  return text;
}

}  // namespace vlag::spec
