#include "analysis/call_walk.h"

#include "base/smaller.h"
#include "index/file/index_reader.h"
#include "index/span_scan.h"

enum { PARTS = 256 /* in which a range is read */, NO_CALL = 0 };

/* A list in the order of beginnings. Number NO_CALL stands before the first and after the last. */
struct walked_call {
    struct index_span span;
    uint32_t next;
};

struct open_caller {
    uint32_t depth, number;
};

struct call_walk call_walk_begin(const struct trace_index *index, uint32_t track,
                                 struct index_range range, uint32_t depth)
{
    range.to = smaller(range.to, trace_index_facts(index)->duration + 1);
    range.from = smaller(range.from, range.to);
    struct call_walk walk = {
        .index = index,
        .track = track,
        .depth = depth,
        .off_cpu = index_off_cpu_groups(index),
        .range = range,
        .width = (range.to - range.from) / PARTS + 1,
        .calls = array_of(sizeof(struct walked_call)),
        .callers = array_of(sizeof(struct open_caller)),
    };
    array_add(&walk.calls);
    return walk;
}

static struct walked_call *call_at(const struct call_walk *walk, uint32_t number)
{
    return (struct walked_call *)walk->calls.elements + number;
}

static bool is_wanted(const struct call_walk *walk, struct index_range range,
                      const struct index_span *span)
{
    return span->start >= range.from && span->start < range.to && span->depth >= walk->depth &&
           !off_cpu_groups_has(walk->off_cpu, index_group_of(walk->index, span->function));
}

/* The innermost caller of a call of this depth that is in the list; NO_CALL: none is. */
static uint32_t find_caller(struct call_walk *walk, uint32_t depth)
{
    struct array *callers = &walk->callers;
    while (callers->count > 0) {
        const struct open_caller *caller = array_at(callers, callers->count - 1);
        if (caller->depth < depth)
            return caller->number;
        callers->count--;
    }
    return NO_CALL;
}

/* Spans are read from the last to the first, callers first: what is in the list after the caller is
 * what it calls later. */
static void insert(struct call_walk *walk, const struct index_span *span, uint32_t caller)
{
    const struct open_caller open = {span->depth, (uint32_t)walk->calls.count};
    const struct walked_call call = {*span, call_at(walk, caller)->next};
    call_at(walk, caller)->next = open.number;
    array_add_all(&walk->calls, &call, 1);
    array_add_all(&walk->callers, &open, 1);
}

static bool read_part(struct call_walk *walk, struct error *error)
{
    const struct index_range range = {walk->range.from,
                                      walk->range.from +
                                          smaller(walk->width, walk->range.to - walk->range.from)};
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(walk->index, walk->track, range);
    walk->range.from = range.to;
    walk->calls.count = 1;
    call_at(walk, NO_CALL)->next = walk->at = NO_CALL;
    walk->callers.count = 0;
    for (size_t count; (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; i-- > 0;) {
            uint32_t caller = find_caller(walk, spans[i].depth);
            if (is_wanted(walk, range, &spans[i]))
                insert(walk, &spans[i], caller);
        }
    return span_scan_end(&scan);
}

const struct index_span *call_walk_next(struct call_walk *walk, struct error *error)
{
    walk->at = call_at(walk, walk->at)->next;
    while (walk->at == NO_CALL && !walk->failed && walk->range.from < walk->range.to) {
        walk->failed = !read_part(walk, error);
        walk->at = call_at(walk, NO_CALL)->next;
    }
    return walk->at == NO_CALL || walk->failed ? NULL : &call_at(walk, walk->at)->span;
}

bool call_walk_end(struct call_walk *walk)
{
    array_free(&walk->calls);
    array_free(&walk->callers);
    return !walk->failed;
}
