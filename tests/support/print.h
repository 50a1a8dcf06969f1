// SPDX-License-Identifier: GPL-2.0-only
// How the machine's values read when an expectation fails.
#pragma once

#include <ostream>

#include "core/machine.h"

namespace vlag {

inline std::ostream& operator<<(std::ostream& out, Word word) { return out << word.value; }
inline std::ostream& operator<<(std::ostream& out, VTime point) { return out << point.value; }

}  // namespace vlag
