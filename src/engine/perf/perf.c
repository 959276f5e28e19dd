#include "engine/perf/perf.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/perf/exec_stop.h"
#include "engine/perf/perf_files.h"
#include "engine/perf/perf_recorder.h"
#include "engine/perf_event/kernel.h"
#include "engine/perf_event/perf_clock.h"
#include "engine/pt_packets_setup.h"
#include "recording/session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what it can do here ---- */

static void probe(struct engine_probe *probe)
{
    struct perf_machine machine;
    struct error error = {0};
    *probe = (struct engine_probe){0};
    probe->available = perf_machine_examine(&machine, &kernel_real, &error);
    if (!probe->available) {
        /* An error's text is "what failed. What to do." */
        const char *advice = strstr(error.text, ". ");
        int length = advice ? (int)(advice - error.text) : (int)strlen(error.text);
        snprintf(probe->why, sizeof probe->why, "%.*s", length, error.text);
        snprintf(probe->advice, sizeof probe->advice, "%s", advice ? advice + 2 : "");
        return;
    }
    snprintf(probe->why, sizeof probe->why, "%.300s %u.%u, %s", machine.perf, machine.version.major,
             machine.version.minor,
             machine.intel_pt ? "with Intel PT" : "without Intel PT: -sampling alone");
    perf_machine_free(&machine);
}

static bool machine_serves(const struct perf_machine *machine, const struct record_options *options,
                           struct error *error)
{
    const struct processor_options *processor = &options->processor;
    if (!processor->sampling && !machine->intel_pt)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the perf engine cannot trace here: this machine has no Intel PT "
                         "(/sys/bus/event_source/devices/intel_pt). With -sampling it can record.");
    if (processor->scope != TRACE_USER && !machine->privileged)
        return error_set(error, ERROR_UNSUPPORTED,
                         "magic-trace must be run as root in order to trace the kernel. Where perf "
                         "alone has the right to, set MAGIC_TRACE_PERF_IS_PRIVILEGED=1.");
    if ((processor->callgraph == CALLGRAPH_LBR ||
         processor->callgraph == CALLGRAPH_LBR_NO_STITCH) &&
        !machine->branch_stack)
        return error_set(error, ERROR_UNSUPPORTED,
                         "-callgraph-mode lbr needs a processor that remembers its last branches, "
                         "and this machine shows none. Use -callgraph-mode dwarf, or fp.");
    return true;
}

static bool serves(const struct record_options *options, struct error *error)
{
    struct perf_machine machine;
    if (!perf_machine_examine(&machine, &kernel_real, error))
        return false;
    bool ok = machine_serves(&machine, options, error);
    perf_machine_free(&machine);
    return ok;
}

/* ---- words ---- */

static void warn_of_shortcomings(const struct perf_request *request)
{
    unsigned shortcomings = perf_request_shortcomings(request);
    struct perf_version version = request->machine->version;
    if (shortcomings & PERF_LACKS_CYCLE_PACKETS)
        log_warning("this processor's Intel PT cannot count cycles in every packet (caps/psb_cyc), "
                    "so times are coarse, as with -timer-resolution Low.");
    if (shortcomings & PERF_LACKS_KCORE)
        log_warning("perf %u.%u cannot copy the kernel's code (--kcore; perf 5.5 can): what the "
                    "kernel patches in itself may not decode.",
                    version.major, version.minor);
    if (shortcomings & PERF_LACKS_EXIT_SNAPSHOT)
        log_warning("perf %u.%u takes no snapshot when the traced program ends (perf 5.4 does): "
                    "end it by Ctrl-C, or give -full-execution.",
                    version.major, version.minor);
    if (shortcomings & PERF_LACKS_CYCLES)
        log_warning("this machine counts no cycles (a virtual machine?): samples are taken by a "
                    "clock, cpu-clock.");
    if (shortcomings & PERF_FOLLOWS_THREADS)
        log_warning("with -follow and -events perf traces all threads and child processes that "
                    "the traced thread starts.");
}

static void warn_of_options(const struct record_options *options)
{
    if (options->clock != RECORD_CLOCK_DEFAULT)
        log_warning("-clock has no effect here: perf records the time of the machine.");
    if (options->trigger.immediate_stop)
        log_warning("-immediate-stop has no effect with the perf engine: some ten microseconds "
                    "behind the hit are recorded.");
}

/* What perf said although all went well: lost data, restricted maps. */
static void tell_words(const struct perf_recorder *recorder)
{
    char *words = perf_process_words(&recorder->perf);
    if (*words)
        log_warning("perf says:\n%s", words);
    free(words);
}

/* ---- recording ---- */

/* What a recording by perf is made of. */
struct perf_session {
    const struct record_options *options;
    struct perf_machine machine;
    struct signals signals;
    char *directory; /* absolute */
    char *output;    /* its perf.data */
    char *program;   /* absolute path of the traced executable; NULL: not known */
    struct perf_clock clock;
    struct hits hits;
};

