#include "view/span_search.h"

#include "view/open_spans.h"

#include "base/memory.h"

#include <stdlib.h>

static const struct index_span *span_of(const struct array *spans, size_t index)
{
    return array_at(spans, index);
}

/* ---- the stack at a moment ---- */

/* Of the spans that ended at the moment, the one of length zero that began last, not less deep than
 * `depth`; `ended->count` when there is none. In post-order the last to end comes last, and right
 * before it the last that it called. */
static size_t find_last_begun(const struct array *ended, uint32_t depth)
{
    size_t found = ended->count;
    for (size_t i = ended->count; i-- > 0;) {
        const struct index_span *span = span_of(ended, i);
        bool deeper = found == ended->count ? span->depth >= depth
                                            : span->depth == span_of(ended, found)->depth + 1;
        if (span->start == span->end && deeper)
            found = i;
        else if (found != ended->count)
            break;
    }
    return found;
}

/* Appends span `index` with its callers, which end behind it, outermost first: those that hold the
 * moment are in `open`, innermost first. */
static void add_with_callers(const struct array *ended, size_t index, const struct array *open,
                             struct array *stack)
{
    struct array callers = array_of(sizeof(struct index_span));
    uint32_t depth = UINT32_MAX;
    for (size_t i = index; i < ended->count; i++) {
        const struct index_span *span = span_of(ended, i);
        if (span->depth < depth)
            array_add_all(&callers, span, 1);
        if (span->depth < depth)
            depth = span->depth;
    }
    for (size_t i = open->count; i-- > 0;)
        if (span_of(open, i)->depth < depth)
            array_add_all(stack, span_of(open, i), 1);
    for (size_t i = callers.count; i-- > 0;)
        array_add_all(stack, span_of(&callers, i), 1);
    array_free(&callers);
}

static bool gather_moment(const struct trace_index *index, uint32_t track, uint64_t time,
                          struct array *open, struct array *ended, struct error *error)
{
    *open = array_of(sizeof(struct index_span));
    *ended = array_of(sizeof(struct index_span));
    return index_check_track(index, track, error) &&
           (time > index->facts.duration ||
            index_open_spans(index, track, time, open, ended, error));
}

bool index_stack_at(const struct trace_index *index, uint32_t track, uint64_t time,
                    struct array *stack, struct error *error)
{
    struct array open, ended;
    bool ok = gather_moment(index, track, time, &open, &ended, error);
    if (ok) {
        size_t last = find_last_begun(&ended, (uint32_t)open.count);
        add_with_callers(&ended, last, &open, stack);
    }
    array_free(&open);
    array_free(&ended);
    return ok;
}
