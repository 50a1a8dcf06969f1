// SPDX-License-Identifier: GPL-2.0-only
#include "core/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/pick.h"
#include "core/weight.h"
#include "tests/support/print.h"

namespace vlag {
namespace {

// The rules that the tree's fields are meant to follow: least slices are handed over, too.
Rules intended() {
  Rules rules;
  rules.subtree_slice = SubtreeSlice::handed_over;
  return rules;
}

using Ids = std::vector<int>;

// --- The shape, seen by a walk that knows nothing of how it came about.

void collect(const Entity* top, std::vector<const Entity*>& in_order) {
  if (top == nullptr) return;
  collect(top->node.left, in_order);
  in_order.push_back(top);
  collect(top->node.right, in_order);
}

std::vector<const Entity*> in_order(const Timeline& timeline) {
  std::vector<const Entity*> entities;
  collect(timeline.root(), entities);
  return entities;
}

Ids ids(const Timeline& timeline) {
  Ids found;
  for (const Entity* entity : in_order(timeline)) found.push_back(entity->id);
  return found;
}

bool is_red(const Entity* entity) { return entity != nullptr && entity->node.red; }

/// The number of black nodes on every path down; nullopt if a rule is broken below `top`.
std::optional<int> black_height(const Entity* top) {
  if (top == nullptr) return 0;
  const TimelineNode& node = top->node;
  for (const Entity* child : {node.left, node.right}) {
    if (child != nullptr && child->node.parent != top) return std::nullopt;
    if (node.red && is_red(child)) return std::nullopt;
  }
  const std::optional<int> left = black_height(node.left);
  const std::optional<int> right = black_height(node.right);
  if (!left || left != right) return std::nullopt;
  return *left + (node.red ? 0 : 1);
}

bool is_red_black(const Timeline& timeline) {
  const Entity* root = timeline.root();
  if (root == nullptr) return true;
  return root->node.parent == nullptr && !root->node.red && black_height(root).has_value();
}

/// Whether the node holds the least vruntime and slice of all that are below it.
bool minima_match(const Entity& top) {
  std::vector<const Entity*> below;
  collect(&top, below);
  Word least_key = 0;  // Of vruntimes, as distances from the top's.
  Word least_slice = top.slice;
  for (const Entity* entity : below) {
    least_key = least(least_key, entity->vruntime - top.vruntime);
    least_slice = least(least_slice, entity->slice);
  }
  return top.node.min_vruntime == top.vruntime + least_key && top.node.min_slice == least_slice;
}

bool all_minima_match(const Timeline& timeline) {
  const auto entities = in_order(timeline);
  return std::all_of(entities.begin(), entities.end(),
                     [](const Entity* entity) { return minima_match(*entity); });
}

// --- A timeline next to a plain list of what is in it.

Entity at(int id, std::uint64_t vruntime, std::uint64_t deadline, std::int64_t slice = 10) {
  Entity entity;
  entity.id = id;
  entity.vruntime = VTime(vruntime);
  entity.deadline = VTime(deadline);
  entity.slice = slice;
  entity.weight = nice_weight(0);
  return entity;
}

class TwoViews {
 public:
  /// Requires: all vruntimes are near `zero_vruntime`, or else the sums overflow.
  explicit TwoViews(std::uint64_t zero_vruntime = 0) : sums_{VTime(zero_vruntime), 0, 0} {}

  void insert(const Entity& entity) {
    members_.push_back(std::make_unique<Entity>(entity));
    timeline_.insert(*members_.back());
    sums_.add(entity.vruntime, entity.weight.down());
  }

