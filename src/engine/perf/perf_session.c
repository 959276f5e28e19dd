#include "engine/perf/perf_session.h"

#include "base/log.h"
#include "base/memory.h"
#include "engine/perf/perf_files.h"
#include "engine/pt_packets_setup.h"
#include "engine/recording_directory.h"
#include "process/vdso.h"
#include "recording/flags.h"
#include "recording/session.h"

#include <stdlib.h>

/* ---- words ---- */

static void warn_of_shortcomings(const struct perf_request *request)
{
    unsigned shortcomings = perf_request_shortcomings(request);
    struct perf_version version = request->machine->version;
    if (shortcomings & PERF_LACKS_CYCLE_PACKETS)
        log_warning("this processor's Intel PT cannot count cycles in every packet (caps/psb_cyc), "
                    "so times are coarse, as with " FLAG_TIMER_RESOLUTION " Low.");
    if (shortcomings & PERF_LACKS_KCORE)
        log_warning("perf %u.%u cannot copy the kernel's code (--kcore; perf 5.5 can): what the "
                    "kernel patches in itself may not decode.",
                    version.major, version.minor);
    if (shortcomings & PERF_LACKS_EXIT_SNAPSHOT)
        log_warning("perf %u.%u takes no snapshot when the traced program ends (perf 5.4 does): "
                    "end it by Ctrl-C, or give " FLAG_FULL_EXECUTION ".",
                    version.major, version.minor);
    if (shortcomings & PERF_LACKS_CYCLES)
        log_warning("this machine counts no cycles (a virtual machine?): samples are taken by a "
                    "clock, cpu-clock.");
    if (shortcomings & PERF_FOLLOWS_THREADS)
        log_warning("with " FLAG_FOLLOW " perf traces the threads that the traced thread starts, "
                    "too.");
}

static void warn_of_options(const struct record_options *options)
{
    if (options->trigger.immediate_stop)
        log_warning(FLAG_IMMEDIATE_STOP
                    " has no effect with the perf engine: some ten microseconds "
                    "after the hit are recorded.");
}

/* What perf said although all went well: lost data, restricted maps. */
static void report_words(const struct perf_recorder *recorder)
{
    char *words = perf_process_words(&recorder->perf);
    if (*words)
        log_warning("perf says:\n%s", words);
    free(words);
}

/* ---- beginning ---- */

bool perf_session_open(struct perf_session *session, const struct record_options *options,
                       struct error *error)
{
    warn_of_options(options);
    *session = (struct perf_session){.options = options};
    session->directory = recording_directory_absolute(options->directory, error);
    if (!session->directory)
        return false;
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

void perf_session_close(struct perf_session *session, bool interrupted)
{
    trigger_hits_free(&session->hits);
    signals_release(&session->signals, interrupted);
    perf_machine_free(&session->machine);
    free(session->program);
    free(session->output);
    free(session->directory);
}

struct perf_request perf_session_request(const struct perf_session *session, const pid_t *pids,
                                         size_t pid_count)
{
    struct perf_request request = {
        .machine = &session->machine,
        .options = session->options,
        .pids = pids,
        .pid_count = pid_count,
        .output = session->output,
        .control = -1,
        .acks = -1,
    };
    warn_of_shortcomings(&request);
    return request;
}

bool perf_session_watch_trigger(struct perf_session *session, struct perf_recorder *recorder,
                                struct error *error)
{
    const struct perf_request *request = &recorder->request;
    bool ok = trigger_hits_open(&session->hits, &kernel_real, session->options, request->pids,
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
        .engine = "perf",
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

static bool complete(const struct perf_session *session, const struct record_result *result,
                     struct error *error)
{
    vdso_keep(session->directory);
    return write_session(session, result, error);
}

bool perf_session_finish(const struct perf_session *session, const struct perf_recorder *recorder,
                         struct record_result *result, struct error *error)
{
    struct error verdict = {0};
    bool ok = perf_recorder_verdict(recorder, &verdict);
    if (ok)
        report_words(recorder);
    if (perf_request_switches_output(&recorder->request) && perf_files_size(session->directory))
        ok = perf_files_number(session->directory, &verdict) && ok;
    result->bytes = perf_files_size(session->directory);
    result->hits = session->hits.seen;
    result->snapshots = recorder->snapshots;
    if (ok && result->bytes == 0)
        ok = error_set(&verdict, ERROR_IO, "perf record ended, and left no %s", session->output);
    /* Also for a recording that perf did not finish: decode may read a part of it. */
    if (result->bytes > 0)
        ok = complete(session, result, ok ? &verdict : NULL) && ok;
    return ok || error_set(error, verdict.code, "%s", verdict.text);
}
