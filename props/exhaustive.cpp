// SPDX-License-Identifier: GPL-2.0-only
#include "props/exhaustive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "spec/legal.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::has;
using spec::Observation;
using spec::Sequence;
namespace op = spec::op;

class Hash {
 public:
  void add(std::uint64_t word) {  // FNV-1a by words, and a shift so that high bits come down
    value_ = (value_ ^ word) * 0x100000001b3U;
    value_ ^= value_ >> 29;
  }
  void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

void add_queued(Hash& hash, const Observation& now, const EntityState& entity, std::uint64_t from) {
  hash.add(entity.vruntime - from);
  hash.add(entity.deadline - from);
  const bool current = now.queue->curr == entity.id;
  const bool is_protected = static_cast<std::uint64_t>(entity.vlag) == entity.deadline;
  hash.add(std::uint64_t{current && is_protected});
  // What it has run and was not charged for.
  if (current) hash.add(now.head->clock - entity.exec_start);
}

// What decides: who is where, relative to the first queued, in which order; not the past.
std::uint64_t state_of(const Observation& now) {
  Hash hash;
  hash.add(std::int64_t{now.head->current});
  hash.add(std::uint64_t{now.head->need_resched});
  hash.add(std::int64_t{now.queue->next});
  const auto first = std::find_if(now.entities.begin(), now.entities.end(),
                                  [](const auto& entity) { return has(entity, VLAG_ON_RQ); });
  const std::uint64_t from = first != now.entities.end() ? first->vruntime : 0;
  for (const EntityState& entity : now.entities) {
    hash.add(std::int64_t{entity.id});
    hash.add(std::uint64_t{entity.flags & ~static_cast<std::uint32_t>(VLAG_RED)});
    hash.add(entity.weight);
    hash.add(entity.slice);
    if (has(entity, VLAG_ON_RQ)) {
      add_queued(hash, now, entity, from);
      continue;
    }
    hash.add(entity.vlag);
    if (has(entity, VLAG_REL_DEADLINE)) hash.add(entity.deadline);
  }
  for (const EntityState* entity : spec::in_order(now).entities) {
    hash.add(std::int64_t{entity->id});
  }
  return hash.value();
}

// How the same state is held: what must not decide.
std::uint64_t form_of(const Observation& now) {
  Hash hash;
  hash.add(std::int64_t{now.queue->root});
  hash.add(now.queue->average - now.queue->zero_vruntime);
  for (const EntityState& entity : now.entities) {
    hash.add(std::int64_t{entity.left});
    hash.add(std::int64_t{entity.right});
  }
  return hash.value();
}

using Path = std::vector<std::uint8_t>;  // by place in the alphabet

class Explorer {
 public:
  Explorer(const Policy& policy, std::span<const Property* const> asked, int tasks,
           std::uint64_t budget, ExhaustiveReport& report)
      : policy_(policy),
        model_(policy),
        asked_(asked.begin(), asked.end()),
        letters_(alphabet(tasks)),
        budget_(budget),
        report_(report) {
    depth_.tasks = tasks;
  }

  void explore() {
    std::vector<Path> level = {{}};
    run({});
    seen_.emplace(state_of(trace_.back()), Known{form_of(trace_.back()), {}});
    while (!level.empty() && !spent()) {
      std::vector<Path> next;
      for (const Path& path : level) {
        if (spent()) break;
        expand(path, next);
      }
      if (!spent()) ++depth_.complete;
      level = std::move(next);
    }
    depth_.states = seen_.size();
    report_.depths.push_back(depth_);
  }

 private:
  // How a state was reached first.
  struct Known {
    std::uint64_t form;
    Path path;
  };

  bool spent() const { return depth_.operations >= budget_; }

  Sequence sequence_of(const Path& path) const {
    Sequence sequence = {op::reset()};
    for (const std::uint8_t letter : path) sequence.push_back(letters_[letter]);
    return sequence;
  }

  void run(const Path& path) {
    sequence_ = sequence_of(path);
    depth_.operations += sequence_.size();
    model_.run(sequence_, trace_);
  }

