// SPDX-License-Identifier: GPL-2.0-only
// A policy is a value: { family, features, rules, tunables }.
//
// Features are the kernel's own names with the kernel's own parse rule. Rules are named
// choices where versions, or faults, differ: a version preset is one Policy value, and so is
// every mutant. Adding a rule variant touches the enum here, the one place that decides, and
// its row in spec/README.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace vlag {

/// The scheduler features of Linux 6.12 in table order (kernel/sched/features.h of 6.12.117).
enum class Feature : std::uint8_t {
  PLACE_LAG,
  PLACE_DEADLINE_INITIAL,
  PLACE_REL_DEADLINE,
  RUN_TO_PARITY,
  PREEMPT_SHORT,
  NEXT_BUDDY,
  PICK_BUDDY,
  CACHE_HOT_BUDDY,
  DELAY_DEQUEUE,
  DELAY_ZERO,
  WAKEUP_PREEMPTION,
  HRTICK,
  HRTICK_DL,
  DOUBLE_TICK,
  NONTASK_CAPACITY,
  TTWU_QUEUE,
  SIS_UTIL,
  WARN_DOUBLE_CLOCK,
  RT_PUSH_IPI,
  RT_RUNTIME_SHARE,
  LB_MIN,
  ATTACH_AGE_LOAD,
  WA_IDLE,
  WA_WEIGHT,
  WA_BIAS,
  UTIL_EST,
  LATENCY_WARN,
  NI_RANDOM,
  COUNT,
};

inline constexpr std::size_t feature_count = static_cast<std::size_t>(Feature::COUNT);

std::string_view feature_name(Feature feature);
std::optional<Feature> find_feature(std::string_view name);

/// The ten features that decide something on one CPU without timers: 1,024 combinations.
std::span<const Feature> deciding_features();

/// A set of features.
class Features {
 public:
  constexpr Features() = default;
  constexpr explicit Features(std::uint64_t bits) : bits_(bits) {}

  constexpr bool has(Feature feature) const {
    return (bits_ >> static_cast<int>(feature) & 1) != 0;
  }
  constexpr std::uint64_t bits() const { return bits_; }
  constexpr void set(Feature feature, bool on) {
    const std::uint64_t bit = std::uint64_t{1} << static_cast<int>(feature);
    bits_ = on ? bits_ | bit : bits_ & ~bit;
  }
  constexpr void assign(std::uint64_t mask, std::uint64_t values) {
    bits_ = (bits_ & ~mask) | (values & mask);
  }
  friend constexpr bool operator==(Features, Features) = default;

 private:
  std::uint64_t bits_ = 0;
};

/// One write to debugfs sched/features.
struct FeatureToggle {
  Feature feature;
  bool on;
};

/// Parses one write as sched_feat_write() of 6.12 does: the text is cut to 63 bytes and at a NUL,
/// blanks are stripped at both ends, one leading "NO_" negates, and the rest must match a name
/// exactly. Returns nullopt where the kernel answers -EINVAL.
std::optional<FeatureToggle> parse_feature(std::string_view text);

/// How V rounds to whole ns. Floor since 650cad561cce (6.6); truncation is the fault it fixed.
enum class AverageRounding : std::uint8_t { floor, truncate };

/// What orders the timeline: the deadline (2227a957e1d5, 6.8), or the vruntime (6.6); or the
/// deadline as an unsigned number, which is wrong where virtual time wraps.
enum class TimelineOrder : std::uint8_t { deadline, vruntime, unsigned_deadline };

/// Among equal keys in the timeline: who was inserted first (entity_before is strict), or last, or
/// who has the lower id.
enum class TieOrder : std::uint8_t { fifo, lifo, by_id };

/// What a subtree remembers for pick's pruning: the least vruntime below it (and the least slice),
/// or only its root's own.
enum class SubtreeMinimum : std::uint8_t { propagated, own };

/// When a node takes another's place in the timeline (rotation, erasure): whether only the least
/// vruntime is handed over, so that the least slice goes stale (as-linux), or both (intended). See
/// spec/divergences.h.
enum class SubtreeSlice : std::uint8_t { stale, handed_over };

/// When the weight of a queued entity changes: whether the queue's sum of weights follows; or also
/// when that of a sleeper does.
enum class ReweightSums : std::uint8_t { updated, stale, asleep_too };

/// Where zero_vruntime goes when V is read: to V together with the sum (b3d99f43c72b), nowhere,
/// or to V alone.
enum class ZeroVruntime : std::uint8_t { tracks_average, stays, moves_alone };

/// Whether the saved lag is limited (update_entity_lag), or kept as it is.
enum class LagClamp : std::uint8_t { limited, unlimited };

/// Whether place_entity() inflates the lag by (W + w)/W, so that it survives the join.
enum class PlaceLag : std::uint8_t { inflated, plain };

/// Where a used-up request's next deadline is counted from: the actual vruntime, or the old
/// deadline.
enum class DeadlineFrom : std::uint8_t { vruntime, deadline };

/// Whether a consumed request asks for a reschedule.
enum class RequestEnd : std::uint8_t { reschedules, silent };

