// SPDX-License-Identifier: GPL-2.0-only
#include "props/starve_player.h"

#include <algorithm>

namespace vlag::props {
namespace {

namespace op = spec::op;

constexpr int most_first_ticks = 400;  // 100 ms of a custom request, with ticks of 1 ms and a half.

bool is_asleep(const Task& task) {
  return task.state == TaskState::sleeping || task.se.sched_delayed;
}

}  // namespace

Player::Player(const Policy& policy, const Scenario& scenario, spec::Sequence* record)
    : policy_(policy),
      scenario_(scenario),
      record_(record),
      cpu_(policy, static_cast<int>(scenario.members.size())) {}

void Player::note(const spec::Operation& operation) {
  ++operations_;
  if (record_ != nullptr) record_->push_back(operation);
}

std::int64_t Player::excess() const {
  return (cpu_.task(victim).se.vruntime - cpu_.queue().average()).value;
}

// What differs from the preset, so that the sequence is the same on a kernel.
void Player::set_stage() {
  note(op::reset());
  const Policy preset = eevdf_6_12();
  const std::uint64_t differ = policy_.features.bits() ^ preset.features.bits();
  if (differ != 0) note(op::features(differ, policy_.features.bits() & differ));
  if (policy_.tunables.base_slice != preset.tunables.base_slice) {
    note(op::base_slice(policy_.tunables.base_slice));
  }
}

bool Player::start() {
  set_stage();
  next_tick_ = scenario_.first_tick;
  for (std::size_t i = 0; i < scenario_.members.size(); ++i) {
    const Member& member = scenario_.members[i];
    const int id = static_cast<int>(i);
    cpu_.fork(id, member.nice, SchedPolicy::normal, member.slice);
    note(op::fork(id, member.nice, member.slice));
    schedule_if_needed();
  }
  for (int i = 0; !waits() && i < most_first_ticks; ++i) pass(next_tick_ - cpu_.clock());
  return waits();
}

void Player::schedule() {
  cpu_.schedule();
  note(op::schedule());
}

void Player::schedule_if_needed() {
  if (cpu_.need_resched()) schedule();
}

bool Player::timer_due(Nanos until) const {
  return cpu_.hrtick() != 0 && cpu_.hrtick() <= until && cpu_.hrtick() < next_tick_;
}

void Player::expire_hrtick() {
  cpu_.expire_hrtick();
  note(op::hrtick());
  schedule_if_needed();
}

// Lets time pass, with its ticks. Returns false once the victim runs.
bool Player::pass(Nanos delta) {
  const Nanos until = cpu_.clock() + delta;
  while (cpu_.clock() < until) {
    if (timer_due(until)) {
      expire_hrtick();
    } else if (next_tick_ <= until) {
      const Nanos left = next_tick_ - cpu_.clock();
      cpu_.tick(left);
      note(op::tick(left));
      next_tick_ += policy_.tunables.tick_nsec();
      schedule_if_needed();
    } else {
      note(op::advance(until - cpu_.clock()));
      cpu_.advance(until - cpu_.clock());
    }
    if (!waits()) return false;
  }
  return true;
}

bool Player::wake(int id) {
  if (!is_asleep(cpu_.task(id))) return true;
  cpu_.wake(id);
  note(op::wake(id));
  schedule_if_needed();
  return waits();
}

bool Player::sleep() {
  cpu_.block(false);
  note(op::block());
  return waits();
}

bool Player::yield() {
  cpu_.yield();
  note(op::yield());
  return waits();
}

bool Player::renice(int id, int nice) {
  const Task& task = cpu_.task(id);
  if (task.state == TaskState::migrating || task.nice == nice) return true;
  cpu_.set_nice(id, nice);
  note(op::nice(id, nice));
  schedule_if_needed();
  return waits();
}

bool Player::away(int id) {
  if (cpu_.task(id).state != TaskState::queued || cpu_.current() == &cpu_.task(id)) return true;
  cpu_.dequeue(id);
  note(op::dequeue(id));
  return true;
}

bool Player::back(int id) {
  if (cpu_.task(id).state != TaskState::migrating) return true;
  cpu_.enqueue(id);
  note(op::enqueue(id));
  schedule_if_needed();
  return waits();
}

Nanos Player::length(const Move& move, Nanos unit, Random* jitter) const {
  const Nanos whole = unit * move.share;
  return jitter == nullptr ? whole : whole / 2 + jitter->below(whole + 1);
}

bool Player::play(const Move& move, Nanos unit, Random* jitter) {
  // With no one else left the victim must run.
  const bool last = cpu_.queue().nr_running() <= 2;
  switch (move.kind) {
    case Move::Kind::wake:
      return wake(move.task);
    case Move::Kind::sleep:
      return last || (pass(length(move, unit, jitter)) && sleep());
    case Move::Kind::run:
      return pass(length(move, unit, jitter));
    case Move::Kind::yield:
      return last || yield();
    case Move::Kind::nice:
      return renice(move.task, move.value);
    case Move::Kind::away:
      return last || away(move.task);
    case Move::Kind::back:
      return back(move.task);
  }
  return true;
}

bool Player::play(Nanos unit, Random* jitter) {
  for (const Move& move : scenario_.round) {
    if (!play(move, unit, jitter) || cpu_.pick_failed()) return false;
  }
  return true;
}

void Player::append_state(std::vector<std::int64_t>& out) const {
  const VTime origin = cpu_.task(victim).se.vruntime;
  const auto add = [&](auto value) { out.push_back(static_cast<std::int64_t>(value)); };
  const auto id_of = [](const Entity* se) { return se != nullptr ? se->id : -1; };
  const Runqueue& queue = cpu_.queue();
  add(next_tick_ - cpu_.clock());
  add(cpu_.hrtick() != 0 ? cpu_.hrtick() - cpu_.clock() : 0);
  add(id_of(queue.curr()));
  add(id_of(queue.next()));
  add((queue.sums().zero_vruntime - origin).value);
  for (int id = 0; id < cpu_.tasks(); ++id) {
    const Task& task = cpu_.task(id);
    const Entity& se = task.se;
    const bool runs = queue.curr() == &se;
    add(static_cast<int>(task.state) | (se.sched_delayed ? 16 : 0) | (se.rel_deadline ? 32 : 0));
    add(task.nice);
    add(se.slice.value);
    add(se.load_left.value);
    if (se.on_rq) {
      add((se.vruntime - origin).value);
      add((se.deadline - origin).value);
    } else {
      add(se.vlag.value);
      add(se.rel_deadline ? se.deadline.value : 0);
    }
    if (runs) {
      add((VTime(se.vlag.bits()) - origin).value);
      add(cpu_.clock() - se.exec_start);
      add(se.sum_exec_runtime - se.prev_sum_exec_runtime);
    } else if (se.on_rq) {
      add(id_of(se.node.left));
      add(id_of(se.node.right));
      add(se.node.red ? 1 : 0);
    }
  }
}

Nanos longest_fixed_wait(const Policy& policy, const Scenario& scenario) {
  __extension__ using Wide = __int128;
  const auto request = [&](const Member& member) -> Wide {
    return member.slice != 0 ? member.slice : policy.tunables.base_slice;
  };
  const Wide tick = policy.tunables.tick_nsec();
  Wide others = 0;
  Wide longest = 0;
  Wide overshoots = 0;
  for (std::size_t i = 1; i < scenario.members.size(); ++i) {
    const Member& member = scenario.members[i];
    others += nice_weight(member.nice).down().value;
    longest = std::max(longest, request(member) + tick);
    overshoots += tick;
  }
  const Member& waiter = scenario.members[victim];
  const Wide own = (2 * request(waiter) + tick) * others / nice_weight(waiter.nice).down().value;
  return static_cast<Nanos>(own + longest + overshoots);
}

}  // namespace vlag::props
