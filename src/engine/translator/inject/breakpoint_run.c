#include "engine/translator/inject/breakpoint_run.h"

#include "base/child_wait.h"
#include "engine/translator/inject/stopped_threads.h"
#include "engine/trigger/trigger_addresses.h"
#include "process/processes.h"
#include "process/system_call_restart.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static const long seize_options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD;

bool breakpoint_run_begin(struct breakpoint_run *run, pid_t pid, const struct trigger *places,
                          bool follows_exec, struct error *error)
{
    *run = (struct breakpoint_run){.places = places,
                                   .follows_exec = follows_exec,
                                   .pid = pid,
                                   .threads = array_of(sizeof(pid_t))};
    if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)seize_options) != 0)
        return error_set_errno(error, ERROR_UNSUPPORTED, errno,
                               "a process that it does not descend from may not trace it (ptrace)");
    *(pid_t *)array_add(&run->threads) = pid;
    return true;
}

/* ---- threads ---- */

static pid_t *find(const struct breakpoint_run *run, pid_t tid)
{
    for (size_t i = 0; i < run->threads.count; i++) {
        pid_t *thread = array_at(&run->threads, i);
        if (*thread == tid)
            return thread;
    }
    return NULL;
}

static void forget(struct breakpoint_run *run, pid_t tid)
{
    pid_t *thread = find(run, tid);
    if (thread)
        *thread = *(pid_t *)array_at(&run->threads, --run->threads.count);
}

static bool is_thread_of(pid_t pid, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)pid, (int)tid);
    return access(path, F_OK) == 0;
}

static void go_on(pid_t tid, int signal)
{
    ptrace(PTRACE_CONT, tid, NULL, (void *)(long)signal);
}

static bool break_in(const struct breakpoint_run *run, pid_t tid)
{
    uint64_t addresses[DEBUG_REGISTERS];
    size_t count = 0;
    for (size_t i = 0; i < run->address_count; i++)
        addresses[count++] = run->addresses[i];
    if (run->entry)
        addresses[count++] = run->entry;
    return debug_registers_set(tid, addresses, count);
}

/* Stops with their debug registers as they are are made for those that do not stop by themselves. */
static void interrupt_others(const struct breakpoint_run *run, pid_t tid)
{
    for (size_t i = 0; i < run->threads.count; i++)
        if (*(pid_t *)array_at(&run->threads, i) != tid)
            ptrace(PTRACE_INTERRUPT, *(pid_t *)array_at(&run->threads, i), NULL, NULL);
}

/* ---- the places ---- */

static bool look_up_places(struct breakpoint_run *run, struct error *error)
{
    struct array addresses = array_of(sizeof(uint64_t));
    bool ok = trigger_addresses(&addresses, run->places, "/proc", run->pid);
    if (!ok)
        error_set(error, ERROR_IO, "its mappings cannot be read");
    if (ok && addresses.count > BREAKPOINT_PLACES)
        ok = error_set(error, ERROR_UNSUPPORTED, "%s is at more than %d places in it",
                       run->places->name, BREAKPOINT_PLACES);
    run->address_count = ok ? addresses.count : 0;
    for (size_t i = 0; i < run->address_count; i++)
        run->addresses[i] = *(uint64_t *)array_at(&addresses, i);
    array_free(&addresses);
    return ok;
}

static uint64_t instruction_pointer(pid_t tid)
{
    struct user_regs_struct registers;
    return ptrace(PTRACE_GETREGS, tid, NULL, &registers) == 0 ? registers.rip : 0;
}

/* A program without a dynamic loader begins at its entry. */
static bool prepare_program(struct breakpoint_run *run, struct error *error)
{
    run->threads.count = 0;
    *(pid_t *)array_add(&run->threads) = run->pid;
    run->entry = process_auxiliary(run->pid, AT_ENTRY);
    if (run->entry == instruction_pointer(run->pid))
        run->entry = 0;
    if (!look_up_places(run, error))
        return false;
    return break_in(run, run->pid) ||
           error_set_errno(error, ERROR_UNSUPPORTED, errno, "it cannot have a breakpoint");
}

