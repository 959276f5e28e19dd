/* magic-trace check: whether a program needs more instructions than it did. */
#include "analysis/count_changes.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/options/shell_word.h"
#include "cli/recording_request.h"
#include "cli/serve/viewed_trace.h"
#include "cli/text/count_changes_text.h"
#include "engine/registry.h"
#include "output/output_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_STATUS_MORE = 3 }; /* the program needs more than the baseline allows */

struct check_request {
    struct recording_request recording; /* first, for its options */
    const char *baseline;
    const char *markdown; /* NULL: none */
    bool update;
    bool no_hold; /* what the program reads that differs from run to run */
    struct count_threshold threshold;
};

/* ---- the run ---- */

/* "model name" of /proc/cpuinfo. The caller frees. */
static char *processor_name(void)
{
    char *text = file_read("/proc/cpuinfo", NULL, NULL);
    const char *key = text ? strstr(text, "model name") : NULL;
    const char *colon = key ? strchr(key, ':') : NULL;
    size_t length = colon ? strcspn(colon, "\n") : 0;
    char *name = length > 2 ? strndup(colon + 2, length - 2) : memory_copy_string("unknown");
    free(text);
    return name;
}

/* The caller frees. */
static char *command_line(char *const *command)
{
    char *line = memory_copy_string("");
    for (; *command; command++) {
        char *word = shell_word(*command);
        char *longer = memory_format("%s%s%s", line, *line ? " " : "", word);
        free(word);
        free(line);
        line = longer;
    }
    return line;
}

static int status_of(int exit_status)
{
    return WIFSIGNALED(exit_status) ? 128 + WTERMSIG(exit_status) : WEXITSTATUS(exit_status);
}

/* The dynamic linker and the C library walk through it whenever a program starts. */
static char *environment_size(void)
{
    size_t variables = 0, bytes = 0;
    for (; environ[variables]; variables++)
        bytes += strlen(environ[variables]);
    return memory_format("%zu variables of %zu bytes", variables, bytes);
}

static struct counting_conditions conditions_of(const struct recording_request *request,
                                                const struct engine *engine, int exit_status)
{
    return (struct counting_conditions){
        .command = command_line(request->record.command),
        .engine = memory_copy_string(engine->name),
        .processor = processor_name(),
        .environment = environment_size(),
        .status = status_of(exit_status),
    };
}

/* "auto" is an engine whose counts repeat, if one works: others may count one or two instructions of a call in its caller.
 */
static const struct engine *choose_engine(struct recording_request *request, struct error *error)
{
    const struct engine *engine, *chosen = NULL;
    bool is_auto = strcmp(request->engine, "auto") == 0;
    for (size_t i = 0; is_auto && !chosen && (engine = engine_at(i)); i++) {
        request->engine = engine->name;
        if (engine->counts_repeat)
            chosen = recording_request_choose_engine(request, ENGINE_TO_RECORD, NULL);
    }
    if (chosen)
        return chosen;
    if (is_auto)
        request->engine = "auto";
    return recording_request_choose_engine(request, ENGINE_TO_RECORD, error);
}

/* Runs the program and counts. Returns 0, or the exit status after a message. `counts` is to be
 * freed in any case. */
static int count_run(struct check_request *request, struct instruction_counts *counts)
{
    struct error error = {0};
    struct recording_request *recording = &request->recording;
    const struct engine *engine = choose_engine(recording, &error);
    if (!engine)
        return command_fail(&error);
    struct recording_outcome outcome =
        recording_request_carry_out(recording, engine, ENGINE_TO_RECORD, NULL);
    if (outcome.status)
        return outcome.status;
    struct viewed_trace trace;
    bool ok = viewed_trace_open(&trace, trace_file_path(&recording->trace), &error);
    if (ok)
        ok = instruction_counts_of_trace(
            counts, trace.index, conditions_of(recording, engine, outcome.result.exit_status),
            &error);
    viewed_trace_close(&trace);
    return ok ? 0 : command_fail(&error);
}

