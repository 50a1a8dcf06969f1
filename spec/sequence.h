// SPDX-License-Identifier: GPL-2.0-only
// The sequence: a list of operations on one CPU's fair class. One language for the model, the
// kernel, the generators, counterexamples and golden tests.
//
// Text: one operation a line, `#` starts a comment, times are whole numbers with a unit (ns, us,
// ms, s) or plain ns:
//
//   reset [clock T] [vruntime N]    only first; implied if absent
//   features NAME | NO_NAME ...     as written to debugfs sched/features
//   tunable base_slice T            100us .. 1s
//   fork ID [nice N] [slice T] [policy normal|batch|idle]
//   wake ID | block [special] | exit
//   dequeue ID | enqueue ID         migration away and back
//   tick T | advance T | hrtick | schedule
//   nice ID N | slice ID T | policy ID normal|batch|idle
//   yield | yield_to ID
//   repeat N ... end                the lines between, N times; not nested
//
// Binary: the text "VLAGSEQ1", the number of operations as u64, and that many vlag_operation
// (spec/wire.h), little endian; feature bits there are vlag's own (core/policy.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy.h"
#include "spec/observation.h"
#include "spec/result.h"

namespace vlag::spec {

inline constexpr std::uint64_t longest_wait = std::uint64_t{1}
                                              << 54;      // ns (208 days), of tick and advance
inline constexpr std::uint64_t base_slice_min = 100'000;  // ns
inline constexpr std::uint64_t base_slice_max = 1'000'000'000;      // ns
inline constexpr std::size_t largest_file = std::size_t{64} << 20;  // bytes

/// Ensures: not empty, starts with VLAG_RESET, at most VLAG_MAX_OPERATIONS operations.
using Sequence = std::vector<Operation>;

namespace op {
Operation reset(std::uint64_t clock = 0);
Operation reset_at(std::uint64_t clock, std::uint64_t zero_vruntime);
Operation features(std::uint64_t mask, std::uint64_t values);
Operation base_slice(std::uint64_t slice_ns);
Operation fork(int id, int nice = 0, std::uint64_t slice_ns = 0, vlag_policy policy = VLAG_NORMAL);
Operation wake(int id);
Operation block(bool special = false);
Operation exit();
Operation dequeue(int id);
Operation enqueue(int id);
Operation tick(std::uint64_t ns);
Operation advance(std::uint64_t ns);
Operation schedule();
Operation nice(int id, int nice);
Operation slice(int id, std::uint64_t slice_ns);
Operation policy(int id, vlag_policy policy);
Operation yield();
Operation yield_to(int id);
Operation hrtick();
}  // namespace op

/// Whether the operation is about that task by name (block, yield ... are about the current one).
bool targets(const Operation& operation, int id);

/// Whether all fields of an operation are within their ranges, whatever the state: what a file
/// may hold. Returns why not, or an empty text.
std::string out_of_range(const Operation& operation);

/// One operation as a line of text, without a newline.
std::string to_text(const Operation& operation);
/// A whole sequence as a text file. Ensures: parse_text(to_text(s)) == s.
std::string to_text(std::span<const Operation> sequence);

/// The same, with `repeat` where a block of lines follows itself.
std::string to_compact_text(std::span<const Operation> sequence);

std::vector<std::byte> to_binary(std::span<const Operation> sequence);

/// A parsed file: the operations, and for each the line that it came from (1-based; 0 in binary).
struct Source {
  std::string name;
  Sequence operations;
  std::vector<int> lines;

  Place place(std::size_t index) const;
};

/// Errors: unknown operation or feature (with the nearest known), a number out of range, too many
/// operations. `name` is what error messages call the file.
Result<Source> parse_text(std::string_view text, std::string name);
/// Errors: a file that is cut short, has trailing bytes, or holds a record out of range.
Result<Source> parse_binary(std::span<const std::byte> bytes, std::string name);
/// Reads either form. Errors also: unreadable, or larger than largest_file.
Result<Source> read_sequence(const std::string& path);

}  // namespace vlag::spec

bool operator==(const vlag_operation& left, const vlag_operation& right);
