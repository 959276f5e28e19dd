#include "cli/hardware_check.h"

#include "base/file.h"
#include "base/memory.h"
#include "cli/checked_program.h"
#include "cli/command.h"
#include "cli/recording_folder.h"
#include "engine/engine.h"
#include "engine/objects.h"
#include "stack/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WHOLE_SNAPSHOT = 1 << 22, SMALL_SNAPSHOT = 1 << 14, NATIVE_RUNS = 5 };

enum verdict { CHECK_PASSED, CHECK_FAILED, CHECK_SKIPPED };

/* One check: what it finds out, and what is needed for it. */
struct check {
    const struct engine *engine;
    char program[4096]; /* magic-trace's own path */
    char figures[512];  /* or the reason */

    struct recording_folder folder;
    char *work_file; /* owned */
    struct record_options options;
    struct record_result result;
    struct checked_work done;
    struct timeline *timeline; /* NULL: not decoded */
    uint64_t calls;            /* of the function that was counted, in the trace */
    uint64_t kernel_calls;     /* of functions with the kernel's addresses */
    uint64_t last_call;        /* of the function, when it began: ns from the trace's beginning */
    uint64_t longest_call;     /* ns */
    uint64_t hits;             /* shown in the trace */
    unsigned tracks;           /* on which the function was called */
    struct timeline_statistics statistics;
};

__attribute__((format(printf, 3, 4))) static enum verdict
conclude(struct check *check, enum verdict verdict, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->figures, sizeof check->figures, format, arguments);
    va_end(arguments);
    return verdict;
}

/* ---- recording ---- */

static bool begin(struct check *check, struct error *error)
{
    check->options =
        (struct record_options){.full_execution = true, .snapshot_size = WHOLE_SNAPSHOT};
    check->result = (struct record_result){0};
    if (!recording_folder_make(&check->folder, NULL, error))
        return false;
    check->options.directory = check->folder.path;
    check->work_file = memory_format("%s/work", check->folder.path);
    return true;
}

static void end(struct check *check)
{
    if (check->timeline)
        timeline_free(check->timeline);
    check->timeline = NULL;
    trigger_free(&check->options.trigger);
    if (check->folder.path)
        recording_folder_remove(&check->folder);
    check->folder = (struct recording_folder){0};
    free(check->work_file);
    check->work_file = NULL;
}

static bool find_trigger(struct check *check, struct error *error)
{
    const char *object = check->program;
    return trigger_find(&check->options.trigger, CHECKED_PLACE_FUNCTION, &object, 1, error);
}

static bool record(struct check *check, const char *work, struct error *error)
{
    char *command[] = {check->program, (char *)"doctor", (char *)"-check-program",
                       (char *)work,   check->work_file, NULL};
    check->options.command = command;
    check->options.magic_trace_command = command;
    if (check->engine->serves && !check->engine->serves(&check->options, error)) {
        error->code = ERROR_UNSUPPORTED; /* no fault of this machine's */
        return false;
    }
    bool ok = check->engine->record(&check->options, &check->result, error);
    check->options.command = check->options.magic_trace_command = NULL;
    if (ok && check->result.exit_status != 0)
        return error_set(error, ERROR_IO, "the recorded program ended with status %#x",
                         (unsigned)check->result.exit_status);
    if (ok && !checked_work_read(&check->done, check->work_file))
        return error_set(error, ERROR_IO, "the recorded program did not say what it did");
    return ok;
}

/* ---- what the trace shows ---- */

static void count(struct check *check, const struct span_event *event, const char *function,
                  uint64_t *begun)
{
    if (event->kind != SPAN_ENTER && event->kind != SPAN_LEAVE)
        return;
    bool is = strcmp(event->function->name, function) == 0;
    if (event->kind == SPAN_LEAVE) {
        if (is && event->time.value - *begun > check->longest_call)
            check->longest_call = event->time.value - *begun;
        return;
    }
    check->hits += event->hit != NULL;
    check->kernel_calls += event->address >> 63;
    if (!is)
        return;
    check->calls++;
    check->last_call = *begun = event->time.value;
}

