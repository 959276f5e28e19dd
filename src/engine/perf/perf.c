#include "engine/perf/perf.h"

#include "base/file.h"
#include "base/log.h"
#include "engine/perf/perf_session.h"
#include "engine/trigger/trigger_hits.h"
#include "perf_event/event_attributes.h"
#include "perf_event/permissions.h"
#include "process/exec_stop.h"
#include "process/processes.h"
#include "process/program.h"
#include "recording/flags.h"

#include <errno.h>
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
             machine.intel_pt ? "with Intel PT" : "without Intel PT: " FLAG_SAMPLING " alone");
    perf_machine_free(&machine);
}

static bool machine_serves(const struct perf_machine *machine, const struct record_options *options,
                           struct error *error)
{
    const struct processor_options *processor = &options->processor;
    if (!processor->sampling && !machine->intel_pt)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the perf engine cannot trace here: this machine has no Intel PT "
                         "(/sys/bus/event_source/devices/intel_pt). With " FLAG_SAMPLING
                         " it can record.");
    if (processor->scope != TRACE_USER && !machine->privileged)
        return error_set(error, ERROR_UNSUPPORTED,
                         "magic-trace must be run as root in order to trace the kernel. Where perf "
                         "alone has the right to, set MAGIC_TRACE_PERF_IS_PRIVILEGED=1.");
    if ((processor->callgraph == CALLGRAPH_LBR ||
         processor->callgraph == CALLGRAPH_LBR_NO_STITCH) &&
        !machine->branch_stack)
        return error_set(error, ERROR_UNSUPPORTED,
                         FLAG_CALLGRAPH_MODE
                         " lbr needs a processor that remembers its last branches, "
                         "and this machine shows none. Use " FLAG_CALLGRAPH_MODE " dwarf, or fp.");
    return true;
}

static bool serves(const struct record_options *options, struct error *error)
{
    struct perf_machine machine;
    if (!perf_machine_examine(&machine, &kernel_real, error))
        return false;
    bool ok = machine_serves(&machine, options, error) &&
              trigger_hits_served(options, perf_engine.name, error);
    perf_machine_free(&machine);
    return ok;
}

/* ---- attach ---- */

/* Asks the kernel for an event that does nothing, because its refusals explain more than perf's. */
static bool may_be_traced(pid_t pid, struct error *error)
{
    const struct perf_event_attr attributes = dummy_attributes();
    char what[64];
    snprintf(what, sizeof what, "record process %d", (int)pid);
    const struct event_request request = {
        .what = what, .attributes = &attributes, .pid = pid, .cpu = -1};
    int event =
        kernel_real.open_event(&kernel_real, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (event < 0)
        return event_refused(error, &kernel_real, &request, errno);
    close(event);
    return true;
}

static bool may_all_be_traced(const struct record_options *options, struct error *error)
{
    for (size_t i = 0; i < options->pid_count; i++)
        if (!may_be_traced(options->pids[i], error))
            return false;
    return true;
}

static bool attach_session(struct perf_session *session, struct record_result *result,
                           struct error *error)
{
    const struct record_options *options = session->options;
    if (!may_all_be_traced(options, error))
        return false;
    struct perf_request request = perf_session_request(session, options->pids, options->pid_count);
    struct perf_recorder recorder;
    session->program = process_executable(options->pids[0]);
    if (!perf_recorder_start(&recorder, &request, &session->signals, NULL, error))
        return false;
    bool ok = !perf_recorder_wait_until_ready(&recorder) ||
              perf_session_watch_trigger(session, &recorder, error);
    if (!ok)
        perf_recorder_finish(&recorder);
    else if (recorder.phase == PERF_RECORDING)
        record_options_attached(options);
    while (recorder.phase != PERF_ENDED)
        perf_recorder_wait(&recorder);
    result->interrupted = recorder.interrupts > 0;
    if (!ok || !recorder.ready)
        file_remove_tree(session->output, NULL);
    if (ok && !recorder.ready && recorder.interrupts)
        ok = error_set(error, ERROR_IO, "Ctrl-C came before perf had begun to record.");
    ok = ok && perf_session_finish(session, &recorder, result, error);
    perf_recorder_free(&recorder);
    return ok;
}

static bool attach(const struct record_options *options, struct record_result *result,
                   struct error *error)
{
    struct perf_session session;
    *result = (struct record_result){.exit_status = -1};
    if (!perf_session_open(&session, options, error))
        return false;
    bool ok = attach_session(&session, result, error);
    perf_session_close(&session, result->interrupted);
    return ok;
}

/* ---- run ---- */

static bool find_command(struct perf_session *session, char **path, struct error *error)
{
    *path = program_find(session->options->command[0], error);
    if (!*path)
        return false;
    session->program = realpath(*path, NULL);
    return exec_stop_allowed(*path, error);
}

/* perf has ended, as the user wanted or too early; the program continues. */
static void say_program_goes_on(const struct perf_recorder *recorder, const char *name)
{
    if (recorder->interrupts)
        log_status("Snapshot taken; the program still runs. Press Ctrl-C again to kill it.");
    else if (!recorder->stop_wanted)
        log_warning("perf has ended before %s: what it does from now on is not recorded.", name);
}

static void wait_for_program(struct perf_recorder *recorder, const char *name)
{
    bool reported = false;
    while (!recorder->program_ended || recorder->phase != PERF_ENDED) {
        perf_recorder_wait(recorder);
        if (recorder->program_lingers && !reported) {
            reported = true;
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
    struct perf_request request = perf_session_request(session, &program->child.pid, 1);
    struct perf_recorder recorder;
    const char *name = session->options->command[0];
    if (!perf_recorder_start(&recorder, &request, &session->signals, program, error)) {
        exec_stop_give_up(&program->child);
        return false;
    }
    bool ready = perf_recorder_wait_until_ready(&recorder);
    if (!ready)
        explain_not_run(&recorder, name, error);
    else if (!perf_session_watch_trigger(session, &recorder, error))
        perf_recorder_finish(&recorder);
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
    bool ok = perf_session_finish(session, &recorder, result, error);
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
    if (!perf_session_open(&session, options, error))
        return false;
    bool ok = run_session(&session, result, error);
    perf_session_close(&session, result->interrupted);
    return ok;
}

const struct engine perf_engine = {
    .name = "perf",
    .description = "drives perf record: Intel PT, or samples with " FLAG_SAMPLING,
    .manual = "Drives perf(1): Intel PT, or samples with " FLAG_SAMPLING ".",
    .is_hardware = true,
    .probe = probe,
    .serves = serves,
    .record = record,
    .attach = attach,
};
