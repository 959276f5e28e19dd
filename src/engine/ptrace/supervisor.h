/* The process that traces: it attaches, watches, steps, and above all lets go in order.
 *
 * When a tracer vanishes, the kernel leaves its tracees with whatever was set in them: one that was
 * being stepped is killed by the next trap. So it is not magic-trace that traces, which may be
 * killed at any moment, but a process of its own, with another name, in another session. It ends,
 * in order, when the other end of a pipe is closed, which happens however magic-trace ends.
 */
#ifndef MAGIC_TRACE_ENGINE_PTRACE_SUPERVISOR_H
#define MAGIC_TRACE_ENGINE_PTRACE_SUPERVISOR_H

#include "engine/ptrace/ptrace_recording.h"

/* What the keeper tells magic-trace, once each, over a pipe. */
enum supervisor_message {
    SUPERVISOR_ATTACHED = 1, /* the processes are watched */
    SUPERVISOR_SNAPSHOT,     /* a snapshot was taken */
    SUPERVISOR_DELAY,        /* the longest delay since the last report follows: uint64_t, ns */
    SUPERVISOR_DONE,         /* the recording is written: struct supervisor_report follows */
};

struct supervisor_report {
    struct record_result result;
    struct error error; /* code ERROR_NONE: none */
};

/* Runs in the keeper's process until it is done; `stop` becomes readable (end of file) when it has
 * to let go, `words` takes what it has to tell. */
void supervisor_run(const struct record_options *wanted, int stop, int words);

#endif
