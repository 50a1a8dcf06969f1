// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel side of vlag: drives the fair class with synthetic tasks and a
 * synthetic clock, and shows its state after every operation.
 *
 * This file is #included at the end of kernel/sched/fair.c, the only hook in
 * that file, so it reaches every static function of the class. Nothing of the
 * class is replaced. Wherever the real caller can be used it is used:
 * wake_up_new_task(), wake_up_process(), set_user_nice(), sched_setattr(),
 * sched_setscheduler(), activate_task() and deactivate_task() are the
 * kernel's own. Only two are re-created, because the originals end in a
 * context switch or start from `current`: the core of __schedule(), and the
 * callers of sched_yield() and yield_to().
 *
 * That is possible because a batch runs on this CPU's own runqueue: with
 * interrupts off, our image of struct rq is swapped in, the operations run,
 * and the kernel's own image is put back bit by bit. So cpu_rq(), task_rq()
 * and this_rq() all mean the queue under test.
 *
 * Time is rq->clock, moved by operations only: RQCF_ACT_SKIP turns
 * update_rq_clock() into nothing. The high resolution tick is a number: this
 * object is compiled with hrtick_start renamed to vlag_hrtick_start below.
 */
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include <kern_util.h>
#include <os.h>

/* A field name of the wire; the running kernel thread is no concern of this file. */
#undef current
#include "wire.h"
#include "vlag_build.h" /* written by build.sh: VLAG_RELEASE, VLAG_HAS_... */

/* Names that later trees changed. The wire has one name for each. */
#ifdef VLAG_HAS_CFS_RQ_SUM_W_VRUNTIME
#define vlag_sum_w_vruntime(cfs_rq) ((cfs_rq)->sum_w_vruntime)
#define vlag_sum_weight(cfs_rq) ((cfs_rq)->sum_weight)
#else
#define vlag_sum_w_vruntime(cfs_rq) ((cfs_rq)->avg_vruntime)
#define vlag_sum_weight(cfs_rq) ((cfs_rq)->avg_load)
#endif
#ifdef VLAG_HAS_CFS_RQ_NR_QUEUED
#define vlag_nr_queued(cfs_rq) ((cfs_rq)->nr_queued)
#else
#define vlag_nr_queued(cfs_rq) ((cfs_rq)->nr_running)
#endif
#ifdef VLAG_HAS_CFS_RQ_H_NR_IDLE
#define vlag_h_nr_idle(cfs_rq) ((cfs_rq)->h_nr_idle)
#else
#define vlag_h_nr_idle(cfs_rq) ((cfs_rq)->idle_h_nr_running)
#endif
#ifdef VLAG_HAS_CFS_RQ_H_NR_DELAYED
#define vlag_h_nr_delayed(cfs_rq) ((cfs_rq)->h_nr_delayed)
#else
#define vlag_h_nr_delayed(cfs_rq) ((cfs_rq)->h_nr_queued - (cfs_rq)->h_nr_runnable)
#endif

static struct task_struct *vlag_tasks; /* VLAG_MAX_TASKS and then the idle task */
static struct task_struct *vlag_idle;
static DECLARE_BITMAP(vlag_live, VLAG_MAX_TASKS);

static struct {
	struct rq rq;
	unsigned int features;
	unsigned int base_slice;
} vlag_ours, vlag_theirs;

static unsigned int vlag_default_features;
static unsigned int vlag_default_base_slice;

static struct hrtimer_cpu_base vlag_timer_cpu; /* says that high resolution is on */
static struct hrtimer_clock_base vlag_timer_base;
static u64 vlag_hrtick_expiry; /* 0: not armed */

static void vlag_borrow_cpu(void)
{
	struct rq *rq = this_rq();

	vlag_theirs.rq = *rq;
	vlag_theirs.features = sysctl_sched_features;
	vlag_theirs.base_slice = sysctl_sched_base_slice;
	*rq = vlag_ours.rq;
	sysctl_sched_features = vlag_ours.features;
	sysctl_sched_base_slice = vlag_ours.base_slice;
}

static void vlag_return_cpu(void)
{
	struct rq *rq = this_rq();

	vlag_ours.rq = *rq;
	vlag_ours.features = sysctl_sched_features;
	vlag_ours.base_slice = sysctl_sched_base_slice;
	*rq = vlag_theirs.rq;
	sysctl_sched_features = vlag_theirs.features;
	sysctl_sched_base_slice = vlag_theirs.base_slice;
}