/* ---- to the exec ---- */

bool breakpoint_run_to_exec(struct breakpoint_run *run, struct error *error)
{
    int status;
    do {
        status = child_wait(run->pid);
        if (!WIFSTOPPED(status)) {
            run->threads.count = 0;
            return error_set(error, ERROR_NOT_FOUND, "it has not begun");
        }
        if (status >> 16 != PTRACE_EVENT_EXEC)
            go_on(run->pid, status >> 16 ? 0 : WSTOPSIG(status));
    } while (status >> 16 != PTRACE_EVENT_EXEC);
    if (prepare_program(run, error)) {
        go_on(run->pid, 0);
        return true;
    }
    kill(run->pid, SIGKILL);
    while (WIFSTOPPED(child_wait(run->pid)))
        ;
    run->threads.count = 0;
    return false;
}

/* ---- running ---- */

/* Its libraries are mapped now. */
static void reach_entry(struct breakpoint_run *run, pid_t tid)
{
    struct error unheard;
    run->entry = 0;
    look_up_places(run, &unheard);
    break_in(run, tid);
    interrupt_others(run, tid);
}

static void reach(struct breakpoint_run *run, pid_t tid)
{
    uint64_t address = instruction_pointer(tid);
    if (address == run->entry)
        reach_entry(run, tid);
    for (size_t i = 0; i < run->address_count; i++)
        if (run->addresses[i] == address)
            run->reached = tid;
    if (!run->reached)
        go_on(tid, 0);
}

/* Another program. */
static void reach_exec(struct breakpoint_run *run)
{
    struct error unheard;
    if (run->follows_exec && prepare_program(run, &unheard)) {
        go_on(run->pid, 0);
        return;
    }
    ptrace(PTRACE_DETACH, run->pid, NULL, NULL);
    run->threads.count = 0;
}

/* Of a new thread, or after interrupt_others. */
static void take_stop(struct breakpoint_run *run, pid_t tid)
{
    if (!is_thread_of(run->pid, tid)) {
        ptrace(PTRACE_DETACH, tid, NULL, NULL);
        return;
    }
    if (!find(run, tid))
        *(pid_t *)array_add(&run->threads) = tid;
    break_in(run, tid);
    restart_system_call(tid, false);
    go_on(tid, 0);
}

static void handle(struct breakpoint_run *run, pid_t tid, int status)
{
    int event = status >> 16, signal = WSTOPSIG(status);
    if (!WIFSTOPPED(status))
        forget(run, tid);
    else if (event == PTRACE_EVENT_EXEC)
        reach_exec(run);
    else if (event == PTRACE_EVENT_STOP && signal == SIGTRAP)
        take_stop(run, tid);
    else if (event == PTRACE_EVENT_STOP)
        ptrace(PTRACE_LISTEN, tid, NULL, NULL);
    else if (debug_registers_hit(tid, status))
        reach(run, tid);
    else
        go_on(tid, event ? 0 : signal);
}

bool breakpoint_run_goes_on(struct breakpoint_run *run)
{
    pid_t tid;
    int status;
    while (!run->reached && (tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
        handle(run, tid, status);
    return run->threads.count > 0;
}

/* ---- the end ---- */

/* A process that is not a thread of it, or began when its threads were being stopped. */
static void let_strays_go(void)
{
    pid_t tid;
    int status;
    while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
        if (WIFSTOPPED(status)) {
            debug_registers_set(tid, NULL, 0);
            ptrace(PTRACE_DETACH, tid, NULL, NULL);
        }
}

void breakpoint_run_end(struct breakpoint_run *run)
{
    struct stopped_threads stopped;
    struct error unheard;
    if (run->pid && run->threads.count > 0 &&
        threads_stop_at(&stopped, run->pid, run->reached, &unheard))
        threads_go_on(&stopped);
    if (run->pid)
        let_strays_go();
    array_free(&run->threads);
    *run = (struct breakpoint_run){0};
}
