#include "cli/text/counts_formats.h"

#include "base/memory.h"
#include "cli/text/code_report.h"
#include "counts/counts_export.h"
#include "output/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct export_format export_callgrind = {
    .name = "callgrind",
    .suffix = ".callgrind",
    .summary = "of a recording: instructions by line and call, for kcachegrind",
    .manual = "Of a recording: the instructions that ran, by instruction, line, function and call, "
              "for kcachegrind and callgrind_annotate.",
};
const struct export_format export_lcov = {
    .name = "lcov",
    .suffix = ".info",
    .summary = "of a recording: coverage of lines and branches",
    .manual = "Of a recording: coverage of lines, functions and conditional jumps of the program "
              "and its own libraries, for genhtml.",
};
const struct export_format export_bolt = {
    .name = "bolt",
    .suffix = ".bolt",
    .summary = "of a recording: branches, for perf2bolt -pa",
    .manual = "Of a recording: how often each branch was taken, as BOLT's pre-aggregated profile: "
              "`perf2bolt -pa -p FILE -o OUT PROGRAM`.",
};
const struct export_format export_autofdo = {
    .name = "autofdo",
    .suffix = ".afdo",
    .summary = "of a recording: lines, for clang to optimize by",
    .manual =
        "Of a recording: how often each line of each function ran, inlined functions apart, as "
        "LLVM's sample profile in text form: `clang -fprofile-sample-use=FILE`.",
};

static const struct counts_writer {
    const struct export_format *format;
    void (*write)(const struct counts_export *export, FILE *stream);
} writers[] = {
    {&export_callgrind, export_callgrind_write},
    {&export_lcov, export_lcov_write},
    {&export_bolt, export_bolt_write},
    {&export_autofdo, export_autofdo_write},
};

static void write_counts(const struct export_format *format, const struct counts_export *export,
                         FILE *stream)
{
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (writers[i].format == format)
            writers[i].write(export, stream);
}

/* The caller frees; NULL: it is unknown. */
static char *command_of(const struct counted_recording *counted)
{
    const struct session *session = flow_session(counted->flow);
    char *text = NULL;
    for (size_t i = 0; session->command && session->command[i]; i++) {
        char *longer = text ? memory_format("%s %s", text, session->command[i])
                            : memory_copy_string(session->command[i]);
        free(text);
        text = longer;
    }
    return text;
}

/* Closes the descriptor. */
static bool write_stream(const struct export_format *format,
                         const struct counted_recording *counted, int descriptor,
                         const char *output, struct error *error)
{
    struct line_counts lines;
    char *command = command_of(counted);
    FILE *stream = fdopen(descriptor, "w");
    line_counts_find(&lines, &counted->counts);
    struct counts_export export = {&counted->counts, &lines, command};
    if (stream)
        write_counts(format, &export, stream);
    bool ok = stream && !ferror(stream);
    ok = stream && fclose(stream) == 0 && ok;
    line_counts_free(&lines);
    free(command);
    return ok || error_set_errno(error, ERROR_IO, errno, "Writing %s failed", output);
}

static bool write_file(const struct export_format *format, const struct counted_recording *counted,
                       const char *output, struct error *error)
{
    struct output_file file;
    if (strcmp(output, "-") == 0)
        return write_stream(format, counted, dup(STDOUT_FILENO), output, error);
    if (!output_file_create(&file, output, error))
        return false;
    if (write_stream(format, counted, dup(file.descriptor), output, error))
        return output_file_commit(&file, error);
    output_file_abandon(&file);
    return false;
}

bool counts_format_write(const struct export_format *format, const char *path,
                         const struct report_tree_options *moments, const char *output,
                         struct error *error)
{
    struct counted_recording counted;
    size_t length = strlen(output);
    if (length > 3 && strcmp(output + length - 3, ".gz") == 0)
        return error_set(error, ERROR_USAGE,
                         "-output %s: %s files are not compressed by magic-trace. Leave out .gz.",
                         output, format->name);
    if (!counted_recording_open(&counted, path, moments, format == &export_callgrind, error))
        return false;
    bool ok = write_file(format, &counted, output, error);
    const struct error *damage = ok ? flow_damage(counted.flow) : NULL;
    if (damage)
        *error = *damage;
    counted_recording_close(&counted);
    return ok && !damage;
}
