/* Starts the traced program: fork, what it inherits put back, exec.
 */
#ifndef MAGIC_TRACE_ENGINE_SOFT_LAUNCH_H
#define MAGIC_TRACE_ENGINE_SOFT_LAUNCH_H

#include "base/error.h"
#include "engine/soft/signals.h"

#include <sys/types.h>

struct child {
    pid_t pid;
    int descriptor; /* pidfd, close-on-exec: readable when the process has ended */
};

/* `arguments` is an argv whose first word is an absolute path, `environment` what goes with it. The
 * child shares our process group, terminal, folder and open files, has the signal state that
 * magic-trace was started with, and does not depend on us in any way: it outlives us.
 * `fixed_addresses` turns off address space randomisation, for repeatable runs. */
bool launch(struct child *child, char *const *arguments, char *const *environment,
            const struct signals *signals, bool fixed_addresses, struct error *error);

#endif