/* ------------------------------------------------- the high resolution tick */

/* hrtick_start() of core.c with a number for the timer. */
void vlag_hrtick_start(struct rq *rq, u64 delay)
{
	vlag_hrtick_expiry = rq->clock + max_t(u64, delay, 10000LL);
	rq->hrtick_timer.state = HRTIMER_STATE_ENQUEUED;
}

static void vlag_hrtick_clear(struct rq *rq)
{
	vlag_hrtick_expiry = 0;
	rq->hrtick_timer.state = HRTIMER_STATE_INACTIVE;
}

static void vlag_hrtick_expire(struct rq *rq)
{
	if (rq->clock < vlag_hrtick_expiry)
		rq->clock = rq->clock_task = vlag_hrtick_expiry;
	vlag_hrtick_clear(rq);
	rq->curr->sched_class->task_tick(rq, rq->curr, 1);
}

/* -------------------------------------------------------------------- tasks */

static int __init vlag_allocate_tasks(void)
{
	int i;

	vlag_tasks = kvcalloc(VLAG_MAX_TASKS + 1, sizeof(*vlag_tasks), GFP_KERNEL);
	if (!vlag_tasks)
		return -ENOMEM;
	vlag_idle = &vlag_tasks[VLAG_MAX_TASKS];

	for (i = 0; i <= VLAG_MAX_TASKS; i++) {
		struct task_struct *p = &vlag_tasks[i];

		/* ->signal, ->cgroups, masks, ... are dereferenced: share init's */
		memcpy(p, &init_task, sizeof(*p));
		p->flags &= ~PF_IDLE;
		p->pid = p->tgid = i; /* so that an entity knows its id */
		raw_spin_lock_init(&p->pi_lock);
#ifndef CONFIG_THREAD_INFO_IN_TASK
		p->stack = kzalloc(sizeof(struct thread_info), GFP_KERNEL);
		if (!p->stack)
			return -ENOMEM;
#endif
	}
	vlag_idle->pid = vlag_idle->tgid = VLAG_NO_ENTITY;
	vlag_idle->flags |= PF_IDLE;
	return 0;
}

/* As __sched_fork() leaves it, but nothing is inherited. */
static void vlag_init_task(struct task_struct *p, int policy, int nice)
{
	memset(&p->se, 0, sizeof(p->se));
	INIT_LIST_HEAD(&p->se.group_node);
	p->on_rq = 0;
	p->policy = policy;
	p->prio = p->static_prio = p->normal_prio = NICE_TO_PRIO(nice);
	p->sched_class = p == vlag_idle ? &idle_sched_class : &fair_sched_class;
	p->se.slice = sysctl_sched_base_slice;
	set_task_rq(p, 0);
	set_load_weight(p, false);
	init_entity_runnable_average(&p->se);
	clear_tsk_need_resched(p);
}

/* The live task with that id, or NULL. */
static struct task_struct *vlag_find(u16 id)
{
	if (id >= VLAG_MAX_TASKS || !test_bit(id, vlag_live))
		return NULL;
	return &vlag_tasks[id];
}

static int vlag_id(const struct sched_entity *se)
{
	return se ? container_of(se, struct task_struct, se)->pid : VLAG_NO_ENTITY;
}

static int vlag_node_id(const struct rb_node *node)
{
	return node ? vlag_id(__node_2_se(node)) : VLAG_NO_ENTITY;
}

static void vlag_set_current(struct rq *rq, struct task_struct *p)
{
	rcu_assign_pointer(rq->curr, p);
#ifdef VLAG_HAS_RQ_DONOR
	rcu_assign_pointer(rq->donor, p);
#endif
}

