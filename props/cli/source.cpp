// SPDX-License-Identifier: GPL-2.0-only
#include "props/cli/source.h"

#include <fmt/format.h>

#include "spec/legal.h"

namespace vlag::cli {

std::optional<spec::Error> first_refused(const spec::Source& source, const spec::Trace& trace) {
  for (std::size_t i = 1; i < trace.size(); ++i) {
    if (trace[i].head->result == 0) continue;
    const spec::Observation before = trace[i - 1];
    const spec::Operation& operation = source.operations[i];
    return spec::Error{fmt::format("'{}' is not legal here: {}", spec::to_text(operation),
                                   spec::why_illegal(&before, operation)),
                       source.place(i)};
  }
  return std::nullopt;
}

}  // namespace vlag::cli
