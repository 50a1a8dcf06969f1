// SPDX-License-Identifier: GPL-2.0-only
#include "spec/words.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "spec/policy_text.h"

namespace vlag::spec {
namespace {

// The largest unit in which it is a whole number.
std::string time_in_words(std::uint64_t ns) {
  constexpr std::array<std::pair<std::uint64_t, const char*>, 3> units = {
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}}};
  for (const auto& [scale, unit] : units) {
    if (ns != 0 && ns % scale == 0) return fmt::format("{} {}", ns / scale, unit);
  }
  return fmt::format("{} ns", ns);
}

std::string policy_in_words(std::uint8_t policy) {
  if (policy == VLAG_IDLE) return "SCHED_IDLE";
  return policy == VLAG_BATCH ? "SCHED_BATCH" : "SCHED_NORMAL";
}

std::string reset_in_words(const Operation& operation) {
  std::string text = fmt::format("an idle CPU, its clock at {}", time_in_words(operation.arg));
  if (operation.value == 0) return text;
  return text + fmt::format(", virtual time at {}", operation.extra);
}

std::string features_in_words(const Operation& operation) {
  const Features touched(operation.extra);
  std::string text = "sched/features is written:";
  for (std::size_t i = 0; i < feature_count; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (!touched.has(feature)) continue;
    text += Features(operation.arg).has(feature) ? " " : " NO_";
    text += feature_name(feature);
  }
  return text;
}

std::string fork_in_words(const Operation& operation) {
  std::string text = fmt::format("task {} is forked", operation.id);
  if (operation.value != 0) text += fmt::format(", nice {}", operation.value);
  if (operation.arg != 0) text += fmt::format(", request {}", time_in_words(operation.arg));
  if (operation.flags != VLAG_NORMAL) text += ", " + policy_in_words(operation.flags);
  return text;
}

std::string slice_in_words(const Operation& operation) {
  if (operation.arg == 0) return fmt::format("task {} asks for the default request", operation.id);
  return fmt::format("task {} asks for a request of {}", operation.id,
                     time_in_words(operation.arg));
}

std::string change_in_words(const Operation& operation) {
  const int id = operation.id;
  switch (operation.code) {
    case VLAG_NICE:
      return fmt::format("task {} becomes nice {}", id, operation.value);
    case VLAG_SLICE:
      return slice_in_words(operation);
    case VLAG_POLICY:
      return fmt::format("task {} becomes {}", id, policy_in_words(operation.flags));
    case VLAG_FEATURES:
      return features_in_words(operation);
    case VLAG_TUNABLE:
      return fmt::format("the default request becomes {}", time_in_words(operation.arg));
    default:
      return to_text(operation);
  }
}

}  // namespace

std::string in_words(const Operation& operation) {
  const int id = operation.id;
  switch (operation.code) {
    case VLAG_RESET:
      return reset_in_words(operation);
    case VLAG_FORK:
      return fork_in_words(operation);
    case VLAG_WAKE:
      return fmt::format("task {} is woken", id);
    case VLAG_BLOCK:
      return operation.flags == VLAG_SPECIAL ? "the running task stops, and leaves at once"
                                             : "the running task goes to sleep";
    case VLAG_EXIT:
      return "the running task exits";
    case VLAG_DEQUEUE:
      return fmt::format("task {} migrates away", id);
    case VLAG_ENQUEUE:
      return fmt::format("task {} migrates back", id);
    case VLAG_TICK:
      return fmt::format("{} pass, and a tick", time_in_words(operation.arg));
    case VLAG_ADVANCE:
      return fmt::format("{} pass", time_in_words(operation.arg));
    case VLAG_SCHEDULE:
      return "the scheduler picks";
    case VLAG_YIELD:
      return "the running task yields";
    case VLAG_YIELD_TO:
      return fmt::format("the running task yields to task {}", id);
    case VLAG_HRTICK:
      return "the high-resolution tick expires";
    default:
      return change_in_words(operation);
  }
}

}  // namespace vlag::spec