/* The parts of sched_init() and init_idle() that the fair class looks at. */
static void vlag_reset(struct rq *rq, const struct vlag_operation *op)
{
	sysctl_sched_features = vlag_default_features;
	sysctl_sched_base_slice = vlag_default_base_slice;
	bitmap_zero(vlag_live, VLAG_MAX_TASKS);

	rq->nr_running = 0;
	rq->clock = rq->clock_task = op->arg;
	memset(&rq->cfs, 0, sizeof(rq->cfs));
	init_cfs_rq(&rq->cfs);
#ifdef CONFIG_FAIR_GROUP_SCHED
	INIT_LIST_HEAD(&rq->leaf_cfs_rq_list);
	rq->tmp_alone_branch = &rq->leaf_cfs_rq_list;
	init_tg_cfs_entry(&root_task_group, &rq->cfs, NULL, cpu_of(rq), NULL);
#endif
	if (op->value)
		rq->cfs.zero_vruntime = op->extra;

	/* A deadline server without runtime never starts. */
	memset(&rq->fair_server, 0, sizeof(rq->fair_server));
	rq->fair_server.dl_server = 1;
	rq->fair_server.rq = rq;

	vlag_hrtick_clear(rq);
	vlag_init_task(vlag_idle, SCHED_NORMAL, 0);
	vlag_idle->on_rq = TASK_ON_RQ_QUEUED;
	rq->idle = vlag_idle;
	vlag_set_current(rq, vlag_idle);
}

/* --------------------------------------------------------------- operations */

/*
 * __schedule(): @dequeue_flags is what try_to_block_task() would pass, or 0
 * when the current task stays runnable.
 */
static void vlag_schedule(struct rq *rq, int dequeue_flags)
{
	struct task_struct *prev = rq->curr, *next;

	if (sched_feat(HRTICK) || sched_feat(HRTICK_DL))
		vlag_hrtick_clear(rq);

	rq->clock_update_flags = RQCF_ACT_SKIP;
	if (dequeue_flags && dequeue_task(rq, prev, dequeue_flags | DEQUEUE_NOCLOCK))
		__block_task(rq, prev);

	/* __pick_next_task() when all tasks are fair; no balancing: one CPU */
	rq->dl_server = NULL;
	next = pick_next_task_fair(rq, prev, NULL);
	if (!next) {
		next = rq->idle;
		put_prev_set_next_task(rq, prev, next);
	}

	clear_tsk_need_resched(prev);
	if (prev != next)
		vlag_set_current(rq, next);
}

static void vlag_fork(const struct vlag_operation *op)
{
	struct task_struct *p = &vlag_tasks[op->id];

	vlag_init_task(p, op->flags, op->value);
	if (op->arg) {
		p->se.custom_slice = 1;
		p->se.slice = op->arg;
	}
	__set_bit(op->id, vlag_live);
	wake_up_new_task(p);
}

static void vlag_wake(struct task_struct *p)
{
	/*
	 * Also when it is on the queue: a task that was preempted between
	 * set_current_state() and schedule() is woken just like this.
	 */
	WRITE_ONCE(p->__state, TASK_INTERRUPTIBLE);
	wake_up_process(p);
}

static void vlag_exit(struct rq *rq)
{
	struct task_struct *p = rq->curr;

	vlag_schedule(rq, DEQUEUE_SLEEP | DEQUEUE_SPECIAL);
	if (p->sched_class->task_dead)
		p->sched_class->task_dead(p);
	__clear_bit(p->pid, vlag_live);
}

/* attach_task() */
static void vlag_enqueue(struct rq *rq, struct task_struct *p)
{
	activate_task(rq, p, ENQUEUE_NOCLOCK);
	wakeup_preempt(rq, p, 0);
}

static void vlag_pass(struct rq *rq, u64 ns)
{
	rq->clock += ns;
	rq->clock_task += ns;
}

static void vlag_slice(struct task_struct *p, u64 runtime)
{
	const struct sched_attr attr = {
		.sched_policy = p->policy,
		.sched_nice = task_nice(p),
		.sched_runtime = runtime,
	};

	sched_setattr_nocheck(p, &attr);
}

static void vlag_policy(struct task_struct *p, int policy)
{
	const struct sched_param param = { .sched_priority = 0 };

	sched_setscheduler_nocheck(p, policy, &param);
}

