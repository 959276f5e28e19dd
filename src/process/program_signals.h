/* Handles signals for a program that we have started, as a shell would.
 *
 *   - Ctrl-C interrupts the recording; the terminal sends the signal to the program as well, which
 *     may end or continue.
 *   - Signals that other processes send to magic-trace are passed on to the program, except those
 *     that the program (or its children) sent itself, by kill(0, ...) or to its parent.
 *   - When the program is stopped (Ctrl-Z), magic-trace stops too, so that the shell sees its job
 *     stop; when the job is continued, magic-trace continues the program.
 *
 * Called by the engines that run programs, from their loops.
 */
#ifndef MAGIC_TRACE_PROCESS_PROGRAM_SIGNALS_H
#define MAGIC_TRACE_PROCESS_PROGRAM_SIGNALS_H

#include "process/launch.h"

#include <stdint.h>

struct program_signals {
    const struct signals *signals;
    struct child child;
    unsigned interrupts;        /* how many were handled */
    uint64_t last_interrupt_ns; /* CLOCK_MONOTONIC */
    bool stopped;               /* the program was stopped by a signal */
};

/* Handles the next signal, if there is one (signals->descriptor is readable). Returns whether it
 * was a new interrupt: `interrupts` has grown. */
bool program_signals_answer(struct program_signals *program);

/* The program's status as from waitpid, waited for; closes the child's descriptor. */
int program_signals_end(struct program_signals *program);

#endif
