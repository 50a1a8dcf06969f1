// SPDX-License-Identifier: GPL-2.0-only
#include "spec/divergences.h"

#include <array>

namespace vlag::spec {
namespace {

constexpr std::array<Divergence, 13> list = {{
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
    {"default-again-is-a-change",
     "asking for the default slice, or for the policy, that a task has already takes it off the "
     "queue and puts it back",
     "the_default_again_is_neutral", "unchanged", "compared", "recognized",
     "__sched_setscheduler() returns early if nothing changes; for a fair policy it compares "
     "attr->sched_runtime with the task's slice. A task with the default slice asks for 0, which "
     "is "
     "not its length in ns, so each sched_setattr() without a runtime, and each "
     "sched_setscheduler(), dequeues and enqueues it: it goes behind all of the same deadline, "
     "what "
     "it ran ahead is limited (change-forgives-debt), and if it is running its protection is "
     "renewed. Who: any user, without meaning to.",
     "reset\n"
     "fork 0\n"
     "fork 1\n"
     "schedule\n"},
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
    {"parity-own-request",
     "a run is protected for its own request, however short those are that wait",
     "the_shortest_request_ends_a_run", "protection", "request", "shortest",
     "set_protect_slice() stashes the deadline, and protect_slice() holds until update_deadline() "
     "moves it: the whole request of the current one, up to 100 ms, as long as it is eligible. "
     "update_curr() requests a reschedule only then. One that waits with a request of 0.1 ms waits "
     "for all of it, unless it wakes while it is eligible and earlier (PREEMPT_SHORT). 6.17 limits "
     "the protection to the shortest request that is queued (052c3d87c82e), also when one joins "
     "(3a0baa8e6c57), and requests a reschedule at its end (0b9ca2dcabc3); the shortest one is "
     "min_slice, which is stale where min-slice-handover says so. Who: any user, by "
     "asking for a long slice; or whoever competes with one.",
     "reset\n"
     "fork 0 slice 10ms\n"
     "fork 1\n"
     "schedule\n"
     "yield\n"
     "tick 1ms\n",
     "subtree_slice=handed_over"},
    {"no-parity-no-quantum", "without RUN_TO_PARITY a run may end as soon as it has begun",
     "a_run_lasts_for_a_quantum", "protection", "request", "shortest",
     "pick_eevdf() keeps the current one for its protection only if RUN_TO_PARITY is on. Without, "
     "whoever is eligible and has an earlier deadline, or an equal one, takes over at the next "
     "schedule(), after no time at all. 6.17 protects for a default request then (74eec63661d4). "
     "Who: root, by switching off RUN_TO_PARITY, which was advised against long waits.",
     "reset\n"
     "features NO_RUN_TO_PARITY\n"
     "fork 0\n"
     "fork 1\n"
     "schedule\n"
     "schedule\n"},
    {"short-preemption-that-loses",
     "a wakeup with a shorter request takes the protection even if another is picked",
     "a_wakeup_that_loses_leaves_protection", "short_preemption", "before_pick", "if_picked",
     "check_preempt_wakeup_fair() calls cancel_protect_slice() where do_preempt_short() says so, "
     "before it asks pick_eevdf() who would run. If that is a third one no reschedule is "
     "requested, "
     "but the current one has lost its protection, and the next schedule() or a tick at which it "
     "is not eligible ends its run. A comment there says so. 6.17 cancels only for the one that is "
     "picked (9de74a9850b9). Who: it happens by itself among different slices.",
     "reset\n"
     "fork 0 slice 10ms\n"
     "schedule\n"
     "fork 1 policy batch\n"
     "fork 2\n"},
    {"renice-of-a-sleeper", "a change of nice of a task that sleeps may request a reschedule",
     "a_sleeper_asks_for_nothing", "delayed_renice", "preempts", "waits",
     "prio_changed_fair() asks task_on_rq_queued(), which a delayed task is, and goes on to "
     "wakeup_preempt() as if it had woken. If the sleeper would be picked a reschedule is "
     "requested, "
     "only to dequeue it. Harmless but for the switch, and for the protection that a shorter slice "
     "takes. cd9626e9ebc7 taught other users of on_rq the difference. Who: any user, of its own "
     "tasks.",
     "reset\n"
     "fork 0 policy idle\n"
     "fork 1\n"
     "schedule\n"
     "advance 1ns\n"
     "block\n"
     "nice 1 1\n"},
    {"hrtick-of-the-slice",
     "the high-resolution tick is armed for what is left of the slice, not until the deadline",
     "the_high_resolution_tick_ends_the_request", "hrtick", "slice_left", "until_deadline",
     "hrtick_start_fair() arms the timer for slice - (sum_exec_runtime - prev_sum_exec_runtime), "
     "as "
     "CFS did. A request does not start with each pick: a forked task has half of one, one that "
     "was "
     "preempted has what is left. The tick comes after the deadline, or before it. 7.1 computes "
     "the time until the deadline (558c18d3fbb6). Who: HRTICK is off by default.",
     "reset\n"
     "features HRTICK\n"
     "fork 0\n"
     "fork 1\n"
     "schedule\n"},
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
