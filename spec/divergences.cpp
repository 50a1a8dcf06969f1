// SPDX-License-Identifier: GPL-2.0-only
#include "spec/divergences.h"

#include <array>

namespace vlag::spec {
namespace {

constexpr std::array<Divergence, 7> list = {{
    {"rel-deadline-toggle",
     "switching off PLACE_REL_DEADLINE while a deadline is relative leaves it marked relative",
     "queued_deadline_is_absolute", "rel_deadline", "flag_kept", "flag_cleared",
     "dequeue_entity() makes the deadline relative and sets rel_deadline; place_entity() clears "
     "the "
     "flag only in the branch that PLACE_REL_DEADLINE guards. Switched off in between, the entity "
     "gets a new absolute deadline with the flag still set. Switched on again, the next placement "
     "without a dequeue that makes it relative first (waking up after a sleep does not) adds "
     "vruntime to an absolute deadline, and the entity is behind everyone, or before everyone, by "
     "whatever virtual time happens to be. Seen in 6.12.117; needs a debugfs write at the wrong "
     "moment.",
     "reset\n"
     "fork 0\n"
     "dequeue 0\n"
     "features NO_PLACE_REL_DEADLINE\n"
     "enqueue 0\n"},
    {"min-slice-handover",
     "a rotation of the timeline, or an erasure, leaves a subtree's min_slice stale",
     "subtree_slices_match", "subtree_slice", "stale", "handed_over",
     "The timeline's callbacks are declared with RB_DECLARE_CALLBACKS(..., min_vruntime, "
     "min_vruntime_update): where a node takes another's place they copy the one field named, "
     "min_vruntime, and min_slice, which was added later, keeps the value of the node's old, "
     "smaller subtree. cfs_rq_min_slice() then reports too long a slice. In 6.12.117 that reaches "
     "a "
     "group entity's slice; on one queue of tasks it decides nothing.",
     "reset\n"
     "fork 0 slice 20ms\n"
     "fork 1\n"
     "fork 2 slice 10ms\n"},
    {"change-forgives-debt",
     "a change of slice, nice or policy forgives what a task has run ahead of its share",
     "a_change_forgives_no_debt", "change_lag", "limited", "kept",
     "sched_setattr() and set_user_nice() take a queued task off its queue and put it back. "
     "dequeue_entity() calls update_entity_lag() as if it left for good, which limits the lag to "
     "max(2 slice, TICK_NSEC) by the slice that the task has at that moment, not by the one that "
     "it "
     "ran by; and place_entity() puts it back with what is left of its debt. V moves back with it: "
     "the others lose what it gains. Any user can take it: ask for 100 ms, and while that request "
     "runs for 100 us; just before it ends ask for 100 ms again. All of the request but one tick "
     "is "
     "forgiven, and against one other task of the same weight two calls in 100 ms make 83% of the "
     "CPU out of 50% (tests/golden/slice_forgives_debt.seq). With the default slice of 0.7 ms up "
     "to "
     "0.7 ms are forgiven at HZ=250.",
     "reset\n"
     "fork 0\n"
     "schedule\n"
     "fork 1 nice -1\n"
     "advance 8ms\n"
     "slice 0 0\n"},
    {"nice-changes-requests", "a change of weight changes what is left of the request, as service",
     "a_change_keeps_what_is_left_of_a_request", "reweight_request", "virtual_time", "service",
     "dequeue_entity() makes the deadline relative, d - v, in virtual time; reweight_task() "
     "rescales "
     "vlag by w/w' but not the deadline (6.13 and later do: 6d71a9c61604, 101f3498b4bd), and "
     "place_entity() adds it to the new vruntime. What is left of the request, w (d - v), is "
     "multiplied by w'/w. A lower weight so keeps an early deadline, a higher one gets a late "
     "one. Who: anyone who may change a nice value or policy.",
     "reset\n"
     "fork 0\n"
     "nice 0 1\n"},
    {"reweight-makes-long-requests",
     "a task that comes back from SCHED_IDLE or a high nice value has a request of seconds",
     "a_request_is_no_longer_than_was_granted", "reweight_request", "virtual_time", "service",
     "The cause is that of nice-changes-requests: d - v is kept in virtual time while the weight "
     "grows, from 3 to 1024 if a SCHED_IDLE task becomes SCHED_OTHER. A request of 100 ms becomes "
     "one of 34 s, the default one of 0.7 ms one of 239 ms. Ticks do not end it: update_curr() "
     "requests a reschedule at the deadline, and before only if the task is not eligible and "
     "not protected, which it is until then (set_next_entity() protects it at the change itself). "
     "If nobody wakes up, others wait all that time with default slices (16.8 s seen; "
     "tests/golden/idle_comes_back.seq). Who: root, or a user with RLIMIT_NICE (20 for coming back "
     "from SCHED_IDLE at nice 0).",
     "reset\n"
     "fork 0 policy idle\n"
     "policy 0 normal\n"},
    {"slice-keeps-saved-lag",
     "a sleeper that asks for a short slice keeps the lag that it saved by a long one",
     "saved_lag_is_within_its_limit", "sleeper_lag", "kept", "limited",
     "update_entity_lag() limits what is saved to max(2 slice, TICK_NSEC) when a task leaves. "
     "__setscheduler_params() changes the slice of a sleeping task and leaves vlag as it is. A "
     "task "
     "that saved 200 ms by a slice of 100 ms can so wake with a slice of 0.1 ms, is placed 200 ms "
     "before V, and runs for 200 ms with the deadlines of a short request, before everyone whose "
     "request is longer. Who: any user.",
     "reset\n"
     "fork 0 slice 100ms\n"
     "schedule\n"
     "fork 1 slice 10ms\n"
     "yield\n"
     "block\n"
     "slice 1 0\n"},
    {"delayed-hides-wakeup",
     "a delayed entity with the earliest deadline keeps a wakeup from preempting",
     "a_wakeup_that_wins_preempts", "wakeup_pick", "plain", "dequeues",
     "check_preempt_wakeup_fair() requests a reschedule only if pick_eevdf() returns the woken "
     "entity. It may return a delayed one, which schedule() would only dequeue before it picks "
     "the woken one. No reschedule is requested, and the woken one waits until the request of the "
     "current one ends: up to 100 ms and a tick by its slice, though the current one has had its "
     "share. 7.1 calls pick_next_entity() there, which dequeues. Who: it happens by itself "
     "wherever "
     "tasks sleep while they are not eligible.",
     "reset\n"
     "fork 0\n"
     "fork 1\n"
     "schedule\n"
     "advance 1ns\n"
     "block\n"
     "advance 2ns\n"
     "fork 2\n"},
}};

}  // namespace

std::span<const Divergence> divergences() { return list; }

const Divergence* find_divergence(std::string_view id) {
  for (const Divergence& divergence : list) {
    if (divergence.id == id) return &divergence;
  }
  return nullptr;
}

}  // namespace vlag::spec
