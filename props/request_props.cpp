// SPDX-License-Identifier: GPL-2.0-only
// What becomes of a request, d - v in virtual time, when its entity is placed, migrates or yields.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "core/weight.h"
#include "props/property.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::distance;
using spec::EntityState;
using spec::has;

std::int64_t virtual_time(std::uint64_t service, const EntityState& entity) {
  const Weight weight = make_weight(entity.weight, entity.inv_weight);
  return calc_delta_fair<Words>(Word::wrapped(service), weight).value;
}

// One that was not queued was placed, and not by a deadline that it brought along.
bool was_placed_anew(const Step& step, const EntityState& after) {
  const auto code = step.operation.code;
  if (code != VLAG_FORK && code != VLAG_WAKE && code != VLAG_ENQUEUE) return false;
  const EntityState* before = step.before->find(after.id);
  if (before == nullptr) return true;
  if (has(*before, VLAG_ON_RQ)) return false;
  return !(step.has(Feature::PLACE_REL_DEADLINE) && has(*before, VLAG_REL_DEADLINE));
}

class Grants {
 public:
  explicit Grants(const BackendInfo& info) : base_slice_(info.base_slice) {}

  std::string check(const Step& step) {
    if (step.operation.code == VLAG_TUNABLE) base_slice_ = step.operation.arg;
    if (step.before == nullptr) return {};
    const EntityState* placed = step.after.find(step.operation.id);
    if (placed == nullptr || !was_placed_anew(step, *placed)) return {};
    const std::uint64_t slice = has(*placed, VLAG_CUSTOM_SLICE) ? placed->slice : base_slice_;
    std::int64_t request = virtual_time(slice, *placed);
    const bool initial =
        step.operation.code == VLAG_FORK && step.has(Feature::PLACE_DEADLINE_INITIAL);
    if (initial) request /= 2;
    const std::int64_t granted = distance(placed->deadline, placed->vruntime);
    if (granted == request) return {};
    return fmt::format("task {} is placed with a request of {} ns of virtual time; it is to get {}",
                       placed->id, granted, request);
  }

 private:
  std::uint64_t base_slice_;
};

Check start_grants(const BackendInfo& info) {
  return
      [grants = std::make_shared<Grants>(info)](const Step& step) { return grants->check(step); };
}

std::string a_migration_keeps_the_request(const Step& step) {
  if (step.before == nullptr || !step.has(Feature::PLACE_REL_DEADLINE)) return {};
  const auto code = step.operation.code;
  if (code != VLAG_DEQUEUE && code != VLAG_ENQUEUE) return {};
  const EntityState& before = *step.before->find(step.operation.id);
  const EntityState& after = *step.after.find(step.operation.id);
  const bool leaves = code == VLAG_DEQUEUE;
  // Features may have been switched while it was away.
  if (!leaves && !has(before, VLAG_REL_DEADLINE)) return {};
  const std::uint64_t was = leaves ? before.deadline - before.vruntime : before.deadline;
  const std::uint64_t is = leaves ? after.deadline : after.deadline - after.vruntime;
  if (was == is && has(after, VLAG_REL_DEADLINE) == leaves) return {};
  return fmt::format("task {} had {} ns of virtual time left of its request, and has {}", after.id,
                     static_cast<std::int64_t>(was), static_cast<std::int64_t>(is));
}

// Where the one that yields would be if it did not, with those that were queued then.
struct Yielding {
  const EntityState* before = nullptr;
  const EntityState* after = nullptr;
  std::uint64_t vruntime = 0;  // charged
  bool charged = false;
  bool eligible = false;
};

Yielding yielding(const Step& step) {
  Yielding one;
  one.before = step.before->find(step.before->queue->curr);
  one.after = one.before != nullptr ? step.after.find(one.before->id) : nullptr;
  if (one.after == nullptr) return one;
  const std::uint64_t service = one.after->sum_exec_runtime - one.before->sum_exec_runtime;
  const auto charge = static_cast<std::uint64_t>(virtual_time(service, *one.before));
  one.charged = service != 0;
  one.vruntime = one.before->vruntime + charge;
  spec::ExactSums sums = spec::sums_of(*step.before);
  const spec::Exact weight = spec::down_of(*one.before);
  sums.w_vruntime += weight * static_cast<spec::Exact>(charge);
  const spec::Exact key = spec::view_of(*step.before->queue, *one.before).vruntime;
  one.eligible = sums.eligible(key + static_cast<spec::Exact>(charge));
  return one;
}

// The deadline that a charge leaves it with, and then one more request.
std::string a_yield_forfeits_one_request(const Step& step) {
  const auto code = step.operation.code;
  if (step.before == nullptr || (code != VLAG_YIELD && code != VLAG_YIELD_TO)) return {};
  if (step.before->queue->nr_running <= 1) return {};
  const Yielding one = yielding(step);
  if (one.after == nullptr) return {};
  const std::int64_t request = virtual_time(one.after->slice, *one.after);
  const bool renewed = one.charged && distance(one.vruntime, one.before->deadline) >= 0;
  std::uint64_t deadline =
      renewed ? one.vruntime + static_cast<std::uint64_t>(request) : one.before->deadline;
  std::uint64_t vruntime = one.vruntime;
  if (one.eligible) {
    vruntime = deadline;
    deadline += static_cast<std::uint64_t>(request);
  }
  if (one.after->vruntime == vruntime && one.after->deadline == deadline) return {};
  return fmt::format(
      "task {}, which is {}eligible, yields: it is to be at {} with deadline {}, and is at {} with "
      "deadline {}",
      one.after->id, one.eligible ? "" : "not ", vruntime, deadline, one.after->vruntime,
      one.after->deadline);
}

}  // namespace

std::span<const Property> request_properties() {
  static const std::array<Property, 3> list = {{
      {"a_placement_grants_one_request",
       "one that is placed gets one request of its slice, the default one as it is now; a forked "
       "one half of it",
       "fork_placement=twice", start_grants},
      {"a_migration_keeps_the_request",
       "what is left of a request stays the same in virtual time across a migration",
       "rel_deadline=never", stateless<a_migration_keeps_the_request>},
      {"a_yield_forfeits_one_request",
       "one that yields forfeits what is left of its request and makes another; unless it is not "
       "eligible: then it changes nothing",
       "yield=forfeit_always", stateless<a_yield_forfeits_one_request>},
  }};
  return list;
}

}  // namespace vlag::props
