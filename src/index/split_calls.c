#include "index/split_calls.h"

#include "base/memory.h"
#include "index/file/index_reader.h"

#include <stdlib.h>

struct split_calls split_calls_new(void)
{
    return (struct split_calls){.parts = array_of(sizeof(struct call_part))};
}

void split_calls_free(struct split_calls *split)
{
    array_free(&split->parts);
}

void split_calls_add(struct split_calls *split, const struct call_place *place, uint32_t level)
{
    *(struct call_part *)array_add(&split->parts) =
        (struct call_part){.place = *place, .level = level};
}

/* ---- orders ---- */

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

static int compare_starts(const void *left, const void *right)
{
    const struct call_place *a = &((const struct call_part *)left)->place;
    const struct call_place *b = &((const struct call_part *)right)->place;
    int order = compare_numbers(a->track, b->track);
    if (order == 0)
        order = compare_numbers(a->span.start, b->span.start);
    return order ? order : compare_numbers(a->span.depth, b->span.depth);
}

/* Of pointers to parts. */
static int compare_depths(const void *left, const void *right)
{
    const struct call_place *a = &(*(struct call_part *const *)left)->place;
    const struct call_place *b = &(*(struct call_part *const *)right)->place;
    int order = compare_numbers(a->track, b->track);
    if (order == 0)
        order = compare_numbers(a->span.depth, b->span.depth);
    if (order == 0)
        order = compare_numbers(a->span.start, b->span.start);
    return order ? order : compare_numbers(a->span.end, b->span.end);
}

