#include "engine/ptrace/supervisor.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/tsc.h"
#include "engine/ptrace/tracee.h"
#include "engine/trigger/trigger_addresses.h"
#include "engine/trigger/trigger_conditions.h"
#include "process/system_call_restart.h"
#include "recording/flags.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define SUPERVISOR_NAME "mt-supervisor"

enum { DELAY_REPORT_SECONDS = 5 };
/* Bytes of packets per stepped call with -full-execution. Memory is taken as it fills. */
static const uint64_t full_size = UINT64_C(1) << 30;

struct supervisor {
    const struct record_options *options;
    struct ptrace_recording recording;
    struct array tracees;                 /* of struct tracee * */
    struct array caches;                  /* of struct code_cache *, one per process */
    int stop, words, children;            /* descriptors; `children`: a signalfd of SIGCHLD */
    struct trigger_conditions conditions; /* its longest delay: since the last report */
    uint64_t reported_delay_at;           /* TSC */
    struct record_result result;
    bool done;
};

static void send_message(const struct supervisor *supervisor, enum supervisor_message word)
{
    unsigned char byte = (unsigned char)word;
    /* The reader may be gone: ignore the error. */
    if (write(supervisor->words, &byte, 1) < 0)
        return;
}

/* ---- watching ---- */

static bool watch_tracee(struct supervisor *supervisor, struct tracee *tracee, struct error *error)
{
    const struct trigger *trigger = &supervisor->options->trigger;
    struct array addresses = array_of(sizeof(uint64_t));
    trigger_addresses(&addresses, trigger, "/proc", tracee->pid);
    size_t count =
        addresses.count < THREAD_BREAKPOINTS_MAX ? addresses.count : THREAD_BREAKPOINTS_MAX;
    bool ok = count == 0 || thread_breakpoints_open(&tracee->breakpoints, tracee->tid,
                                                    addresses.elements, count, error);
    array_free(&addresses);
    if (count > 0)
        return ok;
    /* Another process may have it. */
    tracee->unwatched = true;
    return error_set(error, ERROR_NOT_FOUND,
                     "%s is not mapped in process %d. A file that was replaced since the "
                     "process began cannot be watched: restart the process.",
                     trigger->name, (int)tracee->pid);
}

/* The processor's trap becomes a signal that such a thread does not get. */
static void warn_of_deaf_thread(const struct supervisor *supervisor, const struct tracee *tracee)
{
    if (supervisor->options->trigger.name && thread_blocks_traps(tracee->tid))
        log_warning("thread %d of process %d blocks SIGTRAP: calls of %s are not noticed in it as "
                    "long as it does. Without " FLAG_TRIGGER " it can be recorded.",
                    (int)tracee->tid, (int)tracee->pid, supervisor->options->trigger.name);
}

/* Says once per process that its calls are not noticed. */
static void report_unwatched(const struct supervisor *supervisor)
{
    for (size_t i = 0; i < supervisor->tracees.count; i++) {
        const struct tracee *tracee = *(struct tracee **)array_at(&supervisor->tracees, i);
        if (tracee->unwatched && tracee->tid == tracee->pid)
            log_warning("%s is not mapped in process %d: only the other processes are watched.",
                        supervisor->options->trigger.name, (int)tracee->pid);
    }
}

static bool attach_all(struct supervisor *supervisor, struct error *error)
{
    const struct record_options *options = supervisor->options;
    size_t watched = 0;
    for (size_t i = 0; i < options->pid_count; i++)
        if (!tracees_seize(&supervisor->tracees, options->pids[i], options->multi_thread, error))
            return false;
    for (size_t i = 0; i < supervisor->tracees.count; i++) {
        struct tracee *tracee = *(struct tracee **)array_at(&supervisor->tracees, i);
        warn_of_deaf_thread(supervisor, tracee);
        if (options->trigger.name) {
            if (watch_tracee(supervisor, tracee, error))
                watched++;
            else if (!tracee->unwatched)
                return false;
        } else {
            tracee->wanted = true;
            ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL);
        }
    }
    if (options->trigger.name && watched == 0)
        return false; /* with the error of the last */
    report_unwatched(supervisor);
    *error = (struct error){0};
    return true;
}

/* ---- stepping ---- */

static struct code_cache *cache_of(struct supervisor *supervisor, pid_t pid)
{
    for (size_t i = 0; i < supervisor->caches.count; i++) {
        struct code_cache *cache = *(struct code_cache **)array_at(&supervisor->caches, i);
        if (cache->pid == pid)
            return cache;
    }
    struct code_cache *cache = memory_allocate_zeroed(sizeof *cache);
    cache->pid = pid;
    *(struct code_cache **)array_add(&supervisor->caches) = cache;
    return cache;
}