  std::vector<std::uint8_t> legal_after(const Path& path) {
    run(path);
    const Observation now = trace_.back();
    std::vector<std::uint8_t> legal;
    for (std::size_t i = 0; i < letters_.size(); ++i) {
      if (spec::why_illegal(&now, letters_[i]).empty()) {
        legal.push_back(static_cast<std::uint8_t>(i));
      }
    }
    return legal;
  }

  void expand(const Path& path, std::vector<Path>& next) {
    for (const std::uint8_t letter : legal_after(path)) {
      Path longer = path;
      longer.push_back(letter);
      run(longer);
      if (trace_.size() < sequence_.size()) continue;  // The policy broke down.
      const std::uint64_t form = form_of(trace_.back());
      const auto [known, is_new] = seen_.try_emplace(state_of(trace_.back()), Known{form, longer});
      if (is_new) {
        judge_here();
        next.push_back(std::move(longer));
      } else if (known->second.form != form && may_compare()) {
        compare_twins(known->second.path, longer);
      }
    }
  }

  void judge_here() {
    const Verdict verdict = judge(sequence_, trace_, model_.info(), asked_);
    for (const Violation& violation : verdict.violations) {
      std::erase(asked_, violation.property);
      Finding finding{std::string(violation.property->name), violation.what, sequence_,
                      explanation(*violation.property, policy_)};
      report_.findings.push_back(std::move(finding));
    }
  }

  // A quarter of the budget.
  bool may_compare() const { return report_.history.empty() && on_twins_ < depth_.operations / 4; }

  void compare_twins(const Path& one, const Path& other) {
    const std::uint64_t before = depth_.operations;
    for (const std::uint8_t letter : legal_after(one)) {
      const auto after = [&](Path path) {
        path.push_back(letter);
        run(path);
        return state_of(trace_.back());
      };
      const std::uint64_t state = after(one);
      if (state == after(other)) continue;
      report_.history =
          fmt::format("after '{}' these two differ, though they were in one state before\n{}\n{}",
                      spec::to_text(letters_[letter]), spec::to_text(sequence_of(one)),
                      spec::to_text(sequence_of(other)));
      break;
    }
    ++depth_.twins;
    on_twins_ += depth_.operations - before;
  }

  const Policy& policy_;
  ModelBackend model_;
  std::vector<const Property*> asked_;
  Sequence letters_;
  std::uint64_t budget_;
  ExhaustiveReport& report_;
  Depth depth_;
  std::uint64_t on_twins_ = 0;
  std::unordered_map<std::uint64_t, Known> seen_;
  Sequence sequence_;
  spec::Trace trace_;
};

}  // namespace

// Few times, few weights, and those that meet: the default request is 700 us, and half of it for
// one that was forked.
spec::Sequence alphabet(int tasks) {
  Sequence letters = {op::schedule(), op::tick(350'000), op::tick(4'000'000), op::block(),
                      op::yield()};
  constexpr std::array<int, 3> nices = {0, 5, 0};
  for (int id = 0; id < tasks; ++id) {
    letters.push_back(op::fork(id, nices[static_cast<std::size_t>(id)]));
    letters.push_back(op::wake(id));
  }
  letters.push_back(op::nice(0, 5));
  letters.push_back(op::slice(1, 100'000));
  letters.push_back(op::dequeue(1));
  letters.push_back(op::enqueue(1));
  return letters;
}

ExhaustiveReport exhaustive(const Policy& policy, std::span<const Property* const> asked,
                            std::uint64_t operations, const Meter& meter) {
  ExhaustiveReport report;
  std::vector<const Property*> left(asked.begin(), asked.end());
  for (const int tasks : {2, 3}) {
    Explorer(policy, left, tasks, operations / 2, report).explore();
    for (const Finding& finding : report.findings) {
      std::erase(left, find_property(finding.rule));
    }
    meter(tasks == 2 ? operations / 2 : operations, operations);
  }
  return report;
}

}  // namespace vlag::props
