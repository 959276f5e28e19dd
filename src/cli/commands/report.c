/* magic-trace report: a trace or a recording as text. */
#include "cli/options/common_arguments.h"
#include "cli/span_input.h"
#include "output/report/report_folded.h"
#include "output/report/report_table.h"
#include "output/report/report_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum report_option {
    REPORT_TOP,
    REPORT_SORT,
    REPORT_TREE,
    REPORT_FOLDED,
    REPORT_AROUND,
    REPORT_FROM,
    REPORT_TO,
    REPORT_FOLD,
    REPORT_FILTER,
};

static const struct option_spec report_options[] = {
    {"top", NULL, REPORT_TOP, "N", "show the first N functions only", NULL},
    {"sort", NULL, REPORT_SORT, "KEY",
     "self (time in the function itself, default) or total\n(callees included)", NULL},
    {"tree", NULL, REPORT_TREE, NULL, "the time line as an indented call tree with durations",
     NULL},
    {"around", NULL, REPORT_AROUND, "MOMENT",
     "tree: a call of a function (NAME, NAME#3), or 10 us to\neither side of a time (1.5ms)", NULL},
    {"from", NULL, REPORT_FROM, "MOMENT", "tree: begin here", NULL},
    {"to", NULL, REPORT_TO, "MOMENT", "tree: end here", NULL},
    {"fold", NULL, REPORT_FOLD, NULL, "tree: print equal neighbours once, with their number", NULL},
    {"filter", NULL, REPORT_FILTER, "\"(A B)\"",
     "only what runs between a call of A and the next call\nof B, and so on; by name or symbol",
     NULL},
    {"folded", NULL, REPORT_FOLDED, NULL, "stacks with the time spent in each, for flame graphs",
     NULL},
    {0},
};

enum report_form {
    REPORT_FORM_TABLE,
    REPORT_FORM_TREE,
    REPORT_FORM_FOLDED,
};

struct report_request {
    const char *path;
    enum report_form form;
    struct report_table_options table;
    struct report_tree_options tree;
    bool table_asked, tree_asked; /* an option of that form was given */
    struct span_filter_names filter;
};

static bool print_report(const struct report_request *request, struct span_source *source,
                         struct error *error)
{
    switch (request->form) {
    case REPORT_FORM_TREE:
        return report_tree(source, &request->tree, stdout, error);
    case REPORT_FORM_FOLDED:
        return report_folded(source, stdout, error);
    default:
        return report_table(source, &request->table, stdout, error);
    }
}

static int report(const struct report_request *request)
{
    struct error error = {0};
    struct span_input input;
    bool ok = span_input_open(&input, request->path, &error) &&
              span_input_filter(&input, &request->filter, &error) &&
              print_report(request, input.source, &error);
    const struct error *damage = span_input_damage(&input);
    if (ok && damage) {
        error = *damage;
        ok = false;
    }
    span_input_close(&input);
    if (ok)
        return 0;
    return command_fail(&error);
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

static int apply_option(const struct command *self, void *context, int option, const char *value)
{
    struct report_request *request = context;
    switch (option) {
    case REPORT_TOP:
        request->table_asked = true;
        if (!parse_count(value, &request->table.top))
            return command_usage_error(self, "-top is a number of functions, 1 or more, not `%s`.",
                                       value);
        break;
    case REPORT_SORT:
        request->table_asked = true;
        if (strcmp(value, "self") == 0)
            request->table.sort = REPORT_SORT_SELF;
        else if (strcmp(value, "total") == 0)
            request->table.sort = REPORT_SORT_TOTAL;
        else
            return command_usage_error(self, "-sort is self or total, not `%s`.", value);
        break;
    case REPORT_TREE:
        request->tree_asked = true;
        break;
    case REPORT_FOLDED:
        request->form = REPORT_FORM_FOLDED;
        break;
    case REPORT_AROUND:
        request->tree_asked = true;
        request->tree.around = value;
        break;
    case REPORT_FROM:
        request->tree_asked = true;
        request->tree.from = value;
        break;
    case REPORT_TO:
        request->tree_asked = true;
        request->tree.to = value;
        break;
    case REPORT_FOLD:
        request->tree_asked = true;
        request->tree.fold = true;
        break;
    case REPORT_FILTER:
        return take_filter(self, &request->filter, value);
    case OPTION_OPERAND:
        return take_trace(self, &request->path, value);
    default:
        break;
    }
    return 0;
}

static int check_request(const struct command *self, struct report_request *request)
{
    int status = need_trace(self, request->path);
    if (status)
        return status;
    if (request->form == REPORT_FORM_FOLDED && (request->tree_asked || request->table_asked))
        return command_usage_error(self, "-folded goes with no other option than -filter.");
    if (request->tree_asked && request->table_asked)
        return command_usage_error(self, "-top and -sort belong to the table, not to -tree.");
    if (request->tree.around && (request->tree.from || request->tree.to))
        return command_usage_error(self, "-around cannot be combined with -from or -to.");
    if (request->tree_asked)
        request->form = REPORT_FORM_TREE;
    return 0;
}

static int run_report(const struct command *self, int argc, char **argv)
{
    struct report_request request = {0};
    int status = command_read_options(self, argc, argv, apply_option, &request);
    if (status == COMMAND_GOES_ON && (status = check_request(self, &request)) == 0)
        status = report(&request);
    span_filter_names_free(&request.filter);
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
        "percentile and longest call. A MOMENT is a time since the beginning of the trace\n"
        "(1.5ms, 20us, 300 ns) or a function: its first call, or its third with NAME#3.\n",
    .options = report_options,
    .run = run_report,
};