static bool is_any_stepped(const struct supervisor *supervisor)
{
    for (size_t i = 0; i < supervisor->tracees.count; i++)
        if ((*(struct tracee **)array_at(&supervisor->tracees, i))->stepper)
            return true;
    return false;
}

static void take_steps(struct supervisor *supervisor, struct tracee *tracee)
{
    ptrace_recording_add_steps(&supervisor->recording, tracee->stepper);
    tracee->stepper = NULL;
    tracee->ready = false;
    supervisor->result.snapshots++;
    send_message(supervisor, SUPERVISOR_SNAPSHOT);
    if (!supervisor->options->trigger.multi_snapshot && !is_any_stepped(supervisor))
        supervisor->done = true;
}

static void after_steps(struct supervisor *supervisor, struct tracee *tracee,
                        enum stepper_state state)
{
    tracee->ready = state == STEPPER_STOPPED;
    if (state == STEPPER_STOPPED || state == STEPPER_IN_KERNEL)
        return;
    int signal = state == STEPPER_DONE ? tracee->stepper->signal : 0;
    take_steps(supervisor, tracee);
    ptrace(PTRACE_CONT, tracee->tid, NULL, (void *)(intptr_t)signal);
}

static void begin_steps(struct supervisor *supervisor, struct tracee *tracee,
                        const struct user_regs_struct *registers)
{
    const struct record_options *options = supervisor->options;
    struct stepper_options wanted = {
        .clock = options->clock,
        .tsc_hz = supervisor->recording.tsc_hz,
        .bus_ratio = (uint8_t)(supervisor->recording.tsc_hz / 100000000),
        .size = options->full_execution ? full_size : options->snapshot_size,
        .until_return = options->trigger.name != NULL,
    };
    ptrace_recording_add_thread(&supervisor->recording, tracee->pid, tracee->tid);
    tracee->stepper = memory_allocate(sizeof *tracee->stepper);
    stepper_begin(tracee->stepper, tracee->tid, cache_of(supervisor, tracee->pid), &wanted,
                  registers);
    tracee->ready = true;
    tracee->wanted = false;
}

/* ---- hits ---- */

static uint64_t passed_time(const struct supervisor *supervisor,
                            const struct user_regs_struct *registers, uint64_t now)
{
    uint64_t passed = trigger_passed_time(registers->rdi);
    return supervisor->options->trigger.passes_time && passed < now ? passed : 0;
}

static uint64_t to_nanoseconds(const struct supervisor *supervisor, uint64_t ticks)
{
    return (uint64_t)((double)ticks * 1e9 / (double)supervisor->recording.tsc_hz);
}

static bool counts(struct supervisor *supervisor, uint64_t now, uint64_t passed)
{
    return trigger_hit_counts(&supervisor->conditions, to_nanoseconds(supervisor, now),
                              to_nanoseconds(supervisor, passed));
}

/* From now on hits of other threads do not matter: do not slow them down. */
static void stop_watching_others(struct supervisor *supervisor)
{
    for (size_t i = 0; i < supervisor->tracees.count; i++)
        thread_breakpoints_close(
            &(*(struct tracee **)array_at(&supervisor->tracees, i))->breakpoints);
}

static void hit(struct supervisor *supervisor, struct tracee *tracee)
{
    struct user_regs_struct registers;
    uint64_t now = tsc_now();
    bool one = !supervisor->options->trigger.multi_snapshot;
    if (ptrace(PTRACE_GETREGS, tracee->tid, NULL, &registers) != 0)
        return;
    if (!thread_breakpoints_are_at(&tracee->breakpoints, registers.rip)) {
        /* It was blocked, and comes late. */
        ptrace(PTRACE_CONT, tracee->tid, NULL, NULL);
        return;
    }
    supervisor->result.hits++;
    uint64_t passed = passed_time(supervisor, &registers, now);
    if (!counts(supervisor, now, passed) || (one && is_any_stepped(supervisor))) {
        ptrace(PTRACE_CONT, tracee->tid, NULL, NULL);
        return;
    }
    if (one)
        stop_watching_others(supervisor);
    begin_steps(supervisor, tracee, &registers);
    struct session_hit taken = {
        .time = tracee->stepper->start,
        .passed = passed,
        .argument = trigger_passed_argument(registers.rsi),
        .has_argument = supervisor->options->trigger.passes_time,
        .address = registers.rip,
        .pid = (uint32_t)tracee->pid,
        .tid = (uint32_t)tracee->tid,
    };
    ptrace_recording_add_hit(&supervisor->recording, &taken);
}

/* ---- what the threads do ---- */

