/* From a recording to the trace file: decodes, writes, and prints a summary.
 *
 * Shared by `run` and `decode`.
 */
#ifndef MAGIC_TRACE_CLI_TRACE_FILE_H
#define MAGIC_TRACE_CLI_TRACE_FILE_H

#include "base/error.h"
#include "cli/options/options.h"
#include "cli/trace_format.h"
#include "decode/flow.h"
#include "stack/spans/span_filter.h"

struct trace_file_options {
    const char *output;                /* NULL: the format's default name */
    const struct trace_format *format; /* NULL: trace_format_default */
    const char *perf_map_directory;    /* NULL: the usual places */
    struct span_filter_names filter;
    bool print_statistics; /* on standard output, when the trace is written */
    enum flow_decoder decoder;
    bool no_inlined;   /* as in struct flow_options */
    bool is_temporary; /* the trace is removed when it has been shown: its path is not printed */
};

/* -output, -format and -filter, which fill a struct trace_file_options: options/trace_options.c. */
extern const struct option_spec trace_file_option_specs[];

/* Where the trace is written. */
const char *trace_file_path(const struct trace_file_options *options);

/* Whether the output can be written as far as is known beforehand: called before the program runs,
 * so that a mistyped folder does not cost a recording. */
bool trace_file_check_output(const struct trace_file_options *options, struct error *error);

/* Decodes `recording` (a folder, a perf.data file, or text as flow_open takes it), writes the trace
 * and prints the summary on stderr. */
bool trace_file_write(const char *recording, const struct trace_file_options *options,
                      struct error *error);

#endif
