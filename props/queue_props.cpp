// SPDX-License-Identifier: GPL-2.0-only
// Properties of the queue as a whole: its sums, its average, its counters.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/weight.h"
#include "props/property.h"
#include "spec/invariants.h"
#include "spec/view.h"

namespace vlag::props {
namespace {

using spec::EntityState;
using spec::Exact;
using spec::has;
using spec::Observation;

std::string sums_match(const Step& step) {
  if (spec::sums_match(spec::view_of(step.after))) return {};
  return fmt::format("sum_w_vruntime={} and sum_weight={} are not the sums over the timeline",
                     step.after.queue->sum_w_vruntime, step.after.queue->sum_weight);
}

std::string average_is_floored(const Step& step) {
  if (spec::lag_sum_in_range(spec::view_of(step.after))) return {};
  return fmt::format("V={} is not the weighted average, rounded down", step.after.queue->average);
}

std::string someone_is_eligible(const Step& step) {
  if (spec::someone_eligible(spec::view_of(step.after))) return {};
  return fmt::format("{} are queued and none is eligible", step.after.queue->nr_running);
}

// What the counters count.
struct Counts {
  std::uint32_t queued = 0;
  std::uint32_t delayed = 0;
  std::uint32_t idle = 0;
  std::uint64_t load = 0;
};

Counts count(const Observation& observation) {
  Counts counts;
  for (const EntityState& entity : observation.entities) {
    if (!has(entity, VLAG_ON_RQ)) continue;
    ++counts.queued;
    counts.delayed += has(entity, VLAG_DELAYED) ? 1 : 0;
    counts.idle += spec::is_idle_policy(entity) ? 1 : 0;
    counts.load += entity.weight;
  }
  return counts;
}

std::string counters_count(const Step& step) {
  const Counts counts = count(step.after);
  const spec::QueueState& queue = *step.after.queue;
  const bool right = queue.nr_running == counts.queued && queue.h_nr_queued == counts.queued &&
                     queue.rq_nr_running == counts.queued && queue.h_nr_delayed == counts.delayed &&
                     queue.h_nr_runnable == counts.queued - counts.delayed &&
                     queue.idle_h_nr_running == counts.idle && queue.load == counts.load;
  if (right) return {};
  return fmt::format(
      "{} queued, {} of them delayed, {} idle, load {}: the queue says nr_running={} "
      "h_nr_queued={} h_nr_runnable={} h_nr_delayed={} idle_h_nr_running={} load={}",
      counts.queued, counts.delayed, counts.idle, counts.load, queue.nr_running, queue.h_nr_queued,
      queue.h_nr_runnable, queue.h_nr_delayed, queue.idle_h_nr_running, queue.load);
}

std::string why_moved(const Step& step, const EntityState& before, const EntityState& after) {
  const std::uint64_t service = after.sum_exec_runtime - before.sum_exec_runtime;
  const std::int64_t advance = spec::distance(after.vruntime, before.vruntime);
  if (spec::targets(step.operation, after.id)) return {};  // It may be placed anew.
  const bool was_running = step.before->head->current == after.id;
  const bool yields = step.operation.code == VLAG_YIELD || step.operation.code == VLAG_YIELD_TO;
  if (was_running && yields) return {};  // Forfeits the rest of its request.
  if (service == 0 && advance == 0) return {};
  if (was_running && spec::service_charged<Exact>(advance, service, spec::down_of(before))) {
    return {};
  }
  return fmt::format("task {} got {} ns of service at weight {} and its vruntime moved by {}",
                     after.id, service, before.weight, advance);
}

std::string vruntime_moves_only_with_service(const Step& step) {
  if (step.before == nullptr) return {};
  for (const EntityState& after : step.after.entities) {
    const EntityState* before = step.before->find(after.id);
    if (before == nullptr) continue;
    if (std::string what = why_moved(step, *before, after); !what.empty()) return what;
  }
  return {};
}

// zero_vruntime has to follow V, or the keys grow until a product wraps.
std::string nothing_wraps(const Step& step) {
  const spec::ExactSums sums = spec::sums_of(step.after);
  for (const EntityState& entity : step.after.entities) {
    if (!has(entity, VLAG_ON_RQ)) continue;
    const Exact key = spec::view_of(*step.after.queue, entity).vruntime;
    if (spec::fits_in_word<Exact>(key * sums.weight)) continue;
    return fmt::format("key {} of task {} times the total weight {} does not fit in 64 bits",
                       static_cast<std::int64_t>(key), entity.id,
                       static_cast<std::int64_t>(sums.weight));
  }
  return {};
}

// min_vruntime of the versions that measure from there.
std::string min_vruntime_reaches_the_least(const Step& step) {
  const ZeroVruntime rule = step.rules->zero_vruntime;
  if (rule != ZeroVruntime::monotone && rule != ZeroVruntime::monotone_unless_reweighted) return {};
  const bool reweights =
      step.operation.code == VLAG_NICE && step.rules->reweight != ReweightQueued::off_queue;
  if (!reweights || step.before == nullptr) return {};
  const EntityState* before = step.before->find(step.operation.id);
  const EntityState* after = step.after.find(step.operation.id);
  if (!has(*after, VLAG_ON_RQ) || before->weight == after->weight) return {};
  for (const EntityState& entity : step.after.entities) {
    const std::int64_t behind = spec::distance(step.after.queue->zero_vruntime, entity.vruntime);
    if (has(entity, VLAG_ON_RQ) && behind >= 0) return {};
  }
  return "a change of weight moved everyone beyond min_vruntime, which stayed";
}

}  // namespace

std::span<const Property> queue_properties() {
  static const std::array<Property, 7> list = {{
      {"sums_match", "the cached sums of the queue equal what they cache", "reweight_sums=stale",
       stateless<sums_match>},
      {"average_is_floored", "V is the weighted average rounded down: the lag sum is in (-W, 0]",
       "average=truncate", stateless<average_is_floored>},
      {"someone_is_eligible", "whenever anyone is queued, someone is eligible by the cached sums",
       "zero_vruntime=moves_alone", stateless<someone_is_eligible>},
      {"counters_count", "the counters and the load of the queue are what they count",
       "reweight_sums=stale", stateless<counters_count>},
      {"vruntime_moves_only_with_service",
       "a vruntime, and so V, moves only with service divided by weight, with joins and with "
       "leaves",
       "service=unweighted", stateless<vruntime_moves_only_with_service>},
      {"nothing_wraps",
       "no product of a key and the total weight wraps while the queue is within the stated bounds",
       "zero_vruntime=stays", stateless<nothing_wraps>},
      {"min_vruntime_reaches_the_least",
       "where keys are measured from min_vruntime, it is not before all who are queued after a "
       "change of weight",
       "reweight=around_average zero_vruntime=monotone_unless_reweighted",
       stateless<min_vruntime_reaches_the_least>},
  }};
  return list;
}

}  // namespace vlag::props
