#include "engine/perf/perf_recorder.h"

#include "base/log.h"
#include "base/monotonic.h"
#include "process/pidfd.h"
#include "recording/flags.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long perf may use no processor time before it counts as hanging. */
enum { PATIENCE_SECONDS = 10 };
/* How often we check perf without a control channel, while we wait for it. */
enum { LOOK_MS = 10 };
static const uint64_t second_ns = UINT64_C(1000000000);
/* How often the longest delay between two hits is reported. */
enum { DELAY_REPORT_SECONDS = 5 };

static bool has_control(const struct perf_recorder *recorder)
{
    return perf_has_control(recorder->request.machine->version);
}

/* ---- hanging ---- */

static uint64_t patience(void)
{
    const char *wanted = getenv("MAGIC_TRACE_PERF_PATIENCE");
    double seconds = wanted ? strtod(wanted, NULL) : 0;
    return seconds > 0 && seconds < 1e6 ? (uint64_t)(seconds * 1e9) : PATIENCE_SECONDS * second_ns;
}

/* A value that changes as long as perf works. */
static uint64_t work_of(const struct perf_recorder *recorder)
{
    struct stat status;
    uint64_t written = stat(recorder->request.output, &status) == 0 ? (uint64_t)status.st_size : 0;
    return written + perf_process_work(&recorder->perf);
}

static void begin_patience(struct perf_recorder *recorder)
{
    recorder->deadline_ns = monotonic_ns() + recorder->patience_ns;
    recorder->seen_work = work_of(recorder);
}

static bool all_ended(const struct perf_recorder *recorder)
{
    for (size_t i = 0; i < recorder->targets.count; i++)
        if (*(int *)array_at(&recorder->targets, i) >= 0)
            return false;
    return true;
}

/* The deadline has passed: perf works, or hangs. */
static void judge(struct perf_recorder *recorder)
{
    if (recorder->phase == PERF_ENDED) {
        recorder->program_lingers = recorder->program && !recorder->program_ended;
        recorder->deadline_ns = 0;
        return;
    }
    if (recorder->phase == PERF_RECORDING && all_ended(recorder)) {
        record_options_outlived(recorder->request.options);
        recorder->deadline_ns = 0;
        return;
    }
    uint64_t seen = recorder->seen_work;
    begin_patience(recorder);
    if (recorder->seen_work != seen || perf_process_is_busy(&recorder->perf))
        return;
    static const int numbers[] = {SIGTERM, SIGKILL};
    if (recorder->signals_sent == sizeof numbers / sizeof *numbers)
        return;
    log_warning("perf (%d) has neither answered nor worked for %.3g s: it gets %s.",
                (int)recorder->perf.pid, (double)recorder->patience_ns / 1e9,
                recorder->signals_sent ? "SIGKILL" : "SIGTERM");
    perf_process_signal(&recorder->perf, numbers[recorder->signals_sent++]);
    recorder->phase = PERF_STOPPING;
}

/* ---- starting ---- */

static void watch_targets(struct perf_recorder *recorder)
{
    recorder->targets = array_of(sizeof(int));
    for (size_t i = 0; i < recorder->request.pid_count; i++)
        *(int *)array_add(&recorder->targets) = pidfd_of(recorder->request.pids[i]);
}

bool perf_recorder_start(struct perf_recorder *recorder, const struct perf_request *request,
                         const struct signals *signals, struct program_signals *program,
                         struct error *error)
{
    *recorder = (struct perf_recorder){
        .request = *request,
        .signals = signals,
        .program = program,
        .control = {.commands = {-1, -1}, .acks = {-1, -1}},
        .patience_ns = patience(),
    };
    if (has_control(recorder) && !perf_control_open(&recorder->control, error))
        return false;
    recorder->request.control = recorder->control.commands[0];
    recorder->request.acks = recorder->control.acks[1];
    char **arguments = perf_arguments(&recorder->request);
    const int inherited[] = {recorder->control.commands[0], recorder->control.commands[1],
                             recorder->control.acks[0], recorder->control.acks[1]};
    bool ok = perf_process_start(&recorder->perf, arguments, signals, inherited,
                                 sizeof inherited / sizeof *inherited, error);
    perf_arguments_free(arguments);
    if (!ok) {
        perf_control_close(&recorder->control);
        return false;
    }
    watch_targets(recorder);
    begin_patience(recorder);
    if (has_control(recorder))
        perf_control_send(&recorder->control, PERF_COMMAND_ENABLE);
    return true;
}

