#include "engine/ptrace/supervisor.h"

#include "base/log.h"
#include "base/memory.h"
#include "engine/ptrace/tracee.h"
#include "engine/trigger_addresses.h"
#include "engine/trigger_conditions.h"
#include "process/system_call_restart.h"

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
#include <x86intrin.h>

#define KEEPER_NAME "trace-keeper"

enum { DELAY_REPORT_SECONDS = 5 };
/* Bytes of packets per stepped call with -full-execution. Memory is taken as it fills. */
static const uint64_t full_size = UINT64_C(1) << 30;

struct keeper {
    const struct record_options *options;
    struct step_recording recording;
    struct array tracees;                 /* of struct tracee * */
    struct array caches;                  /* of struct code_cache *, one per process */
    int stop, words, children;            /* descriptors; `children`: a signalfd of SIGCHLD */
    struct trigger_conditions conditions; /* its longest delay: since it was last told */
    uint64_t told_delay_at;               /* TSC */
    struct record_result result;
    bool done;
};

static void tell(const struct keeper *keeper, enum keeper_word word)
{
    unsigned char byte = (unsigned char)word;
    /* Nobody may be there to hear it. */
    if (write(keeper->words, &byte, 1) < 0)
        return;
}

/* ---- watching ---- */

static bool watch_tracee(struct keeper *keeper, struct tracee *tracee, struct error *error)
{
    const struct trigger *trigger = &keeper->options->trigger;
    struct array addresses = array_of(sizeof(uint64_t));
    trigger_addresses(&addresses, trigger, "/proc", tracee->pid);
    size_t count = addresses.count < WATCH_PLACES ? addresses.count : WATCH_PLACES;
    bool ok =
        count == 0 || watch_open(&tracee->watch, tracee->tid, addresses.elements, count, error);
    array_free(&addresses);
    if (count == 0)
        return error_set(error, ERROR_NOT_FOUND,
                         "%s is not mapped in process %d. A file that was replaced since the "
                         "process began cannot be watched: restart the process.",
                         trigger->name, (int)tracee->pid);
    return ok;
}

/* The processor's trap becomes a signal that such a thread does not get. */
static void warn_of_deaf_thread(const struct keeper *keeper, const struct tracee *tracee)
{
    if (keeper->options->trigger.name && thread_blocks_traps(tracee->tid))
        log_warning("thread %d of process %d blocks SIGTRAP: calls of %s are not noticed in it as "
                    "long as it does. Without -trigger it can be recorded.",
                    (int)tracee->tid, (int)tracee->pid, keeper->options->trigger.name);
}

static bool attach_all(struct keeper *keeper, struct error *error)
{
    const struct record_options *options = keeper->options;
    for (size_t i = 0; i < options->pid_count; i++)
        if (!tracees_seize(&keeper->tracees, options->pids[i], options->multi_thread, error))
            return false;
    for (size_t i = 0; i < keeper->tracees.count; i++) {
        struct tracee *tracee = *(struct tracee **)array_at(&keeper->tracees, i);
        warn_of_deaf_thread(keeper, tracee);
        if (options->trigger.name) {
            if (!watch_tracee(keeper, tracee, error))
                return false;
        } else {
            tracee->wanted = true;
            ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL);
        }
    }
    return true;
}

/* ---- stepping ---- */

static struct code_cache *cache_of(struct keeper *keeper, pid_t pid)
{
    for (size_t i = 0; i < keeper->caches.count; i++) {
        struct code_cache *cache = *(struct code_cache **)array_at(&keeper->caches, i);
        if (cache->pid == pid)
            return cache;
    }
    struct code_cache *cache = memory_allocate_zeroed(sizeof *cache);
    cache->pid = pid;
    *(struct code_cache **)array_add(&keeper->caches) = cache;
    return cache;
}

static bool somebody_is_stepped(const struct keeper *keeper)
{
    for (size_t i = 0; i < keeper->tracees.count; i++)
        if ((*(struct tracee **)array_at(&keeper->tracees, i))->stepper)
            return true;
    return false;
}

