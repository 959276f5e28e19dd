/* magic-trace run: record a program, decode the recording, write the trace. */
#include "base/log.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/recording_request.h"
#include "process/program.h"
#include "recording/flags.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct run_request {
    struct recording_request recording; /* first, for the shared options */
    bool forward_exit_status;
    bool jit_names;
};

/* Takes `--` away where Jane Street's magic-trace allows it: before COMMAND, or between COMMAND and its
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

static void say_how_program_ended(const struct record_options *options,
                                  const struct record_result *result)
{
    const char *program = options->command[0];
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

/* One word of -packets, named after the terms of the kernel's intel_pt events. */
static bool parse_packet_word(const char *word, size_t length, struct record_packets *packets)
{
    static const struct {
        const char *name;
        struct record_packets packets;
    } words[] = {
        {"nocyc", {.coarse_time = true}},
        {"mtc", {.coarse_time = true, .periods = true}},
        {"noretcomp", {.all_returns = true}},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].name) != length || memcmp(words[i].name, word, length) != 0)
            continue;
        packets->coarse_time |= words[i].packets.coarse_time;
        packets->periods |= words[i].packets.periods;
        packets->all_returns |= words[i].packets.all_returns;
        return true;
    }
    return false;
}

/* `list`: words with commas between them. */
static int parse_packets(const struct command *self, const char *list,
                         struct record_packets *packets)
{
    const char *word = list;
    for (;;) {
        size_t length = strcspn(word, ",");
        if (!parse_packet_word(word, length, packets))
            return command_usage_error(
                self, "-packets is nocyc, mtc, noretcomp or some of them with commas, not `%s`.",
                list);
        if (word[length] == 0)
            return 0;
        word += length + 1;
    }
}

static int take_packets(const struct option_spec *option, const struct command *self, void *target,
                        const char *value)
{
    return parse_packets(self, value, &((struct run_request *)target)->recording.record.packets);
}

static const struct option_spec run_options[] = {
    {.name = &FLAG_RECORD_FROM[1],
     .argument = "PLACE",
     .help = "run natively until this is reached; record from\nthere on",
     .manual =
         "Run the program natively, at full speed, until a thread arrives at PLACE, which is named "
         "as -trigger names it, and record from there on. That thread is traced; with "
         "-multi-thread all are. Processes that were started before are not traced. Needs the "
         "translator engine.",
     .apply = option_set_place,
     .field = offsetof(struct run_request, recording.from)},
    {.name = &FLAG_RECORD_UNTIL[1],
     .argument = "PLACE",
     .help = "record until this is reached; the program then\nruns on natively",
     .manual = "End the recording when a traced thread arrives at PLACE, which is named as "
               "-trigger names "
               "it. The program then runs on natively. With -record-from it is the next arrival "
               "after the "
               "recording has begun, also at the same place. Needs the translator engine.",
     .apply = option_set_place,
     .field = offsetof(struct run_request, recording.until)},
    {.name = &FLAG_ONLY[1],
     .argument = "NAMES",
     .help = "record calls of these functions alone, or of a\nlibrary's, and what they call; the "
             "rest runs natively",
     .manual =
         "Record calls of these functions alone, from their first instruction until they "
         "return, with all that they call. What runs before, between and after them runs "
         "natively, and is \"[untraced]\" in the trace, so a recording of a long run holds what "
         "matters. NAMES are separated by commas: functions as "
         "-args takes them, and libraries, such as `libz.so.1`, which stand for all functions that "
         "they name; one that the program loads by itself is named by its path. "
         "While a call is not recorded, a signal, a system call and the beginning of a recorded "
         "call cost 10 to 20 "
         "microseconds each. The program's code has breakpoint instructions (INT3) at these "
         "functions. "
         "A trigger counts within such calls alone. "
         "Needs the translator engine "
         "and Linux 5.11.",
     .apply = option_set_text,
     .field = offsetof(struct run_request, recording.only)},
    {.name = &FLAG_FOLLOW[1],
     .help = "trace child processes too",
     .manual = "Trace child processes too, also across execve(2). The recording goes on when the "
               "program has ended, as long as processes that it has started are recorded (a "
               "daemon, for example), and a message says so. Ctrl-C, or a signal to magic-trace, "
               "ends the recording then, and they go on without it. Only with Intel PT by perf "
               "before version 5.4 the recording ends with the program.",
     .apply = option_set_flag,
     .field = offsetof(struct run_request, recording.record.follow)},
    {.name = "forward-exit-status",
     .help = "exit with the program's status (128 + N when\nsignal N killed it)",
     .manual = "Exit with the program's status, or with 128 plus the number of the signal that "
               "killed it; with 127 when there is no such program, and 126 when it may not be "
               "executed, as shells do.",
     .apply = option_set_flag,
     .field = offsetof(struct run_request, forward_exit_status)},
    {.name = "jit-names",
     .help = "have node, python 3.12 and .NET write the names of\nthe code that they make",
     .manual = "Have runtimes with a JIT compiler write the names of their code to "
               "/tmp/perf-PID.map: $NODE_OPTIONS gets `--perf-basic-prof`, $PYTHONPERFSUPPORT and "
               "$DOTNET_PerfMapEnabled become 1. COMMAND sees these variables.",
     .apply = option_set_flag,
     .field = offsetof(struct run_request, jit_names)},
    {.name = "packets", .argument = "LIST", .apply = take_packets},
    {0},
};

