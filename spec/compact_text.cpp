// SPDX-License-Identifier: GPL-2.0-only
// A long sequence as a text that can be read: blocks of lines that follow themselves are said once.
#include <fmt/format.h>

#include <algorithm>

#include "spec/sequence.h"

namespace vlag::spec {
namespace {

constexpr std::size_t longest_block = 128;  // lines

struct Block {
  std::size_t length = 1;
  std::size_t times = 1;

  // Lines that saying it once saves; `repeat` and `end` are two more.
  std::size_t saved() const { return times > 1 ? (times - 1) * length : 0; }
};

std::size_t times_in_a_row(std::span<const Operation> rest, std::size_t length) {
  std::size_t times = 1;
  while ((times + 1) * length <= rest.size() &&
         std::equal(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(length),
                    rest.begin() + static_cast<std::ptrdiff_t>(times * length))) {
    ++times;
  }
  return times;
}

// The one that saves most; the shortest of those that save as much.
Block best_block(std::span<const Operation> rest) {
  Block best;
  for (std::size_t length = 1; length <= std::min(longest_block, rest.size() / 2); ++length) {
    const Block block{length, times_in_a_row(rest, length)};
    if (block.saved() > best.saved()) best = block;
  }
  return best.saved() > 2 ? best : Block{};
}

}  // namespace

std::string to_compact_text(std::span<const Operation> sequence) {
  std::string text;
  for (std::size_t at = 0; at < sequence.size();) {
    const Block block = best_block(sequence.subspan(at));
    const std::string indent = block.times > 1 ? "  " : "";
    if (block.times > 1) text += fmt::format("repeat {}\n", block.times);
    for (const Operation& operation : sequence.subspan(at, block.length)) {
      text += indent + to_text(operation) + '\n';
    }
    if (block.times > 1) text += "end\n";
    at += block.times * block.length;
  }
  return text;
}

}  // namespace vlag::spec
