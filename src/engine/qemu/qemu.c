#include "engine/qemu/qemu.h"

#include "base/file.h"
#include "base/memory.h"
#include "engine/packets/collect.h"
#include "engine/pt_packets_setup.h"
#include "engine/qemu/control.h"
#include "engine/qemu/emulator.h"
#include "engine/recording_clock.h"
#include "engine/recording_directory.h"
#include "engine/supervise.h"
#include "process/launch.h"
#include "process/program.h"
#include "recording/flags.h"
#include "recording/session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void probe(struct engine_probe *probe)
{
    struct qemu qemu;
    struct error error;
    char version[64];
    *probe = (struct engine_probe){0};
    probe->available =
        qemu_find(&qemu, &error) && qemu_check(&qemu, version, sizeof version, &error);
    if (probe->available) {
        snprintf(probe->why, sizeof probe->why, "emulation by %.400s %.60s", qemu.path, version);
        return;
    }
    /* An error's text is "what failed. What to do." */
    const char *advice = strstr(error.text, ". ");
    int length = advice ? (int)(advice - error.text) : (int)strlen(error.text);
    snprintf(probe->why, sizeof probe->why, "%.*s", length, error.text);
    snprintf(probe->advice, sizeof probe->advice, "%s", advice ? advice + 2 : "");
}

/* ---- starting ---- */

static void set_clock(struct qemu_options *options)
{
    struct recording_clock clock = recording_clock_start((enum record_clock)options->clock);
    options->start_tsc = clock.start.tsc;
    options->start_monotonic_ns = clock.start.monotonic_ns;
    options->start_realtime_ns = clock.start.realtime_ns;
    options->tsc_hz = clock.hz;
    options->bus_ratio = clock.bus_ratio;
}

static struct recording_clock clock_of(const struct qemu_options *options)
{
    return (struct recording_clock){
        .clock = (enum record_clock)options->clock,
        .hz = options->tsc_hz,
        .bus_ratio = options->bus_ratio,
        .start = {options->start_tsc, options->start_monotonic_ns, options->start_realtime_ns},
    };
}

static void set_trigger(struct qemu_options *options, const struct trigger *wanted)
{
    struct recording_clock clock = clock_of(options);
    options->trigger = (struct qemu_trigger){
        .passes_time = wanted->passes_time,
        .multi_snapshot = wanted->multi_snapshot,
        .immediate_stop = wanted->immediate_stop,
        .duration_threshold = recording_clock_ticks(&clock, wanted->duration_threshold_ns),
        .delay_threshold = recording_clock_ticks(&clock, wanted->delay_threshold_ns),
    };
    for (size_t i = 0; i < wanted->place_count; i++) {
        struct stat status;
        /* A file that has vanished since it was looked into is not going to run. */
        if (stat(wanted->places[i].path, &status) != 0)
            continue;
        options->trigger.places[options->trigger.place_count++] = (struct qemu_trigger_place){
            .device = status.st_dev,
            .inode = status.st_ino,
            .file_offset = wanted->places[i].file_offset,
        };
    }
}

static struct qemu_options qemu_options(const struct record_options *wanted,
                                        const struct qemu *qemu)
{
    struct qemu_options options = {
        .clock = wanted->clock,
        .full_execution = wanted->full_execution,
        .multi_thread = wanted->multi_thread,
        .follow = wanted->follow,
        .snapshot_size = wanted->snapshot_size,
        .coarse_time = wanted->packets.coarse_time,
        .periods = wanted->packets.periods,
        .all_returns = wanted->packets.all_returns,
    };
    memcpy(options.qemu, qemu->path, sizeof options.qemu);
    memcpy(options.plugin, qemu->plugin, sizeof options.plugin);
    set_clock(&options);
    set_trigger(&options, &wanted->trigger);
    return options;
}

/* What is known before the end, so that a killed magic-trace leaves a recording that says what it
 * is. */
static struct session session_at_start(const struct qemu_options *options,
                                       const struct record_options *wanted,
                                       const struct program *program)
{
    struct session session = {
        .version = MAGIC_TRACE_VERSION,
        .engine = qemu_engine.name,
        .clock = record_clock_name((enum record_clock)options->clock),
        .command = (const char **)wanted->command,
        .program = program->real_path,
        .full_execution = wanted->full_execution,
        .multi_thread = wanted->multi_thread,
        .follow = wanted->follow,
        .snapshot_size = wanted->snapshot_size,
        .trigger = wanted->trigger.name,
        .exit_status = -1,
    };
    /* Ticks that are instructions have no time of day, and would not repeat if they had. */
    if (options->clock != RECORD_CLOCK_INSTRUCTIONS) {
        session.wall_clock_ns = options->start_realtime_ns;
        session.wall_clock_at = options->start_monotonic_ns;
    }
    return session;
}