/* ---- against the baseline ---- */

static void say_what_differs(const struct counting_conditions *baseline,
                             const struct counting_conditions *run)
{
    if (strcmp(baseline->command, run->command) != 0)
        log_warning("The baseline is of another command: %s", baseline->command);
    if (strcmp(baseline->engine, run->engine) != 0)
        log_warning(
            "The baseline was recorded with the %s engine, on whose processor the C library "
            "may choose other functions: use -engine %s.",
            baseline->engine, baseline->engine);
    if (strcmp(baseline->processor, run->processor) != 0)
        log_warning("The baseline is of another processor, %s. Functions that are chosen by "
                    "processor, like memcpy, may differ.",
                    baseline->processor);
    if (baseline->environment && strcmp(baseline->environment, run->environment) != 0)
        log_warning("The environment has %s; when the baseline was made it had %s. The dynamic "
                    "linker (__tunables_init) and getenv() read all of it. `env -i NAME=VALUE... "
                    "magic-trace check` holds it still.",
                    run->environment, baseline->environment);
}

static bool write_markdown(const struct check_request *request, const struct count_changes *changes,
                           struct error *error)
{
    if (!request->markdown)
        return true;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return error_set_errno(error, ERROR_IO, errno, "cannot make the table of changes");
    count_changes_print_markdown(stream, changes);
    fclose(stream);
    bool ok = output_file_write(request->markdown, text, size, error);
    free(text);
    return ok;
}

/* The trace that -update left, if it is still there, shows why. */
static void print_command(const struct check_request *request)
{
    char *before = memory_format("%s.fxt.gz", request->baseline);
    if (access(before, R_OK) == 0) {
        char *one = shell_word(before);
        char *other = shell_word(trace_file_path(&request->recording.trace));
        printf("Why: magic-trace compare %s %s\n", one, other);
        free(one);
        free(other);
    }
    free(before);
}

/* What a program reads that is another thing in every run. Every program that starts calls some of these
 * functions, or what chooses them, which has their name. */
static const struct varying_input {
    const char *function, *what;
    uint64_t calls_at_start;
    bool is_held; /* where the engine can: runtime/translator/syscalls/held_inputs.h */
} varying_inputs[] = {
    {"time", "the time of day", 1, true},
    {"gettimeofday", "the time of day", 1, false},
    {"clock_gettime", "the time of day", 1, false},
    {"getrandom", "random numbers", 1, true},
    {"arc4random_buf", "random numbers", 0, true},
    {"std::random_device::_M_getval()", "random numbers", 0, false},
    {"getpid", "its process id", 0, false},
};

static uint64_t calls_of(const struct instruction_counts *counts, const char *function)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < counts->rows.count; i++) {
        const struct instruction_count *row = array_at(&counts->rows, i);
        if (strcmp(row->function, function) == 0)
            calls += row->calls;
    }
    return calls;
}

/* Names what may make counts differ though the program is the same. */
static void print_varying_inputs(const struct instruction_counts *run, bool no_hold)
{
    const struct engine *engine = engine_find(run->conditions.engine);
    bool first = true, holds = !no_hold && engine && engine->counts_repeat;
    for (size_t i = 0; i < sizeof varying_inputs / sizeof *varying_inputs; i++) {
        const struct varying_input *input = &varying_inputs[i];
        if ((input->is_held && holds) || calls_of(run, input->function) <= input->calls_at_start)
            continue;
        printf("%s%s (%s)", first ? "The program reads what differs from run to run: " : ", ",
               input->what, input->function);
        first = false;
    }
    if (!first)
        puts(". Tables that are hashed with it are in another order every time: hold it still, or "
             "allow for it with -threshold.");
}

