// SPDX-License-Identifier: GPL-2.0-only
#include "props/bugs.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "props/random.h"
#include "props/search.h"
#include "props/shrink.h"

namespace vlag::props {
namespace {

// What is wrong with a stream: the first of properties() that fails in it, or the breakdown.
struct Wrong {
  const Property* property = nullptr;  // nullptr: the model broke down
  std::string what;                    // empty: nothing is wrong
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// More than one property may fail: the one that says most comes first in properties().
Wrong first_wrong(const Verdict& verdict, const ModelBackend& model) {
  if (verdict.violations.empty()) return {nullptr, std::string(model.breakdown())};
  const auto first = std::min_element(
      verdict.violations.begin(), verdict.violations.end(),
      [](const Violation& a, const Violation& b) { return a.property < b.property; });
  return {first->property, first->what};
}

// The same property again, or the same breakdown, in another sequence.
std::string wrong_with(const spec::Sequence& sequence, const Property* property,
                       ModelBackend& model, spec::Trace& trace) {
  const Outcome outcome = model.run(sequence, trace);
  if (property == nullptr) return outcome.text;
  const Property* const only[] = {property};
  const auto violations = judge(sequence, trace, model.info(), only).violations;
  return violations.empty() ? std::string() : violations.front().what;
}

void shrink_and_recheck(const spec::Bug& bug, const Wrong& wrong, spec::Sequence sequence,
                        Catch& caught) {
  const Policy faulty = spec::faulty_policy(bug);
  ModelBackend model(faulty);
  spec::Trace trace;
  const auto fails = [&](const spec::Sequence& candidate) {
    return !wrong_with(candidate, wrong.property, model, trace).empty();
  };
  caught.found = true;
  caught.property = wrong.property != nullptr ? wrong.property->name : breakdown_name;
  caught.sequence = minimized(std::move(sequence), faulty, fails);
  caught.summary = wrong_with(caught.sequence, wrong.property, model, trace);
  ModelBackend right(spec::right_policy(bug));
  caught.still_wrong = wrong_with(caught.sequence, wrong.property, right, trace);
}

}  // namespace

std::vector<const Property*> properties_for(const spec::Bug& bug) {
  const Policy right = spec::right_policy(bug);
  std::vector<const Property*> asked = all_properties();
  std::erase_if(asked, [&](const Property* one) { return !explanation(*one, right).empty(); });
  return asked;
}

Catch hunt(const spec::Bug& bug, const Hunt& how) {
  const double start = cpu_seconds();
  const std::vector<const Property*> asked = properties_for(bug);
  ModelBackend model(spec::faulty_policy(bug));
  spec::Trace trace;
  Catch caught;
  for (std::uint64_t i = 0; !caught.found && caught.operations < how.operations; ++i) {
    spec::Sequence sequence = random_sequence(derive_seed(how.seed, i), how.scope, model, trace);
    caught.operations += sequence.size();
    const Wrong wrong = first_wrong(judge(sequence, trace, model.info(), asked), model);
    if (!wrong.what.empty()) shrink_and_recheck(bug, wrong, std::move(sequence), caught);
  }
  caught.cpu_seconds = cpu_seconds() - start;
  return caught;
}

std::vector<bool> kills(const spec::Bug& bug, const Hunt& how) {
  std::vector<const Property*> left = properties_for(bug);
  std::vector<bool> killed(properties().size() + 1);
  ModelBackend model(spec::faulty_policy(bug));
  spec::Trace trace;
  std::uint64_t operations = 0;
  for (std::uint64_t i = 0; operations < how.operations; ++i) {
    const spec::Sequence sequence =
        random_sequence(derive_seed(how.seed, i), how.scope, model, trace);
    operations += sequence.size();
    if (!model.breakdown().empty()) killed.back() = true;
    for (const Violation& one : judge(sequence, trace, model.info(), left).violations) {
      killed[static_cast<std::size_t>(one.property - properties().data())] = true;
      std::erase(left, one.property);
    }
  }
  return killed;
}

}  // namespace vlag::props
