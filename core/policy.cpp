// SPDX-License-Identifier: GPL-2.0-only
#include "core/policy.h"

#include <type_traits>
#include <utility>

#include "core/check.h"

namespace vlag {
namespace {

constexpr std::array<std::string_view, feature_count> names = {
    "PLACE_LAG",
    "PLACE_DEADLINE_INITIAL",
    "PLACE_REL_DEADLINE",
    "RUN_TO_PARITY",
    "PREEMPT_SHORT",
    "NEXT_BUDDY",
    "PICK_BUDDY",
    "CACHE_HOT_BUDDY",
    "DELAY_DEQUEUE",
    "DELAY_ZERO",
    "WAKEUP_PREEMPTION",
    "HRTICK",
    "HRTICK_DL",
    "DOUBLE_TICK",
    "NONTASK_CAPACITY",
    "TTWU_QUEUE",
    "SIS_UTIL",
    "WARN_DOUBLE_CLOCK",
    "RT_PUSH_IPI",
    "RT_RUNTIME_SHARE",
    "LB_MIN",
    "ATTACH_AGE_LOAD",
    "WA_IDLE",
    "WA_WEIGHT",
    "WA_BIAS",
    "UTIL_EST",
    "LATENCY_WARN",
    "NI_RANDOM",
};

constexpr std::array<Feature, 10> deciding = {
    Feature::PLACE_LAG,         Feature::PLACE_DEADLINE_INITIAL, Feature::PLACE_REL_DEADLINE,
    Feature::RUN_TO_PARITY,     Feature::PREEMPT_SHORT,          Feature::NEXT_BUDDY,
    Feature::PICK_BUDDY,        Feature::DELAY_DEQUEUE,          Feature::DELAY_ZERO,
    Feature::WAKEUP_PREEMPTION,
};

// The defaults of kernel/sched/features.h in 6.12.117: every feature but these is on.
constexpr std::array<Feature, 9> off_in_6_12 = {
    Feature::NEXT_BUDDY,        Feature::HRTICK,
    Feature::HRTICK_DL,         Feature::DOUBLE_TICK,
    Feature::WARN_DOUBLE_CLOCK, Feature::RT_PUSH_IPI,
    Feature::RT_RUNTIME_SHARE,  Feature::LB_MIN,
    Feature::LATENCY_WARN,
};

// strstrip() of the kernel: isspace() at both ends, of Latin-1 (lib/ctype.c).
std::string_view strip(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\v\f\r\xa0";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// One row of the table from the member and the names of its values.
template <auto Member, std::size_t N>
constexpr RuleInfo rule(std::string_view name, const std::array<std::string_view, N>& values) {
  using Value = std::remove_reference_t<decltype(std::declval<Rules&>().*Member)>;
  return {name, values,
          [](Rules& rules, std::size_t value) { rules.*Member = static_cast<Value>(value); },
          [](const Rules& rules) { return static_cast<std::size_t>(rules.*Member); }};
}

using Names = std::array<std::string_view, 2>;
constexpr Names average_names = {"floor", "truncate"};
constexpr std::array<std::string_view, 3> order_names = {"deadline", "vruntime",
                                                         "unsigned_deadline"};
constexpr std::array<std::string_view, 3> tie_names = {"fifo", "lifo", "by_id"};
constexpr Names subtree_names = {"propagated", "own"};
constexpr Names subtree_slice_names = {"stale", "handed_over"};
constexpr std::array<std::string_view, 3> reweight_sums_names = {"updated", "stale", "asleep_too"};
constexpr std::array<std::string_view, 6> zero_vruntime_names = {
    "tracks_average",     "stays", "moves_alone", "monotone", "monotone_unless_reweighted",
    "at_insert_and_erase"};
constexpr Names heap_search_names = {"complete", "single_pass"};
constexpr std::array<std::string_view, 8> reweight_names = {"off_queue",
                                                            "around_average",
                                                            "around_stale_average",
                                                            "around_average_unlimited",
                                                            "kept",
                                                            "kept_unpropagated",
                                                            "placed",
                                                            "placed_counted"};
constexpr Names place_slice_names = {"refreshed", "kept"};
constexpr Names fork_placement_names = {"once", "twice"};
constexpr std::array<std::string_view, 6> protection_names = {
    "request",         "shortest",        "shortest_at_pick", "shortest_unless_pending",
    "shortest_silent", "shortest_or_none"};
constexpr Names short_preemption_names = {"before_pick", "if_picked"};
constexpr Names idle_protection_names = {"cancelled", "kept"};
constexpr Names buddy_pick_names = {"eligible", "regardless"};
constexpr Names buddy_preemption_names = {"if_picked", "forced"};
constexpr std::array<std::string_view, 3> delayed_count_names = {"apart", "as_runnable", "twice"};
constexpr Names delayed_renice_names = {"preempts", "waits"};
constexpr Names hrtick_names = {"slice_left", "until_deadline"};
constexpr Names feature_parse_names = {"exact", "prefix"};
constexpr Names feature_write_names = {"in_force", "reported"};
constexpr Names lag_clamp_names = {"limited", "unlimited"};
constexpr std::array<std::string_view, 4> lag_inflation_names = {"linux", "none", "capped",
                                                                 "geometric"};
constexpr Names deadline_from_names = {"vruntime", "deadline"};
constexpr Names request_end_names = {"reschedules", "silent"};
constexpr std::array<std::string_view, 4> yield_names = {"forfeit", "nothing", "deadline_only",
                                                         "forfeit_always"};
constexpr Names delayed_buddy_names = {"refused", "accepted"};
constexpr Names slice_clamp_names = {"clamped", "unclamped"};
constexpr std::array<std::string_view, 3> service_names = {"weighted", "unweighted", "coarse"};
constexpr std::array<std::string_view, 3> rel_deadline_names = {"flag_kept", "flag_cleared",
                                                                "never"};

constexpr Names reweight_request_names = {"virtual_time", "service"};
constexpr Names change_lag_names = {"limited", "kept"};
constexpr Names sleeper_lag_names = {"kept", "limited"};
constexpr Names wakeup_pick_names = {"plain", "dequeues"};

constexpr std::array<std::string_view, 3> unchanged_names = {"compared", "recognized", "never"};

constexpr std::array<RuleInfo, 35> rules_by_name = {
    rule<&Rules::average>("average", average_names),
    rule<&Rules::order>("order", order_names),
    rule<&Rules::heap_search>("heap_search", heap_search_names),
    rule<&Rules::tie>("tie", tie_names),
    rule<&Rules::subtree_minimum>("subtree_minimum", subtree_names),
    rule<&Rules::subtree_slice>("subtree_slice", subtree_slice_names),
    rule<&Rules::reweight_sums>("reweight_sums", reweight_sums_names),
    rule<&Rules::reweight>("reweight", reweight_names),
    rule<&Rules::zero_vruntime>("zero_vruntime", zero_vruntime_names),
    rule<&Rules::lag_clamp>("lag_clamp", lag_clamp_names),
    rule<&Rules::lag_inflation>("lag_inflation", lag_inflation_names),
    rule<&Rules::place_slice>("place_slice", place_slice_names),
    rule<&Rules::fork_placement>("fork_placement", fork_placement_names),
    rule<&Rules::deadline_from>("deadline_from", deadline_from_names),
    rule<&Rules::request_end>("request_end", request_end_names),
    rule<&Rules::protection>("protection", protection_names),
    rule<&Rules::short_preemption>("short_preemption", short_preemption_names),
    rule<&Rules::idle_protection>("idle_protection", idle_protection_names),
    rule<&Rules::yield>("yield", yield_names),
    rule<&Rules::delayed_buddy>("delayed_buddy", delayed_buddy_names),
    rule<&Rules::buddy_pick>("buddy_pick", buddy_pick_names),
    rule<&Rules::buddy_preemption>("buddy_preemption", buddy_preemption_names),
    rule<&Rules::delayed_count>("delayed_count", delayed_count_names),
    rule<&Rules::delayed_renice>("delayed_renice", delayed_renice_names),
    rule<&Rules::slice_clamp>("slice_clamp", slice_clamp_names),
    rule<&Rules::service>("service", service_names),
    rule<&Rules::rel_deadline>("rel_deadline", rel_deadline_names),
    rule<&Rules::hrtick>("hrtick", hrtick_names),
    rule<&Rules::feature_parse>("feature_parse", feature_parse_names),
    rule<&Rules::feature_write>("feature_write", feature_write_names),
    rule<&Rules::reweight_request>("reweight_request", reweight_request_names),
    rule<&Rules::change_lag>("change_lag", change_lag_names),
    rule<&Rules::sleeper_lag>("sleeper_lag", sleeper_lag_names),
    rule<&Rules::wakeup_pick>("wakeup_pick", wakeup_pick_names),
    rule<&Rules::unchanged>("unchanged", unchanged_names),
};

std::array<Policy, 1> make_presets() { return {eevdf_6_12()}; }

}  // namespace

std::string_view feature_name(Feature feature) {
  const auto index = static_cast<std::size_t>(feature);
  VLAG_CHECK(index < names.size());
  return names[index];
}

std::optional<Feature> find_feature(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Feature>(i);
  }
  return std::nullopt;
}

std::span<const Feature> deciding_features() { return deciding; }

std::optional<FeatureToggle> parse_feature(std::string_view text) {
  constexpr std::size_t longest_write = 63;
  constexpr std::string_view negation = "NO_";
  text = text.substr(0, longest_write);
  text = strip(text.substr(0, text.find('\0')));
  const bool on = !text.starts_with(negation);
  if (!on) text.remove_prefix(negation.size());
  const std::optional<Feature> feature = find_feature(text);
  if (!feature) return std::nullopt;
  return FeatureToggle{*feature, on};
}

std::optional<FeatureToggle> parse_feature(std::string_view text, FeatureParse rule) {
  if (rule == FeatureParse::exact) return parse_feature(text);
  constexpr std::string_view negation = "NO_";
  const bool on = !text.starts_with(negation);
  if (!on) text.remove_prefix(negation.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text.starts_with(names[i])) return FeatureToggle{static_cast<Feature>(i), on};
  }
  return std::nullopt;
}

