/* The answers to queries, by the definitions of docs/viewer.md section 1, from a plain array of
 * spans by plain loops: slow, and nothing of it is shared with the index.
 */
#ifndef MAGIC_TRACE_TESTS_ORACLE_H
#define MAGIC_TRACE_TESTS_ORACLE_H

#include "made_trace.h"
#include "view/flame_graph.h"
#include "view/function_table.h"
#include "view/pieces.h"
#include "view/span_search.h"

bool oracle_overlaps(const struct made_span *span, struct index_range range);

/* Appends struct oracle_piece, by start, then depth. */
struct oracle_piece {
    uint64_t start, end;
    uint32_t depth;
    uint32_t name; /* of the longest's function */
    uint32_t spans;
    uint8_t flags, ending;
};
void oracle_pieces(const struct made_trace *trace, const struct pieces_request *request,
                   struct array *pieces);

/* Appends numbers (size_t) of the spans, outermost first. */
void oracle_stack(const struct made_trace *trace, uint32_t track, uint64_t time,
                  struct array *stack);

#endif
