/* The trigger's places, watched by the processor's breakpoints in processes that run at full speed.
 *
 * All threads of the processes are watched, those born later from their first instruction on, and,
 * if wanted, child processes. Nothing in a process is changed or stopped: breakpoints belong to
 * descriptors of ours and vanish with them, however we end. A hit costs the thread some
 * microseconds, so they are to be open, or armed, only while somebody listens.
 *
 * Places are in files; a file that is mapped later (dlopen, exec) is watched as soon as the kernel
 * has told of it and we have run, usually some ten microseconds after the mapping: what runs before
 * goes unseen. A program that we start ourselves can be stopped until then (process/exec_stop.h).
 *
 * Known fault of some virtual machines: about once in a million hits the processor's debug status
 * comes to the kernel empty; it takes the trap for an int1 instruction and sends the thread
 * SIGTRAP, which ends a program that does not handle it. Seen with `perf record --no-buffering` as
 * well; nothing here can prevent it.
 *
 *     struct breakpoints *breakpoints = breakpoints_open(&options, &error);
 *     when breakpoints_descriptor() is readable:
 *         while (breakpoints_next(breakpoints, &hit))
 *             ...
 *     breakpoints_close(breakpoints);
 *
 * Used by the engines, from one thread. While it is open the limit of open files may be raised for
 * this process (RLIMIT_NOFILE): programs are to be started before.
 *
 * Sources: perf_event_open(2); kernel/events/core.c and hw_breakpoint.c of Linux.
 */
#ifndef MAGIC_TRACE_ENGINE_BREAKPOINTS_H
#define MAGIC_TRACE_ENGINE_BREAKPOINTS_H

#include "engine/trigger.h"
#include "perf_event/breakpoint_events.h"

#include <sys/types.h>

struct breakpoint_hit {
    uint64_t time; /* ns of perf's clock */
    uint32_t pid, tid;
    uint64_t ip;
    uint64_t arguments[2]; /* RDI, RSI; 0 when they are not known */
};

struct breakpoints_options {
    const struct kernel *kernel;   /* borrowed, like all pointers here, until breakpoints_close */
    const struct trigger *trigger; /* with a name */
    const pid_t *pids;
    size_t pid_count;
    enum breakpoint_scope scope;
    uint64_t ring_size; /* bytes per processor, a power of two; 0: as this user may */
};

struct breakpoints;

/* From its return on no call of the places is missed. NULL on an error: no such process, not
 * permitted, more places than the processor has registers, all of them in use; nothing is left open
 * then. A place whose file a process has not mapped is no error: see breakpoints_watched. */
struct breakpoints *breakpoints_open(const struct breakpoints_options *options,
                                     struct error *error);
void breakpoints_close(struct breakpoints *breakpoints);

/* Whether hits are noticed; they are when it was opened. Arming again opens all breakpoints anew.
 * False, with an error: it could not; it is not armed then. */
bool breakpoints_arm(struct breakpoints *breakpoints, bool armed, struct error *error);

/* Readable (poll, epoll) when there is something for breakpoints_next to look at. It is so once:
 * call breakpoints_next until it returns false. */
int breakpoints_descriptor(const struct breakpoints *breakpoints);

/* The next hit; false: there is none now. In order of time over all threads: a hit never comes
 * before one that it follows from (of the same thread, or of one that let it go on). Two that are
 * independent and some microseconds apart, which is what the kernel takes to write one, may change
 * places. Also follows the processes: to be called whenever the descriptor is readable, armed or
 * not. */
bool breakpoints_next(struct breakpoints *breakpoints, struct breakpoint_hit *hit);

/* At how many addresses the process is watched. */
size_t breakpoints_watched(const struct breakpoints *breakpoints, pid_t pid);

/* Records of the kernel, hits perhaps, that found no room because breakpoints_next was called too
 * late. */
uint64_t breakpoints_lost(const struct breakpoints *breakpoints);

/* What went wrong while following the processes (a library was loaded, but there is no register
 * left for it), once; false: nothing. */
bool breakpoints_problem(struct breakpoints *breakpoints, struct error *problem);

#endif
