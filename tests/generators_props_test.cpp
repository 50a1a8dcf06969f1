// SPDX-License-Identifier: GPL-2.0-only
// Random sequences: legal, the same for the same seed, and rich in what is interesting.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "props/generators.h"
#include "props/random.h"
#include "props/search.h"
#include "props/shrink.h"
#include "spec/legal.h"
#include "spec/view.h"
#include "tests/support/judged.h"

namespace vlag::props {
namespace {

using spec::has;
using spec::Observation;

spec::Trace trace_of(const spec::Sequence& sequence) {
  ModelBackend model(eevdf_6_12());
  spec::Trace trace;
  model.run(sequence, trace);
  return trace;
}

rc::Gen<spec::Sequence> any_sequence() { return sequences(eevdf_6_12(), Scope{}); }

// --- What is interesting.

bool is_contended(const Observation& now) { return now.queue->nr_running > 1; }

bool has_tie(const Observation& now) {
  const spec::InOrder walk = spec::in_order(now);
  return std::adjacent_find(walk.entities.begin(), walk.entities.end(),
                            [](const auto* left, const auto* right) {
                              return left->deadline == right->deadline;
                            }) != walk.entities.end();
}

bool has_delayed(const Observation& now) { return now.queue->h_nr_delayed > 0; }
bool has_buddy(const Observation& now) { return now.queue->next != VLAG_NO_ENTITY; }
bool has_timer(const Observation& now) { return now.head->hrtick != 0; }

// Whether two that are queued stand on both sides of a boundary, and near it.
bool straddles(const Observation& now, std::uint64_t boundary) {
  constexpr std::int64_t near = std::int64_t{1} << 40;
  bool below = false;
  bool above = false;
  for (const auto& entity : now.entities) {
    if (!has(entity, VLAG_ON_RQ)) continue;
    const std::int64_t distance = spec::distance(entity.vruntime, boundary);
    below = below || (distance < 0 && distance > -near);
    above = above || (distance >= 0 && distance < near);
  }
  return below && above;
}
bool straddles_2_64(const Observation& now) { return straddles(now, 0); }
bool straddles_2_63(const Observation& now) { return straddles(now, std::uint64_t{1} << 63); }

struct Interest {
  const char* name;
  bool (*seen)(const Observation& now);
};
constexpr std::array<Interest, 7> interests = {{
    {"contended", is_contended},
    {"a tie of deadlines", has_tie},
    {"a delayed entity", has_delayed},
    {"a buddy", has_buddy},
    {"a timer", has_timer},
    {"around 2^64", straddles_2_64},
    {"around 2^63", straddles_2_63},
}};

bool occurs(const spec::Trace& trace, const Interest& interest) {
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (interest.seen(trace[i])) return true;
  }
  return false;
}

// --- Properties.

RC_GTEST_PROP(GeneratorProps, every_operation_is_legal_where_it_stands, ()) {
  const spec::Sequence sequence = *any_sequence();
  RC_ASSERT(!sequence.empty());
  RC_ASSERT(sequence.front().code == VLAG_RESET);
  ModelBackend model(eevdf_6_12());
  spec::Trace trace;
  for (const spec::Operation& operation : sequence) {
    RC_ASSERT(spec::out_of_range(operation) == "");
    const Observation before = trace.empty() ? Observation{} : trace.back();
    RC_ASSERT(spec::why_illegal(trace.empty() ? nullptr : &before, operation) == "");
    RC_ASSERT(model.step(operation, trace));
    RC_ASSERT(trace.back().head->result == 0);
  }
  for (const Interest& interest : interests) {
    RC_CLASSIFY(occurs(trace, interest), std::string(interest.name));
  }
}

RC_GTEST_PROP(GeneratorProps, text_and_binary_read_back_the_same, ()) {
  const spec::Sequence sequence = *any_sequence();
  const auto text = spec::parse_text(spec::to_text(sequence), "text");
  RC_ASSERT(text.ok());
  RC_ASSERT(text->operations == sequence);
  const auto binary = spec::parse_binary(spec::to_binary(sequence), "binary");
  RC_ASSERT(binary.ok());
  RC_ASSERT(binary->operations == sequence);
}

RC_GTEST_PROP(GeneratorProps, the_preset_keeps_all_unconditional_properties, ()) {
  const spec::Sequence sequence = *any_sequence();
  const Policy policy = eevdf_6_12();
  const spec::Trace trace = trace_of(sequence);
  const Verdict verdict =
      judge(sequence, trace, ModelBackend(policy).info(), unconditional_properties());
  RC_CLASSIFY(verdict.steps < sequence.size(), "left the bounds");
  for (const Violation& violation : verdict.violations) {
    RC_FAIL(std::string(violation.property->name) + ": " + violation.what);
  }
}

RC_GTEST_PROP(GeneratorProps, the_scope_is_kept, ()) {
  Scope scope;
  scope.operations = *rc::gen::inRange(1, 50);
  scope.tasks = *rc::gen::inRange(1, 20);
  scope.switch_features = *rc::gen::arbitrary<bool>();
  scope.timers = *rc::gen::arbitrary<bool>();
  scope.features = feature_combination(eevdf_6_12().features, *rc::gen::inRange(0U, 1024U));
  ModelBackend model(eevdf_6_12());
  spec::Trace trace;
  const spec::Sequence sequence =
      random_sequence(*rc::gen::arbitrary<std::uint64_t>(), scope, model, trace);
  RC_ASSERT(trace.size() == sequence.size());
  // The stage is a reset, the features, a tunable and the tasks.
  RC_ASSERT(sequence.size() <= static_cast<std::size_t>(scope.operations + scope.tasks) + 3);
  RC_ASSERT(sequence[1].code == VLAG_FEATURES);
  Features features = eevdf_6_12().features;
  features.assign(sequence[1].extra, sequence[1].arg);
  RC_ASSERT(scope.timers || features == *scope.features);
  for (std::size_t i = 2; i < sequence.size(); ++i) {
    RC_ASSERT(scope.switch_features || sequence[i].code != VLAG_FEATURES);
    RC_ASSERT(scope.timers || sequence[i].code != VLAG_HRTICK);
    RC_ASSERT(sequence[i].id < scope.tasks);
  }
}

RC_GTEST_PROP(GeneratorProps, the_same_seed_gives_the_same_bytes, (std::uint64_t seed)) {
  ModelBackend fresh(eevdf_6_12());
  ModelBackend used(eevdf_6_12());
  spec::Trace trace;
  random_sequence(seed + 1, Scope{}, used, trace);
  const spec::Sequence second = random_sequence(seed, Scope{}, used, trace);
  spec::Trace other;
  const spec::Sequence first = random_sequence(seed, Scope{}, fresh, other);
  RC_ASSERT(spec::to_binary(first) == spec::to_binary(second));
  RC_ASSERT(trace.size() == other.size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    RC_ASSERT(spec::same_observation(trace[i], other[i]));
  }
}

// --- Shrinking.

RC_GTEST_PROP(ShrinkProps, every_candidate_is_legal_and_smaller, ()) {
  const spec::Sequence sequence = *any_sequence();
  RC_ASSERT(legalized(sequence, eevdf_6_12()) == sequence);
  RC_ASSERT(!smaller(sequence, sequence));
  rc::Seq<spec::Sequence> candidates = shrinks(sequence, eevdf_6_12());
  int tried = 0;
  for (auto next = candidates.next(); next && tried < 300; next = candidates.next(), ++tried) {
    RC_ASSERT(tests::legal_under(*next, eevdf_6_12()));
    RC_ASSERT(next->front().code == VLAG_RESET);
    RC_ASSERT(smaller(*next, sequence));
    RC_ASSERT(!smaller(sequence, *next));
  }
  RC_CLASSIFY(tried == 300, "many");
}

// To anything at all a smallest sequence is the reset alone, at time 0; and it takes few steps.
RC_GTEST_PROP(ShrinkProps, what_always_fails_shrinks_to_a_plain_reset, ()) {
  const spec::Sequence sequence = *any_sequence();
  int tried = 0;
  const spec::Sequence smallest = minimized(sequence, eevdf_6_12(), [&](const spec::Sequence&) {
    ++tried;
    return true;
  });
  RC_ASSERT(smallest == spec::Sequence{spec::op::reset()});
  RC_ASSERT(tried < 50);
}

// What has to stay stays; everything else goes.
RC_GTEST_PROP(ShrinkProps, what_the_failure_needs_is_left, ()) {
  const spec::Sequence sequence = *any_sequence();
  const auto blocks = [](const spec::Sequence& s) {
    return std::count_if(s.begin(), s.end(),
                         [](const auto& operation) { return operation.code == VLAG_BLOCK; });
  };
  RC_PRE(blocks(sequence) >= 2);
  const spec::Sequence smallest =
      minimized(sequence, eevdf_6_12(), [&](const spec::Sequence& s) { return blocks(s) >= 2; });
  // Two tasks, or one that wakes up in between; someone has to be running at each block.
  RC_ASSERT(blocks(smallest) == 2);
  RC_ASSERT(smallest.size() <= 7U);
}

TEST(Shrink, BudgetIsKept) {
  ModelBackend model(eevdf_6_12());
  spec::Trace trace;
  const spec::Sequence sequence = random_sequence(1, Scope{}, model, trace);
  for (const int budget : {0, 1, 10, 100}) {
    int tried = 0;
    const spec::Sequence result = minimized(
        sequence, eevdf_6_12(),
        [&](const spec::Sequence& s) { return ++tried % 3 == 0 && s.size() > 1; }, budget);
    EXPECT_LE(tried, budget);
    EXPECT_FALSE(smaller(sequence, result));
  }
}

TEST(Shrink, OrderPrefersFewerThenSimpler) {
  using spec::op::advance;
  using spec::op::fork;
  using spec::op::nice;
  using spec::op::reset;
  using spec::op::reset_at;
  using spec::op::tick;
  // Rising.
  const std::vector<spec::Sequence> rising = {
      {reset()},
      {reset(7)},
      {reset(2'000)},  // one digit, but more
      {reset(12)},
      {reset_at(0, 0)},
      {reset_at(0, 5)},
      {reset_at(0, 0 - std::uint64_t{5})},
      {reset(), fork(0, 0)},
      {reset(), fork(0, 1)},
      {reset(), fork(0, -1)},
      {reset(), fork(1, 0)},
      {reset(), advance(100)},
      {reset(), advance(11)},
      {reset(), tick(0)},
      {reset(), nice(0, 0)},
      {reset(), fork(0), fork(1)},
  };
  for (std::size_t i = 0; i < rising.size(); ++i) {
    for (std::size_t j = 0; j < rising.size(); ++j) {
      EXPECT_EQ(smaller(rising[i], rising[j]), i < j) << spec::to_text(rising[i]) << "and\n"
                                                      << spec::to_text(rising[j]);
    }
  }
}

TEST(Shrink, LegalizedDropsWhatCannotStand) {
  using namespace spec::op;
  const spec::Sequence sequence = {reset(), block(),    wake(0), fork(0), fork(0), schedule(),
                                   reset(), enqueue(0), block(), wake(0), exit()};
  EXPECT_EQ(spec::to_text(legalized(sequence, eevdf_6_12())),
            "reset\nfork 0\nschedule\nblock\nwake 0\n");
}

// --- A fixed campaign really has all of it.

class FixedCampaign : public testing::Test {
 protected:
  void run(std::uint64_t sequences) {
    ModelBackend model(eevdf_6_12());
    for (std::uint64_t i = 0; i < sequences; ++i) {
      const spec::Sequence sequence = random_sequence(derive_seed(1, i), Scope{}, model, trace_);
      for (const spec::Operation& operation : sequence) ++codes_[operation.code];
      for (const Interest& interest : interests) {
        if (occurs(trace_, interest)) ++occurrences_[interest.name];
      }
    }
  }

  spec::Trace trace_;
  std::map<int, int> codes_;
  std::map<std::string, int> occurrences_;
};

TEST_F(FixedCampaign, HasEveryKindOfOperationAndEveryInterestingCase) {
  constexpr std::uint64_t sequences = 500;
  run(sequences);
  for (int code = 0; code < VLAG_CODES; ++code) {
    EXPECT_GE(codes_[code], 100) << spec::to_text(
        spec::Operation{.code = static_cast<std::uint8_t>(code),
                        .flags = 0,
                        .id = 0,
                        .value = 0,
                        .arg = 0,
                        .extra = 0});
  }
  for (const Interest& interest : interests) {
    EXPECT_GE(occurrences_[interest.name], 20) << interest.name;
    RecordProperty(interest.name, occurrences_[interest.name]);
  }
}

TEST(FeatureCombination, NumbersTheTenDecidingFeatures) {
  const Features base = eevdf_6_12().features;
  const auto deciding = deciding_features();
  ASSERT_EQ(deciding.size(), 10U);
  for (unsigned number = 0; number < feature_combinations; ++number) {
    const Features features = feature_combination(base, number);
    for (std::size_t i = 0; i < deciding.size(); ++i) {
      ASSERT_EQ(features.has(deciding[i]), (number >> i & 1) != 0);
    }
    Features rest = features;
    for (const Feature feature : deciding) rest.set(feature, base.has(feature));
    ASSERT_EQ(rest, base);
  }
}

}  // namespace
}  // namespace vlag::props
