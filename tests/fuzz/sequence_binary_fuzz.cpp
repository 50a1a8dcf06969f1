// SPDX-License-Identifier: GPL-2.0-only
// Bytes are a sequence that writes as the same bytes, or are rejected with one clear line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/check.h"
#include "spec/sequence.h"
#include "tests/fuzz/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto source = vlag::spec::parse_binary(bytes, "input");
  if (!source.ok()) {
    vlag::tests::check_message(source.error(), "input: ");
    return 0;
  }
  const auto written = vlag::spec::to_binary(source->operations);
  VLAG_CHECK(std::equal(written.begin(), written.end(), bytes.begin(), bytes.end()));
  const auto read = vlag::spec::parse_text(vlag::spec::to_text(source->operations), "text");
  VLAG_CHECK(read.ok() && read->operations == source->operations);
  return 0;
}
