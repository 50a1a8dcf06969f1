// SPDX-License-Identifier: GPL-2.0-only
// A machine that is the model, except where a script says otherwise.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "props/model_backend.h"

namespace vlag::tests {

/// What a fake does other than the model. Both are asked after each operation.
struct Script {
  using After = std::function<void(std::span<const spec::Operation> so_far, spec::Trace::Slot)>;
  using End = std::function<props::Outcome(std::span<const spec::Operation> so_far)>;

  After alter;  // may change what is shown
  End end;      // may end the run, unless it says `completed`
};

/// Runs several sequences in a row, as the kernel does: each reset starts anew.
class FakeBackend final : public props::Backend {
 public:
  FakeBackend(const Policy& policy, Script script) : model_(policy), script_(std::move(script)) {}

  const props::BackendInfo& info() const override { return model_.info(); }
  void begin(std::span<const spec::Operation> operations) override { operations_ = operations; }

  props::Outcome end(spec::Trace& trace) override {
    trace.clear();
    spec::Trace own;
    std::size_t start = 0;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (operations_[i].code == VLAG_RESET) {
        own.clear();
        start = i;
      }
      const auto so_far = operations_.subspan(start, i - start + 1);
      if (!model_.step(operations_[i], own)) return {props::Outcome::Kind::faulted, "NULL"};
      if (script_.end) {
        props::Outcome outcome = script_.end(so_far);
        if (!outcome.completed()) return outcome;
      }
      show(own.back(), so_far, trace);
    }
    return {};
  }

 private:
  void show(const spec::Observation& now, std::span<const spec::Operation> so_far,
            spec::Trace& trace) const {
    const auto slot = trace.append(static_cast<std::uint32_t>(now.entities.size()));
    *slot.head = *now.head;
    *slot.queue = *now.queue;
    std::copy(now.entities.begin(), now.entities.end(), slot.entities);
    if (script_.alter) script_.alter(so_far, slot);
  }

  props::ModelBackend model_;
  Script script_;
  std::span<const spec::Operation> operations_;
};

}  // namespace vlag::tests