static bool vlag_policy_valid(int policy)
{
	return policy == SCHED_NORMAL || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

static bool vlag_nice_valid(s32 nice)
{
	return nice >= MIN_NICE && nice <= MAX_NICE;
}

/* A child's slice was set by sched_setattr() on its parent, which clamps. */
static bool vlag_inherited_slice_valid(u64 slice)
{
	return !slice || (slice >= NSEC_PER_MSEC / 10 && slice <= 100 * NSEC_PER_MSEC);
}

/* Whether the operation can happen now; spec/legal.h says the same. */
static bool vlag_legal(struct rq *rq, const struct vlag_operation *op)
{
	struct task_struct *p = vlag_find(op->id);
	const bool busy = rq->curr != rq->idle;
	const bool here = p && !task_on_rq_migrating(p);

	switch (op->code) {
	case VLAG_RESET:
	case VLAG_SCHEDULE:
		return true;
	case VLAG_FEATURES:
		return !(op->extra >> __SCHED_FEAT_NR);
	case VLAG_TUNABLE:
		return op->id == VLAG_BASE_SLICE && op->arg >= NSEC_PER_MSEC / 10 &&
		       op->arg <= NSEC_PER_SEC;
	case VLAG_FORK:
		return op->id < VLAG_MAX_TASKS && !p && vlag_nice_valid(op->value) &&
		       vlag_policy_valid(op->flags) && vlag_inherited_slice_valid(op->arg);
	case VLAG_WAKE:
		return here;
	case VLAG_BLOCK:
	case VLAG_EXIT:
	case VLAG_YIELD:
		return busy;
	case VLAG_DEQUEUE:
		return p && task_on_rq_queued(p) && p != rq->curr;
	case VLAG_ENQUEUE:
		return p && task_on_rq_migrating(p);
	case VLAG_TICK:
	case VLAG_ADVANCE:
		return op->arg <= 1ULL << 54;
	case VLAG_NICE:
		return here && vlag_nice_valid(op->value);
	case VLAG_SLICE:
		return here && op->arg <= S64_MAX;
	case VLAG_POLICY:
		return here && vlag_policy_valid(op->flags);
	case VLAG_YIELD_TO:
		return busy && p && task_on_rq_queued(p) && !p->se.sched_delayed &&
		       p != rq->curr;
	case VLAG_HRTICK:
		return busy && vlag_hrtick_expiry;
	}
	return false;
}

static int vlag_apply(struct rq *rq, const struct vlag_operation *op)
{
	struct task_struct *p = vlag_find(op->id);

	if (!vlag_legal(rq, op))
		return -EINVAL;

	rq->clock_update_flags = RQCF_ACT_SKIP;
	switch (op->code) {
	case VLAG_RESET:
		vlag_reset(rq, op);
		break;
	case VLAG_FEATURES:
		sysctl_sched_features &= ~op->extra;
		sysctl_sched_features |= op->arg & op->extra;
		break;
	case VLAG_TUNABLE:
		sysctl_sched_base_slice = op->arg;
		break;
	case VLAG_FORK:
		vlag_fork(op);
		break;
	case VLAG_WAKE:
		vlag_wake(p);
		break;
	case VLAG_BLOCK:
		vlag_schedule(rq, DEQUEUE_SLEEP |
				  (op->flags & VLAG_SPECIAL ? DEQUEUE_SPECIAL : 0));
		break;
	case VLAG_EXIT:
		vlag_exit(rq);
		break;
	case VLAG_DEQUEUE: /* detach_task() */
		deactivate_task(rq, p, DEQUEUE_NOCLOCK);
		break;
	case VLAG_ENQUEUE:
		vlag_enqueue(rq, p);
		break;
	case VLAG_TICK: /* sched_tick() */
		vlag_pass(rq, op->arg);
		rq->curr->sched_class->task_tick(rq, rq->curr, 0);
		break;
	case VLAG_ADVANCE:
		vlag_pass(rq, op->arg);
		break;
	case VLAG_SCHEDULE:
		vlag_schedule(rq, 0);
		break;
	case VLAG_NICE:
		set_user_nice(p, op->value);
		break;
	case VLAG_SLICE:
		vlag_slice(p, op->arg);
		break;
	case VLAG_POLICY:
		vlag_policy(p, op->flags);
		break;
	case VLAG_YIELD: /* do_sched_yield() */
		rq->curr->sched_class->yield_task(rq);
		vlag_schedule(rq, 0);
		break;
	case VLAG_YIELD_TO: /* yield_to() */
		if (rq->curr->sched_class->yield_to_task(rq, p))
			vlag_schedule(rq, 0);
		break;
	case VLAG_HRTICK: /* hrtick() */
		vlag_hrtick_expire(rq);
		break;
	}
	return 0;
}

/* -------------------------------------------------------------------- dumps */

/*
 * One getter for each field of wire.h; the records are filled by walking its
 * lists, so a field without a getter does not compile.
 */
#define VLAG_FILL_HEAD(type, name) record->name = vlag_get_head_##name;
#define VLAG_FILL_QUEUE(type, name) record->name = vlag_get_queue_##name;
#define VLAG_FILL_ENTITY(type, name) record->name = vlag_get_entity_##name;

#define vlag_get_head_clock rq_clock_task(rq)
#define vlag_get_head_hrtick vlag_hrtick_expiry
#define vlag_get_head_result result
#define vlag_get_head_current rq->curr->pid
#define vlag_get_head_need_resched test_tsk_need_resched(rq->curr)
#define vlag_get_head_entities bitmap_weight(vlag_live, VLAG_MAX_TASKS)

static void vlag_dump_head(struct rq *rq, int result, struct vlag_head *record)
{
	VLAG_HEAD_FIELDS(VLAG_FILL_HEAD)
}

/* V, without its side effect: avg_vruntime() moves zero_vruntime. */
static u64 vlag_average(struct cfs_rq *cfs_rq)
{
	const u64 zero_vruntime = cfs_rq->zero_vruntime;
	const s64 sum = vlag_sum_w_vruntime(cfs_rq);
	const u64 average = avg_vruntime(cfs_rq);

	cfs_rq->zero_vruntime = zero_vruntime;
	vlag_sum_w_vruntime(cfs_rq) = sum;
	return average;
}

#define vlag_get_queue_load cfs_rq->load.weight
#define vlag_get_queue_sum_w_vruntime vlag_sum_w_vruntime(cfs_rq)
#define vlag_get_queue_sum_weight vlag_sum_weight(cfs_rq)
#define vlag_get_queue_zero_vruntime cfs_rq->zero_vruntime
#define vlag_get_queue_average vlag_average(cfs_rq)
#define vlag_get_queue_nr_running vlag_nr_queued(cfs_rq)
#define vlag_get_queue_h_nr_queued cfs_rq->h_nr_queued
#define vlag_get_queue_h_nr_runnable cfs_rq->h_nr_runnable
#define vlag_get_queue_h_nr_delayed vlag_h_nr_delayed(cfs_rq)
#define vlag_get_queue_idle_h_nr_running vlag_h_nr_idle(cfs_rq)
#define vlag_get_queue_rq_nr_running rq->nr_running
#define vlag_get_queue_curr vlag_id(cfs_rq->curr)
#define vlag_get_queue_next vlag_id(cfs_rq->next)
#define vlag_get_queue_root vlag_node_id(cfs_rq->tasks_timeline.rb_root.rb_node)
#define vlag_get_queue_leftmost vlag_node_id(cfs_rq->tasks_timeline.rb_leftmost)

static void vlag_dump_queue(struct rq *rq, struct vlag_queue *record)
{
	struct cfs_rq *cfs_rq = &rq->cfs;

	VLAG_QUEUE_FIELDS(VLAG_FILL_QUEUE)
}

static u32 vlag_entity_flags(const struct task_struct *p, bool in_timeline)
{
	const struct sched_entity *se = &p->se;
	u32 flags = (u32)p->policy << VLAG_POLICY_SHIFT;

	if (se->on_rq)
		flags |= VLAG_ON_RQ;
	if (se->sched_delayed)
		flags |= VLAG_DELAYED;
	if (se->rel_deadline)
		flags |= VLAG_REL_DEADLINE;
	if (se->custom_slice)
		flags |= VLAG_CUSTOM_SLICE;
	if (p->on_rq == TASK_ON_RQ_QUEUED)
		flags |= VLAG_TASK_QUEUED;
	if (p->on_rq == TASK_ON_RQ_MIGRATING)
		flags |= VLAG_TASK_MIGRATING;
	if (in_timeline)
		flags |= VLAG_IN_TIMELINE | (rb_is_red(&se->run_node) ? VLAG_RED : 0);
	return flags;
}

/* Outside the timeline the node and the subtree's minima are stale. */
#define vlag_get_entity_vruntime se->vruntime
#define vlag_get_entity_deadline se->deadline
#define vlag_get_entity_vlag se->vlag
#define vlag_get_entity_slice se->slice
#define vlag_get_entity_weight se->load.weight
#define vlag_get_entity_exec_start se->exec_start
#define vlag_get_entity_sum_exec_runtime se->sum_exec_runtime
#define vlag_get_entity_prev_sum_exec_runtime se->prev_sum_exec_runtime
#define vlag_get_entity_min_vruntime (in_timeline ? se->min_vruntime : 0)
#define vlag_get_entity_min_slice (in_timeline ? se->min_slice : 0)
#define vlag_get_entity_inv_weight se->load.inv_weight
#define vlag_get_entity_id p->pid
#define vlag_get_entity_left vlag_node_id(in_timeline ? se->run_node.rb_left : NULL)
#define vlag_get_entity_right vlag_node_id(in_timeline ? se->run_node.rb_right : NULL)
#define vlag_get_entity_nice PRIO_TO_NICE(p->static_prio)
#define vlag_get_entity_flags vlag_entity_flags(p, in_timeline)

static void vlag_dump_entity(struct rq *rq, const struct task_struct *p,
			     struct vlag_entity *record)
{
	const struct sched_entity *se = &p->se;
	const bool in_timeline = se->on_rq && rq->cfs.curr != se;

	VLAG_ENTITY_FIELDS(VLAG_FILL_ENTITY)
}

#define VLAG_DUMP_MAX (sizeof(struct vlag_head) + sizeof(struct vlag_queue) + \
		       VLAG_MAX_TASKS * sizeof(struct vlag_entity))

