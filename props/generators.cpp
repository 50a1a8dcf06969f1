// SPDX-License-Identifier: GPL-2.0-only
#include "props/generators.h"

#include <algorithm>

#include "props/shrink.h"

namespace vlag::props {

rc::Gen<spec::Sequence> sequences(const Policy& policy, const Scope& scope) {
  return [policy, scope](const rc::Random& source, int size) {
    rc::Random random = source;
    Scope sized = scope;
    sized.operations = std::max(1, scope.operations * std::min(size, 100) / 100);
    ModelBackend model(policy);
    spec::Trace trace;
    spec::Sequence sequence = random_sequence(random.next(), sized, model, trace);
    return rc::shrinkable::shrinkRecur(
        std::move(sequence), [policy](const spec::Sequence& s) { return shrinks(s, policy); });
  };
}

}  // namespace vlag::props
