/* Waits for the program: its signals are answered as in program_signals.h, at the first Ctrl-C the
 * recording is frozen; a second one kills the program and all it started.
 */
#ifndef MAGIC_TRACE_ENGINE_QEMU_SUPERVISE_H
#define MAGIC_TRACE_ENGINE_QEMU_SUPERVISE_H

#include "engine/qemu/shared.h"
#include "process/program_signals.h"

#include <stdint.h>

struct supervision {
    struct program_signals program;
    struct qemu_control *control; /* is frozen at the first Ctrl-C */
    const char *plugin_argument;  /* by which processes of this recording are known */
    bool snapshot_reported;       /* that the trigger has had one taken */
    uint64_t last_report_ns;      /* of the longest delay: CLOCK_MONOTONIC */
};

/* Until the program has ended; returns its status as from waitpid and closes the child's
 * descriptor. */
int supervise(struct supervision *supervision);

#endif