void perf_recorder_free(struct perf_recorder *recorder)
{
    for (size_t i = 0; i < recorder->targets.count; i++) {
        int descriptor = *(int *)array_at(&recorder->targets, i);
        if (descriptor >= 0)
            close(descriptor);
    }
    array_free(&recorder->targets);
    perf_control_close(&recorder->control);
    perf_process_free(&recorder->perf);
}

/* ---- commands ---- */

static void end_by_signal(struct perf_recorder *recorder)
{
    perf_process_signal(&recorder->perf, SIGTERM);
    recorder->phase = PERF_STOPPING;
}

void perf_recorder_snapshot(struct perf_recorder *recorder)
{
    if (recorder->phase != PERF_RECORDING)
        return;
    if (perf_request_switches_output(&recorder->request) || !has_control(recorder)) {
        perf_process_signal(&recorder->perf, SIGUSR2);
        return;
    }
    /* If the channel is full of unanswered commands, one of them will be carried out after this
     * moment too. */
    if (perf_control_send(&recorder->control, PERF_COMMAND_SNAPSHOT) && !recorder->deadline_ns)
        begin_patience(recorder);
}

void perf_recorder_stop(struct perf_recorder *recorder)
{
    if (recorder->stop_wanted || recorder->phase == PERF_ENDED)
        return;
    recorder->stop_wanted = true;
    begin_patience(recorder);
    struct perf_version version = recorder->request.machine->version;
    if (recorder->phase == PERF_STARTING || recorder->phase == PERF_STOPPING) {
        end_by_signal(recorder);
    } else if (perf_request_snapshot(&recorder->request) == PERF_SNAPSHOT_ON_SIGNAL) {
        perf_process_signal(&recorder->perf, SIGUSR2);
        recorder->phase = PERF_SNAPSHOTTING;
    } else if (perf_has_stop(version)) {
        /* First, stop overwriting. */
        perf_control_send(&recorder->control, PERF_COMMAND_DISABLE);
        if (perf_control_send(&recorder->control, PERF_COMMAND_STOP))
            recorder->phase = PERF_STOPPING;
        else
            end_by_signal(recorder);
    } else {
        end_by_signal(recorder);
    }
}

/* ---- the trigger ---- */

/* The first hit that counts ends the recording, unless several snapshots were requested; a full
 * execution takes none. */
static void handle_hits(struct perf_recorder *recorder)
{
    const struct record_options *options = recorder->request.options;
    while (recorder->phase == PERF_RECORDING && trigger_hits_next(recorder->hits)) {
        if (recorder->snapshots++ == 0)
            log_status("Snapshot taken.");
        if (!options->trigger.multi_snapshot)
            perf_recorder_stop(recorder);
        else if (!options->full_execution)
            perf_recorder_snapshot(recorder);
    }
    if (recorder->phase != PERF_RECORDING)
        trigger_hits_close(recorder->hits);
}

static bool reports_delay(const struct perf_recorder *recorder)
{
    return recorder->phase == PERF_RECORDING && recorder->hits &&
           recorder->request.options->trigger.delay_threshold_ns;
}

static void report_delay(struct perf_recorder *recorder)
{
    uint64_t now = monotonic_ns();
    if (now - recorder->delay_reported_ns < DELAY_REPORT_SECONDS * second_ns)
        return;
    recorder->delay_reported_ns = now;
    trigger_hits_report_delay(recorder->hits);
}

/* ---- what happens ---- */

static void note_ready(struct perf_recorder *recorder)
{
    recorder->phase = PERF_RECORDING;
    recorder->ready = true;
    recorder->deadline_ns = 0;
    recorder->delay_reported_ns = monotonic_ns();
}

