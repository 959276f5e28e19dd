/* What a program that we have started is owed when signals come: magic-trace is to it what a shell
 * would be.
 *
 *   - Ctrl-C is an interrupt of the recording; the terminal has sent the signal to the program as
 *     well, which ends or goes on as it likes.
 *   - Signals that somebody sends to magic-trace are passed on to the program, except those that
 *     the program (or what it started) sent itself, by kill(0, ...) or to its parent.
 *   - When the program is stopped (Ctrl-Z), so is magic-trace, so that the shell sees its job stop;
 *     when the job is continued, so is the program.
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
    unsigned interrupts;        /* how many were answered */
    uint64_t last_interrupt_ns; /* CLOCK_MONOTONIC */
    bool stopped;               /* the program is, by a signal */
};

/* Takes the next signal, if there is one (signals->descriptor is readable). Returns whether it was
 * an interrupt that counts: `interrupts` has grown. */
bool program_signals_answer(struct program_signals *program);

/* The program's status as from waitpid, waited for; closes the child's descriptor. */
int program_signals_end(struct program_signals *program);

#endif
