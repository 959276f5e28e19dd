/* magic-trace report: a trace or a recording as text. */
#include "analysis/call_tree.h"
#include "analysis/function_report.h"
#include "analysis/stack_report.h"
#include "analysis/thread_choice.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/options/common_arguments.h"
#include "cli/options/options.h"
#include "cli/serve/viewed_trace.h"
#include "cli/span_input.h"
#include "cli/text/code_report.h"
#include "cli/text/explained_calls.h"
#include "index/build/index_builder.h"
#include "output/report/report_folded.h"
#include "output/report/report_table.h"
#include "output/report/report_tree.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum report_form {
    REPORT_FORM_TABLE,
    REPORT_FORM_TREE,
    REPORT_FORM_FOLDED,
    REPORT_FORM_LONGEST,
    REPORT_FORM_WHY,
};

struct report_request {
    const char *path;
    enum report_form form;
    struct report_table_options table;
    struct report_tree_options tree;
    bool as_tree, as_folded, sorted; /* -tree, -folded, -sort were given */
    const char *longest;             /* the function whose longest calls are listed; or NULL */
    const char *why;                 /* the function or call that is explained; or NULL */
    bool wall;                       /* of stacks: those of threads that were not running, too */
    const char *thread;              /* name or number; NULL: all are shown */
    bool json;
    size_t max_bytes; /* of JSON; 0: any size */
    struct span_filter_names filter;
    bool no_inlined;
    struct code_report_options code;
};

static bool print_json(const struct report_request *request, struct span_source *source,
                       struct error *error)
{
    size_t max_bytes = request->max_bytes;
    switch (request->form) {
    case REPORT_FORM_TREE:
        return report_tree_json(source, &request->tree, max_bytes, stdout, error);
    case REPORT_FORM_FOLDED:
        return report_stacks_json(source, request->wall, max_bytes, stdout, error);
    default:
        return report_table_json(source, &request->table, max_bytes, stdout, error);
    }
}

static bool print_text(const struct report_request *request, struct span_source *source,
                       struct error *error)
{
    switch (request->form) {
    case REPORT_FORM_TREE:
        return report_tree(source, &request->tree, stdout, error);
    case REPORT_FORM_FOLDED:
        return report_folded(source, request->wall, stdout, error);
    default:
        return report_table(source, &request->table, stdout, error);
    }
}

/* ---- by the index ---- */

static bool has_window(const struct report_tree_options *tree)
{
    return tree->around || tree->from || tree->to;
}

/* Of trace files in a place where they stay, from this size on all of a tree is shown by the index, too, whose
 * memory does not grow. Bytes. */
enum { LARGE_TRACE = 256 << 10 };

/* From this size on the table, too, for which the whole trace would be read each time. Making the index takes as long as reading it
 * once. Bytes. */
enum { VERY_LARGE_TRACE = 16 << 20 };

/* A table or the stacks of a part, and what is asked of calls, are found in the index alone. */
static bool needs_index(const struct report_request *request)
{
    return request->thread || request->form == REPORT_FORM_LONGEST ||
           request->form == REPORT_FORM_WHY ||
           (request->form != REPORT_FORM_TREE && has_window(&request->tree));
}

/* Whether a missing index is made. */
static bool makes_index(const struct report_request *request, uint64_t size)
{
    if (request->form == REPORT_FORM_TREE)
        return has_window(&request->tree) || size >= LARGE_TRACE;
    return size >= VERY_LARGE_TRACE;
}

/* The index that answers without reading the trace; NULL: the trace is to be read. */
static struct trace_index *index_for(const struct report_request *request)
{
    struct stat status;
    if (request->form == REPORT_FORM_FOLDED || request->filter.from || request->no_inlined ||
        span_input_is_recording(request->path) || stat(request->path, &status) != 0 ||
        !S_ISREG(status.st_mode))
        return NULL;
    bool is_made = makes_index(request, (uint64_t)status.st_size);
    char *file = realpath(request->path, NULL); /* so that it is not made beside /dev/stdin */
    struct trace_index *index = NULL;
    if (file)
        index = is_made ? index_of_trace(file, NULL) : index_made_before(file);
    free(file);
    log_progress_end();
    return index;
}

