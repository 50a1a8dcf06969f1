// SPDX-License-Identifier: GPL-2.0-only
// The model as a backend: core/ driven by sequences, and shown as observations.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/cpu.h"
#include "props/backend.h"

namespace vlag::props {

class ModelBackend final : public Backend {
 public:
  explicit ModelBackend(const Policy& policy);

  const BackendInfo& info() const override { return info_; }
  const Policy& policy() const { return policy_; }
  void begin(std::span<const spec::Operation> operations) override { operations_ = operations; }
  Outcome end(spec::Trace& trace) override;

  /// One operation: appends its observation to `trace`, whose last one is what came before.
  /// An illegal operation is refused (head.result) and changes nothing. Returns false if the
  /// policy broke down: its pick found no one.
  /// Requires: out_of_range(operation) is empty.
  bool step(const spec::Operation& operation, spec::Trace& trace);

  /// What a kernel would have said when the policy broke down; empty if it did not.
  std::string_view breakdown() const;

 private:
  void apply(const spec::Operation& operation);
  void reset(const spec::Operation& operation);
  void observe(int result, spec::Trace& trace) const;

  Policy policy_;
  BackendInfo info_;
  std::span<const spec::Operation> operations_;
  std::optional<Cpu> cpu_;
  std::vector<int> live_;  // Ids of live tasks, rising.
};

}  // namespace vlag::props