static bool open_session(struct perf_session *session, const struct record_options *options,
                         struct error *error)
{
    *session = (struct perf_session){.options = options};
    session->directory = realpath(options->directory, NULL);
    if (!session->directory)
        return error_set_errno(error, ERROR_IO, errno, "cannot record into %s", options->directory);
    session->output = memory_format("%s/perf.data", session->directory);
    if (perf_machine_examine(&session->machine, &kernel_real, error)) {
        if (signals_hold(&session->signals, error)) {
            /* Without it hits have no passed time and the trace no time of day. */
            perf_clock_read(&session->clock, &kernel_real, NULL);
            return true;
        }
        perf_machine_free(&session->machine);
    }
    free(session->output);
    free(session->directory);
    return false;
}

static void close_session(struct perf_session *session, bool interrupted)
{
    hits_free(&session->hits);
    signals_release(&session->signals, interrupted);
    perf_machine_free(&session->machine);
    free(session->program);
    free(session->output);
    free(session->directory);
}

static struct perf_request request_of(const struct perf_session *session, const pid_t *pids,
                                      size_t pid_count)
{
    return (struct perf_request){
        .machine = &session->machine,
        .options = session->options,
        .pids = pids,
        .pid_count = pid_count,
        .output = session->output,
        .control = -1,
        .acks = -1,
    };
}

/* Nothing more is wanted of it. */
static void end_recording(struct perf_recorder *recorder)
{
    perf_recorder_stop(recorder);
    while (recorder->phase != PERF_ENDED)
        perf_recorder_wait(recorder);
}

/* Until perf is ready. False when it will never be; it has ended then. */
static bool wait_until_ready(struct perf_recorder *recorder)
{
    while (recorder->phase == PERF_STARTING)
        perf_recorder_wait(recorder);
    if (recorder->phase == PERF_RECORDING)
        return true;
    end_recording(recorder);
    return false;
}

/* perf is ready: the trigger is watched from now on, if there is one. */
static bool watch_trigger(struct perf_session *session, struct perf_recorder *recorder,
                          struct error *error)
{
    const struct perf_request *request = &recorder->request;
    bool ok = hits_open(&session->hits, &kernel_real, session->options, request->pids,
                        request->pid_count, error);
    session->hits.clock = session->clock.conversion;
    recorder->hits = &session->hits;
    return ok;
}

static bool write_session(const struct perf_session *session, const struct record_result *result,
                          struct error *error)
{
    const struct record_options *options = session->options;
    struct session written = {
        .version = MAGIC_TRACE_VERSION,
        .engine = perf_engine.name,
        .clock = record_clock_name(RECORD_CLOCK_DEFAULT),
        .command = (const char **)options->command,
        .program = session->program,
        .full_execution = options->full_execution,
        .multi_thread = options->multi_thread,
        .follow = options->follow,
        .snapshot_size = options->snapshot_size,
        .wall_clock_ns = session->clock.wall_clock_ns,
        .wall_clock_at = session->clock.wall_clock_at,
        .trigger = options->trigger.name,
        .hits = session->hits.taken.elements,
        .hit_count = session->hits.taken.count,
        .exit_status = result->exit_status,
    };
    return session_write(&written, session->directory, error);
}

/* perf has ended: whether there is a recording. */
static bool finish(const struct perf_session *session, const struct perf_recorder *recorder,
                   struct record_result *result, struct error *error)
{
    struct error verdict = {0};
    bool ok = perf_recorder_verdict(recorder, &verdict);
    if (ok)
        tell_words(recorder);
    if (perf_request_switches_output(&recorder->request) && perf_files_size(session->directory))
        ok = perf_files_number(session->directory, &verdict) && ok;
    result->bytes = perf_files_size(session->directory);
    result->hits = session->hits.seen;
    result->snapshots = recorder->snapshots;
    if (ok && result->bytes == 0)
        ok = error_set(&verdict, ERROR_IO, "perf record ended, and left no %s", session->output);
    /* Also of a recording that perf did not finish: decode may see what there is. */
    if (result->bytes > 0 && !write_session(session, result, ok ? error : NULL))
        return false;
    if (ok)
        return true;
    return error_set(error, verdict.code, "%s", verdict.text);
}

/* ---- attach ---- */

static void find_program(struct perf_session *session, pid_t pid)
{
    char link[64], program[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, program, sizeof program - 1);
    if (length > 0)
        session->program = memory_format("%.*s", (int)length, program);
}