static void take_steps(struct keeper *keeper, struct tracee *tracee)
{
    step_recording_add_steps(&keeper->recording, tracee->stepper);
    tracee->stepper = NULL;
    tracee->ready = false;
    keeper->result.snapshots++;
    tell(keeper, KEEPER_SNAPSHOT);
    if (!keeper->options->trigger.multi_snapshot && !somebody_is_stepped(keeper))
        keeper->done = true;
}

static void after_steps(struct keeper *keeper, struct tracee *tracee, enum stepper_state state)
{
    tracee->ready = state == STEPPER_STOPPED;
    if (state == STEPPER_STOPPED || state == STEPPER_IN_KERNEL)
        return;
    int signal = state == STEPPER_DONE ? tracee->stepper->signal : 0;
    take_steps(keeper, tracee);
    ptrace(PTRACE_CONT, tracee->tid, NULL, (void *)(intptr_t)signal);
}

static void begin_steps(struct keeper *keeper, struct tracee *tracee,
                        const struct user_regs_struct *registers)
{
    const struct record_options *options = keeper->options;
    struct stepper_options wanted = {
        .clock = options->clock,
        .tsc_hz = keeper->recording.tsc_hz,
        .bus_ratio = (uint8_t)(keeper->recording.tsc_hz / 100000000),
        .size = options->full_execution ? full_size : options->snapshot_size,
        .until_return = options->trigger.name != NULL,
    };
    step_recording_add_thread(&keeper->recording, tracee->pid, tracee->tid);
    tracee->stepper = memory_allocate(sizeof *tracee->stepper);
    stepper_begin(tracee->stepper, tracee->tid, cache_of(keeper, tracee->pid), &wanted, registers);
    tracee->ready = true;
    tracee->wanted = false;
}

/* ---- hits ---- */

static uint64_t passed_time(const struct keeper *keeper, const struct user_regs_struct *registers,
                            uint64_t now)
{
    uint64_t passed = trigger_passed_time(registers->rdi);
    return keeper->options->trigger.passes_time && passed < now ? passed : 0;
}

static uint64_t to_nanoseconds(const struct keeper *keeper, uint64_t ticks)
{
    return (uint64_t)((double)ticks * 1e9 / (double)keeper->recording.tsc_hz);
}

static bool counts(struct keeper *keeper, uint64_t now, uint64_t passed)
{
    return trigger_hit_counts(&keeper->conditions, to_nanoseconds(keeper, now),
                              to_nanoseconds(keeper, passed));
}

/* From now on nobody else's hits matter: they shall not be slowed down by them. */
static void stop_watching_others(struct keeper *keeper)
{
    for (size_t i = 0; i < keeper->tracees.count; i++)
        watch_close(&(*(struct tracee **)array_at(&keeper->tracees, i))->watch);
}

static void hit(struct keeper *keeper, struct tracee *tracee)
{
    struct user_regs_struct registers;
    uint64_t now = __rdtsc();
    bool one = !keeper->options->trigger.multi_snapshot;
    if (ptrace(PTRACE_GETREGS, tracee->tid, NULL, &registers) != 0)
        return;
    if (!watch_is_at(&tracee->watch, registers.rip)) {
        /* It was blocked, and comes late. */
        ptrace(PTRACE_CONT, tracee->tid, NULL, NULL);
        return;
    }
    keeper->result.hits++;
    uint64_t passed = passed_time(keeper, &registers, now);
    if (!counts(keeper, now, passed) || (one && somebody_is_stepped(keeper))) {
        ptrace(PTRACE_CONT, tracee->tid, NULL, NULL);
        return;
    }
    if (one)
        stop_watching_others(keeper);
    begin_steps(keeper, tracee, &registers);
    struct session_hit taken = {
        .time = tracee->stepper->start,
        .passed = passed,
        .argument = trigger_passed_argument(registers.rsi),
        .has_argument = keeper->options->trigger.passes_time,
        .address = registers.rip,
        .pid = (uint32_t)tracee->pid,
        .tid = (uint32_t)tracee->tid,
    };
    step_recording_add_hit(&keeper->recording, &taken);
}

/* ---- what the threads do ---- */

static void gone(struct keeper *keeper, struct tracee *tracee)
{
    if (tracee->stepper)
        take_steps(keeper, tracee);
    tracees_remove(&keeper->tracees, tracee);
}