static const struct option_group run_groups[] = {{run_options, 0}, {0}};

/* What has names of JIT code written without a message or another change of what the program does. */
static void request_jit_names(void)
{
    static const char node[] = "--perf-basic-prof";
    const char *options = getenv("NODE_OPTIONS");
    char *extended = memory_format("%s%s%s", options ? options : "", options ? " " : "", node);
    if (!options || !strstr(options, node))
        setenv("NODE_OPTIONS", extended, 1);
    setenv("PYTHONPERFSUPPORT", "1", 1);
    setenv("DOTNET_PerfMapEnabled", "1", 1);
    free(extended);
}

static bool find_functions(struct recording_request *request, struct error *error)
{
    bool triggered = request->trigger || request->symbol_part;
    if (!triggered && !request->record.wants_values && !request->record.bounded &&
        !request->record.selective)
        return true;
    struct objects objects;
    bool ok = objects_of_command(&objects, request->record.command, error) &&
              (!triggered || recording_request_find_trigger(request, &objects, error)) &&
              recording_request_find_bounds(request, &objects, error) &&
              recording_request_find_selected(request, &objects, error) &&
              recording_request_find_chosen(request, &objects, error);
    objects_free(&objects);
    return ok;
}

/* With -forward-exit-status a program that cannot be run gives the status that a shell gives. */
static int failure_status(const struct recording_request *request, bool forward_exit_status,
                          int status)
{
    int shell = forward_exit_status ? program_shell_status(request->record.command[0]) : 0;
    return shell ? shell : status;
}

static int record(struct recording_request *request, bool forward_exit_status)
{
    struct error error = {0};
    const struct engine *engine =
        recording_request_choose_engine(request, ENGINE_TO_RECORD, &error);
    if (!engine || !find_functions(request, &error))
        return failure_status(request, forward_exit_status, command_fail(&error));
    struct recording_outcome outcome =
        recording_request_carry_out(request, engine, ENGINE_TO_RECORD, say_how_program_ended);
    if (outcome.status)
        return failure_status(request, forward_exit_status, outcome.status);
    return forward_exit_status ? program_status(&outcome.result) : 0;
}

static int check_request(const struct command *self, struct run_request *request, int argc,
                         char **argv, int first)
{
    int status = recording_request_check(&request->recording, self);
    if (status)
        return status;
    if (request->recording.only && request->recording.from)
        return command_usage_error(self, FLAG_ONLY " and " FLAG_RECORD_FROM
                                                   " do not go together. Leave one of them out.");
    if (first >= argc)
        return command_usage_error(self, "no program to run was given.");
    request->recording.record.command = program_arguments(argc, argv, first);
    if (!*request->recording.record.command[0])
        return command_usage_error(self, "the program's name is empty.");
    return 0;
}

static int run_run(const struct command *self, int argc, char **argv)
{
    struct run_request request = {.recording = recording_request_new(argv - 1)};
    int first;
    int status = command_read_leading_options(self, argc, argv, &request, &first);
    if (status == COMMAND_GOES_ON &&
        (status = check_request(self, &request, argc, argv, first)) == 0) {
        if (request.jit_names)
            request_jit_names();
        status = record(&request.recording, request.forward_exit_status);
    }
    recording_request_free(&request.recording);
    return status;
}

const struct command run_command = {
    .name = "run",
    .alias = "trace",
    .summary = "record a program and write its trace",
    .operands = "COMMAND [ARGUMENTS]",
    .description =
        "Runs COMMAND, records every branch it takes, and writes its calls as a trace\n"
        "that `magic-trace view` and `magic-trace report` show, and Perfetto, too.\n"
        "\n"
        "The last moments before the end, or before Ctrl-C, are kept. One thread is\n"
        "traced unless -multi-thread is given, one process unless -follow is given; what\n"
        "ran untraced is said at the end. COMMAND's input, output and environment are its\n"
        "own. Options end at COMMAND; `--` may stand before it or before its arguments.\n",
    .options = run_groups,
    .common_options = recording_options,
    .run = run_run,
};
