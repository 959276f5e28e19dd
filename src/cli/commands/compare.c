/* magic-trace compare: what differs between two traces, or two parts of one. */
#include "analysis/comparison.h"
#include "analysis/function_choice.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/options/common_arguments.h"
#include "cli/options/options.h"
#include "cli/serve/viewed_trace.h"
#include "cli/text/branch_comparison.h"
#include "cli/text/comparison_text.h"
#include "cli/trace_format.h"
#include "index/call_ordinal.h"
#include "output/duration.h"
#include "output/report/json_report.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_STANDARD = 20, CAUSES_STANDARD = 6 };

struct compare_request {
    const char *traces[CONTEXT_SIDES];
    const char *parts[CONTEXT_SIDES]; /* NULL: all of the trace */
    size_t trace_count, part_count;
    size_t rows;
    size_t max_bytes; /* of JSON; 0: any size */
    bool json, by_path, branch;
};

/* ---- parts ---- */

/* "1ms..2ms"; either end may be left out. */
static bool parse_range(const char *text, struct index_range *range)
{
    const char *dots = strstr(text, "..");
    if (!dots)
        return false;
    *range = (struct index_range){0, UINT64_MAX};
    char *from = memory_copy_string(text);
    from[dots - text] = 0;
    bool ok = (*from == 0 || duration_parse(from, &range->from)) &&
              (dots[2] == 0 || duration_parse(dots + 2, &range->to)) && range->from < range->to;
    free(from);
    return ok;
}

static bool is_call(const char *text)
{
    const char *hash = strrchr(text, '#');
    return hash && hash > text && hash[1] && hash[1 + strspn(hash + 1, "0123456789")] == 0;
}

static bool find_part(const char *text, const struct trace_index *index, struct trace_part *part,
                      struct error *error)
{
    struct function_choice choice;
    *part =
        (struct trace_part){.index = index, .range = {0, trace_index_facts(index)->duration + 1}};
    if (!text || parse_range(text, &part->range))
        return true;
    part->is_call = true;
    return function_choose(index, text, &choice, error) &&
           index_nth_call(index, choice.group, choice.ordinal, &part->call, error);
}

static char *label_of(const struct compare_request *request, int side)
{
    return request->parts[side]
               ? memory_format("%s of %s", request->parts[side], request->traces[side])
               : memory_copy_string(request->traces[side]);
}

/* With as many causes as fit, and with one in any case. */
static bool print_json(struct comparison *comparison, const struct comparison_text *text,
                       struct error *error)
{
    bool is_printed = false;
    for (size_t causes = CAUSES_STANDARD; !is_printed; causes--) {
        char *json = NULL;
        size_t size = 0;
        comparison_name_causes(comparison, causes);
        FILE *memory = open_memstream(&json, &size);
        bool ok = memory && comparison_print_json(memory, text, error);
        if (memory)
            fclose(memory);
        else
            error_set_errno(error, ERROR_IO, errno, "cannot write the comparison as JSON");
        is_printed = ok && (causes == 1 || size <= text->max_bytes);
        if (is_printed) {
            fwrite(json, 1, size, stdout);
            json_report_note_size(text->max_bytes, size);
        }
        free(json);
        if (!ok)
            return false;
    }
    return true;
}

static bool print_wanted(const struct compare_request *request, struct comparison *comparison,
                         const struct comparison_text *text, struct error *error)
{
    if (!request->json)
        return comparison_print(stdout, text, error);
    return request->max_bytes ? print_json(comparison, text, error)
                              : comparison_print_json(stdout, text, error);
}

static bool print_comparison(const struct compare_request *request,
                             const struct trace_part parts[CONTEXT_SIDES], struct error *error)
{
    struct comparison comparison;
    struct branch_comparison branches = {0};
    char *labels[CONTEXT_SIDES] = {label_of(request, CONTEXT_A), label_of(request, CONTEXT_B)};
    const struct comparison_text text = {
        .comparison = &comparison,
        .branches = request->branch ? &branches : NULL,
        .labels = {labels[CONTEXT_A], labels[CONTEXT_B]},
        .traces = {request->traces[CONTEXT_A], request->traces[CONTEXT_B]},
        .rows = request->rows,
        .max_bytes = request->max_bytes,
        .by_path = request->by_path,
    };
    bool ok = compare_parts(parts, CAUSES_STANDARD, &comparison, error) &&
              (!request->branch ||
               branch_comparison_open(&branches, &comparison, request->traces, error)) &&
              print_wanted(request, &comparison, &text, error);
    branch_comparison_close(&branches);
    comparison_free(&comparison);
    free(labels[CONTEXT_A]);
    free(labels[CONTEXT_B]);
    return ok;
}

static bool open_traces(const struct compare_request *request,
                        struct viewed_trace traces[CONTEXT_SIDES], struct error *error)
{
    return viewed_trace_open(&traces[CONTEXT_A], request->traces[CONTEXT_A], error) &&
           viewed_trace_open(&traces[CONTEXT_B], request->traces[CONTEXT_B], error);
}

static int compare(const struct compare_request *request)
{
    struct error error = {0};
    struct viewed_trace traces[CONTEXT_SIDES] = {0};
    struct trace_part parts[CONTEXT_SIDES];
    bool ok = open_traces(request, traces, &error);
    for (int side = 0; ok && side < CONTEXT_SIDES; side++)
        ok = find_part(request->parts[side], traces[side].index, &parts[side], &error);
    ok = ok && print_comparison(request, parts, &error);
    for (int side = 0; side < CONTEXT_SIDES; side++)
        viewed_trace_close(&traces[side]);
    return ok ? 0 : command_fail(&error);
}