/* A thread was born, and is ours from its first instruction on. */
static void born(struct keeper *keeper, pid_t tid)
{
    struct error unheard;
    pid_t pid = process_of_thread(tid);
    struct tracee *tracee = tracees_add(&keeper->tracees, pid, tid);
    if (keeper->options->multi_thread && keeper->options->trigger.name && !keeper->done)
        watch_tracee(keeper, tracee, &unheard);
    ptrace(PTRACE_CONT, tid, NULL, NULL);
}

static bool is_watch_trap(pid_t tid, int status)
{
    siginfo_t info;
    return status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP &&
           ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && info.si_code == WATCH_SIGNAL_CODE;
}

/* A thread that was brought to a stop to be stepped; `signal` is still to be delivered. */
static void begin_where_it_stands(struct keeper *keeper, struct tracee *tracee, int event,
                                  int signal)
{
    struct user_regs_struct registers;
    if (event == PTRACE_EVENT_STOP)
        restart_system_call(tracee->tid, true);
    if (ptrace(PTRACE_GETREGS, tracee->tid, NULL, &registers) != 0)
        return;
    begin_steps(keeper, tracee, &registers);
    tracee->stepper->signal = signal;
}

static void stopped(struct keeper *keeper, struct tracee *tracee, int status)
{
    int event = status >> 16;
    if (tracee->stepper) {
        after_steps(keeper, tracee, stepper_go_on(tracee->stepper, status));
    } else if (is_watch_trap(tracee->tid, status)) {
        if (keeper->done)
            ptrace(PTRACE_CONT, tracee->tid, NULL, NULL);
        else
            hit(keeper, tracee);
    } else if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP) {
        ptrace(PTRACE_LISTEN, tracee->tid, NULL, NULL);
    } else if (tracee->wanted) {
        begin_where_it_stands(keeper, tracee, event, event == 0 ? WSTOPSIG(status) : 0);
    } else {
        int signal = event == 0 ? WSTOPSIG(status) : 0;
        ptrace(PTRACE_CONT, tracee->tid, NULL, (void *)(intptr_t)signal);
    }
}

static void handle(struct keeper *keeper, pid_t tid, int status)
{
    struct tracee *tracee = tracees_find(&keeper->tracees, tid);
    if (!tracee && WIFSTOPPED(status))
        born(keeper, tid);
    else if (tracee && WIFSTOPPED(status))
        stopped(keeper, tracee, status);
    else if (tracee)
        gone(keeper, tracee);
}

/* Lets each thread that can be stepped make some steps. False: there is none. */
static bool step_all(struct keeper *keeper)
{
    bool any = false;
    for (size_t i = 0; i < keeper->tracees.count; i++) {
        struct tracee *tracee = *(struct tracee **)array_at(&keeper->tracees, i);
        if (!tracee->stepper || !tracee->ready)
            continue;
        any = true;
        after_steps(keeper, tracee, stepper_run(tracee->stepper));
    }
    return any;
}

static bool asked_to_stop(const struct keeper *keeper, int timeout)
{
    struct pollfd waited_for[] = {{.fd = keeper->stop, .events = POLLIN},
                                  {.fd = keeper->children, .events = POLLIN}};
    int ready = poll(waited_for, 2, timeout);
    struct signalfd_siginfo info;
    if (ready > 0 && waited_for[1].revents)
        while (read(keeper->children, &info, sizeof info) > 0)
            ;
    return ready > 0 && waited_for[0].revents != 0;
}

/* With a delay threshold: every five seconds, until there is a hit that counts. */
static void tell_delay(struct keeper *keeper)
{
    uint64_t now = __rdtsc(), hz = keeper->recording.tsc_hz;
    if (!keeper->options->trigger.delay_threshold_ns || keeper->result.snapshots > 0 ||
        somebody_is_stepped(keeper) || now - keeper->told_delay_at < DELAY_REPORT_SECONDS * hz)
        return;
    uint64_t delay = keeper->conditions.longest_delay;
    keeper->told_delay_at = now;
    keeper->conditions.longest_delay = 0;
    tell(keeper, KEEPER_DELAY);
    if (write(keeper->words, &delay, sizeof delay) < 0)
        return;
}

