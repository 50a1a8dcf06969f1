// SPDX-License-Identifier: GPL-2.0-only
// A solver's numbers, whatever they look like, become numbers within the range that is asked for;
// a sequence is never made of anything else.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/check.h"
#include "smt/witness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using vlag::smt::Model;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Model model(text);
  VLAG_CHECK(model.nice() == 0);
  // "a" is what the corpus asks about; the text itself may be a name too.
  for (const std::string& name : {std::string("a"), text.substr(0, text.find(" = "))}) {
    const std::int64_t low = -5;
    const std::int64_t high = 1'000'000;
    const std::int64_t value = model.value(name, low, high);
    VLAG_CHECK(low <= value && value <= high);
    VLAG_CHECK(model.has(name) || value == low);
    VLAG_CHECK(model.value(name, INT64_MIN, INT64_MAX) == INT64_MIN || model.has(name));
  }
  return 0;
}
