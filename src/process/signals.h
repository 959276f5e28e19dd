/* Blocks the signals that would kill magic-trace while it waits for the program, and reads them
 * from a descriptor.
 *
 * The program shares our process group and terminal, as it would share the shell's, so it gets the
 * terminal's signals directly. Signals that others send to magic-trace are meant for the program
 * and are passed on (program_signals.c).
 */
#ifndef MAGIC_TRACE_PROCESS_SIGNALS_H
#define MAGIC_TRACE_PROCESS_SIGNALS_H

#include "base/error.h"

#include <signal.h>
#include <sys/signalfd.h>

struct signals {
    int descriptor;          /* a signalfd: close-on-exec, non-blocking */
    sigset_t inherited_mask; /* restored in the program */
    /* SIGCHLD's; with SIG_IGN exit statuses would be lost. */
    struct sigaction inherited_child_action;
};

bool signals_hold(struct signals *signals, struct error *error);

/* The next signal that arrived; false: all were taken. */
bool signals_next(const struct signals *signals, struct signalfd_siginfo *info);

/* By sigqueue from a process of our own: what the recording was to last for has ended (`attach ... -- COMMAND`). It ends a
 * recording as any other signal does. */
void signals_send_command_ended(pid_t recorder);

/* Why a signal that arrived ends the recording, for a message. */
const char *signals_end_reason(const struct signalfd_siginfo *info);

/* In the child, before exec: the mask and dispositions that magic-trace was started with.
 * Async-signal-safe. */
void signals_restore_in_child(const struct signals *signals);

/* Restores the state before signals_hold. Pending signals take effect now, except SIGINT when
 * `forget_interrupts`: it was handled already. */
void signals_release(struct signals *signals, bool forget_interrupts);

/* Stops magic-trace itself with the default effect of SIGTSTP (none in an orphaned process group);
 * returns when it is continued. */
void signals_stop_self(void);

#endif
