// SPDX-License-Identifier: GPL-2.0-only
#include "props/cli/source.h"

#include <fmt/format.h>

#include "spec/legal.h"

namespace vlag::cli {

std::size_t first_refused(const spec::Trace& trace) {
  std::size_t index = 0;
  while (index < trace.size() && trace[index].head->result == 0) ++index;
  return index;
}

std::optional<spec::Error> refusal(const spec::Source& source, const spec::Trace& trace) {
  const std::size_t index = first_refused(trace);
  if (index == trace.size()) return std::nullopt;
  const spec::Operation& operation = source.operations[index];
  const spec::Observation before = index > 0 ? trace[index - 1] : spec::Observation{};
  std::string_view why = spec::why_illegal(index > 0 ? &before : nullptr, operation);
  if (why.empty()) why = "the backend has no such thing";  // A feature that another version has
  return spec::Error{fmt::format("'{}' is not legal here: {}", spec::to_text(operation), why),
                     source.place(index)};
}

}  // namespace vlag::cli
