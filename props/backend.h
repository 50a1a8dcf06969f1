// SPDX-License-Identifier: GPL-2.0-only
// One interface, two machines: the model, and a real kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/policy.h"
#include "spec/observation.h"

namespace vlag::props {

/// What a backend says of itself before the first operation.
struct BackendInfo {
  std::string name;  // "model:eevdf-6.12", "kernel:6.12-250"
  std::string release;
  std::uint32_t hz = 0;
  std::uint32_t tick_nsec = 0;
  std::uint64_t base_slice = 0;  // ns
  std::uint64_t features = 0;    // vlag's own bit numbers (core/policy.h)
  bool groups = false;
  Rules rules;  // what it follows; a kernel: as-linux
};

/// How running a sequence ended.
struct Outcome {
  enum class Kind {
    completed,  // one observation for each operation
    faulted,    // the kernel said WARN, BUG or Oops, or panicked: a finding, `text` is what it said
    hung,       // no answer in time, killed: a finding
    lost,       // died without saying why, or could not be started: inconclusive
  };
  Kind kind = Kind::completed;
  std::string text;

  bool completed() const { return kind == Kind::completed; }
  bool is_finding() const { return kind == Kind::faulted || kind == Kind::hung; }
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const BackendInfo& info() const = 0;

  /// Starts a sequence, or several in a row, each from its reset. Requires: the first operation is
  /// VLAG_RESET; every begin() is followed by end(); `operations` outlives it. At most one is under
  /// way.
  virtual void begin(std::span<const spec::Operation> operations) = 0;

  /// Waits for the observations. Ensures: if completed, trace.size() == operations.size();
  /// otherwise the trace holds what was seen before the end, and the next begin() starts anew.
  virtual Outcome end(spec::Trace& trace) = 0;

  Outcome run(std::span<const spec::Operation> operations, spec::Trace& trace) {
    begin(operations);
    return end(trace);
  }
};

}  // namespace vlag::props
