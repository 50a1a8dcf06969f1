// SPDX-License-Identifier: GPL-2.0-only
// From the numbers that refute a goal to a sequence that shows it.
#include <gtest/gtest.h>

#include <algorithm>

#include "props/property.h"
#include "smt/prove.h"
#include "tests/support/judged.h"

namespace vlag::smt {
namespace {

TEST(Model, ReadsWhatReportsShow) {
  const Model model("a = 3, b = -7/4, c = 7/4, d = true, e = 12345678901234567890123, f = 1/0");
  EXPECT_EQ(model.value("a", 0, 10), 3);
  EXPECT_EQ(model.value("b", -10, 10), -2);
  EXPECT_EQ(model.value("c", -10, 10), 1);
  EXPECT_EQ(model.value("e", 0, 10), 10);
  EXPECT_EQ(model.value("a", 5, 10), 5);
  EXPECT_TRUE(model.has("d"));
  for (const char* open : {"d", "f", "g"}) EXPECT_EQ(model.value(open, 4, 10), 4) << open;
}

TEST(Model, SurvivesAnyText) {
  for (const char* text : {"", ",", " = ", "a", "a = ", ", , ", "a = b = c", "a = 1/", "a = /1"}) {
    const Model model(text);
    EXPECT_EQ(model.value("a", 1, 2), 1) << text;
  }
}

TEST(Model, KnowsTheNiceLevelOfAWeight) {
  const Weight light = nice_weight(19);
  const Weight idle = idle_weight();
  EXPECT_EQ(Model("", &light).nice(), 19);
  EXPECT_EQ(Model("", &idle).nice(), 0);
  EXPECT_EQ(Model("").nice(), 0);
}

TEST(Recorder, WritesOnlyLegalSteps) {
  Recorder recorder(2);
  recorder.fork(0, 0, 0);
  recorder.join(0);
  recorder.fork(1, 5, 100'000);
  recorder.schedule();
  for (int round = 0; round < 4; ++round) {
    for (const int id : {0, 1}) {
      recorder.leave(id);
      recorder.leave(id);
      recorder.tick(1'000'000);
      recorder.join(id);
      recorder.join(id);
    }
  }
  EXPECT_TRUE(tests::legal_under(recorder.sequence(), eevdf_6_12()));
  EXPECT_EQ(spec::parse_text(spec::to_text(recorder.sequence()), "text")->operations,
            recorder.sequence());
}

std::vector<const Goal*> with_sequence() {
  std::vector<const Goal*> some;
  for (const Goal& goal : goals()) {
    if (goal.sequence != nullptr) some.push_back(&goal);
  }
  return some;
}

TEST(Witness, OfAnyModelIsLegalAndSaysWhatItBreaks) {
  for (const Goal* goal : with_sequence()) {
    EXPECT_NE(props::find_property(goal->breaks), nullptr) << goal->name;
    for (const char* text :
         {"", "slice_1 = 99999999999, service_1 = -3, step_1 = 2, step_2 = 9/2"}) {
      EXPECT_TRUE(tests::legal_under(goal->sequence(Model(text)), eevdf_6_12())) << goal->name;
    }
  }
}

TEST(Witness, OfEveryFalsehoodOrWhyNone) {
  for (const Goal& goal : goals()) {
    const bool falsehood = goal.kind == Kind::falsehood;
    EXPECT_EQ(goal.sequence == nullptr && falsehood, !goal.no_sequence.empty()) << goal.name;
    EXPECT_EQ(goal.sequence == nullptr, goal.breaks.empty()) << goal.name;
  }
}

TEST(Witness, OfAFalsehoodShowsItOnTheModel) {
  for (const Goal* goal : with_sequence()) {
    if (goal->kind != Kind::falsehood) continue;
    Options options;
    options.solvers.cvc5 = false;
    const spec::Sequence sequence = sequence_of(prove_here(*goal, options));
    const props::Property* const asked[] = {props::find_property(goal->breaks)};
    props::ModelBackend model(eevdf_6_12());
    spec::Trace trace;
    model.run(sequence, trace);
    const auto verdict =
        props::judge(sequence, trace, model.info(), asked, props::Claimed::everywhere);
    EXPECT_FALSE(verdict.violations.empty()) << goal->name;
  }
}

// A cap of zero would be broken at once: the sequence follows the steps of the model.
TEST(Witness, FollowsTheStepsOfTheModel) {
  const Goal* goal = find_goal("two_tasks_stay_within_the_caps");
  const spec::Sequence sequence = goal->sequence(
      Model("slice_1 = 100000, slice_2 = 200000, step_1 = 0, service_1 = 5000, step_2 = 2, "
            "step_3 = 0, service_3 = 7, step_4 = 2"));
  EXPECT_EQ(spec::to_text(sequence),
            "reset\n"
            "features NO_PLACE_REL_DEADLINE NO_DELAY_DEQUEUE\n"
            "fork 0 slice 100us\n"
            "fork 1 nice 5 slice 200us\n"
            "schedule\n"
            "tick 5us\n"
            "dequeue 1\n"
            "schedule\n"
            "tick 7ns\n"
            "enqueue 1\n");
}

TEST(Witness, IsNoneOfAGoalThatHolds) {
  Options options;
  options.solvers.cvc5 = false;
  EXPECT_TRUE(sequence_of(prove_here(*find_goal("slice_clamp_is_idempotent"), options)).empty());
}

Goal crashing() {
  Goal goal = *find_goal("before_is_transitive");
  goal.sequence = [](const Model&) -> spec::Sequence { std::abort(); };
  goal.breaks = "sums_match";
  return goal;
}

TEST(Witness, ThatCannotBeMadeIsNoneAndTakesNothingDown) {
  const Goal goal = crashing();
  Report report;
  report.goal = &goal;
  report.verdict = Verdict::refuted;
  EXPECT_TRUE(sequence_of(report).empty());
}

}  // namespace
}  // namespace vlag::smt