/* How many of the sorted elements do not come after the key. */
static size_t count_up_to(const struct array *sorted, const void *key,
                          int (*compare)(const void *, const void *))
{
    size_t low = 0, high = sorted->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(array_at(sorted, middle), key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- joining ---- */

/* Whether the span is active when its stack is suspended. Where that was not seen,
 * its thread may have done nothing else until the end of the trace. */
static bool is_suspended_at(const struct index_span *span, const struct switch_record *at)
{
    if (at->was_seen)
        return span->end == at->from_time && span->ending == SPAN_END_SWITCH;
    return span->end >= at->from_time || span->ending == SPAN_END_OF_TRACE;
}

/* Whether the call of `part` has `other` among its later parts of the same moment. */
static bool goes_on_at_once(const struct call_part *part, const struct call_part *other)
{
    uint64_t moment = part->place.span.start;
    while (part != other && part->next && part->next->place.span.start == moment)
        part = part->next;
    return part == other;
}

/* The part that is suspended there, before `resumed`; NULL: no part that is known. What begins at
 * that moment is what is resumed, where a goroutine is chosen again at once, unless it has no length. */
static struct call_part *find_suspended(const struct array *by_depth,
                                        const struct switch_record *at,
                                        const struct call_part *resumed)
{
    struct call_part key = {.place = resumed->place};
    key.place.track = at->from_track;
    key.place.span.start = key.place.span.end = at->from_time;
    struct call_part *pointer = &key;
    for (size_t i = count_up_to(by_depth, &pointer, compare_depths); i-- > 0;) {
        struct call_part *found = *(struct call_part **)array_at(by_depth, i);
        const struct call_place *place = &found->place;
        if (place->track != at->from_track || place->span.depth != key.place.span.depth)
            break;
        bool began_before = place->span.start < at->from_time;
        if ((began_before || at->was_seen) && !found->next && is_suspended_at(&place->span, at) &&
            !goes_on_at_once(resumed, found))
            return found;
        if (began_before)
            break;
    }
    return NULL;
}

static void join_at(struct split_calls *split, const struct array *by_depth,
                    const struct switch_record *at)
{
    const struct call_part key = {
        .place = {at->to_track, {.start = at->to_time, .depth = UINT32_MAX}},
    };
    struct call_part *parts = split->parts.elements;
    for (size_t i = count_up_to(&split->parts, &key, compare_starts); i-- > 0;) {
        struct call_part *resumed = &parts[i];
        if (resumed->place.track != at->to_track || resumed->place.span.start != at->to_time)
            break;
        if (!(resumed->place.span.flags & SPAN_START_INFERRED) || resumed->previous)
            continue;
        struct call_part *suspended = find_suspended(by_depth, at, resumed);
        if (!suspended)
            continue;
        suspended->next = resumed;
        resumed->previous = suspended;
    }
}

void split_calls_join(struct split_calls *split, const struct trace_index *index)
{
    struct array by_depth = array_of(sizeof(struct call_part *));
    struct call_part *parts = split->parts.elements;
    if (split->parts.count > 1)
        qsort(parts, split->parts.count, sizeof *parts, compare_starts);
    for (size_t i = 0; i < split->parts.count; i++)
        *(struct call_part **)array_add(&by_depth) = &parts[i];
    if (by_depth.count > 1)
        qsort(by_depth.elements, by_depth.count, by_depth.element_size, compare_depths);
    for (uint64_t i = 0; by_depth.count > 0 && i < index->facts.switches; i++)
        join_at(split, &by_depth, &index->switches[i]);
    array_free(&by_depth);
}

/* ---- whole calls ---- */

bool split_calls_whole(const struct call_part *part, struct call_place *call)
{
    *call = part->place;
    if (part->previous || part->place.span.flags & SPAN_START_INFERRED)
        return false;
    if (!part->next)
        return !index_is_cut(&part->place.span);
    while (part->next)
        part = part->next;
    const struct index_span *last = &part->place.span;
    call->span.end = last->end;
    call->span.ending = last->ending;
    call->span.flags = 0;
    return !(last->flags & SPAN_END_INFERRED) && last->ending != SPAN_END_GAP &&
           last->ending != SPAN_END_OF_TRACE && last->ending != SPAN_END_SWITCH;
}

/* Whether the span is that of the part, or the whole call that begins with it. Calls without length may begin where the
 * part does. */
static bool is_named_by(const struct call_part *part, const struct index_span *span)
{
    struct call_place whole;
    return index_is_same_span(&part->place.span, span) ||
           (split_calls_whole(part, &whole) && index_is_same_span(&whole.span, span));
}

const struct call_part *split_calls_first(const struct split_calls *split,
                                          const struct call_place *call)
{
    const struct call_part key = {.place = *call};
    for (size_t i = count_up_to(&split->parts, &key, compare_starts); i-- > 0;) {
        const struct call_part *part = array_at(&split->parts, i);
        if (compare_starts(part, &key) != 0)
            break;
        if ((!part->next && !part->previous) || !is_named_by(part, &call->span))
            continue;
        while (part->previous)
            part = part->previous;
        return part;
    }
    return NULL;
}

uint64_t call_part_suspension(const struct call_part *part, const struct index_span *span)
{
    bool ends_with_part = span->end == part->place.span.end &&
                          (span->ending == SPAN_END_SWITCH || span->ending == SPAN_END_OF_TRACE);
    if (!part->next || !ends_with_part || span->end > part->next->place.span.start)
        return 0;
    return part->next->place.span.start - span->end;
}

uint64_t call_part_length(const struct call_part *part, const struct index_span *span)
{
    uint64_t end = span->end + call_part_suspension(part, span);
    if (part->next && end > part->next->place.span.start)
        end = part->next->place.span.start;
    return end - span->start;
}

struct index_range call_part_range(const struct call_part *part, const struct index_span *span)
{
    uint64_t end = span->end;
    if (part->next && end > part->next->place.span.start)
        end = part->next->place.span.start;
    return (struct index_range){span->start, end};
}

bool call_part_continues(const struct call_part *part, const struct index_span *span)
{
    return part->previous && span->start == part->place.span.start &&
           span->flags & SPAN_START_INFERRED;
}
