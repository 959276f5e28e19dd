#include "process/exec_stop.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

bool exec_stop_allowed(const char *path, struct error *error)
{
    struct stat status;
    if (geteuid() == 0 || stat(path, &status) != 0)
        return true;
    const char *privilege = NULL;
    if ((status.st_mode & S_ISUID) && status.st_uid != geteuid())
        privilege = "the setuid bit";
    else if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid())
        privilege = "the setgid bit";
    else if (getxattr(path, "security.capability", NULL, 0) > 0)
        privilege = "file capabilities";
    if (!privilege)
        return true;
    return error_set(error, ERROR_UNSUPPORTED,
                     "cannot trace %s: it has %s, and traced by this user it would run without the "
                     "privileges that gives. Trace it as root.",
                     path, privilege);
}

/* Delivers signals that arrive before the exec; true at the exec. */
static bool wait_for_exec(pid_t pid)
{
    int status;
    for (;;) {
        if (waitpid(pid, &status, __WALL) < 0) {
            if (errno == EINTR)
                continue;
            return false;
        }
        if (!WIFSTOPPED(status))
            return false;
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
            return true;
        ptrace(PTRACE_CONT, pid, NULL, status >> 16 ? 0 : (void *)(long)WSTOPSIG(status));
    }
}

bool exec_stop_reach(struct held_program *held, struct error *error)
{
    pid_t pid = held->child.pid;
    if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACEEXEC) != 0) {
        error_set_errno(error, ERROR_IO, errno,
                        "cannot hold %s before its first instruction (ptrace). A debugger that "
                        "follows magic-trace, or a container's seccomp rules, may be in the way",
                        held->path);
        launch_give_up(held);
        return false;
    }
    launch_let_go(held);
    bool reached = wait_for_exec(pid);
    if (!launch_outcome(held, error))
        return false;
    if (reached)
        return true;
    close(held->child.descriptor);
    return error_set(error, ERROR_IO, "%s was killed before its first instruction.", held->path);
}

void exec_stop_release(const struct child *child)
{
    ptrace(PTRACE_DETACH, child->pid, NULL, NULL);
}

void exec_stop_give_up(const struct child *child)
{
    syscall(SYS_pidfd_send_signal, child->descriptor, SIGKILL, NULL, 0);
    while (waitpid(child->pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
    close(child->descriptor);
}
