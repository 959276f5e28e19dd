/* Moves between inlined functions as spans: which functions of the trace end and begin.
 *
 * Made of inlined_moves.h when a move is first shown, then found by its number. Owned by a source of spans (timeline_spans.c),
 * whose functions they refer to; used from one thread.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_SPAN_MOVES_H
#define MAGIC_TRACE_STACK_SPANS_SPAN_MOVES_H

#include "base/arena.h"
#include "base/array.h"
#include "stack/inlined_moves.h"
#include "stack/spans/span.h"
#include "stack/spans/span_functions.h"

struct span_moves {
    const struct inlined_moves *moves; /* borrowed; NULL: there are no inlined functions */
    struct span_functions *functions;  /* borrowed */
    bool with_lines;                   /* as in span_functions_get */
    uint32_t count;                    /* made so far */
    struct array by_number;            /* const struct span_move *; NULL: not made yet */
    struct arena memory;
};

struct span_moves span_moves_of(const struct inlined_moves *moves,
                                struct span_functions *functions);
void span_moves_free(struct span_moves *moves);

/* span_moves_get for a move that is shown for the first time. */
const struct span_move *span_moves_make(struct span_moves *moves, uint32_t number);

static inline const struct span_move *span_moves_get(struct span_moves *moves, uint32_t number)
{
    const struct span_move *const *by_number = moves->by_number.elements;
    const struct span_move *known = number < moves->by_number.count ? by_number[number] : NULL;
    return known != NULL ? known : span_moves_make(moves, number);
}

#endif
