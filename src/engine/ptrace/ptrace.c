#include "engine/ptrace/ptrace.h"

#include "base/child_wait.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/ptrace/breakpoint.h"
#include "engine/ptrace/supervisor.h"
#include "engine/recording_directory.h"
#include "engine/trigger/trigger_hits.h"
#include "process/debug_registers.h"
#include "process/signals.h"
#include "recording/flags.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void probe(struct engine_probe *probe)
{
    struct thread_breakpoints breakpoints;
    struct error error = {0};
    uint64_t address = (uintptr_t)probe;
    *probe = (struct engine_probe){0};
    probe->available = thread_breakpoints_open(&breakpoints, getpid(), &address, 1, &error);
    thread_breakpoints_close(&breakpoints);
    const char *means = debug_registers_fire()
                            ? "single-stepping from a hardware breakpoint on"
                            : "single-stepping, without a trigger: " DEBUG_REGISTERS_SILENT;
    snprintf(probe->why, sizeof probe->why, "%.500s", probe->available ? means : error.text);
}

/* The messages of the ptrace supervisor so far, and the pipe for more. */
struct listener {
    const struct record_options *options;
    int words;
    struct supervisor_report report;
    bool done, ended; /* the report is complete; nothing follows */
};

static void handle(struct listener *listener)
{
    unsigned char word;
    uint64_t delay;
    if (!file_read_exactly(listener->words, &word, 1)) {
        listener->ended = true;
        return;
    }
    switch ((enum supervisor_message)word) {
    case SUPERVISOR_ATTACHED:
        record_options_attached(listener->options);
        break;
    case SUPERVISOR_SNAPSHOT:
        log_status("Snapshot taken.");
        break;
    case SUPERVISOR_DELAY:
        if (file_read_exactly(listener->words, &delay, sizeof delay))
            log_status("Waiting for delay over threshold. Max delay since last report: %.3f ms",
                       (double)delay / 1e6);
        break;
    case SUPERVISOR_DONE:
        listener->done =
            file_read_exactly(listener->words, &listener->report, sizeof listener->report);
        listener->ended = true;
        break;
    }
}

/* Waits until the ptrace supervisor has finished; the first signal closes `stop`. Returns whether
 * there was one. */
static bool wait_for_supervisor(struct listener *listener, const struct signals *signals, int stop)
{
    struct pollfd waited_for[] = {{.fd = listener->words, .events = POLLIN},
                                  {.fd = signals->descriptor, .events = POLLIN}};
    bool interrupted = false;
    while (!listener->ended) {
        if (poll(waited_for, 2, -1) < 0)
            continue;
        if (waited_for[0].revents)
            handle(listener);
        struct signalfd_siginfo info;
        if (waited_for[1].revents && signals_next(signals, &info) && info.ssi_signo != SIGCHLD &&
            info.ssi_signo != SIGCONT && !interrupted) {
            log_status("%s, detaching...", signals_end_reason(&info));
            interrupted = true;
            close(stop);
        }
    }
    if (!interrupted)
        close(stop);
    return interrupted;
}

static bool run_supervisor(const struct record_options *options, const struct signals *signals,
                           struct record_result *result, struct error *error)
{
    int stop[2], words[2];
    if (pipe2(stop, O_CLOEXEC) != 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot make a pipe");
    if (pipe2(words, O_CLOEXEC) != 0) {
        error_set_errno(error, ERROR_IO, errno, "cannot make a pipe");
        close(stop[0]);
        close(stop[1]);
        return false;
    }
    pid_t supervisor = fork();
    if (supervisor == 0) {
        close(stop[1]);
        close(words[0]);
        signal(SIGPIPE, SIG_IGN);
        supervisor_run(options, stop[0], words[1]);
        _exit(0);
    }
    close(stop[0]);
    close(words[1]);
    struct listener listener = {.options = options, .words = words[0]};
    if (supervisor < 0)
        error_set_errno(error, ERROR_IO, errno, "cannot start the process that traces");
    else
        result->interrupted = wait_for_supervisor(&listener, signals, stop[1]);
    close(words[0]);
    if (supervisor < 0) {
        close(stop[1]);
        return false;
    }
    child_wait(supervisor);
    if (!listener.done)
        return error_set(
            error, ERROR_IO,
            "the process that traces (mt-supervisor, %d) has died; what it recorded is "
            "lost.",
            (int)supervisor);
    bool interrupted = result->interrupted && listener.report.result.snapshots > 0;
    *result = listener.report.result;
    result->interrupted = interrupted;
    if (listener.report.error.code == ERROR_NONE)
        return true;
    return error_set(error, listener.report.error.code, "%s", listener.report.error.text);
}

/* What has a meaning for engines that know the past. */
static void warn_of_options(const struct record_options *options)
{
    if (options->trigger.immediate_stop)
        log_warning(FLAG_IMMEDIATE_STOP
                    " has no effect here: without Intel PT a process is recorded "
                    "from the trigger on, not up to it.");
    if (options->trigger.passes_time)
        log_warning("without Intel PT a process is recorded from the trigger on, not up to it, and "
                    "nothing follows a snapshot taken by the program. Trigger on the function that "
                    "you want to look into.");
}

static bool attach(const struct record_options *options, struct record_result *result,
                   struct error *error)
{
    warn_of_options(options);
    struct signals signals;
    *result = (struct record_result){.exit_status = -1};
    char *directory = recording_directory_prepare(options->directory, error);
    if (!directory)
        return false;
    struct record_options absolute = *options;
    absolute.directory = directory;
    bool ok = signals_hold(&signals, error);
    if (ok) {
        ok = run_supervisor(&absolute, &signals, result, error);
        signals_release(&signals, true);
    }
    recording_directory_leave(directory, ok);
    return ok;
}

static bool serves(const struct record_options *options, struct error *error)
{
    if (options->follow_required)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the ptrace engine steps the processes that are named, and does "
                         "not " FLAG_FOLLOW
                         " their children. The translator engine does: " FLAG_ENGINE
                         " translator.");
    return trigger_hits_served(options, ptrace_engine.name, error) &&
           processor_options_served(&options->processor, 0, ptrace_engine.name, error);
}

const struct engine ptrace_engine = {
    .name = "ptrace",
    .has_clocks = true,
    .former_name = "step",
    .description = "attaches to a running process and steps it, forward from the trigger; exact, "
                   "on any machine, thousands of times slower while it traces",
    .manual =
        "Attaches to a process and steps it, forward from the trigger: exact, on any machine, "
        "thousands of times slower while it traces. `step`, its former name, is accepted, too.",
    .probe = probe,
    .serves = serves,
    .attach = attach,
};