static void handle_acks(struct perf_recorder *recorder)
{
    enum perf_command command;
    while (perf_control_next_ack(&recorder->control, &command))
        if (recorder->phase == PERF_STARTING && command == PERF_COMMAND_ENABLE)
            note_ready(recorder);
    if (recorder->phase == PERF_RECORDING && recorder->control.awaited_count == 0)
        recorder->deadline_ns = 0;
}

/* Checks for changes that no descriptor reports. */
static void look(struct perf_recorder *recorder)
{
    struct stat status;
    if (stat(recorder->request.output, &status) != 0 || status.st_size == 0)
        return;
    if (recorder->phase == PERF_STARTING && perf_process_waits(&recorder->perf))
        note_ready(recorder);
    else if (recorder->phase == PERF_SNAPSHOTTING && work_of(recorder) != recorder->seen_work)
        end_by_signal(recorder);
}

static bool must_look(const struct perf_recorder *recorder)
{
    return (recorder->phase == PERF_STARTING && !has_control(recorder)) ||
           recorder->phase == PERF_SNAPSHOTTING;
}

/* Whether perf ends by itself when what the processes have started has ended, too: its events hang up then. */
static bool follows(const struct perf_recorder *recorder)
{
    return recorder->phase == PERF_RECORDING && recorder->request.options->follow &&
           perf_request_snapshot(&recorder->request) != PERF_SNAPSHOT_ON_SIGNAL;
}

static void note_end_of_target(struct perf_recorder *recorder, size_t index)
{
    int *descriptor = array_at(&recorder->targets, index);
    close(*descriptor);
    *descriptor = -1;
    if (!all_ended(recorder))
        return;
    if (follows(recorder))
        recorder->deadline_ns = monotonic_ns() + second_ns;
    else
        perf_recorder_stop(recorder);
}

static void note_interrupt(struct perf_recorder *recorder, const char *reason)
{
    if (recorder->interrupts++ == 0) {
        log_status("%s, detaching...", reason);
        perf_recorder_stop(recorder);
    } else if (recorder->program && !recorder->program_ended) {
        log_status("Got signal again, killing the program...");
        pidfd_signal(recorder->program->child.descriptor, recorder->program->child.pid, SIGKILL,
                     NULL);
    } else {
        log_status("Got signal again, killing perf...");
        perf_process_signal(&recorder->perf, SIGKILL);
    }
}

static void answer_signal(struct perf_recorder *recorder)
{
    struct signalfd_siginfo info;
    if (recorder->program && !recorder->program_ended) {
        if (program_signals_answer(recorder->program))
            note_interrupt(recorder, "Got signal");
    } else if (!signals_next(recorder->signals, &info) || info.ssi_signo == SIGCHLD ||
               info.ssi_signo == SIGCONT) {
        return;
    } else if (info.ssi_signo == SIGTSTP) {
        signals_stop_self();
    } else {
        note_interrupt(recorder, signals_end_reason(&info));
    }
}

/* ---- waiting ---- */

static int milliseconds_to_wait(const struct perf_recorder *recorder)
{
    if (must_look(recorder))
        return LOOK_MS;
    if (reports_delay(recorder))
        return DELAY_REPORT_SECONDS * 1000;
    if (!recorder->deadline_ns)
        return -1;
    uint64_t now = monotonic_ns();
    return now >= recorder->deadline_ns ? 0 : (int)((recorder->deadline_ns - now) / 1000000) + 1;
}

enum { WAIT_SIGNALS, WAIT_PERF, WAIT_ACKS, WAIT_PROGRAM, WAIT_HITS, WAIT_TARGETS };

