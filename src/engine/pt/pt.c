#include "engine/pt/pt.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/perf_event/permissions.h"
#include "engine/pt/pt_session.h"
#include "engine/pt/pt_unit.h"
#include "engine/pt_packets_setup.h"
#include "recording/session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- probe ---- */

/* An error's text is "what failed. What to do." */
static void explain(struct engine_probe *probe, const struct error *error)
{
    const char *advice = strstr(error->text, ". ");
    int length = advice ? (int)(advice - error->text) : (int)strlen(error->text);
    snprintf(probe->why, sizeof probe->why, "%.*s", length, error->text);
    snprintf(probe->advice, sizeof probe->advice, "%.500s", advice ? advice + 2 : "");
}

/* Whether this user may trace: by opening an event on ourselves, which is not started. */
static bool may_trace(const struct kernel *kernel, const struct pmu *unit, struct error *error)
{
    const struct processor_options options = {.timer.kind = TIMER_LOW};
    struct perf_event_attr attributes;
    if (!pt_unit_ask(unit, &options, &attributes, error))
        return false;
    struct event_request request = {
        .what = "trace with Intel PT", .attributes = &attributes, .cpu = -1};
    int event = kernel->open_event(kernel, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    /* Somebody traces us, this moment. */
    if (event < 0 && errno == EBUSY)
        return true;
    if (event < 0)
        return event_refused(error, kernel, &request, errno);
    close(event);
    return true;
}

void pt_probe(const struct kernel *kernel, struct engine_probe *probe)
{
    struct pmu unit;
    struct error error = {0};
    *probe = (struct engine_probe){0};
    probe->available = pt_unit_open(&unit, kernel, &error) && may_trace(kernel, &unit, &error);
    if (!probe->available) {
        explain(probe, &error);
        return;
    }
    bool exact = pmu_capability(&unit, "psb_cyc");
    snprintf(probe->why, sizeof probe->why, "Intel PT of this processor%s",
             exact ? "" : ", of an older generation: its times are coarse");
    if (event_paranoia(kernel) > -1 && !event_privileged(kernel))
        snprintf(probe->advice, sizeof probe->advice,
                 "Rings of more than some 256 KiB, and the kernel's code, need privileges: run as "
                 "root, or `sudo sysctl kernel.perf_event_paranoid=-1`.");
}

/* ---- session.json ---- */

static char *executable_of(pid_t pid)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = 0;
    return memory_copy_string(path);
}

static bool write_session(const struct pt_session *recorded, const char *directory,
                          const char *program, struct error *error)
{
    const struct record_options *options = recorded->options;
    struct session session = {
        .version = MAGIC_TRACE_VERSION,
        .engine = pt_engine.name,
        .clock = record_clock_name(RECORD_CLOCK_DEFAULT),
        .command = (const char **)options->command,
        .program = program,
        .wall_clock_ns = recorded->recording.wall_clock_ns,
        .wall_clock_at = recorded->recording.wall_clock_at,
        .full_execution = options->full_execution,
        .multi_thread = options->multi_thread,
        .follow = options->follow,
        .snapshot_size = options->snapshot_size,
        .exit_status = recorded->result->exit_status,
        .trigger = options->trigger.name,
        .hits = recorded->hits.taken.elements,
        .hit_count = recorded->hits.taken.count,
    };
    return session_write(&session, directory, error);
}

/* ---- what record and attach have in common ---- */

static void warn_of_losses(const struct pt_session *session)
{
    const struct pt_recording *recording = &session->recording;
    if (recording->lost_packets)
        log_warning("packets were lost %llu time(s), as they came faster than they could be "
                    "written; the trace has a gap each time. A larger -snapshot-size, a faster "
                    "disk for -working-directory or -timer-resolution Low may help.",
                    (unsigned long long)recording->lost_packets);
    if (recording->lost_records)
        log_warning("%llu record(s) of mappings, names or threads were lost, as they came faster "
                    "than they could be read. Code mapped by them cannot be decoded.",
                    (unsigned long long)recording->lost_records);
}

/* The recording's folder, absolute, with a folder for code that is in no file; the caller frees. */
static char *prepare_directory(const char *directory, struct error *error)
{
    char *absolute = realpath(directory, NULL);
    if (!absolute) {
        error_set_errno(error, ERROR_IO, errno, "cannot record into %s", directory);
        return NULL;
    }
    char *images = memory_format("%s/images", absolute);
    bool ok = file_make_directories(images, error);
    free(images);
    if (!ok)
        free(absolute);
    return ok ? absolute : NULL;
}

static void remove_folder(const char *directory, const char *name)
{
    char *path = memory_format("%s/%s", directory, name);
    file_remove_tree(path, NULL);
    free(path);
}

