#include "cli/trace_format.h"

#include "cli/options/options.h"
#include "output/fxt/fxt_writer.h"
#include "output/output_file.h"
#include "output/report/report_folded.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static bool write_fxt(struct span_source *source, uint64_t expected, const char *path,
                      struct trace_contents *contents, struct error *error)
{
    struct fxt_summary written = {0};
    struct fxt_options options = {.expected_spans = expected, .summary = &written};
    bool ok = fxt_write(source, path, &options, error);
    contents->length = written.last.value - written.first.value;
    contents->calls = written.calls;
    return ok;
}

static bool write_folded(struct span_source *source, uint64_t expected, const char *path,
                         struct trace_contents *contents, struct error *error)
{
    (void)contents;
    struct output_file file;
    if (!output_file_create(&file, path, error))
        return false;
    int copy = dup(file.descriptor);
    FILE *stream = copy >= 0 ? fdopen(copy, "w") : NULL;
    bool ok = stream || error_set_errno(error, ERROR_IO, errno, "cannot write %s", path);
    if (!stream && copy >= 0)
        close(copy);
    if (ok)
        ok = report_folded(source, false, stream, error);
    if (stream && fclose(stream) != 0 && ok)
        ok = error_set_errno(error, ERROR_IO, errno, "cannot write %s", path);
    if (ok)
        return output_file_commit(&file, error);
    output_file_abandon(&file);
    return false;
}

static const struct trace_format formats[] = {
    {.name = "fxt",
     .default_output = "trace.fxt.gz",
     .summary = "Fuchsia trace format, for view, report and Perfetto (default)",
     .manual = "The Fuchsia trace format, which magic-trace-view(1), magic-trace-report(1) and "
               "Perfetto read (default).",
     .write = write_fxt},
    {.name = "folded",
     .default_output = "trace.folded",
     .summary = "stacks with the time spent in each, for flame graphs",
     .manual = "Stacks with the time spent in each, for flame graphs; the default output is then "
               "`trace.folded`.",
     .contents = "folded stacks",
     .write = write_folded},
};

const struct trace_format *const trace_format_default = &formats[0];

const struct trace_format *trace_format_at(size_t index)
{
    return index < sizeof formats / sizeof *formats ? &formats[index] : NULL;
}

bool trace_format_value_at(size_t index, struct option_value *value)
{
    const struct trace_format *format = trace_format_at(index);
    if (format)
        *value = (struct option_value){format->name, (int)index, format->summary, format->manual};
    return format;
}

int trace_format_take(const struct option_spec *option, const struct command *command, void *target,
                      const char *value)
{
    struct option_value chosen;
    int status = option_find_value(option, command, value, &chosen);
    if (status == 0)
        *(const struct trace_format **)((char *)target + option->field) = &formats[chosen.value];
    return status;
}