static void handle(struct perf_recorder *recorder, const struct pollfd *waited_for)
{
    if (waited_for[WAIT_ACKS].revents)
        handle_acks(recorder);
    if (waited_for[WAIT_HITS].revents)
        handle_hits(recorder);
    if (waited_for[WAIT_PERF].revents) {
        perf_process_reap(&recorder->perf);
        recorder->phase = PERF_ENDED;
        recorder->deadline_ns = monotonic_ns() + second_ns;
    }
    if (waited_for[WAIT_PROGRAM].revents)
        recorder->program_ended = true;
    for (size_t i = 0; i < recorder->targets.count; i++)
        if (waited_for[WAIT_TARGETS + i].revents)
            note_end_of_target(recorder, i);
    if (waited_for[WAIT_SIGNALS].revents)
        answer_signal(recorder);
}

void perf_recorder_wait(struct perf_recorder *recorder)
{
    size_t count = WAIT_TARGETS + recorder->targets.count;
    struct array waited_for = array_of(sizeof(struct pollfd));
    bool ended = recorder->phase == PERF_ENDED;
    bool program = recorder->program && !recorder->program_ended;
    const int descriptors[WAIT_TARGETS] = {
        [WAIT_SIGNALS] = recorder->signals->descriptor,
        [WAIT_PERF] = ended ? -1 : recorder->perf.descriptor,
        [WAIT_ACKS] = ended ? -1 : recorder->control.acks[0],
        [WAIT_HITS] = recorder->hits ? trigger_hits_descriptor(recorder->hits) : -1,
        [WAIT_PROGRAM] = program ? recorder->program->child.descriptor : -1,
    };
    for (size_t i = 0; i < count; i++)
        *(struct pollfd *)array_add(&waited_for) = (struct pollfd){
            .fd = i < WAIT_TARGETS ? descriptors[i]
                                   : *(int *)array_at(&recorder->targets, i - WAIT_TARGETS),
            .events = POLLIN};
    if (poll(waited_for.elements, count, milliseconds_to_wait(recorder)) > 0)
        handle(recorder, waited_for.elements);
    if (must_look(recorder))
        look(recorder);
    if (reports_delay(recorder))
        report_delay(recorder);
    if (recorder->deadline_ns && monotonic_ns() >= recorder->deadline_ns)
        judge(recorder);
    array_free(&waited_for);
}

/* ---- the end ---- */

void perf_recorder_finish(struct perf_recorder *recorder)
{
    perf_recorder_stop(recorder);
    while (recorder->phase != PERF_ENDED)
        perf_recorder_wait(recorder);
}

bool perf_recorder_wait_until_ready(struct perf_recorder *recorder)
{
    while (recorder->phase == PERF_STARTING)
        perf_recorder_wait(recorder);
    if (recorder->phase == PERF_RECORDING)
        return true;
    perf_recorder_finish(recorder);
    return false;
}

/* In our options' words, where perf speaks of its own. */
static const char *advice_for(const char *words)
{
    if (strstr(words, "mmap_pages"))
        return "\nGive a smaller " FLAG_SNAPSHOT_SIZE
               ", run magic-trace as root, or allow more by `sysctl "
               "kernel.perf_event_mlock_kb=N`.";
    if (strstr(words, "perf_event_paranoid"))
        return "\nRun magic-trace as root, or allow it by `sysctl kernel.perf_event_paranoid=1`.";
    return "";
}

bool perf_recorder_verdict(const struct perf_recorder *recorder, struct error *error)
{
    int status = recorder->perf.status;
    /* perf that is ended by a signal raises it again when it has written everything. */
    bool asked = recorder->stop_wanted && recorder->ready;
    if ((WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
        (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM && asked))
        return true;
    char *words = perf_process_words(&recorder->perf);
    const char *separator = *words ? ". It said:\n" : ", and did not say why.";
    if (recorder->signals_sent)
        error_set(error, ERROR_IO, "perf record hung and was ended%s%s", separator, words);
    else if (WIFSIGNALED(status))
        error_set(error, ERROR_IO, "perf record was killed by signal %d (%s)%s%s", WTERMSIG(status),
                  strsignal(WTERMSIG(status)), separator, words);
    else
        error_set(error, ERROR_IO, "perf record failed with status %d%s%s%s", WEXITSTATUS(status),
                  separator, words, advice_for(words));
    free(words);
    return false;
}