static bool explain_why(const struct report_request *request, const struct trace_index *index,
                        struct error *error)
{
    struct explained_calls calls = explained_calls_standard();
    calls.function = request->why;
    calls.json = request->json;
    calls.max_bytes = request->max_bytes;
    if (request->table.top)
        calls.causes = request->table.top;
    return explained_calls_print(&calls, index, request->path, stdout, error);
}

static bool print_part(const struct report_request *request, const struct trace_index *index,
                       const struct trace_moments *part, struct error *error)
{
    const struct report_form_json json = {request->json, request->max_bytes};
    if (request->form == REPORT_FORM_LONGEST)
        return longest_calls_print(index, request->longest, part, &request->table, json, stdout,
                                   error);
    if (request->form == REPORT_FORM_FOLDED)
        return stack_report_print(index, part, request->wall, json, stdout, error);
    if (request->form == REPORT_FORM_TABLE)
        return function_report_print(index, part, &request->table, json, stdout, error);
    return request->json ? call_tree_print_json(index, part, request->max_bytes, stdout, error)
                         : call_tree_print(index, part, &request->tree, stdout, error);
}

static bool print_by_index(const struct report_request *request, const struct trace_index *index,
                           struct error *error)
{
    struct trace_moments part;
    if (request->form == REPORT_FORM_WHY)
        return explain_why(request, index, error);
    if (!trace_moments_find(index, &request->tree, &part, error))
        return false;
    struct array threads = array_of(sizeof(uint32_t));
    bool ok = !request->thread || threads_choose(index, request->thread, &threads, error);
    part.tracks = (struct index_tracks){threads.elements, threads.count};
    ok = ok && print_part(request, index, &part, error);
    array_free(&threads);
    return ok;
}

/* Of recordings, and of what comes from a pipe, too. */
static bool make_and_print(const struct report_request *request, struct error *error)
{
    struct viewed_trace trace;
    bool ok = viewed_trace_open(&trace, request->path, error) &&
              print_by_index(request, trace.index, error);
    viewed_trace_close(&trace);
    return ok;
}

/* ---- by reading the trace ---- */

static bool read_and_print(const struct report_request *request, struct error *error)
{
    struct span_input input;
    bool ok = span_input_open(&input, request->path, request->no_inlined, error) &&
              span_input_filter(&input, &request->filter, error) &&
              (request->json ? print_json : print_text)(request, input.source, error);
    const struct error *damage = span_input_damage(&input);
    if (ok && damage) {
        *error = *damage;
        ok = false;
    }
    span_input_close(&input);
    return ok;
}

static int report(const struct report_request *request)
{
    struct error error = {0};
    bool ok;
    struct trace_index *index = NULL;
    if (request->code.annotate || request->code.source)
        ok = code_report_print(request->path, &request->code, &request->tree, &error);
    else if (needs_index(request))
        ok = make_and_print(request, &error);
    else if ((index = index_for(request)))
        ok = print_by_index(request, index, &error);
    else
        ok = read_and_print(request, &error);
    if (index)
        trace_index_close(index);
    return ok ? 0 : command_fail(&error);
}
static bool parse_count(const char *text, size_t *count)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || value == 0)
        return false;
    *count = value;
    return true;
}

/* ---- options ---- */

static int take_count(const struct option_spec *option, const struct command *self, void *target,
                      const char *value)
{
    struct report_request *request = target;
    if (parse_count(value, &request->table.top))
        return 0;
    return command_usage_error(self, "-%s is a number of functions, 1 or more, not `%s`.",
                               option->name, value);
}

static int take_source_root(const struct option_spec *option, const struct command *self,
                            void *target, const char *value)
{
    struct report_request *request = target;
    const char *equals = strchr(value, '=');
    if (!equals || equals == value)
        return command_usage_error(self, "-%s is OLD=NEW, two beginnings of paths, not `%s`.",
                                   option->name, value);
    free(request->code.root);
    request->code.root = memory_copy_string(value);
    return 0;
}