static bool attach_session(struct perf_session *session, struct record_result *result,
                           struct error *error)
{
    const struct record_options *options = session->options;
    struct perf_request request = request_of(session, options->pids, options->pid_count);
    struct perf_recorder recorder;
    warn_of_shortcomings(&request);
    find_program(session, options->pids[0]);
    if (!perf_recorder_start(&recorder, &request, &session->signals, NULL, error))
        return false;
    bool ok = !wait_until_ready(&recorder) || watch_trigger(session, &recorder, error);
    if (!ok)
        end_recording(&recorder);
    else if (recorder.phase == PERF_RECORDING)
        log_status("Attached. Press Ctrl-C to stop recording.");
    while (recorder.phase != PERF_ENDED)
        perf_recorder_wait(&recorder);
    result->interrupted = recorder.interrupts > 0;
    if (ok)
        ok = finish(session, &recorder, result, error);
    else
        file_remove_tree(session->output, NULL);
    perf_recorder_free(&recorder);
    return ok;
}

static bool attach(const struct record_options *options, struct record_result *result,
                   struct error *error)
{
    struct perf_session session;
    *result = (struct record_result){.exit_status = -1};
    warn_of_options(options);
    if (!open_session(&session, options, error))
        return false;
    bool ok = attach_session(&session, result, error);
    close_session(&session, result->interrupted);
    return ok;
}

/* ---- run ---- */

static bool find_command(struct perf_session *session, char **path, struct error *error)
{
    const char *name = session->options->command[0];
    *path = strchr(name, '/') ? memory_copy_string(name) : file_find_program(name);
    if (!*path)
        return error_set(error, ERROR_NOT_FOUND,
                         "cannot find the program %s in PATH. To run one "
                         "of this folder, write ./%s.",
                         name, name);
    session->program = realpath(*path, NULL);
    return exec_stop_allowed(*path, error);
}

/* perf has gone, before or after the person wanted it to; the program goes on. */
static void say_program_goes_on(const struct perf_recorder *recorder, const char *name)
{
    if (recorder->interrupts)
        log_status("Snapshot taken; the program still runs. Press Ctrl-C again to kill it.");
    else if (!recorder->stop_wanted)
        log_warning("perf has ended before %s: what it does from now on is not recorded.", name);
}

static void wait_for_program(struct perf_recorder *recorder, const char *name)
{
    bool told = false;
    while (!recorder->program_ended || recorder->phase != PERF_ENDED) {
        perf_recorder_wait(recorder);
        if (recorder->program_lingers && !told) {
            told = true;
            say_program_goes_on(recorder, name);
        }
    }
}

static bool explain_not_run(const struct perf_recorder *recorder, const char *name,
                            struct error *error)
{
    struct error verdict = {0};
    if (recorder->interrupts)
        return error_set(error, ERROR_IO, "Ctrl-C came before %s was run.", name);
    if (perf_recorder_verdict(recorder, &verdict))
        error_set(&verdict, ERROR_IO, "perf record ended at once");
    return error_set(error, verdict.code, "%s was not run, because it could not be recorded: %s",
                     name, verdict.text);
}

/* The program stands at its first instruction. */
static bool record_program(struct perf_session *session, struct program_signals *program,
                           struct record_result *result, struct error *error)
{
    struct perf_request request = request_of(session, &program->child.pid, 1);
    struct perf_recorder recorder;
    const char *name = session->options->command[0];
    warn_of_shortcomings(&request);
    if (!perf_recorder_start(&recorder, &request, &session->signals, program, error)) {
        exec_stop_give_up(&program->child);
        return false;
    }
    bool ready = wait_until_ready(&recorder);
    if (!ready)
        explain_not_run(&recorder, name, error);
    else if (!watch_trigger(session, &recorder, error))
        end_recording(&recorder);
    if (!ready || recorder.phase == PERF_ENDED) {
        exec_stop_give_up(&program->child);
        perf_recorder_free(&recorder);
        file_remove_tree(session->output, NULL);
        return false;
    }
    exec_stop_release(&program->child);
    wait_for_program(&recorder, name);
    result->exit_status = program_signals_end(program);
    result->interrupted = recorder.interrupts > 0;
    bool ok = finish(session, &recorder, result, error);
    perf_recorder_free(&recorder);
    return ok;
}

static bool run_session(struct perf_session *session, struct record_result *result,
                        struct error *error)
{
    char *path = NULL;
    struct program_signals program = {.signals = &session->signals};
    bool ok = find_command(session, &path, error);
    struct held_program held = {0};
    ok = ok &&
         launch_held(&held, path, session->options->command, environ, &session->signals, error) &&
         exec_stop_reach(&held, error);
    if (ok) {
        program.child = held.child;
        ok = record_program(session, &program, result, error);
    }
    free(path);
    return ok;
}

static bool record(const struct record_options *options, struct record_result *result,
                   struct error *error)
{
    struct perf_session session;
    *result = (struct record_result){.exit_status = -1};
    warn_of_options(options);
    if (!open_session(&session, options, error))
        return false;
    bool ok = run_session(&session, result, error);
    close_session(&session, result->interrupted);
    return ok;
}

const struct engine perf_engine = {
    .name = "perf",
    .description = "drives perf record: Intel PT, or samples with -sampling",
    .probe = probe,
    .serves = serves,
    .record = record,
    .attach = attach,
};
