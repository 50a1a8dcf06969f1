// SPDX-License-Identifier: GPL-2.0-only
// Operations by themselves: how to make one, what its ranges are, how it reads as text.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "core/slice.h"
#include "core/weight.h"
#include "spec/sequence.h"

bool operator==(const vlag_operation& left, const vlag_operation& right) {
  return std::memcmp(&left, &right, sizeof left) == 0;
}

namespace vlag::spec {
namespace op {
namespace {

Operation plain(vlag_code code) {
  Operation operation{};
  operation.code = static_cast<std::uint8_t>(code);
  return operation;
}

Operation with_id(vlag_code code, int id) {
  Operation operation = plain(code);
  operation.id = static_cast<std::uint16_t>(id);
  return operation;
}

Operation with_time(vlag_code code, std::uint64_t ns) {
  Operation operation = plain(code);
  operation.arg = ns;
  return operation;
}

}  // namespace

Operation reset(std::uint64_t clock) { return with_time(VLAG_RESET, clock); }
Operation reset_at(std::uint64_t clock, std::uint64_t zero_vruntime) {
  Operation operation = with_time(VLAG_RESET, clock);
  operation.value = 1;
  operation.extra = zero_vruntime;
  return operation;
}
Operation features(std::uint64_t mask, std::uint64_t values) {
  Operation operation = with_time(VLAG_FEATURES, values & mask);
  operation.extra = mask;
  return operation;
}
Operation base_slice(std::uint64_t slice_ns) {
  Operation operation = with_time(VLAG_TUNABLE, slice_ns);
  operation.id = VLAG_BASE_SLICE;
  return operation;
}
Operation fork(int id, int nice, std::uint64_t slice_ns, vlag_policy policy) {
  Operation operation = with_id(VLAG_FORK, id);
  operation.value = nice;
  operation.flags = static_cast<std::uint8_t>(policy);
  operation.arg = slice_ns;
  return operation;
}
Operation wake(int id) { return with_id(VLAG_WAKE, id); }
Operation block(bool special) {
  Operation operation = plain(VLAG_BLOCK);
  operation.flags = special ? VLAG_SPECIAL : 0;
  return operation;
}
Operation exit() { return plain(VLAG_EXIT); }
Operation dequeue(int id) { return with_id(VLAG_DEQUEUE, id); }
Operation enqueue(int id) { return with_id(VLAG_ENQUEUE, id); }
Operation tick(std::uint64_t ns) { return with_time(VLAG_TICK, ns); }
Operation advance(std::uint64_t ns) { return with_time(VLAG_ADVANCE, ns); }
Operation schedule() { return plain(VLAG_SCHEDULE); }
Operation nice(int id, int nice) {
  Operation operation = with_id(VLAG_NICE, id);
  operation.value = nice;
  return operation;
}
Operation slice(int id, std::uint64_t slice_ns) {
  Operation operation = with_id(VLAG_SLICE, id);
  operation.arg = slice_ns;
  return operation;
}
Operation policy(int id, vlag_policy policy) {
  Operation operation = with_id(VLAG_POLICY, id);
  operation.flags = static_cast<std::uint8_t>(policy);
  return operation;
}
Operation yield() { return plain(VLAG_YIELD); }
Operation yield_to(int id) { return with_id(VLAG_YIELD_TO, id); }
Operation hrtick() { return plain(VLAG_HRTICK); }

}  // namespace op

namespace {

bool uses_id(int code) {
  switch (code) {
    case VLAG_FORK:
    case VLAG_WAKE:
    case VLAG_DEQUEUE:
    case VLAG_ENQUEUE:
    case VLAG_NICE:
    case VLAG_SLICE:
    case VLAG_POLICY:
    case VLAG_YIELD_TO:
      return true;
    default:
      return false;
  }
}

bool is_policy(std::uint8_t flags) {
  return flags == VLAG_NORMAL || flags == VLAG_BATCH || flags == VLAG_IDLE;
}

// A child inherits its parent's slice, which sched_setattr() has clamped.
bool is_inheritable(std::uint64_t slice_ns) {
  return slice_ns >= static_cast<std::uint64_t>(slice_min) &&
         slice_ns <= static_cast<std::uint64_t>(slice_max);
}

// The fields that an operation does not use must be 0, so that equal text means equal bytes.
Operation used_fields(const Operation& operation) {
  Operation used{};
  used.code = operation.code;
  if (uses_id(operation.code) || operation.code == VLAG_TUNABLE) used.id = operation.id;
  switch (operation.code) {
    case VLAG_RESET:
      used.arg = operation.arg;
      used.value = operation.value;
      if (operation.value != 0) used.extra = operation.extra;
      break;
    case VLAG_FEATURES:
      used.extra = operation.extra;
      used.arg = operation.arg & operation.extra;
      break;
    case VLAG_FORK:
      used.value = operation.value;
      used.flags = operation.flags;
      used.arg = operation.arg;
      break;
    case VLAG_BLOCK:
    case VLAG_POLICY:
      used.flags = operation.flags;
      break;
    case VLAG_NICE:
      used.value = operation.value;
      break;
    case VLAG_TUNABLE:
    case VLAG_SLICE:
    case VLAG_TICK:
    case VLAG_ADVANCE:
      used.arg = operation.arg;
      break;
    default:
      break;
  }
  return used;
}

std::string arguments_out_of_range(const Operation& operation) {
  const bool nice_ok = operation.value >= nice_min && operation.value <= nice_max;
  switch (operation.code) {
    case VLAG_RESET:
      if (operation.value != 0 && operation.value != 1) return "the reset flag is 0 or 1";
      return {};
    case VLAG_FEATURES:
      if (operation.extra == 0) return "features names at least one";
      if (operation.extra >> feature_count != 0) return "there is no such feature bit";
      return {};
    case VLAG_TUNABLE:
      if (operation.id >= VLAG_TUNABLES) return "there is no such tunable";
      if (operation.arg < base_slice_min || operation.arg > base_slice_max) {
        return "base_slice is from 100us to 1s";
      }
      return {};
    case VLAG_FORK:
      if (!nice_ok) return fmt::format("nice is from {} to {}", nice_min, nice_max);
      if (!is_policy(operation.flags)) return "the policy is normal, batch or idle";
      if (operation.arg != 0 && !is_inheritable(operation.arg)) {
        return "a forked task's slice is 0 or from 100us to 100ms";
      }
      return {};
    case VLAG_NICE:
      if (!nice_ok) return fmt::format("nice is from {} to {}", nice_min, nice_max);
      return {};
    case VLAG_POLICY:
      if (!is_policy(operation.flags)) return "the policy is normal, batch or idle";
      return {};
    case VLAG_BLOCK:
      if (operation.flags > VLAG_SPECIAL) return "block has no such flag";
      return {};
    case VLAG_SLICE:
      if (operation.arg >> 63 != 0) return "a slice is below 2^63 ns";
      return {};
    case VLAG_TICK:
    case VLAG_ADVANCE:
      if (operation.arg > longest_wait) return fmt::format("at most {} ns can pass", longest_wait);
      return {};
    default:
      return {};
  }
}

std::string time_text(std::uint64_t ns) {
  constexpr std::array<std::pair<std::uint64_t, const char*>, 3> units = {{
      {1'000'000'000, "s"},
      {1'000'000, "ms"},
      {1'000, "us"},
  }};
  if (ns == 0) return "0";
  for (const auto& [scale, unit] : units) {
    if (ns % scale == 0) return fmt::format("{}{}", ns / scale, unit);
  }
  return fmt::format("{}ns", ns);
}

const char* policy_text(std::uint8_t flags) {
  switch (flags) {
    case VLAG_BATCH:
      return "batch";
    case VLAG_IDLE:
      return "idle";
    default:
      return "normal";
  }
}

std::string reset_text(const Operation& operation) {
  std::string text = "reset";
  if (operation.arg != 0) text += " clock " + time_text(operation.arg);
  if (operation.value != 0) {
    text += fmt::format(" vruntime {}", static_cast<std::int64_t>(operation.extra));
  }
  return text;
}

std::string features_text(const Operation& operation) {
  std::string text = "features";
  for (std::size_t i = 0; i < feature_count; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((operation.extra & bit) == 0) continue;
    text += (operation.arg & bit) != 0 ? " " : " NO_";
    text += feature_name(static_cast<Feature>(i));
  }
  return text;
}

std::string fork_text(const Operation& operation) {
  std::string text = fmt::format("fork {}", operation.id);
  if (operation.value != 0) text += fmt::format(" nice {}", operation.value);
  if (operation.arg != 0) text += " slice " + time_text(operation.arg);
  if (operation.flags != VLAG_NORMAL)
    text += fmt::format(" policy {}", policy_text(operation.flags));
  return text;
}

}  // namespace

bool targets(const Operation& operation, int id) {
  return uses_id(operation.code) && operation.id == id;
}

std::string out_of_range(const Operation& operation) {
  if (operation.code >= VLAG_CODES) return "there is no such operation";
  if (uses_id(operation.code) && operation.id >= VLAG_MAX_TASKS) {
    return fmt::format("task ids are from 0 to {}", VLAG_MAX_TASKS - 1);
  }
  if (std::string reason = arguments_out_of_range(operation); !reason.empty()) return reason;
  if (!(used_fields(operation) == operation)) return "a field that it does not use is not 0";
  return {};
}

std::string to_text(const Operation& operation) {
  const int id = operation.id;
  switch (operation.code) {
    case VLAG_RESET:
      return reset_text(operation);
    case VLAG_FEATURES:
      return features_text(operation);
    case VLAG_TUNABLE:
      return "tunable base_slice " + time_text(operation.arg);
    case VLAG_FORK:
      return fork_text(operation);
    case VLAG_WAKE:
      return fmt::format("wake {}", id);
    case VLAG_BLOCK:
      return operation.flags != 0 ? "block special" : "block";
    case VLAG_EXIT:
      return "exit";
    case VLAG_DEQUEUE:
      return fmt::format("dequeue {}", id);
    case VLAG_ENQUEUE:
      return fmt::format("enqueue {}", id);
    case VLAG_TICK:
      return "tick " + time_text(operation.arg);
    case VLAG_ADVANCE:
      return "advance " + time_text(operation.arg);
    case VLAG_SCHEDULE:
      return "schedule";
    case VLAG_NICE:
      return fmt::format("nice {} {}", id, operation.value);
    case VLAG_SLICE:
      return fmt::format("slice {} {}", id, time_text(operation.arg));
    case VLAG_POLICY:
      return fmt::format("policy {} {}", id, policy_text(operation.flags));
    case VLAG_YIELD:
      return "yield";
    case VLAG_YIELD_TO:
      return fmt::format("yield_to {}", id);
    case VLAG_HRTICK:
      return "hrtick";
    default:
      return fmt::format("operation {}", operation.code);
  }
}

std::string to_text(std::span<const Operation> sequence) {
  std::string text;
  for (const Operation& operation : sequence) text += to_text(operation) + "\n";
  return text;
}

}  // namespace vlag::spec