static bool sort_key_at(size_t index, struct option_value *value)
{
    static const struct option_value keys[] = {
        {"self", REPORT_SORT_SELF, "time in the function itself, running (default)", NULL},
        {"on-cpu", REPORT_SORT_ON_CPU, "callees included, running", NULL},
        {"total", REPORT_SORT_TOTAL, "callees and waiting included", NULL},
        {"count", REPORT_SORT_CALLS, "number of calls", NULL},
        {"median", REPORT_SORT_MEDIAN, "median of the calls seen whole", NULL},
        {"p99", REPORT_SORT_P99, "their 99th percentile", NULL},
        {"max", REPORT_SORT_MAX, "the longest of them", NULL},
    };
    return option_value_of_table(keys, sizeof keys / sizeof *keys, index, value);
}

static int take_sort_key(const struct option_spec *option, const struct command *self, void *target,
                         const char *value)
{
    struct report_request *request = target;
    request->sorted = true;
    return option_set_value(option, self, target, value);
}

static const struct option_spec report_options[] = {
    {.name = "top",
     .argument = "N",
     .help = "show the first N functions only",
     .apply = take_count},
    {.name = "sort",
     .argument = "KEY",
     .help = "sort the table by",
     .manual = "Sort the table by KEY:",
     .values = sort_key_at,
     .apply = take_sort_key,
     .field = offsetof(struct report_request, table.sort)},
    {.name = "longest",
     .argument = "FUNCTION",
     .help = "the ten longest calls of a function (-top N: N of them)\nwith their times",
     .manual = "List the ten longest calls of the function, or as many as -top says, with their "
               "numbers, times and threads.",
     .apply = option_set_text,
     .field = offsetof(struct report_request, longest)},
    {.name = "why",
     .argument = "CALL",
     .help = "why this call (NAME#804), or a function's slow calls,\ntook long: see explain",
     .manual =
         "Say why this call (`NAME#804`), or the slow calls of a function, took longer than its "
         "usual ones, as `magic-trace explain` does.",
     .apply = option_set_text,
     .field = offsetof(struct report_request, why)},
    {.name = "tree",
     .help = "the time line as an indented call tree with durations",
     .manual = "Show the time line as an indented call tree, thread by thread, with the moment and "
               "the length of every call.",
     .apply = option_set_flag,
     .field = offsetof(struct report_request, as_tree)},
    {.name = "around",
     .argument = "MOMENT",
     .help = "a call of a function (NAME, NAME#3), or 10 us to\neither side of a time (1.5ms)",
     .manual =
         "Show one call of a function from beginning to end, or 10 microseconds to either side "
         "of a time: as a tree, with -top, -sort or -longest the table of that part, or with "
         "-folded its stacks.",
     .apply = option_set_text,
     .field = offsetof(struct report_request, tree.around)},
    {.name = "from",
     .argument = "MOMENT",
     .help = "begin here: a tree, a table (-top, -sort) or -folded",
     .manual =
         "Begin here. A part of a trace is shown as a tree, with -top or -sort as a table, or with "
         "-folded as stacks.",
     .apply = option_set_text,
     .field = offsetof(struct report_request, tree.from)},
    {.name = "to",
     .argument = "MOMENT",
     .help = "end here",
     .manual = "End here.",
     .apply = option_set_text,
     .field = offsetof(struct report_request, tree.to)},
    {.name = "thread",
     .argument = "THREAD",
     .help = "only the thread of this number, or those of this name",
     .manual = "Show only the thread with this number, or the threads with this name. Goes with "
               "the table, -tree, -folded and -longest, of all or of a part.",
     .apply = option_set_text,
     .field = offsetof(struct report_request, thread)},
    {.name = "fold",
     .help = "tree: print equal neighbours once, with their number",
     .manual = "In the tree, print equal neighbours once, with their number.",
     .apply = option_set_flag,
     .field = offsetof(struct report_request, tree.fold)},
    {.name = "short-names",
     .help = "tree: names without template arguments and parameters",
     .manual = "In the tree, write names of functions without template arguments and parameters.",
     .apply = option_set_flag,
     .field = offsetof(struct report_request, tree.short_names)},
    {.name = "filter",
     .argument = FILTER_ARGUMENT,
     .help = FILTER_HELP,
     .manual = FILTER_MANUAL,
     .apply = take_filter,
     .field = offsetof(struct report_request, filter)},
    {.name = "no-inlined",
     .help = NO_INLINED_HELP,
     .manual = NO_INLINED_MANUAL,
     .apply = option_set_flag,
     .field = offsetof(struct report_request, no_inlined)},
    {.name = "annotate",
     .argument = "FUNCTION",
     .help = "of a recording: the function's instructions, how often\neach ran, and which way "
             "branches went",
     .manual = "Of a recording: show the instructions of the function with how often each ran, how "
               "often each conditional jump was taken and not taken, and where indirect jumps and "
               "calls went. With -from and -to (times), or -around a call or a time, counts that "
               "part alone.",
     .apply = option_set_text,
     .field = offsetof(struct report_request, code.annotate)},
    {.name = "source",
     .argument = "PLACE",
     .help = "of a recording: the source of a file or function, and\nhow often each line ran",
     .manual = "Of a recording: show a source file (its path or the end of it), or a function in "
               "it, with how often each line ran, and how many instructions of it. With -from and "
               "-to (times), or -around a call or a time, counts that part alone.",
     .apply = option_set_text,
     .field = offsetof(struct report_request, code.source)},
    {.name = "source-root",
     .argument = "OLD=NEW",
     .help = "with -source: read files at OLD... from NEW...",
     .manual = "With -source: files that debug information says are at paths beginning with OLD "
               "are read at NEW.",
     .apply = take_source_root},
    {.name = "folded",
     .help = "stacks with the time spent in each, for flame graphs",
     .manual = "Print stacks with the nanoseconds spent in each, one per line, for flame graphs.",
     .apply = option_set_flag,
     .field = offsetof(struct report_request, as_folded)},
    {.name = "wall",
     .help = "folded: with the time in which threads were not running",
     .manual = "With -folded, show the time in which threads were not running, too. Without it "
               "stacks show where processors were used.",
     .apply = option_set_flag,
     .field = offsetof(struct report_request, wall)},
    {.name = "json",
     .help = "print the report as JSON, with times in nanoseconds",
     .apply = option_set_flag,
     .field = offsetof(struct report_request, json)},
    {.name = "max-bytes",
     .argument = "N",
     .help = "JSON: leave out the least important beyond N bytes",
     .manual = "With -json, print N bytes at most: of functions the first of the table, of calls "
               "the longest, of stacks those with the most time are kept, one at least, and "
               "`omitted` says how many are not there. A message says so when the one takes more.",
     .apply = take_byte_count,
     .field = offsetof(struct report_request, max_bytes)},
    {0},
};

