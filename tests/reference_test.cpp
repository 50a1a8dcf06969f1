// SPDX-License-Identifier: GPL-2.0-only
// The executed definition against arithmetic done by hand. All tasks have nice 0 unless said
// otherwise, so 1 ns of service is 1 ns of virtual time, and all weights are 1024 (scaled down).
#include "spec/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "spec/sequence.h"

namespace vlag::spec {
namespace {

using testing::ElementsAre;
using testing::Pointee;

constexpr std::uint64_t bit(Feature feature) {
  return std::uint64_t{1} << static_cast<unsigned>(feature);
}

Policy with(std::uint64_t on, std::uint64_t off = bit(Feature::PLACE_DEADLINE_INITIAL)) {
  Policy policy = eevdf_6_12();
  policy.features.assign(on | off, on);
  return policy;
}

Policy without(std::uint64_t off) { return with(0, off | bit(Feature::PLACE_DEADLINE_INITIAL)); }

MATCHER_P(HasId, id, "") { return arg.id == id; }

TEST(ReferenceAverage, IsTheWeightedMean) {
  Average average;
  average.add(1, 0);
  average.add(2, 1);
  average.add(4, 7);

  // (1*0 + 2*1 + 4*7) / 7 = 30/7.
  EXPECT_EQ(average.value(), Rational(30, 7));
  EXPECT_EQ(average.floor(), 4);
}

TEST(ReferenceAverage, IsFlooredBelowZeroToo) {
  Average average;
  average.add(1024, 0);
  average.add(1024, -1);

  // -1/2; truncation would give 0.
  EXPECT_EQ(average.floor(), -1);
}

// The second example of "sched/eevdf: Allow sched_setattr() to set a custom slice" (857b158dc5e8):
// A and B with w=1, C with w=2, at 0, 1 and 2; a request of 16 is worth 16 of A's and 8 of C's
// virtual time. Its text prints V = 8.25 and 12.25 in the last two places; the schedule that it
// draws is right.
TEST(ReferenceAverage, CorrectsTheCustomSliceExample) {
  Average at_0;
  at_0.add(1, 0);
  at_0.add(1, 1);
  at_0.add(2, 2);
  Average at_2;  // A ran.
  at_2.add(1, 16);
  at_2.add(1, 1);
  at_2.add(2, 2);
  Average at_4;  // C ran.
  at_4.add(1, 16);
  at_4.add(1, 1);
  at_4.add(2, 10);
  Average at_6;  // B ran.
  at_6.add(1, 16);
  at_6.add(1, 17);
  at_6.add(2, 10);

  EXPECT_EQ(at_0.value(), Rational(125, 100));   // (0 + 1 + 4) / 4
  EXPECT_EQ(at_2.value(), Rational(525, 100));   // (16 + 1 + 4) / 4
  EXPECT_EQ(at_4.value(), Rational(925, 100));   // (16 + 1 + 20) / 4
  EXPECT_EQ(at_6.value(), Rational(1325, 100));  // (16 + 17 + 20) / 4
}

TEST(Reference, EmptyQueueRemembersWhereTheLastOneLeftIt) {
  Reference reference(with(0));
  reference.apply(op::reset());
  EXPECT_EQ(reference.average(), -1'048'576);  // cfs_rq starts 2^20 before the wrap-around.

  reference.apply(op::fork(1));
  reference.apply(op::schedule());
  reference.apply(op::advance(48'576));
  reference.apply(op::block());
  EXPECT_EQ(reference.average(), -1'000'000);
  EXPECT_EQ(reference.current(), nullptr);
}

TEST(Reference, NewTaskHasHalfARequest) {
  Reference reference(eevdf_6_12());
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  EXPECT_EQ(reference.find(1)->deadline, 350'000);  // 700 us / 2
}

TEST(Reference, HeavyRequestIsScaledAndTruncated) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1, 5, 1'000'000));
  EXPECT_EQ(reference.find(1)->deadline, 3'056'716);  // 1 ms * 1024 / 335 = 3056716.4
}

TEST(Reference, EqualDeadlinesRunInOrderOfArrival) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(3));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  EXPECT_THAT(reference.timeline(),
              ElementsAre(Pointee(HasId(3)), Pointee(HasId(1)), Pointee(HasId(2))));

