/* The ptrace supervisor: the process that attaches, watches, steps, and above all detaches in
 * order.
 *
 * When a tracer dies, the kernel leaves its tracees in the state that was set in them: the next
 * trap kills one that was being stepped. magic-trace may be killed at any moment, so a separate
 * process traces, with another name, in another session. It ends in order when the other end of a
 * pipe is closed, which happens however magic-trace ends.
 */
#ifndef MAGIC_TRACE_ENGINE_PTRACE_SUPERVISOR_H
#define MAGIC_TRACE_ENGINE_PTRACE_SUPERVISOR_H

#include "engine/ptrace/ptrace_recording.h"

/* The messages of the ptrace supervisor to magic-trace, once each, over a pipe. */
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

/* Runs in the ptrace supervisor's process until it has finished. It must detach when `stop` becomes
 * readable (end of file); it writes its messages to `words`. */
void supervisor_run(const struct record_options *wanted, int stop, int words);

#endif
