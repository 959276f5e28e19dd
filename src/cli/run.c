/* magic-trace run: record a program, decode the recording, write the trace. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/interrupted_decode.h"
#include "cli/quantity.h"
#include "cli/recording_folder.h"
#include "cli/shell_word.h"
#include "cli/trace_file.h"
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
    DEFAULT_SNAPSHOT_SIZE = 4 << 20,
    SMALLEST_SNAPSHOT_SIZE = 4096,
};
static const uint64_t largest_snapshot_size = UINT64_C(1) << 40;

enum run_option {
    RUN_OUTPUT,
    RUN_FORMAT,
    RUN_ENGINE,
    RUN_CLOCK,
    RUN_MULTI_THREAD,
    RUN_FOLLOW,
    RUN_FULL_EXECUTION,
    RUN_SNAPSHOT_SIZE,
    RUN_WORKING_DIRECTORY,
    RUN_NO_DECODE,
    RUN_FORWARD_EXIT_STATUS,
    RUN_UNAVAILABLE,
};

#define NEEDS_PROCESSOR                                                                            \
    "it needs an engine that uses the processor's own trace or counters, and this version has "    \
    "the soft engine alone, which records user space exactly. Leave it out."
#define NOT_IN_THIS_VERSION "it is not part of this version. Leave it out."

static const struct option_spec run_options[] = {
    {"output", "o", RUN_OUTPUT, "FILE",
     "where to write the trace (default trace.fxt.gz;\n"
     "gzip when it ends in .gz); an existing one\n"
     "becomes FILE.old",
     NULL},
    {"format", NULL, RUN_FORMAT, "FORMAT",
     "fxt (for Perfetto, default) or folded (stacks for\nflame graphs)", NULL},
    {"engine", NULL, RUN_ENGINE, "NAME",
     "how to record: auto (default) or one that\n`magic-trace doctor` lists", NULL},
    {"clock", NULL, RUN_CLOCK, "CLOCK",
     "default (time without the cost of translation),\n"
     "host (the raw clock) or instructions (one\n"
     "instruction, one nanosecond: repeatable)",
     NULL},
    {"multi-thread", NULL, RUN_MULTI_THREAD, NULL, "trace all threads, not only the first", NULL},
    {"follow", NULL, RUN_FOLLOW, NULL, "trace child processes too", NULL},
    {"full-execution", NULL, RUN_FULL_EXECUTION, NULL,
     "keep everything from beginning to end, not only\nthe last moments", NULL},
    {"snapshot-size", NULL, RUN_SNAPSHOT_SIZE, "SIZE",
     "packets kept per thread: a power of two with K, M\nor G (default 4M)", NULL},
    {"working-directory", NULL, RUN_WORKING_DIRECTORY, "DIR",
     "keep the recording in DIR, for `magic-trace decode`\n"
     "(default: a temporary folder, removed at the end)",
     NULL},
    {"no-decode", NULL, RUN_NO_DECODE, NULL, "only record; `magic-trace decode` can follow later",
     NULL},
    {"forward-exit-status", NULL, RUN_FORWARD_EXIT_STATUS, NULL,
     "exit with the program's status (128 + N when\nsignal N killed it)", NULL},
    {"timer-resolution", NULL, RUN_UNAVAILABLE, "RESOLUTION", NULL, NEEDS_PROCESSOR},
    {"trace-include-kernel", NULL, RUN_UNAVAILABLE, NULL, NULL, NEEDS_PROCESSOR},
    {"trace-kernel-only", NULL, RUN_UNAVAILABLE, NULL, NULL, NEEDS_PROCESSOR},
    {"sampling", NULL, RUN_UNAVAILABLE, NULL, NULL, NEEDS_PROCESSOR},
    {"callgraph-mode", NULL, RUN_UNAVAILABLE, "MODE", NULL, NEEDS_PROCESSOR},
    {"events", NULL, RUN_UNAVAILABLE, "LIST", NULL, NEEDS_PROCESSOR},
    {"trigger", NULL, RUN_UNAVAILABLE, "LOCATION", NULL, NOT_IN_THIS_VERSION},
    {"multi-snapshot", NULL, RUN_UNAVAILABLE, NULL, NULL, NOT_IN_THIS_VERSION},
    {"duration-thresh", NULL, RUN_UNAVAILABLE, "SPAN", NULL, NOT_IN_THIS_VERSION},
    {"delay-thresh", NULL, RUN_UNAVAILABLE, "SPAN", NULL, NOT_IN_THIS_VERSION},
    {"filter", NULL, RUN_UNAVAILABLE, "RANGE", NULL, NOT_IN_THIS_VERSION},
    {"serve", NULL, RUN_UNAVAILABLE, NULL, NULL, NOT_IN_THIS_VERSION},
    {"serve-port", NULL, RUN_UNAVAILABLE, "PORT", NULL, NOT_IN_THIS_VERSION},
    {"share", NULL, RUN_UNAVAILABLE, NULL, NULL, NOT_IN_THIS_VERSION},
    {0},
};

struct run_request {
    struct record_options record;
    struct trace_file_options trace;
    const char *engine;
    const char *working_directory;
    bool no_decode;
    bool forward_exit_status;
};

static bool parse_clock(const char *name, enum record_clock *clock)
{
    static const struct {
        const char *name;
        enum record_clock clock;
    } clocks[] = {
        {"default", RECORD_CLOCK_DEFAULT},
        {"host", RECORD_CLOCK_HOST},
        {"instructions", RECORD_CLOCK_INSTRUCTIONS},
    };
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        if (strcmp(name, clocks[i].name) != 0)
            continue;
        *clock = clocks[i].clock;
        return true;
    }
    return false;
}

/* Packets are kept in rings whose size is a power of two of whole pages: round up, and say so. */
static bool parse_snapshot_size(const char *text, uint64_t *size)
{
    uint64_t wanted;
    if (!quantity_parse_bytes(text, &wanted) || wanted == 0 || wanted > largest_snapshot_size)
        return false;
    *size =
        quantity_power_of_two(wanted < SMALLEST_SNAPSHOT_SIZE ? SMALLEST_SNAPSHOT_SIZE : wanted);
    if (*size != wanted)
        log_warning("-snapshot-size %s is rounded up to %s bytes, the next power of two that is at "
                    "least a page.",
                    text, quantity_count(*size).text);
    return true;
}

