#include "index/span_walk.h"

#include "base/memory.h"

#include <stdlib.h>

#define NO_SPAN UINT32_MAX

/* A span among those of its chunk; numbers of `spans`, or NO_SPAN. */
struct span_links {
    uint32_t caller, first_callee, next_sibling;
};

struct span_walk span_walk_begin(const struct trace_index *index, uint32_t track, uint64_t first,
                                 uint64_t last)
{
    struct span_walk walk = {
        .index = index,
        .run = index_spans_of(index, track),
        .first = first,
        .last = last,
        .room = memory_allocate(INDEX_CHUNK_ITEMS * sizeof(struct index_span)),
        .spans = array_of(sizeof(struct index_span)),
        .links = array_of(sizeof(struct span_links)),
        .next = NO_SPAN,
    };
    walk.chunk = chunk_run_find(&walk.run, first);
    walk.end_chunk = last == UINT64_MAX ? walk.run.count : chunk_run_find(&walk.run, last + 1);
    walk.end_chunk += walk.end_chunk < walk.run.count;
    for (size_t i = 0; i < walk.chunk; i++)
        walk.spans_before += walk.run.chunks[i].count;
    return walk;
}

static struct span_links *links_of(struct span_walk *walk, uint32_t number)
{
    return array_at(&walk->links, number);
}

static void take(struct span_walk *walk, const struct index_span *span)
{
    if (span->start <= walk->last && span->end >= walk->first)
        array_add_all(&walk->spans, span, 1);
    walk->number += span->end < walk->first;
}

/* The spans that are active at the chunk's end, outermost first. Their number is that of those which
 * the next chunk gives again. */
static bool take_crossing(struct span_walk *walk, size_t chunk)
{
    struct array innermost_first = array_of(sizeof(struct index_span));
    struct crossing_walk crossing = crossing_walk_begin(walk->index, &walk->run, chunk);
    for (struct index_span span; crossing_walk_next(&crossing, &span);)
        array_add_all(&innermost_first, &span, 1);
    for (size_t i = innermost_first.count; i-- > 0;)
        take(walk, array_at(&innermost_first, i));
    array_free(&innermost_first);
    return !crossing.damaged;
}

/* Links the spans, each of which comes after its caller and after its later siblings. */
static bool link_spans(struct span_walk *walk)
{
    struct array stack = array_of(sizeof(uint32_t)); /* the last span at each depth */
    uint32_t first = NO_SPAN;                        /* outermost */
    bool ok = true;
    for (uint32_t i = 0; ok && i < walk->spans.count; i++) {
        uint32_t depth = ((const struct index_span *)array_at(&walk->spans, i))->depth;
        struct span_links *links = array_add(&walk->links);
        ok = depth <= stack.count;
        if (!ok)
            break;
        stack.count = depth;
        links->caller = depth > 0 ? *(const uint32_t *)array_at(&stack, depth - 1) : NO_SPAN;
        uint32_t *head = depth > 0 ? &links_of(walk, links->caller)->first_callee : &first;
        links->first_callee = NO_SPAN;
        links->next_sibling = *head;
        *head = i;
        array_add_all(&stack, &i, 1);
    }
    walk->next = first;
    array_free(&stack);
    return ok;
}

static uint32_t following(struct span_walk *walk, uint32_t number)
{
    const struct span_links *links = links_of(walk, number);
    if (links->first_callee != NO_SPAN)
        return links->first_callee;
    while (links->next_sibling == NO_SPAN && links->caller != NO_SPAN)
        links = links_of(walk, links->caller);
    return links->next_sibling;
}

static bool read_chunk(struct span_walk *walk, struct error *error)
{
    size_t chunk = walk->chunk++, given = walk->crossing;
    /* One less than that of the first, which is given next. */
    walk->number = walk->spans_before + given - 1;
    walk->spans_before += walk->run.chunks[chunk].count;
    walk->spans.count = walk->links.count = 0;
    if (!index_read_spans(walk->index, &walk->run, chunk, walk->room, error))
        return false;
    bool ok = take_crossing(walk, chunk);
    walk->crossing = walk->spans.count;
    for (size_t i = walk->run.chunks[chunk].count; i-- > 0;)
        take(walk, &walk->room[i]);
    if (!ok || !link_spans(walk))
        return index_damaged(walk->index, error);
    while (given-- > 0 && walk->next != NO_SPAN)
        walk->next = following(walk, walk->next);
    return true;
}

bool span_walk_next(struct span_walk *walk, struct index_span *span, struct error *error)
{
    while (walk->next == NO_SPAN && walk->chunk < walk->end_chunk && !walk->failed)
        walk->failed = !read_chunk(walk, error);
    if (walk->next == NO_SPAN || walk->failed)
        return false;
    *span = *(const struct index_span *)array_at(&walk->spans, walk->next);
    walk->next = following(walk, walk->next);
    walk->number++;
    return true;
}

bool span_walk_end(struct span_walk *walk)
{
    free(walk->room);
    array_free(&walk->spans);
    array_free(&walk->links);
    return !walk->failed;
}