/* Frees `directory`. */
static void leave_directory(char *directory, bool recorded)
{
    char *images = memory_format("%s/images", directory);
    rmdir(images); /* stays when there is something in it */
    free(images);
    if (!recorded) {
        remove_folder(directory, "images");
        remove_folder(directory, "kcore_dir");
    }
    free(directory);
}

/* ---- attach ---- */

static bool attach_into(const struct kernel *kernel, struct pt_session *session,
                        const char *directory, struct error *error)
{
    const struct record_options *options = session->options;
    char *program = executable_of(options->pids[0]);
    bool ok = pt_session_open(session, kernel, options, options->pids, options->pid_count,
                              directory, error);
    if (ok) {
        pt_session_pause_at_trigger(session, options->pids, options->pid_count);
        tracing_start(&session->tracing);
        log_status("Attached. Press Ctrl-C to stop recording.");
        ok = pt_session_run(session, error) && write_session(session, directory, program, error);
        warn_of_losses(session);
        pt_session_close(session);
    }
    free(program);
    return ok;
}

bool pt_attach(const struct kernel *kernel, const struct record_options *options,
               struct record_result *result, struct error *error)
{
    *result = (struct record_result){.exit_status = -1};
    struct signals signals;
    char *directory = prepare_directory(options->directory, error);
    if (!directory)
        return false;
    bool ok = signals_hold(&signals, error);
    if (ok) {
        struct pt_session session = {.options = options, .signals = &signals, .result = result};
        ok = attach_into(kernel, &session, directory, error);
        signals_release(&signals, true);
    }
    leave_directory(directory, ok);
    return ok;
}

/* ---- record ---- */

/* As a shell finds it; the caller frees. */
static char *find_program(const char *name, struct error *error)
{
    char *path = strchr(name, '/') ? memory_copy_string(name) : file_find_program(name);
    if (!path)
        error_set(error, ERROR_NOT_FOUND, "cannot find the program %s in PATH.", name);
    return path;
}

static bool run_program(const struct kernel *kernel, struct pt_session *session,
                        struct held_program *held, const char *directory, struct error *error)
{
    if (!pt_session_open(session, kernel, session->options, &held->child.pid, 1, directory,
                         error)) {
        launch_give_up(held);
        return false;
    }
    bool ok = launch_go(held, error);
    if (ok) {
        session->program->child = held->child;
        pt_session_pause_at_trigger(session, &held->child.pid, 1);
        char *program = executable_of(held->child.pid);
        ok = pt_session_run(session, error);
        session->result->exit_status = program_signals_end(session->program);
        ok = ok && write_session(session, directory, program ? program : held->path, error);
        warn_of_losses(session);
        free(program);
    }
    pt_session_close(session);
    return ok;
}

static bool record_into(const struct kernel *kernel, const struct record_options *options,
                        const char *directory, struct record_result *result, struct error *error)
{
    struct signals signals;
    char *path = find_program(options->command[0], error);
    bool ok = path && signals_hold(&signals, error);
    if (ok) {
        struct held_program held = {0};
        struct program_signals program = {.signals = &signals};
        struct pt_session session = {
            .options = options, .program = &program, .signals = &signals, .result = result};
        ok = launch_held(&held, path, options->command, environ, &signals, error) &&
             run_program(kernel, &session, &held, directory, error);
        signals_release(&signals, result->interrupted);
    }
    free(path);
    return ok;
}

bool pt_record(const struct kernel *kernel, const struct record_options *options,
               struct record_result *result, struct error *error)
{
    *result = (struct record_result){.exit_status = -1};
    char *directory = prepare_directory(options->directory, error);
    if (!directory)
        return false;
    bool ok = record_into(kernel, options, directory, result, error);
    leave_directory(directory, ok);
    return ok;
}

/* ---- the engine ---- */

static void probe(struct engine_probe *found)
{
    pt_probe(&kernel_real, found);
}

static bool serves(const struct record_options *options, struct error *error)
{
    return processor_options_served(&options->processor, PROCESSOR_TIMER | PROCESSOR_SCOPE,
                                    pt_engine.name, error);
}

static bool record(const struct record_options *options, struct record_result *result,
                   struct error *error)
{
    return pt_record(&kernel_real, options, result, error);
}

static bool attach(const struct record_options *options, struct record_result *result,
                   struct error *error)
{
    return pt_attach(&kernel_real, options, result, error);
}

const struct engine pt_engine = {
    .name = "pt",
    .description = "Intel PT: the processor traces itself; exact, nearly at full speed",
    .probe = probe,
    .serves = serves,
    .record = record,
    .attach = attach,
};
