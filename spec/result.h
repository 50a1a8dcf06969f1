// SPDX-License-Identifier: GPL-2.0-only
// Bad input is a value: what was wrong, where, and what was expected. Never an exception.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "core/check.h"

namespace vlag::spec {

/// Where in the input. Line and column count from 1; 0 means that there is no such place.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

struct Error {
  std::string what;  // One line, without a full stop: what is wrong and what was expected.
  Place where;

  /// "file:line:column: what", leaving out what is not known.
  std::string message() const;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : value_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(value_); }
  explicit operator bool() const { return ok(); }

  /// Requires: ok().
  T& value() {
    VLAG_CHECK(ok());
    return std::get<T>(value_);
  }
  const T& value() const {
    VLAG_CHECK(ok());
    return std::get<T>(value_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Requires: !ok().
  const Error& error() const {
    VLAG_CHECK(!ok());
    return std::get<Error>(value_);
  }

 private:
  std::variant<T, Error> value_;
};

/// The result of something that yields nothing but may fail.
struct Done {};

}  // namespace vlag::spec
