// SPDX-License-Identifier: GPL-2.0-only
// A write to sched/features is taken exactly if its first 63 bytes, less blanks at both ends, are
// a name, with or without one NO_ before it.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/check.h"
#include "core/policy.h"

namespace {

// The kernel's isspace() is Latin-1's: the no-break space counts.
bool is_blank(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isspace(byte) != 0 || byte == 0xa0;
}

/// What is left of a write: the cut, up to a NUL, then the blanks, one by one.
std::string core_of(std::string text) {
  text.resize(std::min<std::size_t>(text.size(), 63));
  text.resize(std::min(text.size(), text.find('\0')));
  while (!text.empty() && is_blank(text.back())) text.pop_back();
  while (!text.empty() && is_blank(text.front())) text.erase(0, 1);
  return text;
}

/// By comparing with everything that is accepted.
std::optional<vlag::FeatureToggle> looked_up(const std::string& core) {
  for (std::size_t i = 0; i < vlag::feature_count; ++i) {
    const auto feature = static_cast<vlag::Feature>(i);
    const std::string name(vlag::feature_name(feature));
    if (core == name) return vlag::FeatureToggle{feature, true};
    if (core == "NO_" + name) return vlag::FeatureToggle{feature, false};
  }
  return std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto parsed = vlag::parse_feature(text);
  const auto expected = looked_up(core_of(text));
  VLAG_CHECK(parsed.has_value() == expected.has_value());
  VLAG_CHECK(!parsed || (parsed->feature == expected->feature && parsed->on == expected->on));
  return 0;
}