/* Ensures: the return value is past what was written, at most VLAG_DUMP_MAX bytes. */
static void *vlag_dump(struct rq *rq, int result, void *out)
{
	struct vlag_entity *entity;
	unsigned int id;

	rq->clock_update_flags = RQCF_ACT_SKIP;
	vlag_dump_head(rq, result, out);
	out += sizeof(struct vlag_head);
	vlag_dump_queue(rq, out);
	out += sizeof(struct vlag_queue);

	entity = out;
	for_each_set_bit(id, vlag_live, VLAG_MAX_TASKS)
		vlag_dump_entity(rq, &vlag_tasks[id], entity++);
	return entity;
}

/* ---------------------------------------------------------------- transport */

#define VLAG_CHUNK (256 << 10)

static int vlag_in = -1, vlag_out = -1;
static struct vlag_operation *vlag_operations; /* VLAG_MAX_REQUEST of them */
static void *vlag_chunk; /* a vlag_reply, records, room for one more dump and an end mark */
static void *vlag_end; /* of the records in it */
static u32 vlag_serial;
static bool vlag_broken; /* the host went away */

static int __init vlag_setup(char *argument)
{
	return sscanf(argument, "%d,%d", &vlag_in, &vlag_out) == 2;
}
__setup("vlag=", vlag_setup);