  void erase(std::size_t index) {
    Entity& entity = *members_[index];
    timeline_.erase(entity);
    sums_.remove(entity.vruntime, entity.weight.down());
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  std::size_t size() const { return members_.size(); }
  const Timeline& timeline() const { return timeline_; }
  const Sums<Words>& sums() const { return sums_; }

  /// Earliest deadline first; in order of arrival among equals.
  Ids sorted() const {
    std::vector<const Entity*> order;
    for (const auto& member : members_) order.push_back(member.get());
    std::stable_sort(order.begin(), order.end(), [](const Entity* a, const Entity* b) {
      return before<Words>(a->deadline, b->deadline);
    });
    Ids found;
    for (const Entity* entity : order) found.push_back(entity->id);
    return found;
  }

  /// By looking at everyone, in order of arrival.
  const Entity* earliest_eligible(const Sums<Words>& sums) const {
    const Entity* best = nullptr;
    for (const auto& member : members_) {
      if (!eligible(sums, member->vruntime)) continue;
      if (best == nullptr || before<Words>(member->deadline, best->deadline)) best = member.get();
    }
    return best;
  }

  /// By the descent of core/pick.h.
  const Entity* picked(const Sums<Words>& sums) const {
    return vlag::earliest_eligible(timeline_.root(), timeline_.leftmost(), sums);
  }

  void expect_agreement() const {
    ASSERT_EQ(ids(timeline_), sorted());
    ASSERT_TRUE(is_red_black(timeline_));
    ASSERT_TRUE(all_minima_match(timeline_));
    const auto entities = in_order(timeline_);
    ASSERT_EQ(timeline_.leftmost(), entities.empty() ? nullptr : entities.front());
    ASSERT_EQ(picked(sums_), earliest_eligible(sums_));
  }

 private:
  Timeline timeline_{intended()};
  Sums<Words> sums_;
  std::vector<std::unique_ptr<Entity>> members_;
};

/// The same numbers everywhere; few of them, so that ties happen.
class Numbers {
 public:
  std::uint64_t below(std::uint64_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33) % bound;
  }

