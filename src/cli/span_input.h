/* The spans of the input that the user named: a trace file, or a recording that is decoded first.
 *
 * Used by the commands that show a trace: report, export, view. A folder, "-", perf.data and the
 * text of perf script are recordings (as `magic-trace decode` takes them); everything else is taken
 * for a trace file. A recording whose making was interrupted is saved first (salvage.h).
 */
#ifndef MAGIC_TRACE_CLI_SPAN_INPUT_H
#define MAGIC_TRACE_CLI_SPAN_INPUT_H

#include "base/error.h"
#include "stack/spans/span.h"
#include "stack/spans/span_filter.h"
#include "stack/timeline.h"

#include <stdbool.h>

struct span_input {
    struct timeline *timeline;  /* of a recording; NULL: a trace file. Owned */
    struct span_source *source; /* at its beginning; owned */
};

/* Whether `path` would be decoded, and not read as a trace file. */
bool span_input_is_recording(const char *path);

/* `no_inlined`: without inlined functions. On failure it is closed already, and span_input_close does no harm. */
bool span_input_open(struct span_input *input, const char *path, bool no_inlined,
                     struct error *error);

/* Leaves in the source what -filter asks for; no names, no filter. `names` must outlive the input.
 * To be called before the first event is read. */
bool span_input_filter(struct span_input *input, const struct span_filter_names *names,
                       struct error *error);

/* The part of a recording that could not be read; NULL when all was. The source of a damaged trace
 * file reports it, at its end. */
const struct error *span_input_damage(const struct span_input *input);

void span_input_close(struct span_input *input);

#endif
