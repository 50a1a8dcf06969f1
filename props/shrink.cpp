// SPDX-License-Identifier: GPL-2.0-only
#include "props/shrink.h"

#include <algorithm>
#include <array>
#include <vector>

#include "props/model_backend.h"
#include "spec/legal.h"

namespace vlag::props {
namespace {

using spec::Operation;
using spec::Sequence;

// Simpler numbers for a time: none, then rounder, then half.
std::vector<std::uint64_t> simpler_times(std::uint64_t ns) {
  std::vector<std::uint64_t> times;
  for (const std::uint64_t unit : {1'000'000'000U, 1'000'000U, 1'000U}) {
    if (ns > unit && ns % unit != 0) times.push_back(ns - ns % unit);
  }
  if (ns > 0) times.push_back(0);
  if (ns > 1) times.push_back(ns / 2);
  if (ns > 0) times.push_back(ns - 1);
  return times;
}

void simplify_arg(const Operation& operation, std::vector<Operation>& simpler) {
  for (const std::uint64_t ns : simpler_times(operation.arg)) {
    Operation candidate = operation;
    candidate.arg = ns;
    simpler.push_back(candidate);
  }
}

void simplify_nice(const Operation& operation, std::vector<Operation>& simpler) {
  for (const int nice :
       {0, operation.value / 2, operation.value < 0 ? operation.value + 1 : operation.value - 1}) {
    if (operation.value == 0 || nice == operation.value) continue;
    Operation candidate = operation;
    candidate.value = nice;
    simpler.push_back(candidate);
  }
}

// Fewer touched features: towards those that matter.
void simplify_features(const Operation& operation, std::vector<Operation>& simpler) {
  for (std::size_t i = 0; i < feature_count; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((operation.extra & bit) == 0 || operation.extra == bit) continue;
    simpler.push_back(spec::op::features(operation.extra & ~bit, operation.arg));
  }
}

std::vector<Operation> simpler_operations(const Operation& operation) {
  std::vector<Operation> simpler;
  switch (operation.code) {
    case VLAG_RESET:
      if (operation.value != 0) simpler.push_back(spec::op::reset(operation.arg));
      simplify_arg(operation, simpler);
      break;
    case VLAG_FEATURES:
      simplify_features(operation, simpler);
      break;
    case VLAG_FORK:
      if (operation.flags != VLAG_NORMAL) {
        simpler.push_back(spec::op::fork(operation.id, operation.value, operation.arg));
      }
      simplify_nice(operation, simpler);
      simplify_arg(operation, simpler);
      break;
    case VLAG_BLOCK:
    case VLAG_POLICY:
      if (operation.flags != 0) {
        simpler.push_back(operation);
        simpler.back().flags = 0;
      }
      break;
    case VLAG_NICE:
      simplify_nice(operation, simpler);
      break;
    case VLAG_EXIT:
      simpler.push_back(spec::op::block());
      break;
    case VLAG_TUNABLE:
    case VLAG_SLICE:
    case VLAG_TICK:
    case VLAG_ADVANCE:
      simplify_arg(operation, simpler);
      break;
    default:
      break;
  }
  std::erase_if(simpler, [](const Operation& o) { return !spec::out_of_range(o).empty(); });
  return simpler;
}

rc::Seq<Operation> simpler(const Operation& operation) {
  return rc::seq::fromContainer(simpler_operations(operation));
}

}  // namespace

Sequence legalized(const Sequence& sequence, const Policy& policy) {
  ModelBackend model(policy);
  spec::Trace trace;
  Sequence kept;
  for (const Operation& operation : sequence) {
    const spec::Observation now = trace.empty() ? spec::Observation{} : trace.back();
    if (!spec::why_illegal(trace.empty() ? nullptr : &now, operation).empty()) continue;
    kept.push_back(operation);
    if (!model.step(operation, trace)) break;
  }
  return kept;
}

rc::Seq<Sequence> shrinks(const Sequence& sequence, const Policy& policy) {
  const Operation reset = sequence.front();
  const Sequence rest(sequence.begin() + 1, sequence.end());
  const auto with_reset = [reset, policy](const Sequence& candidate) {
    Sequence whole{reset};
    whole.insert(whole.end(), candidate.begin(), candidate.end());
    return legalized(whole, policy);
  };
  const auto legal = [policy](const Sequence& candidate) { return legalized(candidate, policy); };
  return rc::seq::concat(rc::seq::map(rc::shrink::removeChunks(rest), with_reset),
                         rc::seq::map(rc::shrink::eachElement(sequence, simpler), legal));
}

Sequence minimized(Sequence sequence, const Policy& policy,
                   const std::function<bool(const Sequence&)>& fails, int budget) {
  bool found = true;
  while (found && budget > 0) {
    found = false;
    rc::Seq<Sequence> candidates = shrinks(sequence, policy);
    for (auto next = candidates.next(); next && budget > 0; next = candidates.next()) {
      --budget;
      if (!fails(*next)) continue;
      sequence = std::move(*next);
      found = true;
      break;
    }
  }
  return sequence;
}

}  // namespace vlag::props
