// SPDX-License-Identifier: GPL-2.0-only
#include "props/shrink.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "props/model_backend.h"
#include "props/random.h"
#include "spec/legal.h"

namespace vlag::props {
namespace {

using spec::Operation;
using spec::Sequence;

// --- The order.

// Simpler kinds first: those that do less, or that read more easily in a report.
constexpr std::array<vlag_code, VLAG_CODES> by_simplicity = {
    VLAG_RESET,   VLAG_FORK, VLAG_SCHEDULE, VLAG_ADVANCE, VLAG_TICK,     VLAG_HRTICK,
    VLAG_BLOCK,   VLAG_EXIT, VLAG_WAKE,     VLAG_YIELD,   VLAG_YIELD_TO, VLAG_ENQUEUE,
    VLAG_DEQUEUE, VLAG_NICE, VLAG_SLICE,    VLAG_POLICY,  VLAG_TUNABLE,  VLAG_FEATURES,
};

std::size_t rank(std::uint8_t code) {
  return static_cast<std::size_t>(std::find(by_simplicity.begin(), by_simplicity.end(), code) -
                                  by_simplicity.begin());
}

// What it takes to write a number: 20'000'000 has one digit, 16'406'999 has eight.
int digits(std::uint64_t number) {
  while (number != 0 && number % 10 == 0) number /= 10;
  int count = 0;
  for (; number != 0; number /= 10) ++count;
  return count;
}

std::uint64_t magnitude(std::uint64_t wrapping) {
  return wrapping >> 63 != 0 ? 0 - wrapping : wrapping;
}

// Where virtual time starts (as it is printed: signed), or the features that an operation touches.
auto key_of_extra(const Operation& operation) {
  if (operation.code != VLAG_RESET) return std::tuple(0, operation.extra, false);
  const std::uint64_t distance = magnitude(operation.extra);
  return std::tuple(digits(distance), distance, operation.extra != distance);
}

auto key_of(const Operation& operation) {
  const std::int64_t value = operation.value;
  return std::tuple(rank(operation.code), operation.id, operation.flags,
                    std::pair(value < 0 ? -value : value, value < 0), key_of_extra(operation),
                    digits(operation.arg), operation.arg);
}

bool simpler_than(const Operation& left, const Operation& right) {
  return key_of(left) < key_of(right);
}

// --- Simpler operations.

// Simpler numbers: none, then as much with fewer digits, then less with as many.
std::vector<std::uint64_t> simpler_numbers(std::uint64_t number) {
  std::vector<std::uint64_t> simpler;
  if (number == 0) return simpler;
  simpler.push_back(0);
  std::uint64_t last = 1;  // the unit of the last digit that is not 0
  while (number / last % 10 == 0) last *= 10;
  std::uint64_t unit = last;
  while (number / unit >= 10) unit *= 10;
  for (; unit > last; unit /= 10) {
    const std::uint64_t down = number - number % unit;
    simpler.push_back(down);
    if (down <= std::numeric_limits<std::uint64_t>::max() - unit) simpler.push_back(down + unit);
  }
  if (last > 1) simpler.push_back(number / 10);
  for (std::uint64_t less = number / last / 2 * last; less > 0; less = less / last / 2 * last) {
    simpler.push_back(number - less);
  }
  return simpler;
}

// Operations that differ from one in a field, which they set in turn to each of `values`.
template <class Field, class Values>
void vary(const Operation& operation, Field Operation::*field, const Values& values,
          std::vector<Operation>& out) {
  for (const auto value : values) {
    out.push_back(operation);
    out.back().*field = static_cast<Field>(value);
  }
}

std::vector<int> simpler_values(const Operation& operation) {
  const int value = operation.value;
  if (value == 0) return {};
  if (operation.code == VLAG_RESET) return {};
  return {0, -value, value / 2, value < 0 ? value + 1 : value - 1};
}

// Another start of virtual time, on the same side of 0.
std::vector<std::uint64_t> simpler_starts(std::uint64_t start) {
  std::vector<std::uint64_t> simpler = simpler_numbers(magnitude(start));
  if (start >> 63 != 0) {
    for (std::uint64_t& number : simpler) number = 0 - number;
  }
  return simpler;
}

// Fewer touched features: towards those that matter.
void drop_features(const Operation& operation, std::vector<Operation>& out) {
  for (std::size_t i = 0; i < feature_count; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((operation.extra & bit) == 0 || operation.extra == bit) continue;
    out.push_back(spec::op::features(operation.extra & ~bit, operation.arg));
  }
}

// Another kind of operation that does about the same.
void change_kind(const Operation& operation, std::vector<Operation>& out) {
  switch (operation.code) {
    case VLAG_TICK:
      out.push_back(spec::op::advance(operation.arg));
      break;
    case VLAG_HRTICK:
      out.push_back(spec::op::tick(0));
      break;
    case VLAG_EXIT:
      out.push_back(spec::op::block());
      break;
    case VLAG_BLOCK:
      out.push_back(spec::op::schedule());
      break;
    case VLAG_YIELD:
    case VLAG_YIELD_TO:
      out.push_back(spec::op::schedule());
      if (operation.code == VLAG_YIELD_TO) out.push_back(spec::op::yield());
      break;
    case VLAG_NICE:
    case VLAG_SLICE:
    case VLAG_POLICY:
      out.push_back(spec::op::tick(0));  // They charge the current task.
      out.push_back(spec::op::wake(operation.id));
      break;
    default:
      break;
  }
}

std::vector<Operation> simpler_operations(const Operation& operation) {
  std::vector<Operation> simpler;
  change_kind(operation, simpler);
  if (operation.code == VLAG_RESET && operation.value != 0) {
    simpler.push_back(spec::op::reset(operation.arg));
    vary(operation, &Operation::extra, simpler_starts(operation.extra), simpler);
  }
  if (operation.code == VLAG_FEATURES) {
    drop_features(operation, simpler);
  } else {
    if (operation.flags != 0) vary(operation, &Operation::flags, std::array{0}, simpler);
    vary(operation, &Operation::value, simpler_values(operation), simpler);
    vary(operation, &Operation::arg, simpler_numbers(operation.arg), simpler);
  }
  std::erase_if(simpler, [&](const Operation& candidate) {
    return !spec::out_of_range(candidate).empty() || !simpler_than(candidate, operation);
  });
  return simpler;
}

// --- Smaller sequences, which may have to be legalized.

rc::Seq<Operation> each_simpler(const Operation& operation) {
  return rc::seq::fromContainer(simpler_operations(operation));
}

// All but a stretch: long ones first, and of these the last first.
rc::Seq<Sequence> without_chunks(const Sequence& sequence) {
  std::vector<std::pair<std::size_t, std::size_t>> chunks;
  for (std::size_t length = sequence.size() / 2; length > 0; length /= 2) {
    for (std::size_t end = sequence.size(); end > 1; end -= std::min(length, end - 1)) {
      chunks.emplace_back(std::max<std::size_t>(1, end - std::min(length, end)), end);
    }
  }
  return rc::seq::map(rc::seq::fromContainer(chunks), [sequence](const auto& chunk) {
    Sequence candidate = sequence;
    candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(chunk.first),
                    candidate.begin() + static_cast<std::ptrdiff_t>(chunk.second));
    return candidate;
  });
}

// All but two that need each other, such as a block and its wake. Of a long sequence chunks are
// enough, and pairs too many.
rc::Seq<Sequence> without_pairs(const Sequence& sequence) {
  constexpr std::size_t longest = 40;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 1; i < sequence.size() && sequence.size() <= longest; ++i) {
    for (std::size_t j = i + 1; j < sequence.size(); ++j) pairs.emplace_back(i, j);
  }
  return rc::seq::map(rc::seq::fromContainer(pairs), [sequence](const auto& pair) {
    Sequence candidate = sequence;
    candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(pair.second));
    candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(pair.first));
    return candidate;
  });
}