/* ---- options ---- */

static int take_rows(const struct option_spec *option, const struct command *self, void *target,
                     const char *value)
{
    struct compare_request *request = target;
    char *end;
    errno = 0;
    request->rows = strtoul(value, &end, 10);
    if (errno || end == value || *end || *value == '-')
        return command_usage_error(self, "-%s is a number of rows, not `%s`.", option->name, value);
    return 0;
}

static const struct option_spec compare_options[] = {
    {.name = "top", .argument = "N", .help = "rows of the table (default 20)", .apply = take_rows},
    {.name = "paths",
     .help = "a row for each call path, not for each function",
     .manual = "In the table, show a row for each call path, not for each function.",
     .apply = option_set_flag,
     .field = offsetof(struct compare_request, by_path)},
    {.name = "branch",
     .help = "say at which branch they part, too; of recordings",
     .manual =
         "Decode both recordings again, and name the first branch that differs: on each side "
         "the line of the branch, and whether it is taken, or where it leads. Of calls, or of "
         "all that the thread with the most calls does; not of ranges of time. Branches are "
         "compared by function and offset in it. The way through the C library and the dynamic "
         "linker depends on addresses and the environment, so where both part in there "
         "first, that is said in addition. Where the code of a function is another one "
         "in B, both part in that function.",
     .apply = option_set_flag,
     .field = offsetof(struct compare_request, branch)},
    {.name = "json",
     .help = "print one JSON object, for programs",
     .manual = "Print one JSON object, for programs; see JSON.",
     .apply = option_set_flag,
     .field = offsetof(struct compare_request, json)},
    {.name = "max-bytes",
     .argument = "N",
     .help = "JSON: leave out the smallest differences, so that it has at\nmost N bytes",
     .manual = "With -json, leave out rows of the lists, the smallest differences first, and then "
               "causes, so that it has at most N bytes. One cause is always named, and the "
               "differences of the causes still add up.",
     .apply = take_byte_count,
     .field = offsetof(struct compare_request, max_bytes)},
    {0},
};

static const struct option_group compare_groups[] = {{compare_options, 0}, {0}};

static int take_operand(const struct command *self, void *target, const char *operand)
{
    struct compare_request *request = target;
    struct index_range range;
    bool is_file = access(operand, F_OK) == 0;
    if (!is_file && (is_call(operand) || parse_range(operand, &range))) {
        if (request->part_count == CONTEXT_SIDES)
            return command_usage_error(self, "two parts are compared, and `%s` is a third.",
                                       operand);
        request->parts[request->part_count++] = operand;
        return 0;
    }
    if (request->trace_count == CONTEXT_SIDES)
        return command_usage_error(self, "two traces are compared, and `%s` is a third.", operand);
    request->traces[request->trace_count++] = operand;
    return 0;
}

static int check_request(const struct command *self, struct compare_request *request)
{
    if (request->max_bytes && !request->json)
        return command_usage_error(self, "-max-bytes belongs to -json.");
    if (request->part_count == 1)
        return command_usage_error(self,
                                   "`%s` is compared with nothing: give two calls (parse#2 "
                                   "parse#9), two ranges (1ms..2ms 3ms..4ms) or two traces.",
                                   request->parts[0]);
    if (request->part_count == 0 && request->trace_count < CONTEXT_SIDES)
        return command_usage_error(self, "give two traces, or two calls (parse#2 parse#9) or "
                                         "ranges (1ms..2ms 3ms..4ms) of one.");
    bool calls[CONTEXT_SIDES] = {0};
    for (int side = 0; side < CONTEXT_SIDES; side++)
        calls[side] = request->parts[side] && is_call(request->parts[side]);
    if (calls[CONTEXT_A] != calls[CONTEXT_B])
        return command_usage_error(self,
                                   "a call is compared with a call, and a range of time with "
                                   "another: `%s` and `%s` do not fit.",
                                   request->parts[CONTEXT_A], request->parts[CONTEXT_B]);
    if (request->branch && request->part_count > 0 && !calls[CONTEXT_A])
        return command_usage_error(self, "-branch is of calls or of whole recordings, not of "
                                         "ranges of time.");
    if (request->trace_count == 0)
        request->traces[CONTEXT_A] = trace_format_default->default_output;
    if (request->trace_count < CONTEXT_SIDES)
        request->traces[CONTEXT_B] = request->traces[CONTEXT_A];
    return 0;
}

static int run_compare(const struct command *self, int argc, char **argv)
{
    struct compare_request request = {.rows = ROWS_STANDARD};
    int status = command_read_options(self, argc, argv, &request, take_operand);
    if (status == COMMAND_GOES_ON && (status = check_request(self, &request)) == 0)
        status = compare(&request);
    return status;
}

const struct command compare_command = {
    .name = "compare",
    .summary = "say what differs between two traces, calls, or ranges of time",
    .operands = "[A B] [TRACE [TRACE]]",
    .description =
        "Compares two traces; or two calls (parse#2 parse#9) or ranges of time (1ms..2ms\n"
        "3ms..4ms) of one trace (default: trace.fxt.gz), or the first part of the first trace\n"
        "with the second part of the second. Prints what differs, first what makes B slower, or\n"
        "faster, as it is as a whole; where both part, and a table of functions. All differences\n"
        "add up exactly.\n"
        "\n"
        "A TRACE is a file in the Fuchsia trace format, or a recording as `magic-trace decode`\n"
        "takes it. Recorded with `-clock instructions`, times are instructions. An index is\n"
        "made the first time, and kept beside the trace.\n",
    .options = compare_groups,
    .run = run_compare,
};