static int patience(const struct keeper *keeper, bool stepping)
{
    if (stepping)
        return 0;
    return keeper->options->trigger.delay_threshold_ns ? 1000 * DELAY_REPORT_SECONDS : -1;
}

static void trace(struct keeper *keeper)
{
    keeper->told_delay_at = __rdtsc();
    while (!keeper->done && keeper->tracees.count > 0) {
        int status;
        pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
        tell_delay(keeper);
        if (tid > 0) {
            handle(keeper, tid, status);
            continue;
        }
        bool stepping = step_all(keeper);
        if (asked_to_stop(keeper, patience(keeper, stepping)))
            break;
    }
}

/* ---- letting go ---- */

/* A thread in the kernel is brought to a stop before its stream can end. */
static void end_stepping(struct keeper *keeper, struct tracee *tracee)
{
    struct stepper *stepper = tracee->stepper;
    tracee_release(tracee);
    stepper_finish(stepper);
    step_recording_add_steps(&keeper->recording, stepper);
    tracee->stepper = NULL;
    keeper->result.snapshots++;
}

static void let_go(struct keeper *keeper)
{
    for (size_t i = 0; i < keeper->tracees.count; i++)
        watch_close(&(*(struct tracee **)array_at(&keeper->tracees, i))->watch);
    while (keeper->tracees.count > 0) {
        struct tracee *tracee = *(struct tracee **)array_at(&keeper->tracees, 0);
        if (tracee->stepper)
            end_stepping(keeper, tracee);
        else
            tracee_release(tracee);
        tracees_remove(&keeper->tracees, tracee);
    }
}

/* ---- the process ---- */

/* Nobody's signals end it but SIGKILL. */
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

static void finish(struct keeper *keeper, struct keeper_report *report)
{
    report->result = keeper->result;
    report->result.exit_status = -1;
    if (report->error.code != ERROR_NONE)
        return;
    if (keeper->recording.steppers.count == 0)
        error_set(&report->error, ERROR_NOT_FOUND, "nothing was recorded: %s%s before the end",
                  keeper->options->trigger.name ? keeper->options->trigger.name : "no thread ran",
                  keeper->options->trigger.name ? " was not called" : "");
    else
        step_recording_write(&keeper->recording, &report->result, &report->error);
}

static void send_report(const struct keeper *keeper, const struct keeper_report *report)
{
    tell(keeper, KEEPER_DONE);
    const char *next = (const char *)report;
    size_t left = sizeof *report;
    for (ssize_t sent; left > 0 && (sent = write(keeper->words, next, left)) > 0;) {
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
            memcpy(command[0], KEEPER_NAME,
                   length < strlen(KEEPER_NAME) ? length : strlen(KEEPER_NAME));
    }
    return copy;
}

static void free_command_line(char **copy)
{
    for (char **word = copy; *word; word++)
        free(*word);
    free(copy);
}

void keeper_run(const struct record_options *wanted, int stop, int words)
{
    struct record_options own = *wanted;
    own.magic_trace_command = hide_command_line(wanted->magic_trace_command);
    struct keeper keeper = {
        .options = &own,
        .tracees = array_of(sizeof(struct tracee *)),
        .caches = array_of(sizeof(struct code_cache *)),
        .stop = stop,
        .words = words,
        .conditions = {.trigger = &own.trigger},
    };
    struct keeper_report report = {0};
    setsid();
    prctl(PR_SET_NAME, KEEPER_NAME);
    keeper.children = hold_signals();
    step_recording_begin(&keeper.recording, &own);
    if (attach_all(&keeper, &report.error)) {
        tell(&keeper, KEEPER_ATTACHED);
        trace(&keeper);
    }
    let_go(&keeper);
    finish(&keeper, &report);
    send_report(&keeper, &report);
    step_recording_free(&keeper.recording);
    for (size_t i = 0; i < keeper.caches.count; i++) {
        struct code_cache *cache = *(struct code_cache **)array_at(&keeper.caches, i);
        code_cache_forget(cache);
        free(cache);
    }
    array_free(&keeper.caches);
    array_free(&keeper.tracees);
    free_command_line(own.magic_trace_command);
}