static void gone(struct supervisor *supervisor, struct tracee *tracee)
{
    if (tracee->stepper)
        take_steps(supervisor, tracee);
    tracees_remove(&supervisor->tracees, tracee);
}

/* A new thread: it is traced from its first instruction on. */
static void created(struct supervisor *supervisor, pid_t tid)
{
    struct error unhandled;
    pid_t pid = process_of_thread(tid);
    struct tracee *tracee = tracees_add(&supervisor->tracees, pid, tid);
    if (supervisor->options->multi_thread && supervisor->options->trigger.name && !supervisor->done)
        watch_tracee(supervisor, tracee, &unhandled);
    ptrace(PTRACE_CONT, tid, NULL, NULL);
}

static bool is_watch_trap(pid_t tid, int status)
{
    siginfo_t info;
    return status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP &&
           ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 &&
           info.si_code == BREAKPOINT_SIGNAL_CODE;
}

/* A thread that was brought to a stop to be stepped; `signal` is still to be delivered. */
static void begin_where_it_stands(struct supervisor *supervisor, struct tracee *tracee, int event,
                                  int signal)
{
    struct user_regs_struct registers;
    if (event == PTRACE_EVENT_STOP)
        restart_system_call(tracee->tid, true);
    if (ptrace(PTRACE_GETREGS, tracee->tid, NULL, &registers) != 0)
        return;
    begin_steps(supervisor, tracee, &registers);
    tracee->stepper->signal = signal;
}

static void stopped(struct supervisor *supervisor, struct tracee *tracee, int status)
{
    int event = status >> 16;
    if (tracee->stepper) {
        after_steps(supervisor, tracee, stepper_go_on(tracee->stepper, status));
    } else if (is_watch_trap(tracee->tid, status)) {
        if (supervisor->done)
            ptrace(PTRACE_CONT, tracee->tid, NULL, NULL);
        else
            hit(supervisor, tracee);
    } else if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP) {
        ptrace(PTRACE_LISTEN, tracee->tid, NULL, NULL);
    } else if (tracee->wanted) {
        begin_where_it_stands(supervisor, tracee, event, event == 0 ? WSTOPSIG(status) : 0);
    } else {
        int signal = event == 0 ? WSTOPSIG(status) : 0;
        ptrace(PTRACE_CONT, tracee->tid, NULL, (void *)(intptr_t)signal);
    }
}

static void handle(struct supervisor *supervisor, pid_t tid, int status)
{
    struct tracee *tracee = tracees_find(&supervisor->tracees, tid);
    if (!tracee && WIFSTOPPED(status))
        created(supervisor, tid);
    else if (tracee && WIFSTOPPED(status))
        stopped(supervisor, tracee, status);
    else if (tracee)
        gone(supervisor, tracee);
}

/* Lets each thread that can be stepped make some steps. False: all wait. */
static bool step_all(struct supervisor *supervisor)
{
    bool any = false;
    for (size_t i = 0; i < supervisor->tracees.count; i++) {
        struct tracee *tracee = *(struct tracee **)array_at(&supervisor->tracees, i);
        if (!tracee->stepper || !tracee->ready)
            continue;
        any = true;
        after_steps(supervisor, tracee, stepper_run(tracee->stepper));
    }
    return any;
}

static bool asked_to_stop(const struct supervisor *supervisor, int timeout)
{
    struct pollfd waited_for[] = {{.fd = supervisor->stop, .events = POLLIN},
                                  {.fd = supervisor->children, .events = POLLIN}};
    int ready = poll(waited_for, 2, timeout);
    struct signalfd_siginfo info;
    if (ready > 0 && waited_for[1].revents)
        while (read(supervisor->children, &info, sizeof info) > 0)
            ;
    return ready > 0 && waited_for[0].revents != 0;
}

/* With a delay threshold: every five seconds, until there is a hit that counts. */
static void report_delay(struct supervisor *supervisor)
{
    uint64_t now = tsc_now(), hz = supervisor->recording.tsc_hz;
    if (!supervisor->options->trigger.delay_threshold_ns || supervisor->result.snapshots > 0 ||
        is_any_stepped(supervisor) ||
        now - supervisor->reported_delay_at < DELAY_REPORT_SECONDS * hz)
        return;
    uint64_t delay = supervisor->conditions.longest_delay;
    supervisor->reported_delay_at = now;
    supervisor->conditions.longest_delay = 0;
    send_message(supervisor, SUPERVISOR_DELAY);
    if (write(supervisor->words, &delay, sizeof delay) < 0)
        return;
}

static int patience(const struct supervisor *supervisor, bool stepping)
{
    if (stepping)
        return 0;
    return supervisor->options->trigger.delay_threshold_ns ? 1000 * DELAY_REPORT_SECONDS : -1;
}

