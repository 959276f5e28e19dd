/* The answers to queries, by the definitions of docs/viewer.md section 1, by simple loops over an
 * array of spans: slow, and independent of the index.
 */
#ifndef MAGIC_TRACE_TESTS_ORACLE_H
#define MAGIC_TRACE_TESTS_ORACLE_H

#include "index/flame_graph.h"
#include "index/function_table.h"
#include "index/span_search.h"
#include "index/tiles.h"
#include "made_trace.h"

bool oracle_overlaps(const struct made_span *span, struct index_range range);

/* Appends struct oracle_tile, by start, then depth. */
struct oracle_tile {
    uint64_t start, end;
    uint32_t depth;
    uint32_t name; /* of the longest's function */
    uint32_t spans;
    uint8_t flags, ending;
};
void oracle_tiles(const struct made_trace *trace, const struct tiles_request *request,
                  struct array *tiles);

/* Appends numbers (size_t) of the spans, outermost first. */
void oracle_stack(const struct made_trace *trace, uint32_t track, uint64_t time,
                  struct array *stack);

/* As index_span_at(): appends numbers of spans. */
void oracle_span_at(const struct made_trace *trace, uint32_t track, uint32_t depth, uint64_t time,
                    struct array *stack);

/* Which tracks are meant: a bit for each. */
struct oracle_tracks {
    uint32_t bits;
};

/* Row of a name; calls 0: it is not called in the range. row->group is not set. */
struct function_row oracle_row(const struct made_trace *trace, struct oracle_tracks tracks,
                               struct index_range range, uint32_t name);

/* Whether the span is a whole call of the range. */
bool oracle_is_whole(const struct made_span *span, struct index_range range);

/* Time of the span in the range in which no span that it calls is open. */
uint64_t oracle_self(const struct made_trace *trace, size_t number, struct index_range range);

/* The call that index_next_call() is asked for: NO_PARENT when there is none. */
size_t oracle_next(const struct made_trace *trace, struct oracle_tracks tracks, uint32_t name,
                   const struct call_place *from, bool forward, uint64_t *ordinal);

#endif
