// SPDX-License-Identifier: GPL-2.0-only
#include "smt/witness.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cctype>
#include <optional>

namespace vlag::smt {
namespace {

using Integer = boost::multiprecision::cpp_int;

constexpr std::size_t longest_number = 4096;  // digits

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.size() <= longest_number &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Without leading zeros, which the library takes for an octal number. Requires: is_integer(text).
Integer integer_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  const Integer value{std::string(text)};
  return negative ? Integer(-value) : value;
}

// "7/4" rounded down; nothing if it is no number.
std::optional<Integer> floor_of(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view top = text.substr(0, slash);
  const std::string_view bottom = slash == std::string_view::npos ? "1" : text.substr(slash + 1);
  if (!is_integer(top) || !is_integer(bottom)) return std::nullopt;
  const Integer divisor = integer_of(bottom);
  if (divisor <= 0) return std::nullopt;
  const Integer dividend = integer_of(top);
  Integer quotient = dividend / divisor;
  if (dividend < 0 && quotient * divisor != dividend) --quotient;
  return quotient;
}

}  // namespace

Model::Model(std::string_view text, const Weight* weight) {
  constexpr std::string_view between = ", ";
  constexpr std::string_view equals = " = ";
  while (!text.empty()) {
    const std::size_t end = text.find(between);
    const std::string_view one = text.substr(0, end);
    const std::size_t at = one.find(equals);
    if (at != std::string_view::npos) {
      values_.emplace(one.substr(0, at), one.substr(at + equals.size()));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + between.size());
  }
  for (int nice = nice_min; weight != nullptr && nice <= nice_max; ++nice) {
    if (nice_weight(nice).load == weight->load) nice_ = nice;
  }
}

std::int64_t Model::value(std::string_view name, std::int64_t low, std::int64_t high) const {
  const auto at = values_.find(name);
  if (at == values_.end()) return low;
  const std::optional<Integer> value = floor_of(at->second);
  if (!value || *value <= low) return low;
  return *value >= high ? high : static_cast<std::int64_t>(*value);
}

Recorder::Recorder(int tasks) : cpu_(eevdf_6_12(), tasks), sequence_{spec::op::reset()} {}

void Recorder::features(std::span<const FeatureToggle> toggles) {
  Features now = cpu_.features();
  std::uint64_t mask = 0;
  std::uint64_t values = 0;
  for (const FeatureToggle& toggle : toggles) {
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(toggle.feature);
    mask |= bit;
    values |= toggle.on ? bit : 0;
    now.set(toggle.feature, toggle.on);
  }
  cpu_.set_features(now);
  sequence_.push_back(spec::op::features(mask, values));
}

void Recorder::base_slice(std::uint64_t ns) {
  cpu_.set_base_slice(ns);
  sequence_.push_back(spec::op::base_slice(ns));
}

void Recorder::fork(int id, int nice, std::uint64_t slice) {
  cpu_.fork(id, nice, SchedPolicy::normal, slice);
  sequence_.push_back(spec::op::fork(id, nice, slice));
}

void Recorder::slice(int id, std::uint64_t ns) {
  cpu_.set_slice(id, ns);
  sequence_.push_back(spec::op::slice(id, ns));
}

void Recorder::schedule() {
  cpu_.schedule();
  sequence_.push_back(spec::op::schedule());
}

void Recorder::advance(std::uint64_t ns) {
  cpu_.advance(ns);
  sequence_.push_back(spec::op::advance(ns));
}

void Recorder::tick(std::uint64_t ns) {
  cpu_.tick(ns);
  sequence_.push_back(spec::op::tick(ns));
}

void Recorder::block() {
  if (cpu_.current() == nullptr) return;
  cpu_.block(false);
  sequence_.push_back(spec::op::block());
}

void Recorder::wake(int id) {
  cpu_.wake(id);
  sequence_.push_back(spec::op::wake(id));
}

void Recorder::leave(int id) {
  if (cpu_.task(id).state != TaskState::queued) return;
  if (cpu_.current() == &cpu_.task(id)) {
    cpu_.block(true);
    sequence_.push_back(spec::op::block(true));
  } else {
    cpu_.dequeue(id);
    sequence_.push_back(spec::op::dequeue(id));
  }
}

void Recorder::join(int id) {
  const TaskState state = cpu_.task(id).state;
  if (state == TaskState::sleeping) wake(id);
  if (state != TaskState::migrating) return;
  cpu_.enqueue(id);
  sequence_.push_back(spec::op::enqueue(id));
}

spec::Sequence run_ahead(int nice, std::int64_t key) {
  Recorder recorder(2);
  for (const int id : {0, 1}) recorder.fork(id, nice, 0);
  recorder.schedule();
  const Weight weight = nice_weight(nice);
  std::uint64_t service = 0;
  // The least service that is worth at least twice the key.
  for (std::uint64_t step = std::uint64_t{1} << 53; step != 0; step /= 2) {
    const auto next = static_cast<std::int64_t>(service + step);
    if (calc_delta_fair<Words>(Word(next), weight) < Word(2) * Word(key)) service += step;
  }
  recorder.tick(service + 1);
  recorder.schedule();
  return recorder.sequence();
}

}  // namespace vlag::smt
