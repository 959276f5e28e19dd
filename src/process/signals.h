/* Signals of magic-trace while it waits for the program: held back from killing it, read from a
 * descriptor.
 *
 * The program shares our process group and terminal, as it would share the shell's, so what the
 * terminal sends reaches it without us; what others send to magic-trace is meant for the program
 * and is passed on (supervise.c).
 */
#ifndef MAGIC_TRACE_PROCESS_SIGNALS_H
#define MAGIC_TRACE_PROCESS_SIGNALS_H

#include "base/error.h"

#include <signal.h>
#include <sys/signalfd.h>

struct signals {
    int descriptor;          /* a signalfd: close-on-exec, non-blocking */
    sigset_t inherited_mask; /* what the program must get back */
    /* SIGCHLD's; with SIG_IGN exit statuses would be lost. */
    struct sigaction inherited_child_action;
};

bool signals_hold(struct signals *signals, struct error *error);

/* The next signal that arrived; false when there is none. */
bool signals_next(const struct signals *signals, struct signalfd_siginfo *info);

/* In the child, before exec: the mask and dispositions that magic-trace was started with.
 * Async-signal-safe. */
void signals_restore_in_child(const struct signals *signals);

/* Back to what was before signals_hold. Signals that are still waiting take effect now, save for
 * SIGINT when `forget_interrupts`: it was answered already. */
void signals_release(struct signals *signals, bool forget_interrupts);

/* Stops magic-trace itself as SIGTSTP would without us (nothing happens where no shell would ever
 * continue it); returns when it is continued. */
void signals_stop_self(void);

#endif
