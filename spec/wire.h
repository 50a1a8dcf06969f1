/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fixed binary records of vlag: operations in, observations out.
 *
 * Plain C, little endian, no padding holes: this one file is compiled into the
 * kernel under test and into vlag, so both sides speak of the same fields. The
 * field lists are macros because every consumer (the kernel's dumper, the
 * model's dumper, the comparison, the printers) must walk the same list: a
 * field that is added here is dumped, compared and printed everywhere or the
 * build fails.
 *
 * Units: clock, exec_start, slice, *_exec_runtime are ns of task clock;
 * vruntime, deadline, zero_vruntime, average, vlag are weighted ns, modulo
 * 2^64; weight and load are the kernel's scaled weights (nice 0 = 1 << 20).
 */
#ifndef VLAG_SPEC_WIRE_H
#define VLAG_SPEC_WIRE_H

#ifdef __KERNEL__
#include <linux/types.h>
typedef __u8 vlag_u8;
typedef __u16 vlag_u16;
typedef __u32 vlag_u32;
typedef __u64 vlag_u64;
typedef __s32 vlag_s32;
typedef __s64 vlag_s64;
#else
#include <stdint.h>
typedef uint8_t vlag_u8;
typedef uint16_t vlag_u16;
typedef uint32_t vlag_u32;
typedef uint64_t vlag_u64;
typedef int32_t vlag_s32;
typedef int64_t vlag_s64;
#endif

#define VLAG_MAGIC 0x31474c56u /* "VLG1" */
#define VLAG_PROTOCOL 1u
#define VLAG_MAX_TASKS 256 /* task ids are 0 .. VLAG_MAX_TASKS - 1 */
#define VLAG_MAX_OPERATIONS (1 << 20) /* in one sequence */
#define VLAG_MAX_REQUEST 16384 /* operations in one request; a longer sequence is split */
#define VLAG_NO_ENTITY (-1) /* idle, no buddy, no child */

/* Operations. Their text forms, ranges and legality: spec/sequence.h, spec/legal.h. */
enum vlag_code {
	VLAG_RESET, /* arg: clock; value != 0: zero_vruntime is `extra` */
	VLAG_FEATURES, /* extra: bits to touch; arg: their values (kernel bit numbers on the wire) */
	VLAG_TUNABLE, /* id: enum vlag_tunable; arg: value */
	VLAG_FORK, /* id; value: nice; flags: policy; arg: custom slice or 0 */
	VLAG_WAKE, /* id */
	VLAG_BLOCK, /* flags & VLAG_SPECIAL */
	VLAG_EXIT,
	VLAG_DEQUEUE, /* id: migration away */
	VLAG_ENQUEUE, /* id: migration back */
	VLAG_TICK, /* arg: ns that pass before the tick */
	VLAG_ADVANCE, /* arg: ns */
	VLAG_SCHEDULE,
	VLAG_NICE, /* id; value */
	VLAG_SLICE, /* id; arg: sched_runtime as given to sched_setattr */
	VLAG_POLICY, /* id; flags: policy */
	VLAG_YIELD,
	VLAG_YIELD_TO, /* id */
	VLAG_HRTICK, /* the armed timer expires */
	VLAG_CODES
};

#define VLAG_SPECIAL 1 /* flags of VLAG_BLOCK: DEQUEUE_SPECIAL */

enum vlag_policy { VLAG_NORMAL = 0, VLAG_BATCH = 3, VLAG_IDLE = 5 }; /* the kernel's SCHED_* */

enum vlag_tunable { VLAG_BASE_SLICE, VLAG_TUNABLES };

struct vlag_operation {
	vlag_u8 code;
	vlag_u8 flags;
	vlag_u16 id;
	vlag_s32 value;
	vlag_u64 arg;
	vlag_u64 extra;
};

/* One per operation, followed by one vlag_queue and `entities` times vlag_entity. */
#define VLAG_HEAD_FIELDS(X)                                                   \
	X(vlag_u64, clock)                                                    \
	X(vlag_u64, hrtick) /* absolute expiry, 0 when not armed */           \
	X(vlag_s32, result) /* 0, or -EINVAL: refused, nothing changed */     \
	X(vlag_s32, current) /* task id or VLAG_NO_ENTITY: the idle task */   \
	X(vlag_u32, need_resched)                                             \
	X(vlag_u32, entities)

/* rq->cfs. `average` is V = avg_vruntime(), read without its side effect. */
#define VLAG_QUEUE_FIELDS(X)                                                  \
	X(vlag_u64, load)                                                     \
	X(vlag_s64, sum_w_vruntime) /* cfs_rq->avg_vruntime in 6.12 */        \
	X(vlag_u64, sum_weight) /* cfs_rq->avg_load in 6.12 */                \
	X(vlag_u64, zero_vruntime)                                            \
	X(vlag_u64, average)                                                  \
	X(vlag_u32, nr_running)                                               \
	X(vlag_u32, h_nr_queued)                                              \
	X(vlag_u32, h_nr_runnable)                                            \
	X(vlag_u32, h_nr_delayed)                                             \
	X(vlag_u32, idle_h_nr_running)                                        \
	X(vlag_u32, rq_nr_running) /* rq->nr_running */                       \
	X(vlag_s32, curr)                                                     \
	X(vlag_s32, next)                                                     \
	X(vlag_s32, root) /* of the timeline */                               \
	X(vlag_s32, leftmost) /* as cached */

/* One per live task, by rising id. Unless in the timeline left and right are VLAG_NO_ENTITY, red and
 * min_* are 0. */
#define VLAG_ENTITY_FIELDS(X)                                                 \
	X(vlag_u64, vruntime)                                                 \
	X(vlag_u64, deadline)                                                 \
	X(vlag_s64, vlag)                                                     \
	X(vlag_u64, slice)                                                    \
	X(vlag_u64, weight)                                                   \
	X(vlag_u64, exec_start)                                               \
	X(vlag_u64, sum_exec_runtime)                                         \
	X(vlag_u64, prev_sum_exec_runtime)                                    \
	X(vlag_u64, min_vruntime)                                             \
	X(vlag_u64, min_slice)                                                \
	X(vlag_u32, inv_weight)                                               \
	X(vlag_s32, id)                                                       \
	X(vlag_s32, left)                                                     \
	X(vlag_s32, right)                                                    \
	X(vlag_s32, nice)                                                     \
	X(vlag_u32, flags) /* VLAG_ON_RQ ... */

enum vlag_entity_flags {
	VLAG_ON_RQ = 1, /* se->on_rq */
	VLAG_DELAYED = 2, /* se->sched_delayed */
	VLAG_REL_DEADLINE = 4,
	VLAG_CUSTOM_SLICE = 8,
	VLAG_TASK_QUEUED = 16, /* p->on_rq == TASK_ON_RQ_QUEUED */
	VLAG_TASK_MIGRATING = 32, /* p->on_rq == TASK_ON_RQ_MIGRATING */
	VLAG_IN_TIMELINE = 64, /* on_rq and not current */
	VLAG_RED = 128, /* colour of the node */
	VLAG_POLICY_SHIFT = 8, /* bits 8..15: enum vlag_policy */
};

#define VLAG_DECLARE(type, name) type name;
struct vlag_head {
	VLAG_HEAD_FIELDS(VLAG_DECLARE)
};
struct vlag_queue {
	VLAG_QUEUE_FIELDS(VLAG_DECLARE)
};
struct vlag_entity {
	VLAG_ENTITY_FIELDS(VLAG_DECLARE)
};

/* The transport. First the kernel says vlag_hello and `names_bytes` of text: the names
 * of its scheduler features by bit number, separated by one blank. Then each request is
 * answered, in order: any number of vlag_reply with records, the last with `bytes` == 0.
 * State lasts from one request to the next until VLAG_RESET. A request with
 * `operations` == 0 asks the kernel to power off. */
struct vlag_hello {
	vlag_u32 magic;
	vlag_u32 protocol;
	vlag_u32 hz;
	vlag_u32 tick_nsec;
	vlag_u64 base_slice;
	vlag_u64 features; /* bits that are on by default */
	vlag_u32 groups; /* CONFIG_FAIR_GROUP_SCHED */
	vlag_u32 max_tasks;
	vlag_u32 operation_bytes; /* sizeof each record, as that compiler lays it out */
	vlag_u32 head_bytes;
	vlag_u32 queue_bytes;
	vlag_u32 entity_bytes;
	char release[64]; /* NUL-terminated, as given when the kernel was built */
	vlag_u32 max_request;
	vlag_u32 names_bytes;
};

enum vlag_dump { VLAG_DUMP_EACH, VLAG_DUMP_LAST };

struct vlag_request {
	vlag_u32 magic;
	vlag_u32 operations; /* that many vlag_operation follow; 0: power off */
	vlag_u32 dump; /* enum vlag_dump */
	vlag_u32 serial;
};

struct vlag_reply {
	vlag_u32 serial;
	vlag_u32 bytes; /* of records that follow; 0 ends the answer */
};

#endif