  reference.apply(op::schedule());
  EXPECT_EQ(reference.current()->id, 3);
  EXPECT_THAT(reference.timeline(), ElementsAre(Pointee(HasId(1)), Pointee(HasId(2))));
}

TEST(Reference, CurrentLosesTiesAndGoesBehind) {
  Reference reference(without(bit(Feature::RUN_TO_PARITY)));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::fork(3));
  reference.apply(op::schedule());
  reference.apply(op::schedule());

  // All at v = 0, d = 700000.
  EXPECT_EQ(reference.current()->id, 2);
  EXPECT_THAT(reference.timeline(), ElementsAre(Pointee(HasId(3)), Pointee(HasId(1))));
}

TEST(Reference, RunToParityKeepsTheCurrentRequest) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::schedule());
  EXPECT_EQ(reference.current()->id, 1);
}

// Two at 1000 and 1001: V = 1000.5, so the one at 1001 owes service although floor(V) is one away.
TEST(Reference, EligibilityIsExact) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 1000));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::tick(1));
  EXPECT_EQ(reference.average(), Rational(2001, 2));

  reference.apply(op::block());
  EXPECT_TRUE(reference.find(1)->sched_delayed);
  EXPECT_EQ(reference.current()->id, 2);
}

// A blocks after 400 us: V = 200000 < 400000, so it stays and competes on; B runs 300 us:
// V = (400000 + 300000) / 2 = 350000, lag -50000: still in debt, A stays where it is.
TEST(Reference, DelayedTaskInDebtWakesInPlace) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::advance(400'000));
  reference.apply(op::block());
  ASSERT_TRUE(reference.find(1)->sched_delayed);
  reference.apply(op::tick(300'000));
  reference.apply(op::wake(1));

  EXPECT_FALSE(reference.find(1)->sched_delayed);
  EXPECT_EQ(reference.find(1)->vlag, -50'000);
  EXPECT_EQ(reference.find(1)->vruntime, 400'000);
  EXPECT_EQ(reference.find(1)->deadline, 700'000);
}

// B runs 500 us: V = 450000, lag +50000. A has gained by sleeping: it is placed anew, without lag,
// at V without it, which is B's 500000.
TEST(Reference, DelayedTaskGainsNothing) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::advance(400'000));
  reference.apply(op::block());
  reference.apply(op::tick(500'000));
  reference.apply(op::wake(1));

  EXPECT_EQ(reference.find(1)->vlag, 0);
  EXPECT_EQ(reference.find(1)->vruntime, 500'000);
  EXPECT_EQ(reference.find(1)->deadline, 1'200'000);
}

TEST(Reference, DelayedTaskKeepsItsGainWithoutDelayZero) {
  Reference reference(without(bit(Feature::DELAY_ZERO)));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::advance(400'000));
  reference.apply(op::block());
  reference.apply(op::tick(500'000));
  reference.apply(op::wake(1));

  EXPECT_EQ(reference.find(1)->vruntime, 400'000);
  EXPECT_EQ(reference.find(1)->deadline, 700'000);
}

// B blocks too: V = 450000, B owes service and is delayed. A's turn comes: it goes, without its
// lag of +50000. Then B is alone, picked whatever its lag, and goes: nobody is left.
TEST(Reference, DelayedTasksGoWhenPicked) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::advance(400'000));
  reference.apply(op::block());
  reference.apply(op::advance(500'000));
  reference.apply(op::block());

  EXPECT_EQ(reference.current(), nullptr);
  EXPECT_FALSE(reference.find(1)->on_rq);
  EXPECT_FALSE(reference.find(2)->on_rq);
  EXPECT_EQ(reference.find(1)->vlag, 0);
  EXPECT_EQ(reference.find(2)->vlag, 0);
  EXPECT_EQ(reference.average(), 500'000);
}

TEST(Reference, SpecialSleepIsNotDelayed) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::advance(400'000));
  reference.apply(op::block(true));

  EXPECT_FALSE(reference.find(1)->on_rq);
  EXPECT_EQ(reference.find(1)->vlag, -200'000);  // V - v = 200000 - 400000
}

TEST(Reference, LagIsLimitedToTwoRequestsOrATick) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::advance(10'000'000));
  reference.apply(op::block(true));
  EXPECT_EQ(reference.find(1)->vlag, -4'000'000);  // -5 ms, but a tick (HZ=250) is 4 ms.
}

// A leaves with lag -100000 and B, at 0, is alone. A returns at V + 100000 * 2048/1024, which
// makes V = 100000: lag -100000 again.
TEST(Reference, LagSurvivesSleep) {
  Reference reference(without(bit(Feature::DELAY_DEQUEUE)));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::advance(200'000));
  reference.apply(op::block());
  ASSERT_EQ(reference.find(1)->vlag, -100'000);
  reference.apply(op::wake(1));

  EXPECT_EQ(reference.find(1)->vruntime, 200'000);
  EXPECT_EQ(reference.average(), 100'000);
}

TEST(Reference, WithoutPlaceLagEveryoneStartsAtTheAverage) {
  Reference reference(without(bit(Feature::DELAY_DEQUEUE) | bit(Feature::PLACE_LAG)));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::advance(200'000));
  reference.apply(op::block());
  reference.apply(op::wake(1));
  EXPECT_EQ(reference.find(1)->vruntime, 0);
}

// -100000 * 1024/335 = -305671.6.
TEST(Reference, NiceRescalesTheLagOfASleeper) {
  Reference reference(without(bit(Feature::DELAY_DEQUEUE)));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::advance(200'000));
  reference.apply(op::block());
  reference.apply(op::nice(1, 5));
  EXPECT_EQ(reference.find(1)->vlag, -305'671);
}

TEST(Reference, MigrationKeepsWhatIsLeftOfTheRequest) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::advance(100'000));
  reference.apply(op::dequeue(2));
  // V = 50000, so task 2 takes a lag of 50000 with it, and 700000 until its deadline.
  EXPECT_EQ(reference.find(2)->vlag, 50'000);
  EXPECT_EQ(reference.find(2)->deadline, 700'000);

  reference.apply(op::tick(100'000));
  reference.apply(op::enqueue(2));
  // V = 200000 (task 1 alone); the lag is inflated to 100000.
  EXPECT_EQ(reference.find(2)->vruntime, 100'000);
  EXPECT_EQ(reference.find(2)->deadline, 800'000);
}

// At V it is eligible: it forfeits the rest of its request, and the next one starts there.
TEST(Reference, YieldForfeitsTheRequest) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::yield());

  EXPECT_EQ(reference.find(1)->vruntime, 700'000);
  EXPECT_EQ(reference.find(1)->deadline, 1'400'000);
  EXPECT_EQ(reference.current()->id, 2);
}

TEST(Reference, YieldOfTheIneligibleForfeitsNothing) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::advance(200'000));
  reference.apply(op::yield());

  EXPECT_EQ(reference.find(1)->vruntime, 200'000);
  EXPECT_EQ(reference.find(1)->deadline, 700'000);
  EXPECT_EQ(reference.current()->id, 2);
}

TEST(Reference, YieldToPrefersItsTarget) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::fork(3));
  reference.apply(op::schedule());
  reference.apply(op::yield_to(3));
  EXPECT_EQ(reference.current()->id, 3);
}

// Task 2 asks for less than the running one, is eligible, and has the earlier deadline: 100000.
TEST(Reference, ShortRequestPreempts) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::schedule());
  reference.apply(op::fork(2, 0, 100'000));
  EXPECT_TRUE(reference.need_resched());
}

TEST(Reference, ConsumedRequestAsksForAReschedule) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::tick(699'999));
  EXPECT_FALSE(reference.need_resched());
  reference.apply(op::tick(1));
  EXPECT_TRUE(reference.need_resched());
  EXPECT_EQ(reference.find(1)->deadline, 1'400'000);
}

// Alone, it goes on with its next request, but nothing protects that one: it was not picked for
// it. So a newcomer at V = 700000 wins the tie of the deadlines, 1400000.
TEST(Reference, ConsumedRequestOfASingleTaskEndsItsProtection) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::schedule());
  reference.apply(op::tick(700'000));
  EXPECT_FALSE(reference.need_resched());

  reference.apply(op::fork(2));
  EXPECT_EQ(reference.find(2)->deadline, 1'400'000);
  EXPECT_TRUE(reference.need_resched());
}

TEST(Reference, SliceIsClampedAndZeroClearsIt) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, 0));
  reference.apply(op::fork(1));
  reference.apply(op::slice(1, 700'000));  // What it has already: nothing changes.
  EXPECT_FALSE(reference.find(1)->custom_slice);
  reference.apply(op::slice(1, 1));
  EXPECT_EQ(reference.find(1)->slice, 100'000U);
  EXPECT_TRUE(reference.find(1)->custom_slice);
  reference.apply(op::slice(1, 0));
  EXPECT_EQ(reference.find(1)->slice, 700'000U);
  EXPECT_FALSE(reference.find(1)->custom_slice);
}

TEST(Reference, HighResolutionTickEndsTheRequest) {
  Reference reference(with(bit(Feature::HRTICK)));
  reference.apply(op::reset_at(1'000, 0));
  reference.apply(op::fork(1));
  reference.apply(op::fork(2));
  reference.apply(op::schedule());
  reference.apply(op::hrtick());
  EXPECT_EQ(reference.find(1)->exec_start, 701'000U);  // Armed at 1000 for a request of 700 us.
  EXPECT_TRUE(reference.need_resched());
}

TEST(Reference, VirtualTimeDoesNotWrap) {
  Reference reference(with(0));
  reference.apply(op::reset_at(0, std::numeric_limits<std::int64_t>::max()));
  reference.apply(op::fork(1));
  reference.apply(op::schedule());
  reference.apply(op::tick(1));
  EXPECT_EQ(reference.find(1)->vruntime, Integer(1) << 63);
}

// What a reset queue at 5 ns looks like.
constexpr Head head_after_reset = {5, 0, 0, VLAG_NO_ENTITY, 0, 0};

QueueState queue_after_reset() {
  QueueState queue = {};
  queue.zero_vruntime = queue.average = 0 - (std::uint64_t{1} << 20);
  queue.curr = queue.next = queue.root = queue.leftmost = VLAG_NO_ENTITY;
  return queue;
}

TEST(ReferenceDiffers, NamesTheFirstFieldThatIsWrong) {
  Reference reference(eevdf_6_12());
  reference.apply(op::reset(5));
  Head head = head_after_reset;
  QueueState queue = queue_after_reset();
  const Observation seen = {&head, &queue, {}};
  EXPECT_FALSE(reference.differs(seen));

  queue.average = 7;
  const auto average = reference.differs(seen);
  ASSERT_TRUE(average);
  EXPECT_EQ(average->field, "queue.average");
  EXPECT_EQ(average->left, "18446744073708503040");  // -2^20 modulo 2^64.
  EXPECT_EQ(average->right, "7");

  head.need_resched = 1;
  EXPECT_EQ(reference.differs(seen)->field, "need_resched");
}

TEST(ReferenceDiffers, WalksTheTimelineEvenWhenItIsACircle) {
  Reference reference(eevdf_6_12());
  reference.apply(op::reset_at(5, 0));
  reference.apply(op::fork(3));
  Head head = head_after_reset;
  head.need_resched = 1;
  head.entities = 1;
  QueueState queue = queue_after_reset();
  queue.load = 1 << 20;
  queue.sum_weight = 1024;
  queue.average = 0;
  queue.nr_running = queue.h_nr_queued = queue.h_nr_runnable = queue.rq_nr_running = 1;
  queue.root = queue.leftmost = 3;
  EntityState entity = {};
  entity.deadline = 350'000;
  entity.slice = 700'000;
  entity.weight = 1 << 20;
  entity.inv_weight = 4'194'304;
  entity.id = 3;
  entity.left = entity.right = VLAG_NO_ENTITY;
  entity.flags = VLAG_ON_RQ | VLAG_TASK_QUEUED | VLAG_IN_TIMELINE | VLAG_RED;
  const Observation seen = {&head, &queue, {&entity, 1}};
  EXPECT_FALSE(reference.differs(seen));

  entity.left = 3;
  const auto circle = reference.differs(seen);
  ASSERT_TRUE(circle);
  EXPECT_EQ(circle->field, "queue.root");
  EXPECT_EQ(circle->left, "[3]");
}

}  // namespace
}  // namespace vlag::spec
