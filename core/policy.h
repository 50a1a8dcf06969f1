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

/// What orders the timeline: the deadline (2227a957e1d5, 6.8), or the vruntime (6.6; its nodes then
/// remember the least deadline); or the deadline as an unsigned number, which is wrong where
/// virtual time wraps.
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

/// How a timeline that is ordered by vruntime is searched for the earliest eligible deadline: with
/// the eligible subtrees that were passed by (b01db23d5923), or without.
enum class HeapSearch : std::uint8_t { complete, single_pass };

/// What zero_vruntime does: it goes to V with the sum when V is read (b3d99f43c72b); stays; goes to
/// V alone; is min_vruntime, the least one queued, and only moves forward (6.6 to 6.18), or so but
/// not where the current one is reweighted (before 5068d84054b7); or goes to V, as far as that is
/// known then, whenever the timeline changes (79f3f9bedd14, 6.19).
enum class ZeroVruntime : std::uint8_t {
  tracks_average,
  stays,
  moves_alone,
  monotone,
  monotone_unless_reweighted,
  at_insert_and_erase,
};

/// How the weight of a queued entity changes. In 6.12.117 that of a task is taken off the queue for
/// it. Else it stays, as a group's entity does whose shares change, and a change of nice stands in
/// for that: V, and what is owed, are kept (11b1b8bc2b98, 1560d1f6eb6b: 6.9 to 6.12); the same with
/// V read before the current one is charged (6.7), or with a lag that is not limited (6.7); the
/// vruntime is kept (6.6), or so and the timeline not told of the new deadline (6.6-rc1); it is
/// placed anew (6d71a9c61604, 6.13), or so while it is still counted (before c70fc32f4443).
enum class ReweightQueued : std::uint8_t {
  off_queue,
  around_average,
  around_stale_average,
  around_average_unlimited,
  kept,
  kept_unpropagated,
  placed,
  placed_counted,
};

/// Whether the saved lag is limited (update_entity_lag), or kept as it is.
enum class LagClamp : std::uint8_t { limited, unlimited };

/// By what place_entity() inflates a saved lag, which joining would shrink: for the queue of weight
/// B that is joined (as Linux does, so that the lag survives), not at all, for the heavier of that
/// one and of the one of weight A that was left, or by the geometric mean of both factors. See
/// core/placement.h, spec/lag_inflation.md.
enum class LagInflation : std::uint8_t { as_linux, none, capped, geometric };

/// Whether a placement takes the default request as it is now (2f2fc17bab00), or keeps an old one.
enum class PlaceSlice : std::uint8_t { refreshed, kept };

/// How often a forked task is placed: where it is queued (c40dd90ac045), or before that as well, so
/// that the second placement takes the place of the initial one (6.6 to 6.11).
enum class ForkPlacement : std::uint8_t { once, twice };

/// Where a used-up request's next deadline is counted from: the actual vruntime, or the old
/// deadline.
enum class DeadlineFrom : std::uint8_t { vruntime, deadline };

/// Whether a consumed request asks for a reschedule.
enum class RequestEnd : std::uint8_t { reschedules, silent };

/// How long a run is protected. RUN_TO_PARITY: for its own request, while that is not renewed (6.6
/// to 6.16); or for the shortest request that is queued, also one that joins, and then a reschedule
/// is requested, while without RUN_TO_PARITY it is protected for a default request (6.17 on, and
/// later fixes). `shortest` less one of them: what joins does not count (3a0baa8e6c57), does not
/// count while a reschedule is pending (7cd2ef17de5e), nothing is requested at the end
/// (0b9ca2dcabc3), no protection without RUN_TO_PARITY (74eec63661d4).
enum class Protection : std::uint8_t {
  request,
  shortest,
  shortest_at_pick,
  shortest_unless_pending,
  shortest_silent,
  shortest_or_none,
};

/// When a wakeup with a shorter request cancels the protection (PREEMPT_SHORT): before it is known
/// who is picked, or if the woken one is (9de74a9850b9, 6.17).
enum class ShortPreemption : std::uint8_t { before_pick, if_picked };

/// Whether an idle task keeps its protection when one that is not idle preempts it (f553741ac8c0
/// cancels it).
enum class IdleProtection : std::uint8_t { cancelled, kept };

/// How sched_yield() gives way: forfeits what is left of the request (79104becf42b), or nothing;
/// asks for one more request (6.6 to 6.18); or forfeits even if it is not eligible.
enum class YieldRule : std::uint8_t { forfeit, nothing, deadline_only, forfeit_always };

/// Whether `next` may be a delayed entity (493afbd187c4 forbade it).
enum class DelayedBuddy : std::uint8_t { refused, accepted };

