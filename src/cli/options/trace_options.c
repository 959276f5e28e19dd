/* Where and how run, attach and decode write the trace. */
#include "cli/options/common_arguments.h"
#include "cli/options/options.h"
#include "cli/trace_file.h"

#include <stddef.h>

const struct option_spec trace_file_option_specs[] = {
    {.name = "output",
     .letter = "o",
     .argument = "FILE",
     .help = "where to write the trace (default trace.fxt.gz;\n"
             "gzip when it ends in .gz); an existing one\n"
             "becomes FILE.old",
     .manual = "Where to write the trace (default `trace.fxt.gz`). It is compressed when the name "
               "ends in `.gz`. An existing file is renamed to `FILE.old`.",
     .apply = option_set_text,
     .field = offsetof(struct trace_file_options, output)},
    {.name = "format",
     .argument = "FORMAT",
     .help = "how to write it:",
     .manual = "How to write the trace:",
     .values = trace_format_value_at,
     .apply = trace_format_take,
     .field = offsetof(struct trace_file_options, format)},
    {.name = "filter",
     .argument = FILTER_ARGUMENT,
     .help = "show only what ran between a call of A and the\nnext call of B",
     .manual = FILTER_MANUAL,
     .apply = take_filter,
     .field = offsetof(struct trace_file_options, filter)},
    {.name = "no-inlined",
     .help = NO_INLINED_HELP,
     .manual = NO_INLINED_MANUAL,
     .apply = option_set_flag,
     .field = offsetof(struct trace_file_options, no_inlined)},
    {0},
};
