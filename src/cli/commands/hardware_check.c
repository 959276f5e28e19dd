#include "cli/commands/hardware_check.h"

#include "base/own_file.h"
#include "cli/command.h"
#include "cli/commands/checked_recording.h"

#include <errno.h>
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

enum { SMALL_SNAPSHOT = 1 << 14, NATIVE_RUNS = 5 };

enum verdict { CHECK_PASSED, CHECK_FAILED, CHECK_SKIPPED };

struct check {
    struct checked_recording made;
    char figures[512]; /* what was found out, or why not */
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

/* What no recording may have. */
static bool is_clean(struct check *check)
{
    const struct timeline_statistics *found = &check->made.statistics;
    const struct error *damage = timeline_damage(check->made.timeline);
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
    if (check->made.calls == check->made.done.calls)
        return conclude(check, CHECK_PASSED, "all %" PRIu64 " calls, no errors", check->made.calls);
    return conclude(check, CHECK_FAILED,
                    "%" PRIu64 " of %" PRIu64 " calls are in the trace; overflows: %" PRIu64,
                    check->made.calls, check->made.done.calls,
                    check->made.statistics.flow.overflows);
}

/* ---- the checks ---- */

/* Nanoseconds of the work without recording: the fastest of some runs; 0 when it cannot be run. */
static uint64_t native_time(struct check *check)
{
    char *command[] = {(char *)(uintptr_t)check->made.program,
                       (char *)"doctor",
                       (char *)"-check-program",
                       (char *)CHECKED_RECURSION,
                       check->made.work_file,
                       NULL};
    uint64_t fastest = 0;
    for (unsigned i = 0; i < NATIVE_RUNS; i++) {
        pid_t child;
        int status;
        struct checked_work done;
        if (posix_spawn(&child, check->made.program, NULL, NULL, command, environ) != 0 ||
            waitpid(child, &status, 0) != child || status != 0 ||
            !checked_work_read(&done, check->made.work_file))
            return 0;
        if (!fastest || done.nanoseconds < fastest)
            fastest = done.nanoseconds;
    }
    return fastest;
}

static enum verdict check_whole(struct check *check, struct error *error)
{
    uint64_t native = native_time(check);
    if (!checked_recording_make(&check->made, CHECKED_RECURSION, error) ||
        !checked_recording_decode(&check->made, CHECKED_RECURSION_FUNCTION, error))
        return failed(check, error);
    enum verdict verdict = compare_calls(check);
    if (verdict == CHECK_PASSED && native && check->made.done.nanoseconds)
        conclude(check, verdict,
                 "all %" PRIu64 " calls, no errors; %.2f times the time of a run that is not "
                 "recorded; %.2f MB of packets, %.2f GB per second",
                 check->made.calls, (double)check->made.done.nanoseconds / (double)native,
                 (double)check->made.statistics.flow.bytes / 1e6,
                 (double)check->made.statistics.flow.bytes / (double)check->made.done.nanoseconds);
    return verdict;
}

static enum verdict check_snapshot(struct check *check, struct error *error)
{
    check->made.options.full_execution = false;
    check->made.options.snapshot_size = SMALL_SNAPSHOT;
    check->made.options.sized = true;
    if (!checked_recording_make(&check->made, CHECKED_LONG_RECURSION, error) ||
        !checked_recording_decode(&check->made, CHECKED_RECURSION_FUNCTION, error))
        return failed(check, error);
    if (!is_clean(check))
        return CHECK_FAILED;
    if (check->made.calls == 0 || check->made.calls >= check->made.done.calls)
        return conclude(check, CHECK_FAILED,
                        "%" PRIu64 " of %" PRIu64 " calls are in a ring of %u KiB",
                        check->made.calls, check->made.done.calls, SMALL_SNAPSHOT >> 10);
    return conclude(check, CHECK_PASSED,
                    "the last %" PRIu64 " of %" PRIu64 " calls in a ring of %u KiB, no errors",
                    check->made.calls, check->made.done.calls, SMALL_SNAPSHOT >> 10);
}

static enum verdict check_threads(struct check *check, struct error *error)
{
    check->made.options.multi_thread = true;
    if (!checked_recording_make(&check->made, CHECKED_THREADS, error) ||
        !checked_recording_decode(&check->made, CHECKED_RECURSION_FUNCTION, error))
        return failed(check, error);
    enum verdict verdict = compare_calls(check);
    if (verdict == CHECK_PASSED && check->made.tracks != CHECKED_THREAD_COUNT)
        return conclude(check, CHECK_FAILED, "the calls are shown in %u threads and not in %d",
                        check->made.tracks, CHECKED_THREAD_COUNT);
    return verdict;
}

static enum verdict check_hits(struct check *check, struct error *error)
{
    check->made.options.multi_thread = true;
    check->made.options.full_execution = false;
    check->made.options.trigger.multi_snapshot = true;
    if (!checked_recording_find_trigger(&check->made, error) ||
        !checked_recording_make(&check->made, CHECKED_PLACES, error))
        return failed(check, error);
    return conclude(
        check, check->made.result.hits == check->made.done.calls ? CHECK_PASSED : CHECK_FAILED,
        "%" PRIu64 " of %" PRIu64 " hits in %d threads were seen, %" PRIu64 " snapshots taken",
        check->made.result.hits, check->made.done.calls, CHECKED_THREAD_COUNT,
        check->made.result.snapshots);
}

static enum verdict check_stop(struct check *check, struct error *error)
{
    check->made.options.full_execution = false;
    check->made.options.trigger.immediate_stop = true;
    if (!checked_recording_find_trigger(&check->made, error) ||
        !checked_recording_make(&check->made, CHECKED_WAIT, error) ||
        !checked_recording_decode(&check->made, CHECKED_PLACE_FUNCTION, error))
        return failed(check, error);
    if (!is_clean(check))
        return CHECK_FAILED;
    /* The call at which it stops may or may not be in it. */
    return conclude(check,
                    check->made.result.hits && check->made.calls <= 1 ? CHECK_PASSED : CHECK_FAILED,
                    "%" PRIu64 " calls after the first hit are in the trace",
                    check->made.calls ? check->made.calls - 1 : 0);
}

static enum verdict check_times(struct check *check, struct error *error)
{
    enum { PERCENT_OFF = 5 };
    /* The program's clock counts what the engine itself takes, too. */
    if (check->made.engine->has_clocks)
        check->made.options.clock = RECORD_CLOCK_HOST;
    if (!checked_recording_make(&check->made, CHECKED_WAIT, error) ||
        !checked_recording_decode(&check->made, CHECKED_WAIT_FUNCTION, error))
        return failed(check, error);
    double shown = (double)check->made.longest_call,
           true_time = (double)check->made.done.nanoseconds;
    bool ok = check->made.calls == 1 && shown > true_time * (100 - PERCENT_OFF) / 100 &&
              shown < true_time * (100 + PERCENT_OFF) / 100;
    return conclude(check, ok ? CHECK_PASSED : CHECK_FAILED,
                    "a call of %.3f ms by the program's clock is %.3f ms in the trace",
                    true_time / 1e6, shown / 1e6);
}

static enum verdict check_kernel(struct check *check, struct error *error)
{
    check->made.options.processor.scope = TRACE_USER_AND_KERNEL;
    if (!checked_recording_make(&check->made, CHECKED_WAIT, error) ||
        !checked_recording_decode(&check->made, CHECKED_WAIT_FUNCTION, error))
        return failed(check, error);
    if (!is_clean(check))
        return CHECK_FAILED;
    return conclude(check, check->made.kernel_calls ? CHECK_PASSED : CHECK_FAILED,
                    "%" PRIu64 " calls in the kernel, no errors", check->made.kernel_calls);
}

/* Waits until the child has left its file, for some seconds at most. */
static bool wait_for_work(struct check *check, pid_t child)
{
    enum { TENTHS = 100 };
    const struct timespec tenth = {0, 100000000};
    for (unsigned i = 0; i < TENTHS && waitpid(child, NULL, WNOHANG) == 0; i++) {
        if (checked_work_read(&check->made.done, check->made.work_file))
            return true;
        nanosleep(&tenth, NULL);
    }
    return false;
}

/* The trigger's function is not called, so what ends the recording is the end of the process: this
 * child ends it, late enough for a busy machine to have attached. */
static pid_t kill_later(pid_t program)
{
    const struct timespec later = {2, 0};
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
    check->made.options.pids = &program;
    check->made.options.pid_count = 1;
    check->made.options.full_execution = false;
    char *command[] = {(char *)(uintptr_t)check->made.program, NULL};
    check->made.options.magic_trace_command = command;
    pid_t killer = kill_later(program);
    bool ok = check->made.engine->attach(&check->made.options, &check->made.result, error);
    check->made.options.magic_trace_command = NULL;
    check->made.options.pids = NULL;
    if (killer > 0)
        waitpid(killer, NULL, 0);
    return ok;
}

static enum verdict check_attach(struct check *check, struct error *error)
{
    char *command[] = {(char *)(uintptr_t)check->made.program,
                       (char *)"doctor",
                       (char *)"-check-program",
                       (char *)CHECKED_ENDLESS,
                       check->made.work_file,
                       NULL};
    pid_t program;
    if (!check->made.engine->attach)
        return conclude(check, CHECK_SKIPPED, "the %s engine does not attach",
                        check->made.engine->name);
    int problem = posix_spawn(&program, check->made.program, NULL, NULL, command, environ);
    if (problem)
        return conclude(check, CHECK_FAILED, "cannot start a program: %s", strerror(problem));
    bool ok = wait_for_work(check, program);
    if (!ok)
        error_set(error, ERROR_IO, "the program to attach to did not start its work");
    ok = ok && attach_to(check, program, error);
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    if (!ok || !checked_recording_decode(&check->made, CHECKED_RECURSION_FUNCTION, error))
        return failed(check, error);
    if (!is_clean(check))
        return CHECK_FAILED;
    return conclude(check, check->made.calls ? CHECK_PASSED : CHECK_FAILED,
                    "the last %" PRIu64 " calls of a process that ran already", check->made.calls);
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

static enum verdict run_check(const struct engine *engine, const char *program, size_t number)
{
    static const char *const words[] = {"pass", "FAIL", "skip"};
    struct error error = {0};
    struct check check;
    enum verdict verdict = checked_recording_begin(&check.made, engine, program, &error)
                               ? checks[number].run(&check, &error)
                               : failed(&check, &error);
    checked_recording_end(&check.made);
    printf("%-4s  %-18s  %s\n", words[verdict], checks[number].what, check.figures);
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
    if (!engine_choose(&choice, name, ENGINE_TO_RECORD, &nothing_special, &error))
        return command_fail(&error);
    char *program = own_file_binary();
    if (!program) {
        error_set_errno(&error, ERROR_IO, errno, "cannot find out which file this program is");
        return command_fail(&error);
    }
    struct engine_probe probe;
    choice.engine->probe(&probe);
    print_machine(choice.engine, &probe);
    unsigned counts[3] = {0};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        counts[run_check(choice.engine, program, i)]++;
    printf("%u passed, %u failed, %u skipped\n", counts[CHECK_PASSED], counts[CHECK_FAILED],
           counts[CHECK_SKIPPED]);
    free(program);
    return counts[CHECK_FAILED] ? EXIT_STATUS_ERROR : 0;
}