Features written_features(Features features, std::uint64_t mask, std::uint64_t values,
                          const Rules& rules) {
  if (rules.feature_write == FeatureWrite::reported) return features;
  if (rules.feature_parse == FeatureParse::exact) {
    features.assign(mask, values);
    return features;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((mask >> i & 1) == 0) continue;
    const auto toggle = parse_feature(names[i], rules.feature_parse);
    features.set(toggle->feature, (values >> i & 1) != 0);
  }
  return features;
}

std::span<const RuleInfo> rule_table() { return rules_by_name; }

bool set_rule(Rules& rules, std::string_view name, std::string_view value) {
  for (const RuleInfo& info : rule_table()) {
    if (info.name != name) continue;
    for (std::size_t i = 0; i < info.values.size(); ++i) {
      if (info.values[i] != value) continue;
      info.set(rules, i);
      return true;
    }
  }
  return false;
}

Policy eevdf_6_12() {
  Policy policy;
  policy.name = "eevdf-6.12";
  policy.features = Features((std::uint64_t{1} << feature_count) - 1);
  for (const Feature feature : off_in_6_12) policy.features.set(feature, false);
  return policy;
}

std::span<const Policy> presets() {
  static const std::array<Policy, 1> all = make_presets();
  return all;
}

std::optional<Policy> find_preset(std::string_view name) {
  for (const Policy& policy : presets()) {
    if (policy.name == name) return policy;
  }
  return std::nullopt;
}

}  // namespace vlag
