#include "cli/trace_file.h"

#include "base/log.h"
#include "base/memory.h"
#include "cli/options/shell_word.h"
#include "cli/text/decode_statistics.h"
#include "cli/text/missing_names.h"
#include "cli/text/summary.h"
#include "output/output_file.h"
#include "recording/recording.h"
#include "stack/timeline.h"
#include "symbol/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct trace_format *format_of(const struct trace_file_options *options)
{
    return options->format ? options->format : trace_format_default;
}

const char *trace_file_path(const struct trace_file_options *options)
{
    return options->output ? options->output : format_of(options)->default_output;
}

bool trace_file_check_output(const struct trace_file_options *options, struct error *error)
{
    return output_file_check(trace_file_path(options), error);
}

/* A filter that nothing passes is an error, before an older trace is replaced by an empty one. */
static struct span_source *open_spans(struct timeline *timeline,
                                      const struct span_filter_names *filter, struct error *error)
{
    struct span_source *source = timeline_spans(timeline, error);
    if (!source || !filter->from)
        return source;
    source = span_filter(source, filter);
    if (span_filter_begin(source, error))
        return source;
    source->close(source);
    return NULL;
}

static bool write_spans(struct timeline *timeline, const struct trace_file_options *options,
                        struct trace_summary *summary, struct error *error)
{
    struct span_source *source = open_spans(timeline, &options->filter, error);
    if (!source)
        return false;
    const char *path = trace_file_path(options);
    summary->statistics = timeline_statistics(timeline);
    summary->contents.calls = summary->statistics.spans;
    bool ok = format_of(options)->write(source, summary->statistics.spans, path, &summary->contents,
                                        error);
    source->close(source);
    log_progress_end();
    return ok;
}

static void say_how_to_open(const struct trace_file_options *options)
{
    const char *path = trace_file_path(options);
    if (options->is_temporary)
        return;
    if (format_of(options)->contents) {
        log_status("The %s are in %s.", format_of(options)->contents, path);
        return;
    }
    /* What went into a pipe, or nowhere, cannot be opened. */
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        log_status("The trace was written to %s.", path);
        return;
    }
    char *word = shell_word(path);
    log_status("The trace is in %s. To see it in the browser: magic-trace view %s, as text: "
               "magic-trace report %s",
               path, word, word);
    free(word);
}

static void say_what_gives_names(const struct timeline *timeline)
{
    struct array unnamed = array_of(sizeof(struct unnamed_code));
    symbols_unnamed_code(flow_symbols(timeline_flow(timeline)), &unnamed);
    missing_names_print(&unnamed);
    array_free(&unnamed);
}

static void say_result(const struct timeline *timeline, const char *recording,
                       const struct trace_file_options *options,
                       const struct trace_summary *summary)
{
    struct recording opened;
    bool is_text = summary->statistics.flow.text_lines > 0;
    bool is_open = !is_text && recording_open(&opened, recording, NULL);
    summary_print(summary, is_open ? &opened : NULL);
    if (is_open)
        recording_close(&opened);
    say_what_gives_names(timeline);
    say_how_to_open(options);
}

bool trace_file_write(const char *recording, const struct trace_file_options *options,
                      struct error *error)
{
    const struct flow_options flow = {.decoder = options->decoder,
                                      .no_inlined = options->no_inlined,
                                      .perf_map_directory = options->perf_map_directory,
                                      .progress = log_progress};
    struct decode_stages stages;
    struct stage_seconds start = stage_seconds_now();
    memory_keep_freed();
    struct timeline *timeline = timeline_decode(recording, &flow, error);
    log_progress_end();
    if (!timeline)
        return false;
    stages.decoding = stage_seconds_since(start);
    struct trace_summary summary = {0};
    start = stage_seconds_now();
    bool ok = write_spans(timeline, options, &summary, error);
    stages.writing = stage_seconds_since(start);
    if (ok)
        say_result(timeline, recording, options, &summary);
    if (ok && options->print_statistics)
        decode_statistics_print(timeline, &stages, stdout);
    const struct error *damage = ok ? timeline_damage(timeline) : NULL;
    if (damage) {
        *error = *damage;
        ok = false;
    }
    timeline_free(timeline);
    return ok;
}
