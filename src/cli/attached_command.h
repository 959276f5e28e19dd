/* The command of `attach -pid P -- COMMAND`: it begins when the processes are recorded, and the recording ends when it has ended.
 *
 * A process of our own, forked before the recording begins, so that COMMAND gets the signal state that magic-trace was started with,
 * executes it, waits for it, and then sends magic-trace a signal (signals_send_command_ended), which ends a recording of any engine as Ctrl-C does.
 *
 * Called by commands/attach.c.
 */
#ifndef MAGIC_TRACE_CLI_ATTACHED_COMMAND_H
#define MAGIC_TRACE_CLI_ATTACHED_COMMAND_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct attached_command {
    pid_t waiter; /* the process that executes it; 0: there is no command */
    int go;       /* a byte here has it begin */
    bool begun;
};

/* `command` is an argv, NULL-terminated; it waits for attached_command_go. SIGUSR1 has no effect on magic-trace from now on, but on recordings. */
bool attached_command_prepare(struct attached_command *attached, char *const *command,
                              struct error *error);

/* Of struct record_options, `attached`; `context` is the struct attached_command. */
void attached_command_go(void *context);

/* The recording is over: waits for its end. Its status as from waitpid; -1: it never began. */
int attached_command_end(struct attached_command *attached);

#endif
