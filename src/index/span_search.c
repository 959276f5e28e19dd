#include "index/span_search.h"

#include "index/open_spans.h"

#include "base/memory.h"

#include <stdlib.h>

static const struct index_span *span_of(const struct array *spans, size_t index)
{
    return array_at(spans, index);
}

/* ---- the stack at a moment ---- */

/* Of the spans that ended at the moment, the one of length zero that began last, within what is open
 * up to `depth`; `ended->count` if not found. In post-order the last to end comes last, and right
 * before it the last that it called. What ended less deep than `depth` did so before the innermost open
 * span began, with all that it had called. */
static size_t find_last_begun(const struct array *ended, uint32_t depth)
{
    size_t found = ended->count;
    for (size_t i = ended->count; i-- > 0;) {
        const struct index_span *span = span_of(ended, i);
        bool inside = found == ended->count ? span->depth >= depth
                                            : span->depth == span_of(ended, found)->depth + 1;
        if (span->start == span->end && inside)
            found = i;
        else if (found != ended->count || span->depth < depth)
            break;
    }
    return found;
}

/* Appends span `index` with its callers, which end after it, outermost first: those that contain
 * the moment are in `open`, innermost first. */
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

/* The last one of length zero at `depth`; `ended->count`: none. */
static size_t find_at_depth(const struct array *ended, uint32_t depth)
{
    for (size_t i = ended->count; i-- > 0;) {
        const struct index_span *span = span_of(ended, i);
        if (span->depth == depth && span->start == span->end)
            return i;
    }
    return ended->count;
}

bool index_span_at(const struct trace_index *index, uint32_t track, uint32_t depth, uint64_t time,
                   struct array *stack, struct error *error)
{
    struct array open, ended;
    bool ok = gather_moment(index, track, time, &open, &ended, error);
    size_t at_depth = find_at_depth(&ended, depth);
    if (ok && depth < open.count) {
        for (size_t i = open.count; i-- > 0 && span_of(&open, i)->depth <= depth;)
            array_add_all(stack, span_of(&open, i), 1);
    } else if (ok && at_depth < ended.count) {
        add_with_callers(&ended, at_depth, &open, stack);
    }
    array_free(&open);
    array_free(&ended);
    return ok;
}

bool index_brief_span_at(const struct trace_index *index, uint32_t track, uint32_t depth,
                         uint64_t time, uint32_t group, struct array *stack, struct error *error)
{
    struct array open, ended;
    bool ok = gather_moment(index, track, time, &open, &ended, error);
    for (size_t i = 0; ok && i < ended.count; i++) {
        const struct index_span *span = span_of(&ended, i);
        bool meant = group == UINT32_MAX || index_group_of(index, span->function) == group;
        if (span->depth != depth || span->start != span->end || !meant)
            continue;
        add_with_callers(&ended, i, &open, stack);
        break;
    }
    array_free(&open);
    array_free(&ended);
    return ok;
}

/* ---- what a span calls ---- */

/* A span with what is known of its direct calls. */
struct span_sums {
    const struct index_span *span;
    uint64_t callees, children;
    bool found, complete;
};

static bool is_same(const struct index_span *a, const struct index_span *b)
{
    return a->start == b->start && a->end == b->end && a->depth == b->depth &&
           a->function == b->function;
}

/* What the span calls stands right before it, up to the next span that is not deeper. */
static void add_up_in_chunk(struct span_sums *sums, const struct index_span *spans, size_t count)
{
    size_t i = count;
    while (i > 0 && !is_same(&spans[i - 1], sums->span))
        i--;
    if (i == 0)
        return;
    sums->found = true;
    for (i--; i-- > 0 && !sums->complete;) {
        if (spans[i].depth <= sums->span->depth) {
            sums->complete = true;
        } else if (spans[i].depth == sums->span->depth + 1) {
            sums->children++;
            sums->callees += spans[i].end - spans[i].start;
        }
    }
}

/* Whether the span was open at the end of the chunk; then all is known of it. */
static bool find_crossing(const struct trace_index *index, const struct chunk_run *run,
                          size_t chunk, const struct index_span *span, uint64_t *self,
                          uint64_t *children)
{
    struct crossing_walk walk = crossing_walk_begin(index, run, chunk);
    for (struct index_span crossing; crossing_walk_next(&walk, &crossing);)
        if (is_same(&crossing, span)) {
            *self = walk.crossing->self;
            *children = walk.crossing->children;
            return true;
        }
    return false;
}

bool index_span_self(const struct trace_index *index, uint32_t track, const struct index_span *span,
                     uint64_t *self, uint64_t *children, struct error *error)
{
    if (!index_check_track(index, track, error))
        return false;
    const struct chunk_run run = index_spans_of(index, track);
    struct index_span *spans = memory_allocate(INDEX_CHUNK_ITEMS * sizeof *spans);
    struct span_sums sums = {.span = span};
    bool ok = true;
    size_t chunk = chunk_run_find(&run, span->end);
    for (; ok && chunk < run.count && run.chunks[chunk].first_end <= span->end; chunk++) {
        ok = index_read_spans(index, &run, chunk, spans, error);
        if (ok)
            add_up_in_chunk(&sums, spans, run.chunks[chunk].count);
        if (sums.found)
            break;
    }
    free(spans);
    if (!ok || !sums.found)
        return ok && error_set(error, ERROR_NOT_FOUND, "there is no such span in the trace");
    *self = span->end - span->start - sums.callees;
    *children = sums.children;
    if (!sums.complete && chunk > 0)
        find_crossing(index, &run, chunk - 1, span, self, children);
    return true;
}
