/* A trace file as the events in it, in batches, with references resolved.
 *
 * Used by the trace reader (output/fxt/fxt_reader.h), which makes well nested spans of what comes from
 * here. A trace is gone through twice: first for what must be known before the first event, which
 * costs little more than reading the file; then for the events. Names, threads and functions are
 * collected in a dictionary that stays in between, so that both give the same numbers.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_FXT_PARSER_H
#define MAGIC_TRACE_OUTPUT_FXT_FXT_PARSER_H

#include "base/error.h"
#include "output/fxt/fxt_events.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stdint.h>

struct fxt_parser;

/* NULL when the file cannot be opened or does not begin like a trace. */
struct fxt_parser *fxt_parser_open(const char *path, struct error *error);
void fxt_parser_close(struct fxt_parser *parser);

/* Goes through the trace up to its end or to damage and back to its beginning. Knows all threads
 * and names then, and says whether the events are in the order of time. Arguments are not looked
 * at: what is damaged in them is met when the events are taken. False when the file cannot be read
 * from its beginning again. */
bool fxt_parser_survey(struct fxt_parser *parser, bool *in_order, struct error *error);

/* The next events: returns their number, 0 at the end or at damage; error->code distinguishes the
 * two. They are valid until the next call. */
size_t fxt_parser_take(struct fxt_parser *parser, const struct fxt_raw_event **events,
                       struct error *error);

/* See struct span_source; known after the survey. */
bool fxt_parser_is_sampled(const struct fxt_parser *parser);
const char *fxt_parser_recorded(const struct fxt_parser *parser); /* NULL: not known */

/* What the dictionary holds now. Tracks are the threads that had events, with rows of deep frames
 * counted to their thread; pointers hold until the next event is parsed, names until the parser is
 * closed. */
const struct span_track *fxt_parser_tracks(struct fxt_parser *parser, size_t *count);
size_t fxt_parser_function_count(const struct fxt_parser *parser);
uint64_t fxt_parser_wall_clock(const struct fxt_parser *parser); /* see struct span_source */

#endif
