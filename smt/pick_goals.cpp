// SPDX-License-Identifier: GPL-2.0-only
// The descent of core/pick.h, over every tree of up to six entities.
//
// Eligibility enters as v <= some V: that is what the sums say (eligible_is_up_to_the_average), so
// the sums here are those of one entity of weight 1 at V. The order enters as that of the deadlines
// in the walk (timeline_is_ordered): equal ones in the order of their arrival.
#include <deque>
#include <string>

#include "core/pick.h"
#include "smt/goal.h"

namespace vlag::smt {
namespace {

struct Node {
  Point vruntime;
  Point deadline;
  int rank = 0;  // In the walk.
  struct {
    Node* left = nullptr;
    Node* right = nullptr;
    Point min_vruntime;
  } node;
};

constexpr std::int64_t far = std::int64_t{1} << 60;

enum class Minimum : std::uint8_t { of_subtree, own };

// Entities in the order of their deadlines, and every tree over them.
class Forest {
 public:
  Forest(Scene& scene, int size, Minimum minimum) : scene_(scene), minimum_(minimum) {
    for (int i = 0; i < size; ++i) {
      const std::string number = "_" + std::to_string(i + 1);
      Node& one = entities_.emplace_back();
      one.rank = i;
      one.vruntime = Point() + scene.number("v" + number, -far, far);
      one.deadline = Point() + scene.number("d" + number, -far, far);
      if (i > 0) scene.assume(!before<Symbols>(one.deadline, entities_[before_last()].deadline));
    }
  }

  const std::deque<Node>& entities() const { return entities_; }
  std::vector<Node*> trees() { return trees(0, static_cast<int>(entities_.size())); }
  Node* leftmost() { return &entities_.front(); }

 private:
  std::size_t before_last() const { return entities_.size() - 2; }

  // Over the entities first .. end - 1: each of them on top of each pair of subtrees.
  std::vector<Node*> trees(int first, int end) {
    if (first == end) return {nullptr};
    std::vector<Node*> all;
    for (int top = first; top < end; ++top) {
      for (Node* left : trees(first, top)) {
        for (Node* right : trees(top + 1, end)) all.push_back(tree(top, left, right));
      }
    }
    return all;
  }

  Node* tree(int top, Node* left, Node* right) {
    Node& node = nodes_.emplace_back(entities_[static_cast<std::size_t>(top)]);
    node.node = {left, right, node.vruntime};
    for (const Node* child : {right, left}) {
      if (child == nullptr || minimum_ == Minimum::own) continue;
      node.node.min_vruntime = earlier<Symbols>(node.node.min_vruntime, child->node.min_vruntime);
    }
    return &node;
  }

  Scene& scene_;
  Minimum minimum_;
  std::deque<Node> entities_;
  std::deque<Node> nodes_;
};

Sums<Symbols> sums_at(const Number& average) { return {Point(), average, Number(1)}; }

constexpr int nobody = -1;

Number rank_of(const Node* picked) { return picked == nullptr ? nobody : picked->rank; }

// By asking everyone in order.
Number first_eligible(const std::deque<Node>& entities, const Sums<Symbols>& total) {
  Number first = nobody;
  for (auto one = entities.rbegin(); one != entities.rend(); ++one) {
    first = choose(eligible(total, one->vruntime), Number(one->rank), first);
  }
  return first;
}

void descent(Scene& scene, Minimum minimum, int most) {
  const Sums<Symbols> total = sums_at(scene.number("V", -far, far));
  for (int size = 1; size <= most; ++size) {
    Forest forest(scene, size, minimum);
    const Number expected = first_eligible(forest.entities(), total);
    for (Node* root : forest.trees()) {
      const Number picked = scene.merged(
          [&] { return rank_of(earliest_eligible<Symbols>(root, forest.leftmost(), total)); });
      scene.claim(picked == expected, "of " + std::to_string(size) + ": the first eligible");
    }
  }
}

// The current entity against the tree's best.
void with_current(Scene& scene, bool current_loses_ties) {
  constexpr int current = 100;
  constexpr int most = 3;
  const Sums<Symbols> total = sums_at(scene.number("V", -far, far));
  Node curr;
  curr.vruntime = Point() + scene.number("v_curr", -far, far);
  curr.deadline = Point() + scene.number("d_curr", -far, far);
  curr.rank = current;
  const Truth is_protected = scene.truth("protected");
  for (int size = 0; size <= most; ++size) {
    Forest forest(scene, size, Minimum::of_subtree);
    Number best = nobody;
    Truth curr_first = true;
    for (auto one = forest.entities().rbegin(); one != forest.entities().rend(); ++one) {
      const Truth fits = eligible(total, one->vruntime);
      const Truth is_before = current_loses_ties ? before<Symbols>(curr.deadline, one->deadline)
                                                 : !before<Symbols>(one->deadline, curr.deadline);
      best = choose(fits, Number(one->rank), best);
      curr_first = curr_first && (!fits || is_before);
    }
    const Truth stays = eligible(total, curr.vruntime) && (is_protected || curr_first);
    for (Node* root : forest.trees()) {
      Node* const leftmost = root == nullptr ? nullptr : forest.leftmost();
      const Number picked = scene.merged(
          [&] { return rank_of(pick_eevdf<Symbols>(root, leftmost, &curr, is_protected, total)); });
      scene.claim(picked == choose(stays, Number(current), best),
                  "of " + std::to_string(size) + " and the current one");
    }
  }
}

}  // namespace

std::vector<Goal> pick_goals() {
  constexpr std::string_view source = "pick_eevdf(), 6.12.117";
  return {
      {.name = "pick_is_the_first_eligible",
       .claim = "The descent finds the eligible entity with the earliest deadline, the first to "
                "arrive among equals, and nobody only if no one is eligible.",
       .source = source,
       .bounds = "n <= 6, all 196 shapes of the tree; |v - v_0|, |d - v_0| <= 2^60",
       .kind = Kind::bounded,
       .theory = Theory::reals,
       .at_once = 12,
       .body = [](Scene& scene) { descent(scene, Minimum::of_subtree, 6); },
       .canary = [](Scene& scene) { descent(scene, Minimum::own, 3); }},
      {.name = "current_goes_on_if_protected_or_strictly_first",
       .claim = "The current entity is picked if it is eligible and either protected or strictly "
                "before every eligible one in the tree; else the first eligible one is.",
       .source = source,
       .bounds = "the current entity and n <= 3 others, all shapes; |v - v_0|, |d - v_0| <= 2^60",
       .kind = Kind::bounded,
       .theory = Theory::integers,
       .at_once = SIZE_MAX,
       .body = [](Scene& scene) { with_current(scene, true); },
       .canary = [](Scene& scene) { with_current(scene, false); }},
  };
}

}  // namespace vlag::smt