/* ---- finishing ---- */

static void remove_working_files(const char *directory)
{
    char *qemu = memory_format("%s/soft", directory);
    char *images = memory_format("%s/images", directory);
    file_remove_tree(qemu, NULL);
    rmdir(images); /* fails, as it should, unless it is empty */
    free(qemu);
    free(images);
}

static bool collect_rings(const char *directory, const struct qemu_control *control, bool watched,
                          struct collection *collection, struct error *error)
{
    char *folder = memory_format("%s/soft", directory);
    char *path = memory_format("%s/control", folder);
    struct file_view view;
    rings_settle(folder);
    bool ok = file_map(&view, path, error);
    if (ok) {
        collection->recorded = control_recorded(control, &view);
        collection->recorded.directory = directory;
        collection->recorded.folder = folder;
        collection->recorded.watched = watched;
        ok = collect(collection, error);
        file_unmap(&view);
    }
    free(path);
    free(folder);
    return ok;
}

/* qemu's own answer to system calls that it does not emulate is ENOSYS. But a kernel without io_uring gives it, too, and one
 * where it is forbidden gives EPERM: there the program gets no io_uring in any engine. A kernel that has it looks at the
 * arguments first (io_uring/io_uring.c, io_uring_setup()). */
static bool has_io_uring(void)
{
    return syscall(SYS_io_uring_setup, 0, NULL) < 0 && errno != ENOSYS && errno != EPERM;
}

static const char *what_was_refused(struct qemu_control *control)
{
    if (atomic_load(&control->refused_io_urings) == 0 || !has_io_uring())
        return NULL;
    return "the program asked for io_uring, which qemu does not emulate: it got ENOSYS (\"Function "
           "not implemented\"). "
           "Natively it gets it. " FLAG_ENGINE " translator and " FLAG_SAMPLING
           " run the program with the kernel's own system calls.";
}

/* DIR/soft -> perf.data and session.json, then DIR/soft is removed. `watched` as in recorded.h. On
 * an error it is kept, and the error says so. */
static bool finish(const char *directory, struct qemu_control *control, struct session *session,
                   char *const *command_line, bool watched, struct record_result *result,
                   struct error *error)
{
    control_freeze(control);
    struct recording_clock clock = clock_of(&control->options);
    struct collection collection = {
        .command_line = command_line,
        .clock = recording_clock_conversion(&clock),
    };
    bool ok = collect_rings(directory, control, watched, &collection, error);
    collection_describe(&collection, session);
    ok = ok && session_write(session, directory, error);
    if (ok) {
        result->instructions = collection.instructions;
        result->bytes = collection.bytes;
        result->hits = atomic_load(&control->hits);
        result->snapshots = atomic_load(&control->snapshots);
        result->unseen_hits = atomic_load(&control->unseen_hits);
        result->refused = what_was_refused(control);
        remove_working_files(directory);
    } else {
        collection_explain_kept(error, directory, "soft");
    }
    collection_free(&collection);
    return ok;
}

/* The program did not start: removes all that would look like a recording. */
static void forget_recording(const char *directory)
{
    remove_working_files(directory);
    char *session = memory_format("%s/session.json", directory);
    unlink(session);
    free(session);
}

/* qemu has reported the reason on stderr, if it had one. */
static bool explain_nothing_recorded(const struct qemu_options *options, int status,
                                     struct error *error)
{
    if (WIFSIGNALED(status))
        return error_set(
            error, ERROR_IO,
            "nothing was recorded: %s was killed by signal %d (%s) before the program's "
            "first instruction",
            options->qemu, WTERMSIG(status), strsignal(WTERMSIG(status)));
    return error_set(
        error, ERROR_IO,
        "nothing was recorded: %s ended with status %d before the program's first "
        "instruction. Its own message stands above; magic-trace doctor checks whether it "
        "can load %s.",
        options->qemu, WEXITSTATUS(status), options->plugin);
}

/* ---- recording ---- */

static void freeze(void *control)
{
    control_freeze(control);
}