static bool vlag_read(void *to, size_t bytes)
{
	while (bytes) {
		int n = os_read_file(vlag_in, to, bytes);

		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n <= 0)
			return false;
		to += n;
		bytes -= n;
	}
	return true;
}

static void vlag_write(const void *from, size_t bytes)
{
	while (bytes && !vlag_broken) {
		int n = os_write_file(vlag_out, from, bytes);

		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n <= 0) {
			vlag_broken = true;
			break;
		}
		from += n;
		bytes -= n;
	}
}

static void vlag_start_chunk(void)
{
	vlag_end = vlag_chunk + sizeof(struct vlag_reply);
}

static size_t vlag_pending(void)
{
	return vlag_end - vlag_chunk - sizeof(struct vlag_reply);
}

/* @last: no more records belong to this request. */
static void vlag_flush(bool last)
{
	struct vlag_reply *reply = vlag_chunk;

	reply->serial = vlag_serial;
	reply->bytes = vlag_pending();
	if (last && reply->bytes) {
		reply = vlag_end;
		reply->serial = vlag_serial;
		reply->bytes = 0;
		vlag_end += sizeof(*reply);
	}
	vlag_write(vlag_chunk, vlag_end - vlag_chunk);
	vlag_start_chunk();
}

/* What was seen before a WARN or a BUG is part of the answer. */
static int vlag_panic(struct notifier_block *self, unsigned long event, void *data)
{
	if (vlag_end && vlag_pending())
		vlag_flush(false);
	return NOTIFY_DONE;
}

static struct notifier_block vlag_panic_notifier = {
	.notifier_call = vlag_panic,
	.priority = INT_MAX,
};

