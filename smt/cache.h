// SPDX-License-Identifier: GPL-2.0-only
// Results of goals that passed, by what was asked: a goal whose text has not changed need not be
// asked again. The key is a SHA-256 over everything that decides the answer, so an entry is never
// out of date, only unused.
//
//   DIRECTORY/<goal>-<key>     the digest of what follows, a newline, the result
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace vlag::smt {

/// Collects what a result depends on.
class CacheKey {
 public:
  /// Each part with its length, so that "ab", "c" is not "a", "bc".
  void add(std::string_view part);
  /// 64 hexadecimal digits.
  std::string text() const;

 private:
  std::string parts_;
};

class Cache {
 public:
  explicit Cache(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// What was written under that name; nothing if it is not there, or not as it was written (then
  /// `warning` says so in one line; else it is left as it is).
  std::optional<std::string> read(const std::string& name, std::string& warning) const;
  /// To a temporary name, then renamed. If that fails, `warning` says why in one line.
  void write(const std::string& name, std::string_view content, std::string& warning) const;

 private:
  std::filesystem::path directory_;
};

}  // namespace vlag::smt