static bool run(const struct record_options *wanted, const char *directory,
                const struct program *program, struct qemu_control *control,
                struct record_result *result, struct error *error)
{
    const struct qemu_options *options = &control->options;
    struct session session = session_at_start(options, wanted, program);
    struct signals signals;
    if (!session_write(&session, directory, error) || !signals_hold(&signals, error)) {
        forget_recording(directory);
        return false;
    }
    char **arguments = qemu_arguments(options, directory, program);
    char **environment = qemu_environment();
    char *plugin_argument = qemu_plugin_argument(options, directory);
    struct supervision supervision = {
        .program.signals = &signals,
        .shared = {&control->frozen, &control->snapshots, &control->freeze_at,
                   &control->longest_delay},
        .has_trigger = options->trigger.place_count > 0,
        .has_delay_threshold = options->trigger.delay_threshold > 0,
        .ticks_per_second = options->tsc_hz,
        .filled_folder = wanted->full_execution ? directory : NULL,
        .freeze = freeze,
        .descriptor = -1,
        .recording = control,
        .is_traced = {process_has_argument, plugin_argument},
        .is_followed = {wanted->follow ? process_has_argument : NULL, plugin_argument},
    };
    bool ok = launch(&supervision.program.child, arguments, environment, &signals,
                     options->clock == RECORD_CLOCK_INSTRUCTIONS, error);
    if (!ok) {
        forget_recording(directory);
    } else {
        session.exit_status = result->exit_status = supervise(&supervision);
        result->interrupted = supervision.program.interrupts > 0;
        ok = finish(directory, control, &session, wanted->magic_trace_command, true, result, error);
        if (!ok && error->code == ERROR_NOT_FOUND) {
            explain_nothing_recorded(options, result->exit_status, error);
            forget_recording(directory);
        }
    }
    signals_release(&signals, result->interrupted);
    qemu_free_arguments(arguments);
    free(environment);
    free(plugin_argument);
    return ok;
}

static bool record(const struct record_options *wanted, struct record_result *result,
                   struct error *error)
{
    struct error unhandled;
    if (!error)
        error = &unhandled;
    *result = (struct record_result){.exit_status = -1};
    struct qemu qemu;
    struct program program;
    if (!qemu_find(&qemu, error) || !program_resolve(&program, wanted->command, error))
        return false;
    char *directory = program_needs_no_privilege(&program, wanted->command[0], error)
                          ? recording_directory_absolute(wanted->directory, error)
                          : NULL;
    bool ok = false;
    if (directory) {
        struct qemu_options options = qemu_options(wanted, &qemu);
        struct qemu_control *control = control_create(directory, &options, error);
        if (control)
            ok = run(wanted, directory, &program, control, result, error);
        control_close(control);
    }
    free(directory);
    program_free(&program);
    return ok;
}

/* ---- what qemu cannot do ---- */

static const char *explain_signal(int signal)
{
    switch (signal) {
    case SIGILL:
        return "qemu does not emulate every instruction, AVX-512 among others. " FLAG_ENGINE
               " translator and " FLAG_SAMPLING " run the program on the processor itself.";
    case SIGSYS:
    case SIGKILL:
        return "Under a seccomp filter that the program sets for itself qemu's own system calls "
               "are forbidden, too. " FLAG_ENGINE " translator and " FLAG_SAMPLING
               " may do without them.";
    default:
        return NULL;
    }
}

/* ---- salvage ---- */

static bool salvage_into(const char *directory, struct qemu_control *control, struct error *error)
{
    struct session session;
    if (!session_read(&session, directory, error) && error->code != ERROR_NOT_FOUND)
        return false;
    struct record_result result = {0};
    static char *const unknown_command[] = {"magic-trace", NULL};
    char *const *command_line = session.command ? (char *const *)session.command : unknown_command;
    bool ok = finish(directory, control, &session, command_line, false, &result, error);
    collection_withdraw(&session);
    session_free(&session);
    return ok;
}

static bool salvage(const char *directory, struct error *error)
{
    struct error unhandled;
    if (!error)
        error = &unhandled;
    char *absolute = recording_directory_absolute(directory, error);
    if (!absolute)
        return false;
    struct error missing = {0};
    struct qemu_control *control = control_open(absolute, &missing);
    bool ok = true;
    if (control)
        ok = salvage_into(absolute, control, error);
    else if (missing.code != ERROR_NOT_FOUND)
        ok = error_set(error, missing.code, "%s", missing.text);
    control_close(control);
    free(absolute);
    return ok;
}

static bool serves(const struct record_options *options, struct error *error)
{
    return processor_options_served(&options->processor, 0, qemu_engine.name, error);
}

const struct engine qemu_engine = {
    .name = "qemu",
    .has_clocks = true,
    .former_name = "soft",
    .description = "runs the program in an emulator; exact, on any machine, 5 to 46 times slower",
    .manual =
        "Runs the program under qemu: exact, on any machine, 5 to 46 times slower. `soft`, its "
        "former name, is accepted, too.",
    .unfinished_name = "soft",
    .probe = probe,
    .serves = serves,
    .record = record,
    .explain_signal = explain_signal,
    .salvage = salvage,
};