/* Interrupts stay off: nobody else may see the CPU while it is borrowed. */
static void vlag_run(const struct vlag_request *request)
{
	struct rq *rq = this_rq();
	unsigned long flags;
	u32 i;

	vlag_serial = request->serial;
	vlag_start_chunk();
	local_irq_save(flags);
	vlag_borrow_cpu();
	for (i = 0; i < request->operations && !vlag_broken; i++) {
		int result = vlag_apply(rq, &vlag_operations[i]);

		if (request->dump == VLAG_DUMP_LAST && i + 1 < request->operations)
			continue;
		vlag_end = vlag_dump(rq, result, vlag_end);
		if (vlag_pending() >= VLAG_CHUNK)
			vlag_flush(false);
	}
	vlag_return_cpu();
	local_irq_restore(flags);
	vlag_flush(true);
}

static const char vlag_feature_names[] =
#define SCHED_FEAT(name, enabled) #name " "
#include "features.h"
#undef SCHED_FEAT
	;

static void __init vlag_say_hello(void)
{
	const struct vlag_hello hello = {
		.magic = VLAG_MAGIC,
		.protocol = VLAG_PROTOCOL,
		.hz = HZ,
		.tick_nsec = TICK_NSEC,
		.base_slice = vlag_default_base_slice,
		.features = vlag_default_features,
		.groups = IS_ENABLED(CONFIG_FAIR_GROUP_SCHED),
		.max_tasks = VLAG_MAX_TASKS,
		.operation_bytes = sizeof(struct vlag_operation),
		.head_bytes = sizeof(struct vlag_head),
		.queue_bytes = sizeof(struct vlag_queue),
		.entity_bytes = sizeof(struct vlag_entity),
		.release = VLAG_RELEASE,
		.max_request = VLAG_MAX_REQUEST,
		.names_bytes = sizeof(vlag_feature_names) - 2, /* last blank, NUL */
	};

	BUILD_BUG_ON(sizeof(VLAG_RELEASE) > sizeof(hello.release));
	vlag_write(&hello, sizeof(hello));
	vlag_write(vlag_feature_names, hello.names_bytes);
}

/* Ensures: our image of the CPU is what the kernel's is now, with our timer and a reset queue. */
static void __init vlag_prepare_cpu(void)
{
	const struct vlag_operation reset = { .code = VLAG_RESET };
	unsigned long flags;

	vlag_timer_cpu.hres_active = 1;
	vlag_timer_base.cpu_base = &vlag_timer_cpu;

	local_irq_save(flags);
	vlag_default_features = vlag_ours.features = sysctl_sched_features;
	vlag_default_base_slice = vlag_ours.base_slice = sysctl_sched_base_slice;
	vlag_ours.rq = *this_rq();
	vlag_ours.rq.hrtick_timer.base = &vlag_timer_base;
	vlag_borrow_cpu();
	vlag_apply(this_rq(), &reset);
	vlag_return_cpu();
	local_irq_restore(flags);
}

static bool __init vlag_prepare(void)
{
	vlag_operations = kvcalloc(VLAG_MAX_REQUEST, sizeof(*vlag_operations), GFP_KERNEL);
	vlag_chunk = kvzalloc(VLAG_CHUNK + VLAG_DUMP_MAX + 2 * sizeof(struct vlag_reply),
			      GFP_KERNEL);
	if (!vlag_operations || !vlag_chunk || vlag_allocate_tasks())
		return false;
	vlag_prepare_cpu();
	atomic_notifier_chain_register(&panic_notifier_list, &vlag_panic_notifier);
	return true;
}

/* Without vlag=IN,OUT this is an ordinary kernel. With it, nothing boots after this. */
static int __init vlag_main(void)
{
	struct vlag_request request;

	if (vlag_in < 0)
		return 0;
	if (!vlag_prepare())
		panic("vlag: out of memory");

	vlag_say_hello();
	while (!vlag_broken && vlag_read(&request, sizeof(request)) && request.operations) {
		if (request.magic != VLAG_MAGIC || request.operations > VLAG_MAX_REQUEST)
			panic("vlag: not a request");
		if (!vlag_read(vlag_operations, request.operations * sizeof(*vlag_operations)))
			break;
		vlag_run(&request);
	}
	kernel_power_off();
	return 0;
}
fs_initcall(vlag_main); /* while the console on stderr still exists */
