// SPDX-License-Identifier: GPL-2.0-only
// A text is a sequence that reads and writes as itself, or is rejected with one clear line.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "spec/sequence.h"
#include "tests/fuzz/message.h"

namespace {

using vlag::spec::Sequence;
using vlag::spec::Source;

/// For speed: longer ones come from repeats, and hold nothing new.
constexpr std::size_t longest_checked = 4096;

void check_sequence(const Source& source) {
  VLAG_CHECK(!source.operations.empty());
  VLAG_CHECK(source.operations.size() <= VLAG_MAX_OPERATIONS);
  VLAG_CHECK(source.lines.size() == source.operations.size());
  bool first = true;
  for (const vlag_operation& operation : source.operations) {
    VLAG_CHECK((operation.code == VLAG_RESET) == first);
    VLAG_CHECK(vlag::spec::out_of_range(operation).empty());
    first = false;
  }
}

void check_round_trips(const Sequence& operations) {
  const auto from_text = vlag::spec::parse_text(vlag::spec::to_text(operations), "again");
  VLAG_CHECK(from_text.ok() && from_text->operations == operations);
  const auto from_binary = vlag::spec::parse_binary(vlag::spec::to_binary(operations), "again");
  VLAG_CHECK(from_binary.ok() && from_binary->operations == operations);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto source = vlag::spec::parse_text(text, "input");
  if (!source.ok()) {
    VLAG_CHECK(source.error().where.line > 0 && source.error().where.column > 0);
    vlag::tests::check_message(source.error(), "input:");
    return 0;
  }
  check_sequence(*source);
  if (source->operations.size() <= longest_checked) check_round_trips(source->operations);
  return 0;
}
