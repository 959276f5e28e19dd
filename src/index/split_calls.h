/* Calls that are several spans, because their stack (a goroutine's, a fiber's) was suspended and
 * resumed in between, perhaps by another thread: their spans put together.
 *
 * A span that ends with its stack's suspension goes on with the span of the same function and depth
 * that begins when that stack is resumed. When a goroutine is resumed by another thread, the one that
 * suspended it shows its calls as active until it runs something else itself, since its scheduler
 * runs on top of them; they go on elsewhere all the same.
 *
 * Called by slow_calls.c, and by context_tree.c to read such a call as one.
 */
#ifndef MAGIC_TRACE_INDEX_SPLIT_CALLS_H
#define MAGIC_TRACE_INDEX_SPLIT_CALLS_H

#include "index/span_search.h"

struct call_part {
    struct call_place place;      /* its span */
    uint32_t level;               /* of recursion */
    const struct call_part *next; /* where it goes on; NULL: nowhere */
    const struct call_part *previous;
};

struct split_calls {
    struct array parts; /* of struct call_part; by track, start and depth once they are joined */
};

struct split_calls split_calls_new(void);
void split_calls_free(struct split_calls *split);

/* Whether a call of this span may have other parts. */
static inline bool split_call_is_part(const struct index_span *span)
{
    return span->ending == SPAN_END_SWITCH || index_is_cut(span);
}

/* Adds a part; of one function all must be added. */
void split_calls_add(struct split_calls *split, const struct call_place *place, uint32_t level);

/* When all are added: finds out what belongs together. */
void split_calls_join(struct split_calls *split, const struct trace_index *index);

/* Whether this part is the first of a call whose beginning and end were seen. *call is then the whole
 * call: the place of the first part, with the end of the last. */
bool split_calls_whole(const struct call_part *part, struct call_place *call);

/* The first part of the call that has a part at that place; NULL: the call is one span. */
const struct call_part *split_calls_first(const struct split_calls *split,
                                          const struct call_place *call);

/* Whether the span begins before the call goes on elsewhere. */
static inline bool call_part_has(const struct call_part *part, const struct index_span *span)
{
    return !part->next || span->start < part->next->place.span.start;
}

/* How long such a span lasts: if it is active when the part ends, until the next part begins. */
uint64_t call_part_length(const struct call_part *part, const struct index_span *span);

/* When in its track it is active as long as the part lasts. */
struct index_range call_part_range(const struct call_part *part, const struct index_span *span);

/* How much of that it was suspended after it. */
uint64_t call_part_suspension(const struct call_part *part, const struct index_span *span);

/* Whether the span was active in the part before, too. */
bool call_part_continues(const struct call_part *part, const struct index_span *span);

#endif
