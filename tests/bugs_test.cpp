// SPDX-License-Identifier: GPL-2.0-only
// The catalogue as a table: complete, consistent, and every policy in it exists.
#include "spec/bugs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "spec/policy_text.h"
#include "spec/words.h"

namespace vlag::spec {
namespace {

std::string component(const Bug& bug) { return std::string(bug.component); }

TEST(Bugs, AreAllThere) {
  std::map<std::string, int> count;
  for (const Bug& bug : bugs()) ++count[component(bug)];
  const std::map<std::string, int> expected = {
      {"pick", 2},     {"lag", 1},   {"overflow", 6}, {"reweight", 9}, {"slice", 12},
      {"delayed", 12}, {"place", 9}, {"buddy", 3},    {"yield", 4},    {"tick", 7},
      {"group", 9},    {"rt", 1},    {"features", 4}};
  EXPECT_EQ(count, expected);
}

TEST(Bugs, HaveIdsOfTheirOwn) {
  std::set<std::string_view> ids;
  for (const Bug& bug : bugs()) {
    EXPECT_TRUE(ids.insert(bug.id).second) << bug.id;
    EXPECT_EQ(find_bug(bug.id), &bug);
  }
  EXPECT_EQ(find_bug("no-such-bug"), nullptr);
  const auto unknown = known_bug("avg-vruntime-cell");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().what,
            "'avg-vruntime-cell' is not in the bug catalogue; the nearest is avg-vruntime-ceil");
}

TEST(Bugs, SayWhatIsKnown) {
  for (const Bug& bug : bugs()) {
    SCOPED_TRACE(bug.id);
    for (const auto text : {bug.title, bug.fix, bug.source, bug.affected, bug.invariant}) {
      EXPECT_FALSE(text.empty());
    }
    EXPECT_EQ(bug.expressible(), bug.reason.empty()) << "expressed, or said why not";
    EXPECT_TRUE(bug.expressible() || bug.base.empty());
  }
}

TEST(Bugs, AtLeast35AreExpressed) {
  const auto expressed =
      std::count_if(bugs().begin(), bugs().end(), [](const Bug& bug) { return bug.expressible(); });
  EXPECT_GE(expressed, 35);
}

TEST(Bugs, ArePolicies) {
  for (const Bug& bug : bugs()) {
    if (!bug.expressible()) continue;
    SCOPED_TRACE(bug.id);
    PolicyText text;
    text.sets = settings_of(bug);
    const auto policy = parse_policy(text);
    ASSERT_TRUE(policy.ok()) << policy.error().message();
    EXPECT_EQ(policy->rules, faulty_policy(bug).rules);
    EXPECT_NE(right_policy(bug).rules, faulty_policy(bug).rules);
    EXPECT_EQ(right_policy(bug).features, faulty_policy(bug).features);
  }
}

TEST(Bugs, ChangeOneRuleEach) {
  for (const Bug& bug : bugs()) {
    if (!bug.expressible()) continue;
    EXPECT_EQ(bug.change.find(' '), std::string_view::npos) << bug.id;
  }
}

TEST(Words, SayWhatHappens) {
  EXPECT_EQ(in_words(op::reset()), "an idle CPU, its clock at 0 ns");
  EXPECT_EQ(in_words(op::reset_at(1'000'000, 5)),
            "an idle CPU, its clock at 1 ms, virtual time at 5");
  EXPECT_EQ(in_words(op::fork(1, 5, 200'000, VLAG_BATCH)),
            "task 1 is forked, nice 5, request 200 us, SCHED_BATCH");
  EXPECT_EQ(in_words(op::fork(0)), "task 0 is forked");
  EXPECT_EQ(in_words(op::tick(4'000'001)), "4000001 ns pass, and a tick");
  EXPECT_EQ(in_words(op::slice(2, 0)), "task 2 asks for the default request");
  EXPECT_EQ(in_words(op::policy(2, VLAG_IDLE)), "task 2 becomes SCHED_IDLE");
  EXPECT_EQ(in_words(op::block(true)), "the running task stops, and leaves at once");
  Features lag;
  lag.set(Feature::PLACE_LAG, true);
  EXPECT_EQ(in_words(op::features(lag.bits(), 0)), "sched/features is written: NO_PLACE_LAG");
}

// What every code reads like: none is left as its own text but those without words.
TEST(Words, ThereAreSomeForEachOperation) {
  const Operation all[] = {op::reset(),     op::base_slice(1'000'000),
                           op::fork(0),     op::wake(0),
                           op::block(),     op::exit(),
                           op::dequeue(0),  op::enqueue(0),
                           op::tick(1),     op::advance(1),
                           op::schedule(),  op::nice(0, 1),
                           op::slice(0, 1), op::policy(0, VLAG_NORMAL),
                           op::yield(),     op::yield_to(0),
                           op::hrtick()};
  for (const Operation& operation : all) EXPECT_NE(in_words(operation), to_text(operation));
}

}  // namespace
}  // namespace vlag::spec
