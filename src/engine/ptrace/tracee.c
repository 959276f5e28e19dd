#include "engine/ptrace/tracee.h"

#include "base/memory.h"
#include "process/processes.h"
#include "process/system_call_restart.h"
#include "process/thread_wait.h"
#include "process/trace_permission.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* ---- what /proc says ---- */

pid_t process_of_thread(pid_t tid)
{
    return (pid_t)process_status_number(tid, "\nTgid:\t", 10);
}

bool thread_blocks_traps(pid_t tid)
{
    return process_status_number(tid, "\nSigBlk:\t", 16) >> (SIGTRAP - 1) & 1;
}

/* ---- seizing ---- */

static bool explain(pid_t pid, pid_t tid, int problem, struct error *error)
{
    uint64_t tracer = process_status_number(tid, "\nTracerPid:\t", 10);
    if (problem == ESRCH && thread_state(pid, pid) == 0)
        return error_set(error, ERROR_NOT_FOUND, "cannot attach to process %d: there is none.",
                         (int)pid);
    if (tracer)
        return error_set(error, ERROR_UNSUPPORTED,
                         "cannot attach to process %d: process %llu, a debugger or another "
                         "magic-trace, traces it already.",
                         (int)pid, (unsigned long long)tracer);
    if (problem == EPERM)
        return error_set(error, ERROR_UNSUPPORTED,
                         "cannot attach to process %d: not permitted: %s.", (int)pid,
                         trace_permission_reason());
    return error_set_errno(error, ERROR_IO, problem, "cannot attach to process %d", (int)pid);
}

struct tracee *tracees_find(const struct array *tracees, pid_t tid)
{
    for (size_t i = 0; i < tracees->count; i++) {
        struct tracee *tracee = *(struct tracee **)array_at(tracees, i);
        if (tracee->tid == tid)
            return tracee;
    }
    return NULL;
}

struct tracee *tracees_add(struct array *tracees, pid_t pid, pid_t tid)
{
    struct tracee *tracee = memory_allocate_zeroed(sizeof *tracee);
    tracee->pid = pid;
    tracee->tid = tid;
    *(struct tracee **)array_add(tracees) = tracee;
    return tracee;
}

void tracees_remove(struct array *tracees, struct tracee *tracee)
{
    struct tracee **all = tracees->elements;
    for (size_t i = 0; i < tracees->count; i++)
        if (all[i] == tracee) {
            all[i] = all[--tracees->count];
            break;
        }
    thread_breakpoints_close(&tracee->breakpoints);
    free(tracee);
}

static bool seize(struct array *tracees, pid_t pid, pid_t tid, struct error *error)
{
    if (tracees_find(tracees, tid))
        return true;
    long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
    if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)options) == 0) {
        tracees_add(tracees, pid, tid);
        return true;
    }
    int problem = errno;
    /* A thread that has just ended, or that is traced from its creation on because its parent was
     * seized. */
    if (tid != pid && (problem == ESRCH || problem == EPERM))
        return true;
    return explain(pid, tid, problem, error);
}

static bool seize_all(struct array *tracees, pid_t pid, struct error *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *entries = opendir(path);
    bool ok = entries || explain(pid, pid, errno, error);
    for (struct dirent *entry; ok && (entry = readdir(entries));)
        if (entry->d_name[0] != '.')
            ok = seize(tracees, pid, (pid_t)atoi(entry->d_name), error);
    if (entries)
        closedir(entries);
    return ok;
}

bool tracees_seize(struct array *tracees, pid_t pid, bool all_threads, struct error *error)
{
    bool ok = seize(tracees, pid, pid, error);
    /* A thread that is not seized yet may create others: repeat until there are no new ones. */
    for (size_t before = 0; ok && all_threads && before != tracees->count;) {
        before = tracees->count;
        ok = seize_all(tracees, pid, error);
    }
    return ok;
}

/* ---- releasing ---- */

/* The signal that the thread was about to get when it stopped; 0: none, or one of ours. */
static int signal_to_pass_on(pid_t tid, int status)
{
    siginfo_t info;
    if (status >> 16 != 0 || ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) != 0)
        return 0;
    bool ours = WSTOPSIG(status) == SIGTRAP &&
                (info.si_code == BREAKPOINT_SIGNAL_CODE || info.si_code == TRAP_TRACE ||
                 info.si_code == TRAP_BRKPT || info.si_code == SIGTRAP);
    return ours ? 0 : WSTOPSIG(status);
}

/* A trap of ours that has not been delivered yet would kill the program. */
static bool has_pending_trap(pid_t tid)
{
    return process_status_number(tid, "\nSigPnd:\t", 16) >> (SIGTRAP - 1) & 1;
}

/* A thread that blocks SIGTRAP keeps ours until it unblocks it, when we are gone. Returns whether
 * it was unblocked now, to get it. */
static bool unblock_trap(pid_t tid, uint64_t *mask)
{
    uint64_t without_trap;
    if (ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof *mask, mask) != 0 ||
        !(*mask >> (SIGTRAP - 1) & 1))
        return false;
    without_trap = *mask & ~((uint64_t)1 << (SIGTRAP - 1));
    return ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof without_trap, &without_trap) == 0;
}

static void stop_and_detach(const struct tracee *tracee)
{
    int status;
    bool unblocked = false;
    uint64_t mask = 0;
    pid_t tid = tracee->tid;
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
        return;
    while (thread_wait(tid, &status) && WIFSTOPPED(status)) {
        int signal = signal_to_pass_on(tid, status);
        if (status >> 16 == PTRACE_EVENT_STOP)
            restart_system_call(tid, false);
        if (has_pending_trap(tid)) {
            unblocked |= unblock_trap(tid, &mask);
            ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)signal);
            continue;
        }
        if (unblocked)
            ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof mask, &mask);
        if (tracee->stepper)
            stepper_clean(tracee->stepper);
        ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal);
        return;
    }
}

void tracee_release(struct tracee *tracee)
{
    thread_breakpoints_close(&tracee->breakpoints);
    if (tracee->stepper && tracee->ready) {
        ptrace(PTRACE_DETACH, tracee->tid, NULL, (void *)(intptr_t)tracee->stepper->signal);
        return;
    }
    char state = thread_state(tracee->tid, tracee->tid);
    if (!tracee->stepper && (state == 'S' || state == 'D' || state == 'T') &&
        !has_pending_trap(tracee->tid))
        return;
    /* Stops that were not handled yet are treated like our own. */
    stop_and_detach(tracee);
}
