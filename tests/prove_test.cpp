// SPDX-License-Identifier: GPL-2.0-only
// The prover, on goals that are made to fail: nothing but a proof is `proved`.
#include "smt/prove.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "smt/process.h"

namespace vlag::smt {
namespace {

void right(Scene& scene) {
  const Number a = scene.number("a", 0, 10);
  scene.claim(a + Number(1) > a, "more");
}
void wrong(Scene& scene) {
  const Number a = scene.number("a", 0, 10);
  scene.claim(a < Number(10), "less than ten");
}
void overflowing(Scene& scene) {
  const Number a = scene.number("a");
  scene.claim(a + Number(1) > a, "more");
}
void vacuous(Scene& scene) {
  const Number a = scene.number("a", 0, 10);
  scene.assume(a > Number(10));
  scene.claim(a == Number(7), "seven");
}
// Fermat's theorem for n = 3; solvers do not come back.
void hard(Scene& scene) {
  const Exact a = scene.quantity("a");
  const Exact b = scene.quantity("b");
  const Exact c = scene.quantity("c");
  scene.assume(a > 0 && b > 0 && c > 0);
  scene.claim(a * a * a + b * b * b != c * c * c, "no cube is the sum of two");
}
void hanging(Scene&) {
  for (volatile int forever = 1; forever != 0;) {
  }
}

Goal goal(std::string_view name, void (*body)(Scene&), void (*canary)(Scene&) = wrong,
          Kind kind = Kind::full) {
  return {.name = name,
          .claim = "A claim.",
          .source = "none",
          .bounds = "none",
          .kind = kind,
          .theory = Theory::integers,
          .body = body,
          .canary = canary};
}

std::vector<Report> prove_all(const std::vector<Goal>& list, double seconds = 20,
                              Solvers solvers = {true, false}) {
  std::vector<const Goal*> pointers;
  for (const Goal& one : list) pointers.push_back(&one);
  Options options;
  options.solvers = solvers;
  options.seconds = seconds;
  options.jobs = 2;
  std::vector<Report> reports = prove(pointers, options, [](std::size_t, std::size_t) {});
  for (Report& report : reports) report.goal = nullptr;
  return reports;
}

TEST(Prove, ProvesWhatIsRight) {
  const Goal one = goal("right", right);
  const Report report = prove_here(one, {.solvers = {true, false}});
  EXPECT_EQ(report.verdict, Verdict::proved);
  EXPECT_EQ(report.z3, Verdict::proved);
  EXPECT_EQ(report.cvc5, Verdict::unknown);  // Not asked.
  EXPECT_EQ(report.canary, Verdict::refuted);
  EXPECT_EQ(verdict_of(report), "pass");
}

TEST(Prove, ShowsWhatRefutes) {
  const Goal one = goal("wrong", wrong);
  const Report report = prove_here(one, {.solvers = {true, false}});
  EXPECT_EQ(report.verdict, Verdict::refuted);
  EXPECT_EQ(report.counterexample, "less than ten: a = 10");
  EXPECT_EQ(verdict_of(report), "violation");
}

TEST(Prove, BothSolversShowTheSame) {
  const Goal one = goal("wrong", wrong);
  const Report report = prove_here(one, {.solvers = {false, true}});
  EXPECT_EQ(report.cvc5, Verdict::refuted);
  EXPECT_EQ(report.counterexample, "less than ten: a = 10");
}

// a + 1 > a holds of integers, but not of words: 2^63 - 1 is refuted by the obligation.
TEST(Prove, RefutesWhatOverflows) {
  const Goal one = goal("overflowing", overflowing);
  const Report report = prove_here(one, {.solvers = {true, false}});
  EXPECT_EQ(report.verdict, Verdict::refuted);
  EXPECT_EQ(report.counterexample, "a sum fits in 64 bits: a = 9223372036854775807");
}

TEST(Prove, AssumptionsThatNothingMeetsAreAViolation) {
  const Goal one = goal("vacuous", vacuous);
  const Report report = prove_here(one, {.solvers = {true, false}});
  EXPECT_EQ(report.assumptions, Status::unsat);
  EXPECT_EQ(verdict_of(report), "violation");
}

TEST(Prove, ACanaryThatIsProvedIsAViolation) {
  const Goal one = goal("canary", right, right);
  const Report report = prove_here(one, {.solvers = {true, false}});
  EXPECT_EQ(report.verdict, Verdict::proved);
  EXPECT_EQ(report.canary, Verdict::proved);
  EXPECT_EQ(verdict_of(report), "violation");
}

TEST(Prove, AFalsehoodMustBeRefuted) {
  const Goal believed = goal("believed", wrong, nullptr, Kind::falsehood);
  EXPECT_EQ(verdict_of(prove_here(believed, {.solvers = {true, false}})), "pass");
  const Goal true_after_all = goal("true", right, nullptr, Kind::falsehood);
  EXPECT_EQ(verdict_of(prove_here(true_after_all, {.solvers = {true, false}})), "violation");
}

TEST(Prove, AGoalThatAsksNothingIsNotProved) {
  const Goal one = goal("nothing", [](Scene&) {});
  const Report report = prove_here(one, {.solvers = {true, false}});
  EXPECT_EQ(report.verdict, Verdict::unknown);
  EXPECT_EQ(verdict_of(report), "inconclusive");
}

TEST(Prove, CrashesAndHangsAreUnknownAndTheOthersGoOn) {
  const std::vector<Goal> list = {
      goal("killed", [](Scene&) { std::raise(SIGKILL); }),
      goal("hanging", hanging),
      goal("throwing", [](Scene&) { throw std::runtime_error("no"); }),
      goal("exiting", [](Scene&) { std::_Exit(0); }),
      goal("hard", hard),
      goal("right", right),
  };
  const double start = now();
  const std::vector<Report> reports = prove_all(list, 3);
  EXPECT_LT(now() - start, 15);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(reports[i].verdict, Verdict::unknown) << list[i].name;
    EXPECT_NE(reports[i].trouble, "") << list[i].name;
  }
  EXPECT_EQ(reports[0].trouble, "the prover failed: signal 9");
  EXPECT_EQ(reports[1].trouble, "no answer in 3 s");
  EXPECT_EQ(reports[5].verdict, Verdict::proved);
}

TEST(Verdict, OneUnknownIsInconclusiveAndOneViolationWins) {
  const Goal one = goal("one", right);
  Report good;
  good.goal = &one;
  good.verdict = Verdict::proved;
  good.assumptions = Status::sat;
  good.canary = Verdict::refuted;
  Report unknown = good;
  unknown.verdict = Verdict::unknown;
  Report quarrel = good;
  quarrel.disagreement = true;
  EXPECT_EQ(verdict_of(std::vector<Report>{good, good}), "pass");
  EXPECT_EQ(verdict_of(std::vector<Report>{good, unknown}), "inconclusive");
  EXPECT_EQ(verdict_of(std::vector<Report>{unknown, quarrel}), "violation");
}

TEST(Answer, DisagreementIsUnknown) {
  Answer answer;
  answer.z3 = Status::unsat;
  EXPECT_EQ(answer.status(), Status::unsat);
  answer.cvc5 = Status::sat;
  EXPECT_TRUE(answer.disagreement());
  EXPECT_EQ(answer.status(), Status::unknown);
}

TEST(Ask, BothDecide) {
  const std::string text = "(set-logic QF_LIA)(declare-const a Int)(assert (= (* 2 a) 6))";
  const Answer answer = ask(text + "(check-sat)\n", {true, true}, {20, 20});
  EXPECT_EQ(answer.z3, Status::sat);
  EXPECT_EQ(answer.cvc5, Status::sat);
  EXPECT_EQ(answer.model, "a = 3");
}

TEST(Ask, WhatIsNotSmtLibIsUnknown) {
  const Answer answer = ask("(assert\n", {true, true}, {20, 20});
  EXPECT_EQ(answer.status(), Status::unknown);
}

}  // namespace
}  // namespace vlag::smt