static void trace(struct supervisor *supervisor)
{
    supervisor->reported_delay_at = tsc_now();
    while (!supervisor->done && supervisor->tracees.count > 0) {
        int status;
        pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
        report_delay(supervisor);
        if (tid > 0) {
            handle(supervisor, tid, status);
            continue;
        }
        bool stepping = step_all(supervisor);
        if (asked_to_stop(supervisor, patience(supervisor, stepping)))
            break;
    }
}

/* ---- letting go ---- */

/* A thread in the kernel is brought to a stop before its stream can end. */
static void end_stepping(struct supervisor *supervisor, struct tracee *tracee)
{
    struct stepper *stepper = tracee->stepper;
    tracee_release(tracee);
    stepper_finish(stepper);
    ptrace_recording_add_steps(&supervisor->recording, stepper);
    tracee->stepper = NULL;
    supervisor->result.snapshots++;
}

static void let_go(struct supervisor *supervisor)
{
    for (size_t i = 0; i < supervisor->tracees.count; i++)
        thread_breakpoints_close(
            &(*(struct tracee **)array_at(&supervisor->tracees, i))->breakpoints);
    while (supervisor->tracees.count > 0) {
        struct tracee *tracee = *(struct tracee **)array_at(&supervisor->tracees, 0);
        if (tracee->stepper)
            end_stepping(supervisor, tracee);
        else
            tracee_release(tracee);
        tracees_remove(&supervisor->tracees, tracee);
    }
}

/* ---- the process ---- */

/* No signal but SIGKILL ends it. */
static int hold_signals(void)
{
    sigset_t all, children;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);
    return signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void finish(struct supervisor *supervisor, struct supervisor_report *report)
{
    report->result = supervisor->result;
    report->result.exit_status = -1;
    if (report->error.code != ERROR_NONE)
        return;
    if (supervisor->recording.steppers.count == 0)
        error_set(&report->error, ERROR_NOT_FOUND, "nothing was recorded: %s%s before the end",
                  supervisor->options->trigger.name ? supervisor->options->trigger.name
                                                    : "no thread ran",
                  supervisor->options->trigger.name ? " was not called" : "");
    else
        ptrace_recording_write(&supervisor->recording, &report->result, &report->error);
}

static void send_report(const struct supervisor *supervisor, const struct supervisor_report *report)
{
    send_message(supervisor, SUPERVISOR_DONE);
    const char *next = (const char *)report;
    size_t left = sizeof *report;
    for (ssize_t sent; left > 0 && (sent = write(supervisor->words, next, left)) > 0;) {
        next += sent;
        left -= (size_t)sent;
    }
}

/* Takes our command line off the list of processes, so that `pkill -f magic-trace` does not meet
 * the one process that must not be killed. Returns a copy of it. */
static char **hide_command_line(char **command)
{
    size_t count = 0;
    while (command[count])
        count++;
    char **copy = memory_allocate_zeroed((count + 1) * sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(command[i]);
        copy[i] = memory_copy_string(command[i]);
        memset(command[i], 0, length);
        if (i == 0)
            memcpy(command[0], SUPERVISOR_NAME,
                   length < strlen(SUPERVISOR_NAME) ? length : strlen(SUPERVISOR_NAME));
    }
    return copy;
}

static void free_command_line(char **copy)
{
    for (char **word = copy; *word; word++)
        free(*word);
    free(copy);
}

void supervisor_run(const struct record_options *wanted, int stop, int words)
{
    struct record_options own = *wanted;
    own.magic_trace_command = hide_command_line(wanted->magic_trace_command);
    struct supervisor supervisor = {
        .options = &own,
        .tracees = array_of(sizeof(struct tracee *)),
        .caches = array_of(sizeof(struct code_cache *)),
        .stop = stop,
        .words = words,
        .conditions = {.trigger = &own.trigger},
    };
    struct supervisor_report report = {0};
    setsid();
    prctl(PR_SET_NAME, SUPERVISOR_NAME);
    supervisor.children = hold_signals();
    ptrace_recording_begin(&supervisor.recording, &own);
    if (attach_all(&supervisor, &report.error)) {
        send_message(&supervisor, SUPERVISOR_ATTACHED);
        trace(&supervisor);
    }
    let_go(&supervisor);
    finish(&supervisor, &report);
    send_report(&supervisor, &report);
    ptrace_recording_free(&supervisor.recording);
    for (size_t i = 0; i < supervisor.caches.count; i++) {
        struct code_cache *cache = *(struct code_cache **)array_at(&supervisor.caches, i);
        code_cache_forget(cache);
        free(cache);
    }
    array_free(&supervisor.caches);
    array_free(&supervisor.tracees);
    free_command_line(own.magic_trace_command);
}
