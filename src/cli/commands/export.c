/* magic-trace export: a trace or a recording in the formats of other tools. */
#include "output/export/export.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/options/common_arguments.h"
#include "cli/span_input.h"
#include "output/report/window_spans.h"
#include "server/export_html.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum export_option {
    EXPORT_FORMAT,
    EXPORT_OUTPUT,
    EXPORT_FROM,
    EXPORT_TO,
    EXPORT_AROUND,
    EXPORT_FILTER,
};

static const struct option_spec export_options[] = {
    {"format", NULL, EXPORT_FORMAT, "FORMAT",
     "chrome, perfetto, folded, speedscope, pprof, csv or html", NULL},
    {"output", "o", EXPORT_OUTPUT, "FILE",
     "where to write it, compressed when it ends in .gz; - is\nstandard output. Default: the "
     "trace's name, in this folder",
     NULL},
    {"from", NULL, EXPORT_FROM, "MOMENT", "begin here", NULL},
    {"to", NULL, EXPORT_TO, "MOMENT", "end here", NULL},
    {"around", NULL, EXPORT_AROUND, "MOMENT",
     "a call of a function (NAME, NAME#3), or 10 us to either\nside of a time (1.5ms)", NULL},
    {"filter", NULL, EXPORT_FILTER, "\"(A B)\"",
     "only what runs between a call of A and the next call\nof B, and so on; by name or symbol",
     NULL},
    {0},
};

static const struct export_format *const formats[] = {
    &export_chrome, &export_perfetto, &export_folded, &export_speedscope,
    &export_pprof,  &export_csv,      &export_html,
};

struct export_request {
    const struct export_format *format;
    const char *path;
    const char *output; /* NULL: named after the trace */
    struct report_tree_options moments;
    struct span_filter_names filter;
};

/* ------------------------------------------------------------------ names */

static bool remove_suffix(char *name, const char *suffix)
{
    size_t length = strlen(name), suffix_length = strlen(suffix);
    if (length <= suffix_length || strcmp(name + length - suffix_length, suffix) != 0)
        return false;
    name[length - suffix_length] = 0;
    return true;
}

/* What the trace is called without its folder and suffixes. The caller frees. */
static char *name_of_trace(const char *path)
{
    char *copy = memory_copy_string(path);
    size_t length = strlen(copy);
    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = 0;
    const char *slash = strrchr(copy, '/');
    char *name = memory_copy_string(slash ? slash + 1 : copy);
    free(copy);
    remove_suffix(name, ".gz");
    remove_suffix(name, ".fxt");
    if (*name && strcmp(name, "-") != 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
        return name;
    free(name);
    return memory_copy_string("trace");
}

/* ------------------------------------------------------------------ exporting */

static void say_result(const char *path, const struct export_summary *summary)
{
    if (strcmp(path, "-") == 0)
        return;
    if (summary->spans > 0)
        log_status("%" PRIu64 " spans were written to %s.", summary->spans, path);
    else
        log_status("The export is in %s.", path);
}

static bool apply_window(struct span_input *input, const struct report_tree_options *moments,
                         struct export_trace *trace, struct error *error)
{
    trace->source = input->source;
    if (!moments->from && !moments->to && !moments->around)
        return true;
    struct span_source *window = window_spans(input->source, moments, error);
    if (window)
        trace->window = trace->source = input->source = window;
    return window;
}

static bool export_trace(const struct export_request *request, struct error *error)
{
    char *name = name_of_trace(request->path);
    char *default_output = memory_format("%s%s", name, request->format->suffix);
    const char *output = request->output ? request->output : default_output;
    struct span_input input;
    struct export_trace trace = {.name = name};
    struct export_summary summary = {0};
    bool ok = span_input_open(&input, request->path, error) &&
              span_input_filter(&input, &request->filter, error) &&
              apply_window(&input, &request->moments, &trace, error) &&
              export_write(request->format, &trace, output, &summary, error);
    log_progress_end();
    if (ok)
        say_result(output, &summary);
    const struct error *damage =
        summary.damage.code != ERROR_NONE ? &summary.damage : span_input_damage(&input);
    if (ok && damage) {
        *error = *damage;
        ok = false;
    }
    span_input_close(&input);
    free(default_output);
    free(name);
    return ok;
}

/* ------------------------------------------------------------------ options */

static int choose_format(const struct command *self, struct export_request *request,
                         const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i]->name, name) != 0)
            continue;
        request->format = formats[i];
        return 0;
    }
    return command_usage_error(
        self, "-format is chrome, perfetto, folded, speedscope, pprof, csv or html, not `%s`.",
        name);
}

static int apply_option(const struct command *self, void *context, int option, const char *value)
{
    struct export_request *request = context;
    switch (option) {
    case EXPORT_FORMAT:
        return choose_format(self, request, value);
    case EXPORT_OUTPUT:
        request->output = value;
        break;
    case EXPORT_FROM:
        request->moments.from = value;
        break;
    case EXPORT_TO:
        request->moments.to = value;
        break;
    case EXPORT_AROUND:
        request->moments.around = value;
        break;
    case EXPORT_FILTER:
        return take_filter(self, &request->filter, value);
    case OPTION_OPERAND:
        return take_trace(self, &request->path, value);
    default:
        break;
    }
    return 0;
}

static int check_request(const struct command *self, const struct export_request *request)
{
    int status = need_trace(self, request->path);
    if (status)
        return status;
    if (!request->format)
        return command_usage_error(
            self, "-format is missing: chrome, perfetto, folded, speedscope, pprof, csv or html.");
    return 0;
}

static int run_export(const struct command *self, int argc, char **argv)
{
    struct export_request request = {0};
    struct error error = {0};
    int status = command_read_options(self, argc, argv, apply_option, &request);
    if (status == COMMAND_GOES_ON && (status = check_request(self, &request)) == 0 &&
        !export_trace(&request, &error))
        status = command_fail(&error);
    span_filter_names_free(&request.filter);
    return status;
}

const struct command export_command = {
    .name = "export",
    .summary = "write a trace in the format of another tool",
    .operands = "TRACE|DIR|PERF.DATA|TEXT",
    .description =
        "Writes a trace in another tool's format. TRACE is a file in the Fuchsia trace\n"
        "format (trace.fxt.gz); DIR, PERF.DATA and TEXT are recordings as `magic-trace\n"
        "decode` takes them, which are decoded first.\n"
        "\n"
        "  chrome      Chrome's trace events (JSON), for chrome://tracing and many others\n"
        "  perfetto    Perfetto's own, for traces that its page cannot hold as FXT\n"
        "  folded      folded stacks with the time spent in each, for flame graphs\n"
        "  speedscope  for https://www.speedscope.app\n"
        "  pprof       calls and time by stack, for `go tool pprof` and its kin\n"
        "  csv         one line per span, for spreadsheets and databases\n"
        "  html        a part of a trace as one page that needs nothing else\n"
        "\n"
        "A MOMENT is a time since the beginning of the trace (1.5ms, 20us, 300 ns) or a\n"
        "function: its first call, or its third with NAME#3.\n",
    .options = export_options,
    .run = run_export,
};