static const struct option_group report_groups[] = {{report_options, 0}, {0}};

static int take_operand(const struct command *self, void *request, const char *operand)
{
    return take_trace(self, &((struct report_request *)request)->path, operand);
}

static int check_request(const struct command *self, struct report_request *request)
{
    int status = need_trace(self, request->path);
    if (status)
        return status;
    const struct report_tree_options *tree = &request->tree;
    if (request->code.annotate || request->code.source) {
        if (request->as_tree || tree->fold || request->table.top || request->sorted ||
            request->longest || request->why || request->as_folded || request->filter.from)
            return command_usage_error(self, "-annotate and -source go with -from, -to, -around, "
                                             "-json and -source-root alone.");
        if (request->json && request->code.annotate && request->code.source)
            return command_usage_error(self, "-json shows one of -annotate and -source.");
        if (request->max_bytes && !request->json)
            return command_usage_error(self, "-max-bytes belongs to -json.");
        request->code.json = request->json;
        request->code.max_bytes = request->max_bytes;
        return 0;
    }
    if (request->code.root)
        return command_usage_error(self, "-source-root goes with -source.");
    bool of_table = request->table.top || request->sorted || request->longest || request->why;
    bool of_tree = request->as_tree || tree->fold;
    if (request->thread && (request->why || request->filter.from || request->no_inlined ||
                            request->code.annotate || request->code.source))
        return command_usage_error(self,
                                   "-thread goes with the table, -tree, -folded and -longest, "
                                   "and not with -filter or -no-inlined.");
    if (request->wall && !request->as_folded)
        return command_usage_error(self, "-wall goes with -folded; the table has both times.");
    if (request->as_folded && (of_tree || of_table))
        return command_usage_error(self, "-folded does not go with -tree, -top, -sort, -longest or "
                                         "-why.");
    if (of_tree && of_table)
        return command_usage_error(self, "-top, -sort, -longest and -why do not go with -tree.");
    bool of_part = (of_table || request->as_folded) && has_window(tree);
    if ((of_part || request->longest || request->why) &&
        (request->filter.from || request->no_inlined))
        return command_usage_error(self,
                                   "-filter and -no-inlined do not go with -longest, -why, or a "
                                   "table or stacks of a part of the trace.");
    if ((request->longest || request->why) &&
        (request->sorted || (request->longest && request->why)))
        return command_usage_error(self,
                                   "-longest and -why go with -top and -json, not with -sort or "
                                   "each other.");
    if (request->why && has_window(tree))
        return command_usage_error(self,
                                   "-why explains a call among all others: it goes with -top and "
                                   "-json alone.");
    if (tree->around && (tree->from || tree->to))
        return command_usage_error(self, "-around cannot be combined with -from or -to.");
    if (request->max_bytes && !request->json)
        return command_usage_error(self, "-max-bytes belongs to -json.");
    if (request->json && tree->fold)
        return command_usage_error(self, "-json has no -fold: it lists each call.");
    request->form = request->as_folded            ? REPORT_FORM_FOLDED
                    : request->longest            ? REPORT_FORM_LONGEST
                    : request->why                ? REPORT_FORM_WHY
                    : of_table                    ? REPORT_FORM_TABLE
                    : of_tree || has_window(tree) ? REPORT_FORM_TREE
                                                  : REPORT_FORM_TABLE;
    if (tree->short_names && (request->json || request->form != REPORT_FORM_TREE))
        return command_usage_error(self, "-short-names goes with a tree as text.");
    return 0;
}

