/* Waits for the program, and is to its signals what a shell would be.
 *
 *   - Ctrl-C freezes the recording: the terminal has sent the signal to the program as well, which
 *     ends or goes on as it likes. A second one kills the program and all it started.
 *   - Signals that somebody sends to magic-trace are passed on to the program, except those that
 *     the program (or what it started) sent itself, by kill(0, ...) or to its parent.
 *   - When the program is stopped (Ctrl-Z), so is magic-trace, so that the shell sees its job stop;
 *     when the job is continued, so is the program.
 */
#ifndef MAGIC_TRACE_ENGINE_SOFT_SUPERVISE_H
#define MAGIC_TRACE_ENGINE_SOFT_SUPERVISE_H

#include "engine/soft/launch.h"
#include "engine/soft/shared.h"

#include <stdint.h>

struct supervision {
    const struct signals *signals;
    struct child child;
    struct soft_control *control; /* is frozen at the first Ctrl-C */
    const char *plugin_argument;  /* by which processes of this recording are known */
    unsigned interrupts;          /* how many were answered */
    uint64_t last_interrupt_ns;   /* CLOCK_MONOTONIC */
    bool snapshot_told;           /* that the trigger has had one taken */
    uint64_t last_report_ns;      /* of the longest delay: CLOCK_MONOTONIC */
    bool stopped;                 /* the program is, by a signal */
};

/* Until the program has ended; returns its status as from waitpid and closes the child's
 * descriptor. */
int supervise(struct supervision *supervision);

#endif