/* 0, or the exit status after a message. */
static int apply_option(const struct command *self, struct run_request *request, int option,
                        const char *value)
{
    switch (option) {
    case RUN_OUTPUT:
        request->trace.output = value;
        break;
    case RUN_FORMAT:
        if (!trace_format_parse(value, &request->trace.format))
            return command_usage_error(self, "-format is fxt or folded, not `%s`.", value);
        break;
    case RUN_ENGINE:
        request->engine = value;
        break;
    case RUN_CLOCK:
        if (!parse_clock(value, &request->record.clock))
            return command_usage_error(self, "-clock is default, host or instructions, not `%s`.",
                                       value);
        break;
    case RUN_MULTI_THREAD:
        request->record.multi_thread = true;
        break;
    case RUN_FOLLOW:
        request->record.follow = true;
        break;
    case RUN_FULL_EXECUTION:
        request->record.full_execution = true;
        break;
    case RUN_SNAPSHOT_SIZE:
        if (!parse_snapshot_size(value, &request->record.snapshot_size))
            return command_usage_error(
                self,
                "-snapshot-size is a number of bytes like 256K, 4M or 1G (up to 1024G), not `%s`.",
                value);
        break;
    case RUN_WORKING_DIRECTORY:
        request->working_directory = value;
        break;
    case RUN_NO_DECODE:
        request->no_decode = true;
        break;
    case RUN_FORWARD_EXIT_STATUS:
        request->forward_exit_status = true;
        break;
    default:
        break;
    }
    return 0;
}

/* Takes `--` away where the original allows it: before COMMAND, or between COMMAND and its
 * arguments. */
static char **program_arguments(int argc, char **argv, int first)
{
    if (first + 1 < argc && strcmp(argv[first + 1], "--") == 0 &&
        strcmp(argv[first - 1], "--") != 0) {
        argv[first + 1] = argv[first];
        first++;
    }
    return argv + first;
}

static void say_where_recording_is(const struct recording_folder *folder)
{
    char *path = shell_word(folder->path);
    log_status("The recording is kept: magic-trace decode %s", path);
    free(path);
}

static void say_how_program_ended(const struct run_request *request,
                                  const struct record_result *result)
{
    const char *program = request->record.command[0];
    if (WIFSIGNALED(result->exit_status))
        log_status("%s was killed by signal %d (%s).", program, WTERMSIG(result->exit_status),
                   strsignal(WTERMSIG(result->exit_status)));
    else if (WIFEXITED(result->exit_status) && WEXITSTATUS(result->exit_status) != 0)
        log_status("%s exited with status %d.", program, WEXITSTATUS(result->exit_status));
}