static int run_report(const struct command *self, int argc, char **argv)
{
    struct report_request request = {0};
    int status = command_read_options(self, argc, argv, &request, take_operand);
    if (status == COMMAND_GOES_ON && (status = check_request(self, &request)) == 0)
        status = report(&request);
    span_filter_names_free(&request.filter);
    free(request.code.root);
    return status;
}

const struct command report_command = {
    .name = "report",
    .summary = "show a trace as text: a table of functions, a call tree, folded stacks",
    .operands = "TRACE|DIR|PERF.DATA|TEXT",
    .description =
        "Shows a trace in the terminal. TRACE is a file in the Fuchsia trace format\n"
        "(trace.fxt.gz); DIR, PERF.DATA and TEXT are recordings as `magic-trace decode`\n"
        "takes them, which are decoded first.\n"
        "\n"
        "Without -tree or -folded, prints one line per function: how often it was called,\n"
        "the time in it with and without its callees, and the shortest, median, 99th\n"
        "percentile and longest call seen whole; `~` marks a quantile that is within 0.4%,\n"
        "others are exact. \"its call\" is the number of the longest: -around NAME#N shows it.\n"
        "A MOMENT is a time since the beginning of the trace\n"
        "(1.5ms, 20us, 300 ns) or a function: its first call, or its third with NAME#3.\n"
        "\n"
        "A part of a trace file, and all of a large one, comes from an index, which is made\n"
        "the first time, and kept beside the trace. With it the table's quantiles are exact.\n",
    .options = report_groups,
    .run = run_report,
};