/// How sched_yield() gives way: forfeits what is left of the request (79104becf42b), or nothing.
enum class YieldRule : std::uint8_t { forfeit, nothing };

/// Whether `next` may be a delayed entity (493afbd187c4 forbade it).
enum class DelayedBuddy : std::uint8_t { refused, accepted };

/// sched_setattr()'s slice: clamped to 100 us .. 100 ms (857b158dc5e8), or taken as it is.
enum class SliceClamp : std::uint8_t { clamped, unclamped };

/// What service is charged as: divided by the weight, or plain ns, or what is left of it in whole
/// 1024 ns, as load tracking counts.
enum class Service : std::uint8_t { weighted, unweighted, coarse };

/// A relative deadline that meets NO_PLACE_REL_DEADLINE when it is placed: its flag stays set
/// (as-linux), or is cleared with the new deadline (intended). See spec/divergences.h.
enum class RelDeadline : std::uint8_t { flag_kept, flag_cleared };

/// What remains of the request of a queued entity whose weight changes: stays in virtual time, so
/// that its service changes with the weight (as-linux), or stays in service (intended;
/// 6d71a9c61604, 6.13). See spec/divergences.h.
enum class ReweightRequest : std::uint8_t { virtual_time, service };

/// The lag of a queued entity that is taken off and put back for a change of nice, slice or policy:
/// limited as if it left, by the request that it has now (as-linux), or kept (intended). See
/// spec/divergences.h.
enum class ChangeLag : std::uint8_t { limited, kept };

/// A saved lag whose entity gets a shorter request while it is away: stays (as-linux), or is
/// limited again (intended). See spec/divergences.h.
enum class SleeperLag : std::uint8_t { kept, limited };

/// A wakeup asks whether the woken one would be picked. Where the pick is a delayed entity, which
/// schedule() would only dequeue: it is as if someone else won (as-linux), or it is dequeued and
/// the pick repeated, as schedule() does (intended; 9f6d929ee2c6, 7.1). See spec/divergences.h.
enum class WakeupPick : std::uint8_t { plain, dequeues };

/// A call that asks for the nice value, slice and policy that a task has changes nothing; but
/// asking for the default request counts as a change even if that is what the task has (as-linux),
/// or is recognized (intended); or every call is a change. See spec/divergences.h.
enum class Unchanged : std::uint8_t { compared, recognized, never };

struct Rules {
  AverageRounding average = AverageRounding::floor;
  TimelineOrder order = TimelineOrder::deadline;
  TieOrder tie = TieOrder::fifo;
  SubtreeMinimum subtree_minimum = SubtreeMinimum::propagated;
  SubtreeSlice subtree_slice = SubtreeSlice::stale;
  ReweightSums reweight_sums = ReweightSums::updated;
  ZeroVruntime zero_vruntime = ZeroVruntime::tracks_average;
  LagClamp lag_clamp = LagClamp::limited;
  PlaceLag place_lag = PlaceLag::inflated;
  DeadlineFrom deadline_from = DeadlineFrom::vruntime;
  RequestEnd request_end = RequestEnd::reschedules;
  YieldRule yield = YieldRule::forfeit;
  DelayedBuddy delayed_buddy = DelayedBuddy::refused;
  SliceClamp slice_clamp = SliceClamp::clamped;
  Service service = Service::weighted;
  RelDeadline rel_deadline = RelDeadline::flag_kept;
  ReweightRequest reweight_request = ReweightRequest::virtual_time;
  ChangeLag change_lag = ChangeLag::limited;
  SleeperLag sleeper_lag = SleeperLag::kept;
  WakeupPick wakeup_pick = WakeupPick::plain;
  Unchanged unchanged = Unchanged::compared;
  friend constexpr bool operator==(const Rules&, const Rules&) = default;
};

/// One rule by name, for command lines and reports. Values are numbered as in their enum.
struct RuleInfo {
  std::string_view name;
  std::span<const std::string_view> values;
  void (*set)(Rules& rules, std::size_t value);
  std::size_t (*get)(const Rules& rules);
};

std::span<const RuleInfo> rule_table();

/// Sets a rule by the names of the rule and of the value. Returns false if there is no such pair.
bool set_rule(Rules& rules, std::string_view name, std::string_view value);

struct Tunables {
  std::uint32_t hz = 250;              // ticks a second, 100 .. 1000
  std::uint64_t base_slice = 700'000;  // ns, sysctl_sched_base_slice (2ae891b82695: 0.70 ms)

  /// TICK_NSEC, in ns: 10^9 / HZ, rounded to the nearest.
  constexpr std::uint32_t tick_nsec() const { return (1'000'000'000 + hz / 2) / hz; }
  friend constexpr bool operator==(const Tunables&, const Tunables&) = default;
};

enum class Family : std::uint8_t { eevdf };

struct Policy {
  std::string_view name;
  Family family = Family::eevdf;
  Features features;
  Rules rules;
  Tunables tunables;
};

/// Debian's Linux 6.12.117: linux-source-6.12 6.12.117-1~deb12u1, one CPU.
Policy eevdf_6_12();

/// All version presets, by name.
std::span<const Policy> presets();
std::optional<Policy> find_preset(std::string_view name);

}  // namespace vlag
