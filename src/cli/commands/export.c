/* magic-trace export: a trace or a recording in the formats of other tools. */
#include "output/export/export.h"
#include "analysis/query/export_sqlite.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/options/common_arguments.h"
#include "cli/options/options.h"
#include "cli/span_input.h"
#include "cli/text/counts_formats.h"
#include "output/report/window_spans.h"
#include "server/export_html.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All there are, in the order of help page and man page. */
static const struct export_format *const formats[] = {
    &export_chrome,    &export_perfetto, &export_folded, &export_speedscope,
    &export_pprof,     &export_csv,      &export_sqlite, &export_html,
    &export_callgrind, &export_lcov,     &export_bolt,   &export_autofdo,
};

struct export_request {
    const struct export_format *format;
    const char *path;
    const char *output; /* NULL: named after the trace */
    struct report_tree_options moments;
    struct span_filter_names filter;
    bool no_inlined;
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

static bool is_of_counts(const struct export_format *format)
{
    return !format->write && !format->write_file;
}

static bool export_spans(const struct export_request *request, const char *name, const char *output,
                         struct error *error)
{
    struct span_input input;
    struct export_trace trace = {.name = name};
    struct export_summary summary = {0};
    bool ok = span_input_open(&input, request->path, request->no_inlined, error) &&
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
    return ok;
}

static bool export_trace(const struct export_request *request, struct error *error)
{
    char *name = name_of_trace(request->path);
    char *default_output = memory_format("%s%s", name, request->format->suffix);
    const char *output = request->output ? request->output : default_output;
    bool ok;
    if (is_of_counts(request->format)) {
        struct export_summary summary = {0};
        ok = counts_format_write(request->format, request->path, &request->moments, output, error);
        if (ok)
            say_result(output, &summary);
    } else {
        ok = export_spans(request, name, output, error);
    }
    free(default_output);
    free(name);
    return ok;
}

/* ------------------------------------------------------------------ options */

static bool format_at(size_t index, struct option_value *value)
{
    if (index >= sizeof formats / sizeof *formats)
        return false;
    *value = (struct option_value){formats[index]->name, (int)index, formats[index]->summary,
                                   formats[index]->manual};
    return true;
}

static int take_format(const struct option_spec *option, const struct command *self, void *target,
                       const char *value)
{
    struct export_request *request = target;
    struct option_value chosen;
    int status = option_find_value(option, self, value, &chosen);
    if (status == 0)
        request->format = formats[chosen.value];
    return status;
}

static const struct option_spec export_options[] = {
    {.name = "format",
     .argument = "FORMAT",
     .help = "the format:",
     .values = format_at,
     .apply = take_format},
    {.name = "output",
     .letter = "o",
     .argument = "FILE",
     .help =
         "where to write it, compressed when it ends in .gz; - is\nstandard output. Default: the "
         "trace's name, in this folder",
     .manual = "Where to write it, compressed with gzip when the name ends in `.gz`; `-` is "
               "standard output. By default a file in this folder, named after the trace, with the "
               "suffix of the format. An existing file is renamed to `FILE.old`.",
     .apply = option_set_text,
     .field = offsetof(struct export_request, output)},
    {.name = "from",
     .argument = "MOMENT",
     .help = "begin here",
     .manual = "Begin here; a function: where that call begins.",
     .apply = option_set_text,
     .field = offsetof(struct export_request, moments.from)},
    {.name = "to",
     .argument = "MOMENT",
     .help = "end here",
     .manual = "End here; a function: where that call ends.",
     .apply = option_set_text,
     .field = offsetof(struct export_request, moments.to)},
    {.name = "around",
     .argument = "MOMENT",
     .help = "a call of a function (NAME, NAME#3), or 10 us to either\nside of a time (1.5ms)",
     .manual = "One call of a function from beginning to end, or 10 microseconds to either side of "
               "a time.",
     .apply = option_set_text,
     .field = offsetof(struct export_request, moments.around)},
    {.name = "filter",
     .argument = FILTER_ARGUMENT,
     .help = FILTER_HELP,
     .manual = FILTER_MANUAL,
     .apply = take_filter,
     .field = offsetof(struct export_request, filter)},
    {.name = "no-inlined",
     .help = NO_INLINED_HELP,
     .manual = NO_INLINED_MANUAL,
     .apply = option_set_flag,
     .field = offsetof(struct export_request, no_inlined)},
    {0},
};

static const struct option_group export_groups[] = {{export_options, 0}, {0}};

static int take_operand(const struct command *self, void *request, const char *operand)
{
    return take_trace(self, &((struct export_request *)request)->path, operand);
}

static int check_request(const struct command *self, const struct export_request *request)
{
    int status = need_trace(self, request->path);
    if (status == 0 && request->format && is_of_counts(request->format) && request->filter.from)
        return command_usage_error(self, "-filter goes with formats of calls, not with %s.",
                                   request->format->name);
    if (status || request->format)
        return status;
    char *names = option_value_names(format_at);
    status = command_usage_error(self, "-format is missing: %s.", names);
    free(names);
    return status;
}

static int run_export(const struct command *self, int argc, char **argv)
{
    struct export_request request = {0};
    struct error error = {0};
    int status = command_read_options(self, argc, argv, &request, take_operand);
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
        "A MOMENT is a time since the beginning of the trace (1.5ms, 20us, 300 ns) or a\n"
        "function: its first call, or its third with NAME#3.\n",
    .options = export_groups,
    .run = run_export,
};
