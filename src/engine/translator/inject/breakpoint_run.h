/* Lets a new program run natively until one of its threads arrives at a place: what -record-from asks for.
 *
 * The caller is the tracer of all its threads and has breakpoints in their debug registers, so that neither its code nor its
 * memory changes. A signal and the start of a thread cost it a stop of about 70 microseconds, everything else nothing.
 * Processes that it starts are not traced. Called by attacher.c, in a process that survives the recorder.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_BREAKPOINT_RUN_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_BREAKPOINT_RUN_H

#include "base/array.h"
#include "base/error.h"
#include "engine/trigger/trigger.h"
#include "process/debug_registers.h"

#include <sys/types.h>

struct breakpoint_run {
    const struct trigger *places; /* borrowed; at most BREAKPOINT_PLACES */
    bool follows_exec;            /* else it is let go when it executes another program */
    pid_t pid;
    pid_t reached;        /* the thread that has arrived; 0: none */
    struct array threads; /* pid_t: traced */
    uint64_t addresses[DEBUG_REGISTERS];
    size_t address_count;
    uint64_t
        entry; /* the program's own first instruction, where its libraries are mapped; 0: it was there */
};

/* Of the registers one is for the program's entry. */
enum { BREAKPOINT_PLACES = DEBUG_REGISTERS - 1 };

/* `pid` is held before its exec (launch_held). False: it cannot be traced. */
bool breakpoint_run_begin(struct breakpoint_run *run, pid_t pid, const struct trigger *places,
                          bool follows_exec, struct error *error);

/* It was released: up to its exec, where it is prepared to break. False: exec failed or it was killed, or no breakpoint can be
 * set, and it has been killed before its first instruction. */
bool breakpoint_run_to_exec(struct breakpoint_run *run, struct error *error);

/* What happened to its threads since; to be called after SIGCHLD. False: nothing is traced any more: it has ended, or was let
 * go. `reached` is set when a thread has arrived: it is stopped, and the others are not looked at (threads_stop_at). */
bool breakpoint_run_goes_on(struct breakpoint_run *run);

/* Nothing of it is traced any more; it goes on natively. Frees. */
void breakpoint_run_end(struct breakpoint_run *run);

#endif
