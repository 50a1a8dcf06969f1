// SPDX-License-Identifier: GPL-2.0-only
// Bytes are a report of the prover, which is then written and read again as the same, or they are
// rejected and leave the report as it was.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/check.h"
#include "smt/prove.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vlag::smt;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Report report;
  report.goal = &goals().front();
  report.trouble = "as it was";
  const std::string before = to_text(report);
  if (!from_text(text, report)) {
    VLAG_CHECK(to_text(report) == before);
    return 0;
  }
  VLAG_CHECK(report.refuted_weight < static_cast<std::ptrdiff_t>(all_weights().size()));
  const std::string written = to_text(report);
  Report again;
  again.goal = report.goal;
  VLAG_CHECK(from_text(written, again));
  VLAG_CHECK(to_text(again) == written);
  VLAG_CHECK(verdict_of(again) == verdict_of(report));
  return 0;
}
