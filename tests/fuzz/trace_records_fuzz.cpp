// SPDX-License-Identifier: GPL-2.0-only
// Records are whole observations that can be read, compared and shown, or nothing is taken over.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/check.h"
#include "spec/observation.h"
#include "tests/fuzz/message.h"

namespace {

using vlag::spec::Observation;
using vlag::spec::Trace;

std::size_t bytes_of(const Observation& observation) {
  return sizeof(vlag_head) + sizeof(vlag_queue) + observation.entities.size_bytes();
}

void check_observation(const Observation& observation) {
  VLAG_CHECK(observation.entities.size() <= VLAG_MAX_TASKS);
  VLAG_CHECK(vlag::spec::same_observation(observation, observation));
  VLAG_CHECK(!vlag::spec::first_difference(observation, observation).has_value());
  const std::string text = vlag::spec::describe(observation);
  const auto newlines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  VLAG_CHECK(newlines == 1 + observation.entities.size());
  for (int id = -1; id <= VLAG_MAX_TASKS; ++id) {
    const auto* found = observation.find(id);
    VLAG_CHECK(found == nullptr || found->id == id);
  }
}

/// Exactly one of equal and different, and the difference is one to see.
void check_pair(const Observation& left, const Observation& right) {
  const auto difference = vlag::spec::first_difference(left, right);
  VLAG_CHECK(difference.has_value() != vlag::spec::same_observation(left, right));
  VLAG_CHECK(!difference.has_value() || difference->left != difference->right);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto records = std::as_bytes(std::span(data, size));
  Trace trace;
  trace.append(1);
  const auto result = trace.append_records(records);
  if (!result.ok()) {
    VLAG_CHECK(trace.size() == 1);
    vlag::tests::check_message(result.error(), "");
    return 0;
  }
  std::size_t taken = 0;
  for (std::size_t i = 1; i < trace.size(); ++i) {
    check_observation(trace[i]);
    check_pair(trace[i - 1], trace[i]);
    taken += bytes_of(trace[i]);
  }
  VLAG_CHECK(taken == size);
  return 0;
}
