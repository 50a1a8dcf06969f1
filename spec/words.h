// SPDX-License-Identifier: GPL-2.0-only
// An operation as a sentence, for people who do not know the language of sequences.
#pragma once

#include <string>

#include "spec/sequence.h"

namespace vlag::spec {

/// What happens, as a clause without a full stop: "task 1 is forked, nice 5".
std::string in_words(const Operation& operation);

}  // namespace vlag::spec
