// SPDX-License-Identifier: GPL-2.0-only
// The machine of symbols means what the machine of words does.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "core/average.h"
#include "core/weight.h"
#include "smt/portfolio.h"
#include "smt/scene.h"

namespace vlag::smt {
namespace {

// Whether all that the body claims is proved, by Z3.
bool holds(Theory theory, const std::function<void(Scene&)>& body) {
  Scene scene(theory);
  scene.explore(body);
  for (const Query& query : scene.queries()) {
    if (ask(query.text, {true, false}, {20, 0}).status() != Status::unsat) return false;
  }
  return !scene.queries().empty();
}

class Division : public testing::TestWithParam<Theory> {};

TEST_P(Division, IsThatOfWords) {
  constexpr std::array<std::array<std::int64_t, 2>, 5> cases = {
      {{7, 2}, {-7, 2}, {6, 3}, {-1, 5}, {INT64_MAX, 88761}}};
  for (const auto& [dividend, divisor] : cases) {
    const std::int64_t words = vlag::div_s64(Word(dividend), Word(divisor)).value;
    const auto claim = [&, dividend = dividend, divisor = divisor](std::int64_t result) {
      return holds(GetParam(), [&](Scene& scene) {
        scene.claim(div_s64(Number(dividend), Number(divisor)) == Number(result), "equal");
      });
    };
    EXPECT_TRUE(claim(words)) << dividend << " / " << divisor;
    EXPECT_FALSE(claim(words + 1));
  }
}

TEST_P(Division, ScalingIsThatOfWords) {
  const Weight weight = nice_weight(5);
  const std::int64_t words = calc_delta_fair<Words>(1'234'567, weight).value;
  const auto claim = [&](std::int64_t result) {
    return holds(GetParam(), [&](Scene& scene) {
      scene.claim(calc_delta_fair<Symbols>(Number(1'234'567), weight) == Number(result), "equal");
    });
  };
  EXPECT_TRUE(claim(words));
  EXPECT_FALSE(claim(words - 1));
}

TEST_P(Division, UnsignedDivisionIsThatOfWords) {
  constexpr std::array<std::array<std::int64_t, 2>, 2> cases = {
      {{7, 2}, {INT64_MAX, std::int64_t{1} << 40}}};
  for (const auto& [dividend, divisor] : cases) {
    const std::int64_t words = vlag::div_u64(Word(dividend), Word(divisor)).value;
    const auto claim = [&, dividend = dividend, divisor = divisor](std::int64_t result) {
      return holds(GetParam(), [&](Scene& scene) {
        scene.claim(div_u64(Number(dividend), Number(divisor)) == Number(result), "equal");
      });
    };
    EXPECT_TRUE(claim(words)) << dividend << " / " << divisor;
    EXPECT_FALSE(claim(words + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Symbols, Division, testing::Values(Theory::words, Theory::integers),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST(Symbols, WordsDivideByTheLow32Bits) {
  EXPECT_TRUE(holds(Theory::words, [](Scene& scene) {
    scene.claim(div_s64(Number(10), Number((std::int64_t{1} << 32) + 5)) == Number(2), "by 5");
    scene.claim(div_s64(Number(10), Number(std::int64_t{1} << 32)) == Number(0), "by 0");
  }));
}

TEST(Symbols, IntegersOweASmallDivisor) {
  EXPECT_FALSE(holds(Theory::integers, [](Scene& scene) {
    scene.claim(div_s64(Number(10), scene.number("divisor")) <= Number(10), "at most 10");
  }));
}

TEST(Symbols, UnsignedWordsHaveNoSignAndIntegersOweThat) {
  EXPECT_TRUE(holds(Theory::words, [](Scene& scene) {
    scene.claim(div_u64(Number(-2), Number(2)) == Number(INT64_MAX), "(2^64 - 2) / 2");
  }));
  EXPECT_FALSE(holds(Theory::integers, [](Scene& scene) {
    scene.claim(div_u64(scene.number("a", -1, 10), Number(2)) <= Number(10), "at most 10");
  }));
}

TEST(Symbols, WordsWrapAndIntegersOwe) {
  const auto next = [](Scene& scene) {
    const Number a = scene.number("a");
    scene.claim(a + Number(1) - Number(1) == a, "back again");
  };
  EXPECT_TRUE(holds(Theory::words, next));
  EXPECT_FALSE(holds(Theory::integers, next));
  EXPECT_TRUE(holds(Theory::reals, next));
}

// Over the reals a division leaves any remainder: 7 / 2 may be anything in (2.5, 3.5], 3 among
// them; over the rationals it is 3.5.
TEST(Symbols, RealsCoverTheIntegersAndRationalsAreExact) {
  const auto is = [](std::int64_t twice) {
    return [twice](Scene& scene) {
      const Number quotient = div_s64(Number(7), Number(2));
      scene.claim(quotient + quotient == Number(twice), "equal");
    };
  };
  EXPECT_FALSE(holds(Theory::reals, is(6)));
  EXPECT_FALSE(holds(Theory::reals, is(7)));
  EXPECT_TRUE(holds(Theory::rationals, is(7)));
}

TEST(Scene, AnIfForksAndEveryPathIsExplored) {
  Scene scene(Theory::integers);
  int runs = 0;
  scene.explore([&](Scene& here) {
    ++runs;
    const Number a = here.number("a");
    const bool negative = bool(a < Number(0));
    const bool odd = bool(here.truth("odd"));
    here.claim(Truth(!negative || odd), "one of four fails");
  });
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(scene.paths().size(), 4);
  ASSERT_EQ(scene.queries().size(), 4);
  int proved = 0;
  for (const Query& query : scene.queries()) {
    if (ask(query.text, {true, false}, {20, 0}).status() == Status::unsat) ++proved;
  }
  EXPECT_EQ(proved, 3);
}

TEST(Scene, AClaimBeforeAForkIsAskedOnce) {
  Scene scene(Theory::words);
  scene.explore([](Scene& here) {
    const Number a = here.number("a");
    here.claim(a == a, "before");
    if (a < Number(0)) return;
    here.claim(a >= Number(0), "after");
  });
  ASSERT_EQ(scene.queries().size(), 2);
  EXPECT_EQ(scene.queries()[0].label, "before");
  EXPECT_EQ(scene.queries()[1].label, "after");
}

TEST(Scene, AnAssumptionDoesNotHelpAnEarlierClaim) {
  EXPECT_FALSE(holds(Theory::words, [](Scene& scene) {
    const Number a = scene.number("a");
    scene.claim(a == Number(0), "zero");
    scene.assume(a == Number(0));
  }));
}

// Asked at once, the failure of one claim is not hidden by another or by a later assumption.
TEST(Scene, AtOnceIsNoWeaker) {
  for (const bool later : {false, true}) {
    Scene scene(Theory::integers);
    scene.explore(
        [&](Scene& here) {
          const Number a = here.number("a", 0, 10);
          here.claim(a >= Number(0), "right");
          here.claim(a < Number(10), "wrong");
          if (later) here.assume(a < Number(10));
          here.claim(a <= Number(10), "right too");
        },
        SIZE_MAX);
    ASSERT_EQ(scene.queries().size(), 1);
    EXPECT_EQ(scene.queries()[0].parts.size(), 3);
    EXPECT_EQ(ask(scene.queries()[0].text, {true, false}, {20, 0}).model, "a = 10");
  }
}

TEST(Scene, TwoAtOnceLeaveOneOver) {
  Scene scene(Theory::integers);
  scene.explore(
      [](Scene& here) {
        const Number a = here.number("a", 0, 10);
        for (const int low : {0, -1, -2})
          here.claim(a >= Number(low), "from " + std::to_string(low));
      },
      2);
  ASSERT_EQ(scene.queries().size(), 2);
  EXPECT_EQ(scene.queries()[0].parts.size(), 2);
  EXPECT_EQ(scene.queries()[1].parts.size(), 1);
}

// |a| by a plain if.
Number magnitude(const Number& a) {
  if (a < Number(0)) return Number(0) - a;
  return a;
}

TEST(Scene, AMergedPartIsExploredWithoutForkingTheRest) {
  Scene scene(Theory::integers);
  int runs = 0;
  scene.explore([&](Scene& here) {
    ++runs;
    const Number a = here.number("a", -10, 10);
    const Number b = here.number("b", -10, 10);
    const Number sum =
        here.merged([&] { return magnitude(a); }) + here.merged([&] { return magnitude(b); });
    here.claim(sum >= a + b, "the triangle");
    here.claim(sum > a + b, "wrong: equal if neither is negative");
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(scene.paths().size(), 1);
  int refuted = 0;
  for (const Query& query : scene.queries()) {
    if (ask(query.text, {true, false}, {20, 0}).status() == Status::sat) {
      ++refuted;
      EXPECT_TRUE(query.label.starts_with("wrong")) << query.label;
    }
  }
  EXPECT_EQ(refuted, 1);
}

// What a way assumes, and what it owes, is its own.
TEST(Scene, AMergedWayKeepsItsAssumptionsAndObligations) {
  const auto halves = [](std::int64_t most) {
    return [most](Scene& here) {
      const Number a = here.number("a", -9, 9);
      const Number half = here.merged([&]() -> Number {
        if (a < Number(0)) return div_s64(a, Number(2));
        return Number(most) * a;
      });
      here.claim(implies(a < Number(0), half + half - a <= Number(1)), "rounded towards zero");
      here.claim(implies(a >= Number(0), half == Number(most) * a), "a product");
    };
  };
  EXPECT_TRUE(holds(Theory::integers, halves(2)));
  // 9 * 2^62 does not fit: the second way owes that.
  EXPECT_FALSE(holds(Theory::integers, halves(std::int64_t{1} << 62)));
}

TEST(Scene, MergedPartsCanBeNestedAndDoNotForkOneAnother) {
  EXPECT_TRUE(holds(Theory::integers, [](Scene& here) {
    const Number a = here.number("a", -9, 9);
    const Number b = here.number("b", -9, 9);
    const Number most = here.merged([&]() -> Number {
      const Number inner = here.merged([&] { return magnitude(b); });
      if (magnitude(a) < inner) return inner;
      return magnitude(a);
    });
    here.claim(most >= a && most >= b && most >= -a && most >= -b, "the greatest");
    here.claim(most == a || most == -a || most == b || most == -b, "one of them");
  }));
}

TEST(Scene, EitherRunsTheBodyForEachNumber) {
  Scene scene(Theory::reals);
  std::vector<int> seen;
  scene.explore([&](Scene& here) {
    seen.push_back(here.either("way", 3));
    here.claim(Truth(seen.back() != 1), "not the second");
  });
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
  ASSERT_EQ(scene.queries().size(), 3);
  EXPECT_EQ(ask(scene.queries()[1].text, {true, false}, {20, 0}).model, "way = 1");
}

}  // namespace
}  // namespace vlag::smt
