// SPDX-License-Identifier: GPL-2.0-only
#include "props/property.h"

#include <algorithm>

#include "spec/view.h"

namespace vlag::props {

void Reach::note(spec::Exact used, spec::Exact bound) {
  if (used <= 0 || bound <= 0) return;
  constexpr spec::Exact whole = 1'000'000;
  const spec::Exact parts = used >= bound ? whole : used * whole / bound;
  parts_ = std::max(parts_, static_cast<std::uint32_t>(parts));
}

std::span<const Property> properties() {
  static const std::vector<Property> all = [] {
    std::vector<Property> list;
    for (const auto part :
         {queue_properties(), timeline_properties(), pick_properties(), entity_properties(),
          protection_properties(), request_properties(), pair_properties(), fixed_set_properties(),
          conservation_properties(), bound_properties(), reference_properties()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    return list;
  }();
  return all;
}

const Property* find_property(std::string_view name) {
  for (const auto list : {properties(), beliefs()}) {
    for (const Property& property : list) {
      if (property.name == name) return &property;
    }
  }
  return nullptr;
}

Verdict judge(std::span<const spec::Operation> operations, const spec::Trace& trace,
              const BackendInfo& info, std::span<const Property* const> asked, Claimed claimed) {
  struct Running {
    const Property* property;
    Check check;
    std::size_t place;  // in `asked`
  };
  std::vector<Running> running;
  for (const Property* property : asked) {
    running.push_back({property, property->start(info), running.size()});
  }
  Verdict verdict;
  verdict.reached.resize(asked.size());
  Features features(info.features);
  spec::Observation before;
  for (std::size_t i = 0; i < trace.size() && !running.empty(); ++i) {
    const spec::Observation after = trace[i];
    const spec::Operation& operation = operations[i];
    if (after.head->result != 0) continue;
    if (claimed == Claimed::within_bounds && !spec::within_bounds(after)) break;
    if (operation.code == VLAG_FEATURES) features.assign(operation.extra, operation.arg);
    Step step{before.head != nullptr ? &before : nullptr,
              operation,
              after,
              features,
              info.tick_nsec,
              nullptr,
              &info.rules};
    std::erase_if(running, [&](const Running& one) {
      step.reach = &verdict.reached[one.place];
      std::string what = one.check(step);
      if (what.empty()) return false;
      verdict.violations.push_back({one.property, i, std::move(what)});
      return true;
    });
    ++verdict.steps;
    before = after;
  }
  return verdict;
}

}  // namespace vlag::props