/* As a shell counts: the status, or 128 + the signal. */
static int program_status(const struct record_result *result)
{
    return WIFSIGNALED(result->exit_status) ? 128 + WTERMSIG(result->exit_status)
                                            : WEXITSTATUS(result->exit_status);
}

static bool decode_recording(const struct run_request *request, struct recording_folder *folder,
                             struct error *error)
{
    log_status("Decoding, this takes a while...");
    interrupted_decode_begin(folder->path);
    bool ok = trace_file_write(folder->path, &request->trace, error);
    interrupted_decode_end();
    if (ok)
        recording_folder_remove(folder);
    return ok;
}

static int record_and_decode(const struct run_request *request, const struct engine *engine,
                             struct recording_folder *folder)
{
    struct error error = {0};
    struct record_result result = {0};
    if (!engine->record(&request->record, &result, &error)) {
        int status = command_fail(&error);
        if (recording_folder_holds_data(folder)) {
            say_where_recording_is(folder);
            recording_folder_keep(folder);
        } else {
            recording_folder_remove(folder);
        }
        return status;
    }
    if (result.interrupted && !request->record.full_execution)
        log_status("Snapshot taken.");
    log_status("Finished recording.");
    say_how_program_ended(request, &result);
    int status = request->forward_exit_status ? program_status(&result) : 0;
    if (request->no_decode) {
        say_where_recording_is(folder);
        recording_folder_keep(folder);
        return status;
    }
    if (!decode_recording(request, folder, &error)) {
        int failed = command_fail(&error);
        say_where_recording_is(folder);
        recording_folder_keep(folder);
        return failed;
    }
    return status;
}

/* Reads the options; 0 with *first at COMMAND, or -1 after help, or the exit status after a
 * message. */
static int read_options(const struct command *self, int argc, char **argv,
                        struct run_request *request, int *first)
{
    struct option_reader reader;
    option_reader_open(&reader, run_options, argc, argv);
    int option = OPTION_END, status = 0;
    bool sized = false, formatted = false;
    while (status == 0 && (option = option_reader_next(&reader)) >= 0) {
        sized |= option == RUN_SNAPSHOT_SIZE;
        formatted |= option == RUN_OUTPUT || option == RUN_FORMAT;
        status = apply_option(self, request, option, reader.value);
    }
    *first = reader.next;
    option_reader_close(&reader);
    if (status)
        return status;
    if (option == OPTION_ERROR)
        return EXIT_STATUS_USAGE;
    if (option == OPTION_HELP) {
        command_print_help(self);
        return -1;
    }
    if (formatted && request->no_decode)
        log_warning("-output and -format have no effect with -no-decode, which writes no trace. "
                    "Give them to `magic-trace decode`.");
    if (sized && request->record.full_execution)
        log_warning("-snapshot-size has no effect with -full-execution, which keeps everything.");
    return 0;
}

static int run_run(const struct command *self, int argc, char **argv)
{
    struct run_request request = {
        .engine = "auto",
        .record = {.snapshot_size = DEFAULT_SNAPSHOT_SIZE, .magic_trace_command = argv - 1},
    };
    int first;
    int status = read_options(self, argc, argv, &request, &first);
    if (status)
        return status < 0 ? 0 : status;
    if (first >= argc)
        return command_usage_error(self, "no program to run was given.");
    request.record.command = program_arguments(argc, argv, first);
    if (!*request.record.command[0])
        return command_usage_error(self, "the program's name is empty.");

    struct error error = {0};
    const struct engine *engine = engine_choose(request.engine, ENGINE_TO_RECORD, &error);
    if (!engine)
        return command_fail(&error);
    if (!request.no_decode && !trace_file_check_output(&request.trace, &error))
        return command_fail(&error);
    struct recording_folder folder;
    if (!recording_folder_make(&folder, request.working_directory, &error))
        return command_fail(&error);
    request.record.directory = folder.path;
    return record_and_decode(&request, engine, &folder);
}

const struct command run_command = {
    .name = "run",
    .alias = "trace",
    .summary = "record a program and write its trace",
    .operands = "COMMAND [ARGUMENTS]",
    .description =
        "Runs COMMAND, records every branch it takes, and writes its calls as a trace\n"
        "that Perfetto (https://ui.perfetto.dev) and `magic-trace report` show.\n"
        "\n"
        "The last moments before the end, or before Ctrl-C, are kept. One thread is\n"
        "traced unless -multi-thread is given, one process unless -follow is given; what\n"
        "ran untraced is said at the end. COMMAND's input, output and environment are its\n"
        "own. Options end at COMMAND; `--` may stand before it or before its arguments.\n",
    .options = run_options,
    .run = run_run,
};