static bool count_calls(struct check *check, const char *function, struct error *error)
{
    struct span_source *source = timeline_spans(check->timeline, error);
    if (!source)
        return false;
    source->no_lines = true;
    uint64_t *begun = memory_allocate_zeroed((source->track_count + 1) * sizeof *begun);
    struct span_event event;
    while (source->next(source, &event, error))
        count(check, &event, function, &begun[event.track]);
    for (size_t i = 0; i < source->track_count; i++)
        check->tracks += begun[i] != 0;
    free(begun);
    source->close(source);
    return error->code == ERROR_NONE;
}

static bool decode(struct check *check, const char *function, struct error *error)
{
    const struct flow_options options = {0};
    check->calls = check->kernel_calls = check->last_call = check->longest_call = 0;
    check->hits = check->tracks = 0;
    check->timeline = timeline_decode(check->folder.path, &options, error);
    if (!check->timeline || !count_calls(check, function, error))
        return false;
    check->statistics = timeline_statistics(check->timeline);
    return true;
}

/* What no recording may have. */
static bool is_clean(struct check *check)
{
    const struct timeline_statistics *found = &check->statistics;
    const struct error *damage = timeline_damage(check->timeline);
    if (damage)
        conclude(check, CHECK_FAILED, "%.400s", damage->text);
    else if (found->flow.errors)
        conclude(check, CHECK_FAILED, "%" PRIu64 " decode errors in %" PRIu64 " bytes of packets",
                 found->flow.errors, found->flow.bytes);
    return !damage && !found->flow.errors;
}

static enum verdict failed(struct check *check, const struct error *error)
{
    return conclude(check, error->code == ERROR_UNSUPPORTED ? CHECK_SKIPPED : CHECK_FAILED,
                    "%.500s", error->text);
}

static enum verdict compare_calls(struct check *check)
{
    if (!is_clean(check))
        return CHECK_FAILED;
    if (check->calls == check->done.calls)
        return conclude(check, CHECK_PASSED, "all %" PRIu64 " calls, no errors", check->calls);
    return conclude(check, CHECK_FAILED,
                    "%" PRIu64 " of %" PRIu64 " calls are in the trace; overflows: %" PRIu64,
                    check->calls, check->done.calls, check->statistics.flow.overflows);
}

/* ---- the checks ---- */

/* Nanoseconds of the work without recording: the fastest of some runs; 0 when it cannot be run. */
static uint64_t native_time(struct check *check)
{
    char *command[] = {check->program,           (char *)"doctor",
                       (char *)"-check-program", (char *)CHECKED_RECURSION,
                       check->work_file,         NULL};
    uint64_t fastest = 0;
    for (unsigned i = 0; i < NATIVE_RUNS; i++) {
        pid_t child;
        int status;
        struct checked_work done;
        if (posix_spawn(&child, check->program, NULL, NULL, command, environ) != 0 ||
            waitpid(child, &status, 0) != child || status != 0 ||
            !checked_work_read(&done, check->work_file))
            return 0;
        if (!fastest || done.nanoseconds < fastest)
            fastest = done.nanoseconds;
    }
    return fastest;
}

static enum verdict check_whole(struct check *check, struct error *error)
{
    uint64_t native = native_time(check);
    if (!record(check, CHECKED_RECURSION, error) ||
        !decode(check, CHECKED_RECURSION_FUNCTION, error))
        return failed(check, error);
    enum verdict verdict = compare_calls(check);
    if (verdict == CHECK_PASSED && native && check->done.nanoseconds)
        conclude(check, verdict,
                 "all %" PRIu64 " calls, no errors; %.2f times the time of a run that is not "
                 "recorded; %.2f MB of packets, %.2f GB per second",
                 check->calls, (double)check->done.nanoseconds / (double)native,
                 (double)check->statistics.flow.bytes / 1e6,
                 (double)check->statistics.flow.bytes / (double)check->done.nanoseconds);
    return verdict;
}

