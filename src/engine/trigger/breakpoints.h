/* Watches the trigger's places by hardware breakpoints, in processes that run at full speed.
 *
 * All threads of the processes are watched, new ones from their first instruction on, and, on
 * request, child processes. The processes are neither changed nor stopped: breakpoints belong to
 * descriptors of ours and are removed with them, however we end. A hit costs the thread some
 * microseconds, so the breakpoints should be open, or armed, only while hits are used.
 *
 * Places are in files. A file that is mapped later (dlopen, exec) is watched as soon as the kernel
 * has reported the mapping and we have run, usually some ten microseconds after it: code that runs
 * before that is not seen. A program that we start ourselves is stopped until then
 * (live_session.c, process/exec_stop.h).
 *
 * Known fault of some virtual machines: about once in a million hits the processor's debug status
 * reaches the kernel empty; the kernel takes the trap for an int1 instruction and sends the thread
 * SIGTRAP, which ends a program that does not handle it. It happens with `perf record
 * --no-buffering` as well; magic-trace cannot prevent it.
 *
 *     struct breakpoints *breakpoints = breakpoints_open(&options, &error);
 *     when breakpoints_descriptor() is readable:
 *         while (breakpoints_next(breakpoints, &hit))
 *             ...
 *     breakpoints_close(breakpoints);
 *
 * Used by the engines, from one thread. While it is open the limit of open files may be raised for
 * this process (RLIMIT_NOFILE): start programs before.
 *
 * Sources: perf_event_open(2); kernel/events/core.c and hw_breakpoint.c of Linux.
 */
#ifndef MAGIC_TRACE_ENGINE_BREAKPOINTS_H
#define MAGIC_TRACE_ENGINE_BREAKPOINTS_H

#include "engine/trigger/trigger.h"
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

/* All calls of the places after it returns are reported. NULL on an error: no such process, not
 * permitted, more places than the processor has registers, all of them in use; nothing is left open
 * then. A place whose file a process has not mapped is no error: see breakpoints_watched. */
struct breakpoints *breakpoints_open(const struct breakpoints_options *options,
                                     struct error *error);
void breakpoints_close(struct breakpoints *breakpoints);

/* Whether hits are reported; they are after opening. Arming opens all breakpoints again. False,
 * with an error: it failed, and hits are not reported. */
bool breakpoints_arm(struct breakpoints *breakpoints, bool armed, struct error *error);

/* Readable (poll, epoll) when breakpoints_next has work. It is so once: call breakpoints_next until
 * it returns false. */
int breakpoints_descriptor(const struct breakpoints *breakpoints);

/* The next hit; false: none has come yet. In order of time over all threads: a hit never comes
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

/* An error that occurred later (a library was loaded, but no register is left for it), reported
 * once; false: none. */
bool breakpoints_problem(struct breakpoints *breakpoints, struct error *problem);

#endif
