/* The traced process as the plugin knows it, and its threads.
 *
 * A process of its own for every execve; a child after fork begins as a copy. Threads begin when
 * they run their first block and end with the exit system call; the recorder completes those that
 * did not end in order.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_PROCESS_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_PROCESS_H

#include "runtime/qemu_plugin/block_table.h"
#include "runtime/qemu_plugin/clock.h"
#include "runtime/qemu_plugin/code_map.h"
#include "runtime/qemu_plugin/order.h"
#include "runtime/qemu_plugin/ring.h"
#include "runtime/qemu_plugin/sideband.h"
#include "runtime/qemu_plugin/signal_frame.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

enum {
    PROCESS_NAME_SIZE = 16, /* TASK_COMM_LEN */
    THREAD_CALLS = 1 << 16, /* calls in progress that are remembered of a thread: the innermost */
    THREAD_HANDLERS = 64,   /* handlers that have not returned, likewise; there are 64 signals */
};

struct process {
    struct sideband log;
    struct code_map code;
    struct block_table blocks;
    struct signal_handlers handlers;
    struct order order;
    char directory[PATH_MAX], control_path[PATH_MAX];
    char name[PROCESS_NAME_SIZE];
    uint64_t guest_base;
    bool guest_base_known;
    bool registers_checked, registers_usable;
    bool execed;        /* begun by execve of a traced process, at exec_time */
    uint64_t exec_time; /* ticks */
    bool untraced;      /* a child process without -follow: not recorded */
    pid_t pid;
    atomic_bool first_thread_began;
    _Atomic uint64_t birth_time; /* ticks: when a thread last asked for another one, or a child */
    pthread_mutex_t lock;        /* of the two below */
    struct thread *threads;      /* with rings */
    uint64_t seen_by_dead;       /* latest time that an ended thread was given */
};

/* A signal handler that has not returned. */
struct running_handler {
    uint64_t entry;       /* the stack pointer at its first instruction */
    uint64_t interrupted; /* that of the code which it interrupted */
};

struct thread {
    struct pt_encoder_owner owner; /* first: the encoder's owner pointer leads to the thread */
    struct process *process;
    struct pt_encoder *encoder; /* in the ring; or `idle` */
    struct pt_encoder idle;     /* of a thread that is not recorded: stopped from the beginning */
    struct ring ring;
    struct qemu_clock clock;
    /* The block that ran last, kept here while new code has been translated and not run yet:
     * encoder->previous is then pt_code_block_none, which leads the next block to the slow path.
     * NULL otherwise. */
    struct pt_code_block *suspended;
    /* Calls in progress: when the child looks, the parent's encoder has gone on. */
    struct pt_saved_calls calls_at_fork;
    uint64_t stack_before; /* the stack pointer when the newest block began that loads it */
    struct pt_saved_calls interrupted; /* by a handler on another stack, while `handler_runs` */
    bool handler_runs;
    struct running_handler handlers[THREAD_HANDLERS]; /* the newest last */
    unsigned handler_count;
    bool restores_another;     /* sigreturn continues on another stack than the handler's */
    const uint64_t *registers; /* of the guest (signal_frame.h), once the thread has run a block */
    pid_t tid;
    bool in_kernel;
    /* The recording was frozen while it was in the kernel: the recorder knows when. */
    bool slept_over_end;
    bool code_replaced;                 /* by the code that was translated and has not run yet */
    struct thread *next;                /* in process->threads */
    struct pt_call calls[THREAD_CALLS]; /* in progress; the encoder's */
};

/* Maps the recording's control file. False: this is no recording that we can take part in. */
bool process_begin(struct process *process, const char *directory);

/* The calling thread runs its first block. Never fails: without memory the thread is not recorded.
 * NULL when not even the thread's own state could be allocated. */
struct thread *thread_begin(struct process *process);

/* The calling thread, having left its last block, is about to end. Frees the thread. */
void thread_end(struct thread *thread);

/* The process ends with this thread's system call. */
void thread_end_process(struct thread *thread);

/* After fork, in the child, by its only thread. */
void process_forked(struct thread *thread);

static inline bool thread_is_recorded(const struct thread *thread)
{
    return thread->encoder != &thread->idle;
}

/* For a record about the thread, at the last time in its packets. */
struct sideband_subject thread_subject(const struct thread *thread);

/* Begins a new moment in the thread's time: all that ran before is in packets of an earlier time,
 * all that runs from now on gets the time of the moment or a later one. Returns it, in ticks, for a
 * record that must come between the two. */
uint64_t thread_new_moment(struct thread *thread);

/* The latest time that a thread other than this one was given. */
uint64_t process_seen(struct process *process, const struct thread *except);

/* The stream ended (frozen, no space): say so in the ring. */
void thread_note_stop(struct thread *thread);

/* It did not end after all: execve failed. */
void thread_note_go_on(struct thread *thread);

#endif