static enum verdict check_snapshot(struct check *check, struct error *error)
{
    check->options.full_execution = false;
    check->options.snapshot_size = SMALL_SNAPSHOT;
    check->options.sized = true;
    if (!record(check, CHECKED_RECURSION, error) ||
        !decode(check, CHECKED_RECURSION_FUNCTION, error))
        return failed(check, error);
    if (!is_clean(check))
        return CHECK_FAILED;
    if (check->calls == 0 || check->calls >= check->done.calls)
        return conclude(check, CHECK_FAILED,
                        "%" PRIu64 " of %" PRIu64 " calls are in a ring of %u KiB", check->calls,
                        check->done.calls, SMALL_SNAPSHOT >> 10);
    return conclude(check, CHECK_PASSED,
                    "the last %" PRIu64 " of %" PRIu64 " calls in a ring of %u KiB, no errors",
                    check->calls, check->done.calls, SMALL_SNAPSHOT >> 10);
}

static enum verdict check_threads(struct check *check, struct error *error)
{
    check->options.multi_thread = true;
    if (!record(check, CHECKED_THREADS, error) || !decode(check, CHECKED_RECURSION_FUNCTION, error))
        return failed(check, error);
    enum verdict verdict = compare_calls(check);
    if (verdict == CHECK_PASSED && check->tracks != CHECKED_THREAD_COUNT)
        return conclude(check, CHECK_FAILED, "the calls are shown in %u threads and not in %d",
                        check->tracks, CHECKED_THREAD_COUNT);
    return verdict;
}

static enum verdict check_hits(struct check *check, struct error *error)
{
    check->options.multi_thread = true;
    check->options.full_execution = false;
    check->options.trigger.multi_snapshot = true;
    if (!find_trigger(check, error) || !record(check, CHECKED_PLACES, error))
        return failed(check, error);
    return conclude(
        check, check->result.hits == check->done.calls ? CHECK_PASSED : CHECK_FAILED,
        "%" PRIu64 " of %" PRIu64 " hits in %d threads were seen, %" PRIu64 " snapshots taken",
        check->result.hits, check->done.calls, CHECKED_THREAD_COUNT, check->result.snapshots);
}

static enum verdict check_stop(struct check *check, struct error *error)
{
    check->options.full_execution = false;
    check->options.trigger.immediate_stop = true;
    if (!find_trigger(check, error) || !record(check, CHECKED_WAIT, error) ||
        !decode(check, CHECKED_PLACE_FUNCTION, error))
        return failed(check, error);
    if (!is_clean(check))
        return CHECK_FAILED;
    /* The call at which it stops may or may not be in it. */
    return conclude(check, check->result.hits && check->calls <= 1 ? CHECK_PASSED : CHECK_FAILED,
                    "%" PRIu64 " calls behind the first hit are in the trace",
                    check->calls ? check->calls - 1 : 0);
}

static enum verdict check_times(struct check *check, struct error *error)
{
    enum { PERCENT_OFF = 5 };
    if (!record(check, CHECKED_WAIT, error) || !decode(check, CHECKED_WAIT_FUNCTION, error))
        return failed(check, error);
    double shown = (double)check->longest_call, true_time = (double)check->done.nanoseconds;
    bool ok = check->calls == 1 && shown > true_time * (100 - PERCENT_OFF) / 100 &&
              shown < true_time * (100 + PERCENT_OFF) / 100;
    return conclude(check, ok ? CHECK_PASSED : CHECK_FAILED,
                    "a call of %.3f ms by the program's clock is %.3f ms in the trace",
                    true_time / 1e6, shown / 1e6);
}

static enum verdict check_kernel(struct check *check, struct error *error)
{
    check->options.processor.scope = TRACE_USER_AND_KERNEL;
    if (!record(check, CHECKED_WAIT, error) || !decode(check, CHECKED_WAIT_FUNCTION, error))
        return failed(check, error);
    if (!is_clean(check))
        return CHECK_FAILED;
    return conclude(check, check->kernel_calls ? CHECK_PASSED : CHECK_FAILED,
                    "%" PRIu64 " calls in the kernel, no errors", check->kernel_calls);
}

/* Waits until the child has left its file, for some seconds at most. */
static bool wait_for_work(struct check *check, pid_t child)
{
    enum { TENTHS = 100 };
    const struct timespec tenth = {0, 100000000};
    for (unsigned i = 0; i < TENTHS && waitpid(child, NULL, WNOHANG) == 0; i++) {
        if (checked_work_read(&check->done, check->work_file))
            return true;
        nanosleep(&tenth, NULL);
    }
    return false;
}

