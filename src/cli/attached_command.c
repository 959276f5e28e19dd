#include "cli/attached_command.h"

#include "base/child_wait.h"
#include "process/parent_death.h"
#include "process/program.h"
#include "process/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 }; /* what shells exit with */

static _Noreturn void execute(const char *path, char *const *command)
{
    execv(path, command);
    _exit(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

/* Ends as COMMAND has ended. Ctrl-C and what else the terminal sends is for COMMAND. */
static _Noreturn void begin_and_wait(const char *path, char *const *command, int go, pid_t recorder)
{
    char byte;
    if (!parent_death_signal(recorder, SIGKILL) || read(go, &byte, 1) != 1)
        _exit(NOT_FOUND);
    prctl(PR_SET_PDEATHSIG, 0);
    pid_t child = fork();
    if (child == 0)
        execute(path, command);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    int status = child > 0 ? child_wait(child) : NOT_EXECUTABLE << 8;
    if (getppid() == recorder)
        signals_send_command_ended(recorder);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

static void have_no_effect(int number)
{
    (void)number;
}

bool attached_command_prepare(struct attached_command *attached, char *const *command,
                              struct error *error)
{
    int go[2];
    *attached = (struct attached_command){.go = -1};
    char *path = program_find(command[0], error);
    if (!path)
        return false;
    pid_t recorder = getpid();
    bool ok = pipe2(go, O_CLOEXEC) == 0;
    attached->waiter = ok ? fork() : -1;
    if (attached->waiter == 0) {
        close(go[1]);
        begin_and_wait(path, command, go[0], recorder);
    }
    int reason = errno;
    free(path);
    if (ok)
        close(go[0]);
    if (attached->waiter < 0) {
        attached->waiter = 0;
        if (ok)
            close(go[1]);
        return error_set_errno(error, ERROR_IO, reason, "cannot start a process for %s",
                               command[0]);
    }
    attached->go = go[1];
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = have_no_effect, .sa_flags = SA_RESTART},
              NULL);
    return true;
}

void attached_command_go(void *context)
{
    struct attached_command *attached = context;
    attached->begun = write(attached->go, "g", 1) == 1;
}

int attached_command_end(struct attached_command *attached)
{
    if (attached->waiter == 0)
        return -1;
    close(attached->go);
    int status = child_wait(attached->waiter);
    attached->waiter = 0;
    return attached->begun ? status : -1;
}