/* What a thread calls only when it has to wait for another one. */
static bool waits_for_thread(const char *function)
{
    static const char *const beginnings[] = {
        "__lll_lock_wait",
        "__futex_abstimed_wait",
        "futex_wait",
        "runtime.futexsleep",
        "std::sys::pal::unix::futex::futex_wait",
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Names where threads waited for one another in one run more than in the other: that depends on
 * which comes first, and is not held. */
static void print_waits(const struct count_changes *changes)
{
    for (size_t i = 0; i < changes->changes.count; i++) {
        const struct count_change *change = array_at(&changes->changes, i);
        if (change->calls[0] == change->calls[1] || !waits_for_thread(change->function))
            continue;
        printf("A thread had to wait for another one (%s) %" PRIu64 " times, and %" PRIu64
               " times before: which comes first differs from run to run.\n",
               change->function, change->calls[1], change->calls[0]);
        return;
    }
}

static int check_counts(const struct check_request *request,
                        const struct instruction_counts *baseline,
                        const struct instruction_counts *run)
{
    struct error error = {0};
    say_what_differs(&baseline->conditions, &run->conditions);
    if (baseline->conditions.status != run->conditions.status) {
        error_set(
            &error, ERROR_FORMAT,
            "the program's exit status was %d, and %d when the baseline was made: what it did "
            "is not compared",
            run->conditions.status, baseline->conditions.status);
        return command_fail(&error);
    }
    struct count_changes changes = count_changes_find(baseline, run, request->threshold);
    count_changes_print(stdout, &changes);
    if (changes.more > 0)
        print_command(request);
    if (changes.more > 0 || changes.less > 0)
        print_varying_inputs(run, request->no_hold);
    print_waits(&changes);
    int status = changes.more > 0 ? EXIT_STATUS_MORE : 0;
    if (!write_markdown(request, &changes, &error))
        status = command_fail(&error);
    count_changes_free(&changes);
    return status;
}

static int update(const struct check_request *request)
{
    struct error error = {0};
    struct instruction_counts counts = {0};
    int status = 0;
    if (!output_file_check(request->baseline, &error))
        status = command_fail(&error);
    if (status == 0)
        status = count_run((struct check_request *)request, &counts);
    if (status == 0 && !instruction_counts_write(&counts, request->baseline, &error))
        status = command_fail(&error);
    else if (status == 0)
        printf("%s has the counts of %zu functions.\n", request->baseline, counts.rows.count);
    instruction_counts_free(&counts);
    return status;
}

/* What is to be read and written is looked at first: a run for nothing may take long. */
static int check(struct check_request *request)
{
    struct error error = {0};
    struct instruction_counts baseline, run = {0};
    int status = 0;
    if (!instruction_counts_read(&baseline, request->baseline, &error) ||
        (request->markdown && !output_file_check(request->markdown, &error)))
        status = command_fail(&error);
    if (status == 0)
        status = count_run(request, &run);
    if (status == 0)
        status = check_counts(request, &baseline, &run);
    instruction_counts_free(&baseline);
    instruction_counts_free(&run);
    return status;
}

/* ---- options ---- */

static int take_threshold(const struct option_spec *option, const struct command *self,
                          void *target, const char *value)
{
    struct check_request *request = target;
    char *end;
    double per_cent = strtod(value, &end);
    bool ok = end != value && (*end == 0 || strcmp(end, "%") == 0);
    if (!ok || !isfinite(per_cent) || per_cent < 0)
        return command_usage_error(self, "-%s is a percentage like 0.5, not `%s`.", option->name,
                                   value);
    request->threshold.per_cent = per_cent;
    return 0;
}

static const struct option_spec check_options[] = {
    {.name = "baseline",
     .argument = "FILE",
     .help = "the counts to compare with",
     .manual = "The file of counts to compare with, or to make with -update. It is text, a line "
               "for each function, to be kept with the sources.",
     .apply = option_set_text,
     .field = offsetof(struct check_request, baseline)},
    {.name = "update",
     .help = "write the counts to FILE, compare nothing",
     .manual = "Write the counts of this run to FILE, and compare nothing.",
     .apply = option_set_flag,
     .field = offsetof(struct check_request, update)},
    {.name = "threshold",
     .argument = "PERCENT",
     .help = "allow so much more, of each function (default 0.2)",
     .manual =
         "Allow each function so many per cent more, or less, instructions and calls. The "
         "default is 0.2. Fewer than 16 instructions never count: so many may be counted in a "
         "neighbour, where a function returns in an unusual way.",
     .apply = take_threshold},
    {.name = "markdown",
     .argument = "FILE",
     .help = "write the differences as Markdown, for a pull request",
     .apply = option_set_text,
     .field = offsetof(struct check_request, markdown)},
    {.name = "output",
     .letter = "o",
     .argument = "FILE",
     .help = "where the trace is left (default: BASELINE.fxt.gz with\n-update, check.fxt.gz "
             "without)",
     .manual = "Where the trace of the run is left, for `magic-trace compare`. The default is the "
               "baseline's name with `.fxt.gz` appended with -update, and check.fxt.gz without.",
     .apply = option_set_text,
     .field = offsetof(struct check_request, recording.trace.output)},
    {.name = "engine",
     .argument = "NAME",
     .help = "how to record: translator or qemu",
     .manual =
         "How to record: `translator` (the default where it works) or `qemu`, which counts some "
         "instructions of a call in its caller. A baseline fits the engine that it was made "
         "with.",
     .apply = option_set_text,
     .field = offsetof(struct check_request, recording.engine)},
    {.name = "no-hold",
     .help = "let random numbers and time() differ from run to run",
     .manual = "Let random numbers and time() differ from run to run. Otherwise, with the "
               "translator, the program gets the same in every run.",
     .apply = option_set_flag,
     .field = offsetof(struct check_request, no_hold)},
    {.name = "follow",
     .help = "count child processes too",
     .apply = option_set_flag,
     .field = offsetof(struct check_request, recording.record.follow)},
    {0},
};

static const struct option_group check_groups[] = {{check_options, 0}, {0}};

static int check_request(const struct command *self, struct check_request *request, int argc,
                         char **argv, int first, char **trace)
{
    if (!request->baseline)
        return command_usage_error(self, "no baseline was given: -baseline FILE, with -update the "
                                         "first time.");
    if (first >= argc || !*argv[first])
        return command_usage_error(self, "no program to run was given.");
    if (request->update && request->markdown)
        return command_usage_error(self, "-update compares nothing that -markdown could write.");
    *trace = request->update ? memory_format("%s.fxt.gz", request->baseline)
                             : memory_copy_string("check.fxt.gz");
    if (!request->recording.trace.output)
        request->recording.trace.output = *trace;
    request->recording.record.hold_inputs = !request->no_hold;
    request->recording.record.command = argv + first;
    return recording_request_check(&request->recording, self);
}

static int run_check(const struct command *self, int argc, char **argv)
{
    struct check_request request = {
        .recording = recording_request_new(argv - 1),
        .threshold = {.per_cent = 0.2, .instructions = 16},
    };
    request.recording.record.clock = RECORD_CLOCK_INSTRUCTIONS;
    request.recording.record.full_execution = true;
    request.recording.record.multi_thread = true;
    int first;
    char *trace = NULL;
    int status = command_read_leading_options(self, argc, argv, &request, &first);
    if (status == COMMAND_GOES_ON &&
        (status = check_request(self, &request, argc, argv, first, &trace)) == 0)
        status = request.update ? update(&request) : check(&request);
    free(trace);
    recording_request_free(&request.recording);
    return status;
}

const struct command check_command = {
    .name = "check",
    .summary = "check that a program needs no more instructions than before",
    .operands = "-baseline FILE COMMAND [ARGUMENTS]",
    .description =
        "Runs COMMAND and compares the instructions and calls of each of its functions with\n"
        "those in FILE, which -update has made. They are counted, not timed, so they are the\n"
        "same in every run of a program that does the same, however busy the machine is.\n"
        "\n"
        "Exits with 0 when no function needs more than the threshold allows, with 3 when some\n"
        "do, with 1 after an error. The trace is left, for `magic-trace compare`.\n",
    .options = check_groups,
    .run = run_check,
};