/* The trigger's function is not called, so what ends the recording is the end of the process: this
 * child ends it. */
static pid_t kill_later(pid_t program)
{
    const struct timespec later = {0, 300000000};
    pid_t child = fork();
    if (child == 0) {
        nanosleep(&later, NULL);
        kill(program, SIGKILL);
        _exit(0);
    }
    return child;
}

static bool attach_to(struct check *check, pid_t program, struct error *error)
{
    check->options.pids = &program;
    check->options.pid_count = 1;
    check->options.full_execution = false;
    char *command[] = {check->program, NULL};
    check->options.magic_trace_command = command;
    pid_t killer = kill_later(program);
    bool ok = check->engine->attach(&check->options, &check->result, error);
    check->options.magic_trace_command = NULL;
    check->options.pids = NULL;
    if (killer > 0)
        waitpid(killer, NULL, 0);
    return ok;
}

static enum verdict check_attach(struct check *check, struct error *error)
{
    char *command[] = {check->program,          (char *)"doctor", (char *)"-check-program",
                       (char *)CHECKED_ENDLESS, check->work_file, NULL};
    pid_t program;
    if (!check->engine->attach)
        return conclude(check, CHECK_SKIPPED, "the %s engine does not attach", check->engine->name);
    int problem = posix_spawn(&program, check->program, NULL, NULL, command, environ);
    if (problem)
        return conclude(check, CHECK_FAILED, "cannot start a program: %s", strerror(problem));
    bool ok = wait_for_work(check, program);
    if (!ok)
        error_set(error, ERROR_IO, "the program to attach to did not start its work");
    ok = ok && attach_to(check, program, error);
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    if (!ok || !decode(check, CHECKED_RECURSION_FUNCTION, error))
        return failed(check, error);
    if (!is_clean(check))
        return CHECK_FAILED;
    return conclude(check, check->calls ? CHECK_PASSED : CHECK_FAILED,
                    "the last %" PRIu64 " calls of a process that ran already", check->calls);
}

/* ---- all of them ---- */

static const struct {
    const char *what;
    enum verdict (*run)(struct check *check, struct error *error);
} checks[] = {
    {"a whole run", check_whole},       {"a ring that wraps", check_snapshot},
    {"several threads", check_threads}, {"hits of a trigger", check_hits},
    {"stopping at once", check_stop},   {"times", check_times},
    {"the kernel", check_kernel},       {"a running process", check_attach},
};

static enum verdict run_check(struct check *check, size_t number)
{
    static const char *const words[] = {"pass", "FAIL", "skip"};
    struct error error = {0};
    enum verdict verdict =
        begin(check, &error) ? checks[number].run(check, &error) : failed(check, &error);
    end(check);
    printf("%-4s  %-18s  %s\n", words[verdict], checks[number].what, check->figures);
    fflush(stdout);
    return verdict;
}

static void print_machine(const struct engine *engine, const struct engine_probe *probe)
{
    struct utsname system;
    if (uname(&system) == 0)
        printf("magic-trace " MAGIC_TRACE_VERSION ", engine %s: %s; %s %s\n", engine->name,
               probe->why, system.sysname, system.release);
}

int hardware_check(const char *name)
{
    struct error error = {0};
    struct engine_choice choice;
    const struct record_options nothing_special = {0};
    struct check check = {0};
    if (!engine_choose(&choice, name, ENGINE_TO_RECORD, &nothing_special, &error))
        return command_fail(&error);
    check.engine = choice.engine;
    ssize_t length = readlink("/proc/self/exe", check.program, sizeof check.program - 1);
    if (length <= 0) {
        error_set_errno(&error, ERROR_IO, errno, "cannot find out which file this program is");
        return command_fail(&error);
    }
    struct engine_probe probe;
    check.engine->probe(&probe);
    print_machine(check.engine, &probe);
    unsigned counts[3] = {0};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        counts[run_check(&check, i)]++;
    printf("%u passed, %u failed, %u skipped\n", counts[CHECK_PASSED], counts[CHECK_FAILED],
           counts[CHECK_SKIPPED]);
    return counts[CHECK_FAILED] ? EXIT_STATUS_ERROR : 0;
}
