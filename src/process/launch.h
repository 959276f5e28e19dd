/* Starts the traced program: forks, restores what the program inherits, and executes it. */
#ifndef MAGIC_TRACE_PROCESS_LAUNCH_H
#define MAGIC_TRACE_PROCESS_LAUNCH_H

#include "base/error.h"
#include "process/signals.h"

#include <sys/types.h>

struct child {
    pid_t pid;
    int descriptor; /* of pidfd_of */
};

/* `arguments` is an argv whose first word is an absolute path, `environment` what goes with it. The
 * child shares our process group, terminal, folder and open files, has the signal state that
 * magic-trace was started with, and runs on when we exit. `fixed_addresses` turns off address space
 * randomisation, for repeatable runs. */
bool launch(struct child *child, char *const *arguments, char *const *environment,
            const struct signals *signals, bool fixed_addresses, struct error *error);

/* The same in two steps, for recorders that prepare something in the process: the child waits
 * before exec until it is released, and ends if its holder closes it or dies before that. `path` is
 * what is executed; argv[0] may differ. */
struct held_program {
    struct child child;
    bool fixed_addresses; /* as in launch(); given by the caller */
    pid_t tracer;     /* not 0: a process other than the caller that may trace it, too; likewise */
    const char *path; /* borrowed */
    int go, failures; /* a socket and a pipe to it */
};

bool launch_held(struct held_program *held, const char *path, char *const *arguments,
                 char *const *environment, const struct signals *signals, struct error *error);

/* Releases the child. False when exec failed: the child has ended then, and nothing is left to
 * free. */
bool launch_go(struct held_program *held, struct error *error);

/* The two halves of launch_go, for tracers that must act between them: release the child; wait for
 * the result of exec. The child may have been waited for already. */
void launch_let_go(struct held_program *held);
bool launch_outcome(struct held_program *held, struct error *error);

/* Instead of launch_go: the child ends without having run anything of the program. */
void launch_give_up(struct held_program *held);

#endif
