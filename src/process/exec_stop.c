#include "process/exec_stop.h"

#include "base/child_wait.h"
#include "process/debug_registers.h"
#include "process/pidfd.h"
#include "process/processes.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
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
    for (;;) {
        int status = child_wait(pid);
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

/* ---- to the program's entry ---- */

/* Whether a signal waits that our caller blocks and would handle. */
static bool interrupt_is_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1 || sigismember(&pending, SIGQUIT) == 1);
}

/* The next stop; the status of a program that has ended is left to be waited for: false. A library's
 * constructor may wait for ever: a signal to us stops the program where it is. */
static bool next_stop(pid_t pid, int *status)
{
    const struct timespec look_again = {.tv_nsec = 50 * 1000 * 1000};
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL) != 0)
            return false;
        if (info.si_pid == pid)
            return (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED) &&
                   waitpid(pid, status, __WALL) == pid;
        sigtimedwait(&children, NULL, &look_again);
        if (interrupt_is_pending())
            ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
    }
}

/* Up to the breakpoint, another exec, or where a signal to us interrupts it. Delivers signals that
 * arrive meanwhile. False: the program has ended. */
static bool wait_for_breakpoint(pid_t pid)
{
    int status;
    while (next_stop(pid, &status)) {
        int event = status >> 16;
        if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
            ptrace(PTRACE_LISTEN, pid, NULL, NULL);
        else if (event || debug_registers_hit(pid, status))
            return true;
        else
            ptrace(PTRACE_CONT, pid, NULL, (void *)(long)WSTOPSIG(status));
    }
    return false;
}

bool exec_stop_run_to_entry(const struct child *child)
{
    uint64_t entry = process_auxiliary(child->pid, AT_ENTRY);
    if (!entry || !debug_registers_set(child->pid, &entry, 1))
        return true;
    ptrace(PTRACE_CONT, child->pid, NULL, NULL);
    if (!wait_for_breakpoint(child->pid))
        return false;
    debug_registers_set(child->pid, NULL, 0);
    return true;
}

void exec_stop_release(const struct child *child)
{
    ptrace(PTRACE_DETACH, child->pid, NULL, NULL);
}

void exec_stop_give_up(const struct child *child)
{
    pidfd_signal(child->descriptor, child->pid, SIGKILL, NULL);
    child_wait(child->pid);
    close(child->descriptor);
}