 private:
  std::uint64_t state_ = 1;
};

Entity drawn(int id, std::uint64_t start, Numbers& numbers) {
  const std::uint64_t vruntime = start + numbers.below(40);
  const std::uint64_t deadline = vruntime + numbers.below(20);
  Entity entity = at(id, vruntime, deadline, static_cast<std::int64_t>(1 + numbers.below(5)));
  entity.weight = nice_weight(static_cast<int>(numbers.below(40)) - 20);
  return entity;
}

/// Grows to `most`, then hovers, then empties again; checked after each step.
void insert_and_erase(std::uint64_t start, std::size_t most, int steps) {
  TwoViews both(start);
  Numbers numbers;
  for (int step = 0; step < steps; ++step) {
    const bool grow = both.size() == 0 ||
                      (both.size() < most && numbers.below(100) < (step < steps / 2 ? 70 : 45));
    if (grow) {
      both.insert(drawn(step, start, numbers));
    } else {
      both.erase(numbers.below(both.size()));
    }
    ASSERT_NO_FATAL_FAILURE(both.expect_agreement()) << "after step " << step;
  }
  while (both.size() > 0) {
    both.erase(numbers.below(both.size()));
    ASSERT_NO_FATAL_FAILURE(both.expect_agreement()) << "with " << both.size() << " left";
  }
  EXPECT_TRUE(both.timeline().empty());
}

TEST(Timeline, StaysSoundWhileSmall) { insert_and_erase(1000, 8, 3000); }

TEST(Timeline, StaysSoundWhileLarge) { insert_and_erase(1000, 80, 2000); }

TEST(Timeline, StaysSoundAcrossTheWrap) { insert_and_erase(0 - std::uint64_t{30}, 20, 2000); }

TEST(Timeline, StaysSoundHalfwayRoundTheCircle) {
  insert_and_erase((std::uint64_t{1} << 63) - 30, 20, 2000);
}

TEST(Timeline, StaysBalancedWhenDeadlinesOnlyRise) {
  TwoViews both;
  for (int id = 0; id < 100; ++id) {
    const auto deadline = static_cast<std::uint64_t>(id);
    both.insert(at(id, 0, deadline));
  }
  ASSERT_NO_FATAL_FAILURE(both.expect_agreement());
  // 100 < 2^7, and at most every other node on a path is red.
  int depth = 0;
  for (const Entity* e = both.timeline().root(); e != nullptr; e = e->node.right) ++depth;
  EXPECT_LE(depth, 14);
}

// --- Small cases.

TEST(Timeline, OrdersByDeadlineAndEqualOnesByArrival) {
  TwoViews both;
  both.insert(at(1, 0, 20));
  both.insert(at(2, 0, 10));
  both.insert(at(3, 0, 20));
  both.insert(at(4, 0, 10));
  EXPECT_EQ(ids(both.timeline()), (Ids{2, 4, 1, 3}));
  EXPECT_EQ(both.timeline().leftmost()->id, 2);
}

TEST(Timeline, WhoLeavesAndComesBackIsLastAmongEquals) {
  TwoViews both;
  both.insert(at(1, 0, 10));
  both.insert(at(2, 0, 10));
  both.erase(0);
  both.insert(at(1, 0, 10));
  EXPECT_EQ(ids(both.timeline()), (Ids{2, 1}));
}

TEST(Timeline, ADeadlineBeyondTheWrapIsLater) {
  TwoViews both;
  both.insert(at(1, 0, 5));
  both.insert(at(2, 0, 0 - std::uint64_t{5}));
  EXPECT_EQ(ids(both.timeline()), (Ids{2, 1}));
}

TEST(Timeline, LeftmostMovesOnWhenItLeaves) {
  TwoViews both;
  both.insert(at(1, 0, 10));
  both.insert(at(2, 0, 20));
  both.erase(0);
  EXPECT_EQ(both.timeline().leftmost()->id, 2);
  both.erase(0);
  EXPECT_EQ(both.timeline().leftmost(), nullptr);
  EXPECT_TRUE(both.timeline().empty());
}

TEST(Timeline, LeavingClearsTheNode) {
  Timeline timeline(intended());
  Entity first = at(1, 3, 10);
  Entity second = at(2, 5, 20);
  timeline.insert(first);
  timeline.insert(second);
  timeline.erase(first);
  EXPECT_EQ(first.node.right, nullptr);
  EXPECT_EQ(first.node.min_vruntime, VTime(0));
}

TEST(EarliestEligible, PassesOverAnEarlierDeadlineThatIsNotEligible) {
  TwoViews both;
  both.insert(at(1, 0, 30));
  both.insert(at(2, 10, 20));
  // V = (0 + 10) / 2 = 5, and 2 is at 10.
  EXPECT_EQ(both.picked(both.sums())->id, 1);
}

TEST(EarliestEligible, TakesTheFirstToArriveAmongEquals) {
  TwoViews both;
  both.insert(at(1, 10, 20));
  both.insert(at(2, 0, 20));
  both.insert(at(3, 0, 20));
  EXPECT_EQ(both.picked(both.sums())->id, 2);
}

TEST(EarliestEligible, IsNobodyIfTheSumsSayThatAllRanAhead) {
  TwoViews both;
  both.insert(at(1, 10, 20));
  both.insert(at(2, 12, 20));
  // One more, who is not in the timeline, at 0 with a weight of 10240: V = 22528 / 12288 = 1.8.
  Sums<Words> sums = both.sums();
  sums.add(VTime(0), 10'240);
  EXPECT_EQ(both.picked(sums), nullptr);
}

// --- What the other values of the rules do.

TEST(TimelineRules, LifoPutsTheLastAmongEqualsFirst) {
  Rules rules = intended();
  rules.tie = TieOrder::lifo;
  Timeline timeline(rules);
  Entity a = at(1, 0, 10);
  Entity b = at(2, 0, 10);
  Entity c = at(3, 0, 5);
  for (Entity* entity : {&a, &b, &c}) timeline.insert(*entity);
  EXPECT_EQ(ids(timeline), (Ids{3, 2, 1}));
}

TEST(TimelineRules, VruntimeOrderIgnoresDeadlines) {
  Rules rules = intended();
  rules.order = TimelineOrder::vruntime;
  Timeline timeline(rules);
  Entity a = at(1, 7, 10);
  Entity b = at(2, 5, 20);
  Entity c = at(3, 7, 5);
  for (Entity* entity : {&a, &b, &c}) timeline.insert(*entity);
  EXPECT_EQ(ids(timeline), (Ids{2, 1, 3}));
  EXPECT_EQ(timeline.leftmost()->id, 2);
}

TEST(TimelineRules, OwnMinimaMissWhoIsBelow) {
  // By deadline 1, 2, 3, so 2 is the root; the least vruntime is 1's.
  const auto minimum_at_root = [](SubtreeMinimum rule) {
    Rules rules = intended();
    rules.subtree_minimum = rule;
    Timeline timeline(rules);
    Entity a = at(1, 7, 10, 3);
    Entity b = at(2, 9, 20, 4);
    Entity c = at(3, 8, 30, 5);
    for (Entity* entity : {&a, &b, &c}) timeline.insert(*entity);
    EXPECT_EQ(timeline.root()->id, 2);
    return timeline.root()->node.min_vruntime;
  };
  EXPECT_EQ(minimum_at_root(SubtreeMinimum::propagated), VTime(7));
  EXPECT_EQ(minimum_at_root(SubtreeMinimum::own), VTime(9));
}

}  // namespace
}  // namespace vlag