// Operations of which short counterexamples consist.
std::vector<Operation> usual_operations(const Sequence& sequence) {
  std::vector<Operation> usual = {spec::op::tick(0), spec::op::tick(1), spec::op::tick(1'000'000),
                                  spec::op::block(), spec::op::yield(), spec::op::schedule()};
  for (const Operation& operation : sequence) {
    if (operation.code != VLAG_FORK) continue;
    usual.push_back(spec::op::wake(operation.id));
    usual.push_back(spec::op::nice(operation.id, 1));
    usual.push_back(spec::op::fork(operation.id, -1, operation.arg));
  }
  return usual;
}

// One operation less, and up to two others are replaced. Where to is drawn at random, the same for
// the same number: this leads out of the dead ends of the other passes, and they are too many to
// try each.
Sequence changed_at_random(Sequence sequence, const std::vector<Operation>& usual,
                           std::uint64_t number) {
  Random random(number);
  const auto some_index = [&] { return 1 + random.below(sequence.size() - 1); };
  sequence.erase(sequence.begin() + static_cast<std::ptrdiff_t>(some_index()));
  for (int changes = random.between(1, 2); changes > 0 && sequence.size() > 1; --changes) {
    const Operation& to = random.pick<Operation>(usual);
    sequence[some_index()] = to;
  }
  return sequence;
}

rc::Seq<Sequence> with_random_changes(const Sequence& sequence) {
  constexpr std::size_t longest = 20;
  constexpr std::uint64_t tries = 4'000;
  const bool worth_trying = sequence.size() > 3 && sequence.size() <= longest;
  return rc::seq::map(rc::seq::range<std::uint64_t>(0, worth_trying ? tries : 0),
                      [sequence, usual = usual_operations(sequence)](std::uint64_t number) {
                        return changed_at_random(sequence, usual, number);
                      });
}

