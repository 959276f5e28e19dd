/* The records of a trace file, one after the other, with references resolved.
 *
 * Used by the trace reader (output/fxt_reader.h), which makes well nested spans of what comes from
 * here. Names, threads and functions are collected in a dictionary that stays when the parser
 * starts again from the beginning, so that a second reading gives the same numbers.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_PARSER_H
#define MAGIC_TRACE_OUTPUT_FXT_PARSER_H

#include "base/error.h"
#include "output/fxt_format.h"
#include "stack/span.h"

#include <stdbool.h>
#include <stdint.h>

/* An event as it is in the file. */
struct fxt_raw_event {
    uint64_t time, end_time;              /* ns; end_time of FXT_EVENT_COMPLETE only */
    uint64_t address;                     /* 0: not given */
    const struct span_function *function; /* NULL for an end; of an instant its name is the text */
    const struct span_hit *hit;           /* of a hit's beginning, else NULL; lives as names do */
    uint32_t track;
    uint32_t stack; /* as in span_event */
    uint8_t type;   /* enum fxt_event_type: instant, begin, end or complete */
    uint8_t flags;  /* enum span_flag */
    uint8_t end;    /* enum span_end; of ends and complete events */
};

struct fxt_parser;

/* NULL when the file cannot be opened or does not begin like a trace. */
struct fxt_parser *fxt_parser_open(const char *path, struct error *error);
void fxt_parser_close(struct fxt_parser *parser);

/* The next event. False at the end, or at damage; then error->code tells which. */
bool fxt_parser_next(struct fxt_parser *parser, struct fxt_raw_event *event, struct error *error);

/* Starts again from the beginning, keeping the dictionary. */
bool fxt_parser_rewind(struct fxt_parser *parser, struct error *error);

/* What the dictionary holds now. Tracks are the threads that had events, with rows of deep frames
 * counted to their thread; pointers hold until the next event is parsed, names until the parser is
 * closed. */
const struct span_track *fxt_parser_tracks(struct fxt_parser *parser, size_t *count);
size_t fxt_parser_function_count(const struct fxt_parser *parser);
uint64_t fxt_parser_wall_clock(const struct fxt_parser *parser); /* see struct span_source */

#endif