/// Whether a buddy is picked only if it is eligible (2a77e4be12cb).
enum class BuddyRule : std::uint8_t { eligible, regardless };

/// Whether a wakeup that set a buddy preempts if that is who would be picked, or also because the
/// current one is not eligible (e837456fdca8, undone by 15257cc2f905).
enum class BuddyPreemption : std::uint8_t { if_picked, forced };

/// How delayed tasks are counted: apart from the runnable ones (76f2f783294d), as runnable, or
/// discounted once more when they are changed (as uclamp was until c662e2b1e8cf).
enum class DelayedCount : std::uint8_t { apart, as_runnable, twice };

/// A sleeper that is delayed becomes nicer or less nice: as if it were runnable it may preempt
/// (as-linux), or it waits (intended). See spec/divergences.h.
enum class DelayedRenice : std::uint8_t { preempts, waits };

/// sched_setattr()'s slice: clamped to 100 us .. 100 ms (857b158dc5e8), or taken as it is.
enum class SliceClamp : std::uint8_t { clamped, unclamped };

/// What service is charged as: divided by the weight, or plain ns, or what is left of it in whole
/// 1024 ns, as load tracking counts.
enum class Service : std::uint8_t { weighted, unweighted, coarse };

/// A relative deadline that meets NO_PLACE_REL_DEADLINE when it is placed: its flag stays set
/// (as-linux), or is cleared with the new deadline (intended). See spec/divergences.h. Or deadlines
/// are never made relative (before 82e9d0456e06).
enum class RelDeadline : std::uint8_t { flag_kept, flag_cleared, never };

/// What the high-resolution tick is armed for: what is left of the slice since the pick (as-linux),
/// or until the deadline (558c18d3fbb6, intended). See spec/divergences.h.
enum class Hrtick : std::uint8_t { slice_left, until_deadline };

/// How a name that is written to sched/features is matched: exactly, or the first name that it
/// begins with is taken (up to 2.6.36).
enum class FeatureParse : std::uint8_t { exact, prefix };

/// Whether a feature that is switched is in force, or only shown (before a73f863af4ce, where it was
/// compiled without jump labels).
enum class FeatureWrite : std::uint8_t { in_force, reported };

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
  HeapSearch heap_search = HeapSearch::complete;
  TieOrder tie = TieOrder::fifo;
  SubtreeMinimum subtree_minimum = SubtreeMinimum::propagated;
  SubtreeSlice subtree_slice = SubtreeSlice::stale;
  ReweightSums reweight_sums = ReweightSums::updated;
  ReweightQueued reweight = ReweightQueued::off_queue;
  ZeroVruntime zero_vruntime = ZeroVruntime::tracks_average;
  LagClamp lag_clamp = LagClamp::limited;
  LagInflation lag_inflation = LagInflation::as_linux;
  PlaceSlice place_slice = PlaceSlice::refreshed;
  ForkPlacement fork_placement = ForkPlacement::once;
  DeadlineFrom deadline_from = DeadlineFrom::vruntime;
  RequestEnd request_end = RequestEnd::reschedules;
  Protection protection = Protection::request;
  ShortPreemption short_preemption = ShortPreemption::before_pick;
  IdleProtection idle_protection = IdleProtection::cancelled;
  YieldRule yield = YieldRule::forfeit;
  DelayedBuddy delayed_buddy = DelayedBuddy::refused;
  BuddyRule buddy_pick = BuddyRule::eligible;
  BuddyPreemption buddy_preemption = BuddyPreemption::if_picked;
  DelayedCount delayed_count = DelayedCount::apart;
  DelayedRenice delayed_renice = DelayedRenice::preempts;
  SliceClamp slice_clamp = SliceClamp::clamped;
  Service service = Service::weighted;
  RelDeadline rel_deadline = RelDeadline::flag_kept;
  Hrtick hrtick = Hrtick::slice_left;
  FeatureParse feature_parse = FeatureParse::exact;
  FeatureWrite feature_write = FeatureWrite::in_force;
  ReweightRequest reweight_request = ReweightRequest::virtual_time;
  ChangeLag change_lag = ChangeLag::limited;
  SleeperLag sleeper_lag = SleeperLag::kept;
  WakeupPick wakeup_pick = WakeupPick::plain;
  Unchanged unchanged = Unchanged::compared;
  friend constexpr bool operator==(const Rules&, const Rules&) = default;
};

/// The same under another rule. As it was up to 2.6.36: the first name in table order that the text
/// begins with is taken, and what follows it is not looked at.
std::optional<FeatureToggle> parse_feature(std::string_view text, FeatureParse rule);

/// The features after each bit of `mask` was written by its name, in table order.
Features written_features(Features features, std::uint64_t mask, std::uint64_t values,
                          const Rules& rules);

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