bool passes_time(const Operation& operation) {
  return operation.code == VLAG_TICK || operation.code == VLAG_ADVANCE;
}

// Two stretches of time become one, at the place of the second.
std::vector<Sequence> with_times_joined(const Sequence& sequence) {
  std::vector<Sequence> candidates;
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    if (!passes_time(sequence[i])) continue;
    const auto second = std::find_if(sequence.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                     sequence.end(), passes_time);
    if (second == sequence.end()) break;
    if (sequence[i].arg + second->arg > spec::longest_wait) continue;
    Sequence candidate = sequence;
    candidate[static_cast<std::size_t>(second - sequence.begin())].arg += sequence[i].arg;
    candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(i));
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

bool names_task(const Operation& operation) { return spec::targets(operation, operation.id); }

// Tasks are numbered as they appear; or one task does what a lower one did, too.
std::vector<Sequence> with_lower_tasks(const Sequence& sequence) {
  std::vector<int> appeared;
  for (const Operation& operation : sequence) {
    const bool known = std::count(appeared.begin(), appeared.end(), operation.id) != 0;
    if (names_task(operation) && !known) appeared.push_back(operation.id);
  }
  std::vector<Sequence> candidates(1, sequence);
  for (Operation& operation : candidates.front()) {
    if (!names_task(operation)) continue;
    const auto at = std::find(appeared.begin(), appeared.end(), operation.id);
    operation.id = static_cast<std::uint16_t>(at - appeared.begin());
  }
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (!names_task(sequence[i]) || sequence[i].code == VLAG_FORK) continue;
    for (const int id : appeared) {
      if (id >= sequence[i].id) continue;
      candidates.push_back(sequence);
      candidates.back()[i].id = static_cast<std::uint16_t>(id);
    }
  }
  return candidates;
}

// Numbers that are equal become simpler together, as a tie needs them to.
template <class Field>
void simplify_equals(const Sequence& sequence, Field Operation::*field,
                     std::vector<Sequence>& candidates) {
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    const Operation& first = sequence[i];
    const auto equal = [&](const Operation& operation) {
      return operation.*field == first.*field && operation.code != VLAG_FEATURES;
    };
    const auto position = sequence.begin() + static_cast<std::ptrdiff_t>(i);
    const bool is_first = std::find_if(sequence.begin() + 1, position, equal) == position;
    if (!is_first || std::count_if(position, sequence.end(), equal) < 2) continue;
    for (const Operation& simpler : simpler_operations(first)) {
      if (simpler.code != first.code || simpler.*field == first.*field) continue;
      candidates.push_back(sequence);
      for (Operation& operation : candidates.back()) {
        Operation changed = operation;
        changed.*field = simpler.*field;
        if (equal(operation) && spec::out_of_range(changed).empty()) operation = changed;
      }
    }
  }
}

std::vector<Sequence> with_equals_simpler(const Sequence& sequence) {
  std::vector<Sequence> candidates;
  simplify_equals(sequence, &Operation::value, candidates);
  simplify_equals(sequence, &Operation::arg, candidates);
  return candidates;
}

// Chunk by chunk, going on behind what was dropped: quicker on a long sequence than starting again
// after each success.
Sequence with_chunks_dropped(Sequence sequence, const Policy& policy,
                             const std::function<bool(const Sequence&)>& fails, int& budget) {
  for (std::size_t length = sequence.size() / 2; length > 0; length /= 2) {
    std::size_t end = sequence.size();
    while (end > 1 && budget > 0) {
      const std::size_t begin = end > length ? std::max<std::size_t>(1, end - length) : 1;
      Sequence candidate = sequence;
      candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(begin),
                      candidate.begin() + static_cast<std::ptrdiff_t>(end));
      candidate = legalized(candidate, policy);
      --budget;
      if (fails(candidate)) sequence = std::move(candidate);
      end = std::min(begin, sequence.size());
    }
  }
  return sequence;
}

}  // namespace

bool smaller(const Sequence& left, const Sequence& right) {
  if (left.size() != right.size()) return left.size() < right.size();
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                      simpler_than);
}

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
  const auto legal = [policy](const Sequence& candidate) { return legalized(candidate, policy); };
  const auto is_smaller = [sequence](const Sequence& candidate) {
    return smaller(candidate, sequence);
  };
  return rc::seq::filter(
      rc::seq::map(rc::seq::concat(without_chunks(sequence),
                                   rc::seq::fromContainer(with_times_joined(sequence)),
                                   rc::shrink::eachElement(sequence, each_simpler),
                                   rc::seq::fromContainer(with_lower_tasks(sequence)),
                                   rc::seq::fromContainer(with_equals_simpler(sequence)),
                                   without_pairs(sequence), with_random_changes(sequence)),
                   legal),
      is_smaller);
}

Sequence minimized(Sequence sequence, const Policy& policy,
                   const std::function<bool(const Sequence&)>& fails, int budget) {
  sequence = with_chunks_dropped(std::move(sequence), policy, fails, budget);
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
