#include "index/call_ordinal.h"

#include "base/memory.h"
#include "index/call_buckets.h"
#include "index/scan_parts.h"
#include "index/span_scan.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Parts of a range hold different calls by this. */
static bool begins_in(struct index_range range, const struct index_span *span)
{
    return span->start >= range.from && span->start < range.to;
}

/* ---- the number of a call ---- */

struct call_count {
    const struct trace_index *index;
    const struct call_place *last;
    uint32_t group;
    atomic_uint_fast64_t calls;
};

static void *begin_count(void *context)
{
    return context;
}

static bool count_part(void *state, const struct scan_part *part, struct error *error)
{
    struct call_count *count = state;
    uint64_t calls = 0;
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(count->index, part->track, part->range);
    scan.only_groups[0] = count->group;
    for (size_t given; (given = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = 0; i < given; i++)
            calls +=
                index_group_of(count->index, spans[i].function) == count->group &&
                begins_in(part->range, &spans[i]) &&
                call_place_compare(&(struct call_place){part->track, spans[i]}, count->last) <= 0;
    atomic_fetch_add(&count->calls, calls);
    return span_scan_end(&scan);
}

static void end_count(void *context, void *state)
{
    (void)context;
    (void)state;
}

bool index_call_ordinal(const struct trace_index *index, struct index_tracks tracks, uint32_t group,
                        const struct call_place *call, uint64_t *ordinal, struct error *error)
{
    struct call_count count = {.index = index, .last = call, .group = group};
    struct call_bucket bucket = {0};
    if (!tracks.ids && !call_bucket_at(index, group, call->span.start, &bucket, error))
        return false;
    const struct part_scanner scanner = {&count, begin_count, count_part, end_count};
    const struct index_range range = {bucket.range.from, call->span.start + 1};
    bool ok = scan_parts(index, tracks, range, &scanner, error);
    *ordinal = bucket.before + atomic_load(&count.calls);
    return ok;
}

/* ---- the numbers of several calls ---- */

struct ordinals {
    const struct trace_index *index;
    const struct call_place **last; /* by group; or NULL. Owned */
    uint64_t *counts;               /* by group; owned */
};

struct ordinals_part {
    const struct ordinals *ordinals;
    uint64_t counts[];
};

static void *begin_ordinals(void *context)
{
    const struct ordinals *ordinals = context;
    uint32_t groups = ordinals->index->facts.functions;
    struct ordinals_part *part =
        memory_allocate_zeroed(sizeof *part + groups * sizeof *part->counts);
    part->ordinals = ordinals;
    return part;
}

static bool count_ordinals(void *state, const struct scan_part *scanned, struct error *error)
{
    struct ordinals_part *part = state;
    const struct trace_index *index = part->ordinals->index;
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(index, scanned->track, scanned->range);
    for (size_t given; (given = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = 0; i < given; i++) {
            uint32_t group = index_group_of(index, spans[i].function);
            const struct call_place *last = part->ordinals->last[group];
            if (last && spans[i].start <= last->span.start && begins_in(scanned->range, &spans[i]))
                part->counts[group] +=
                    call_place_compare(&(struct call_place){scanned->track, spans[i]}, last) <= 0;
        }
    return span_scan_end(&scan);
}

static void end_ordinals(void *context, void *state)
{
    struct ordinals *ordinals = context;
    struct ordinals_part *part = state;
    for (uint32_t i = 0; i < ordinals->index->facts.functions; i++)
        ordinals->counts[i] += part->counts[i];
    free(part);
}

bool index_call_ordinals(const struct trace_index *index, const struct call_place *const *calls,
                         size_t count, uint64_t *ordinals, struct error *error)
{
    size_t groups = index->facts.functions;
    struct ordinals all = {
        .index = index,
        .last = memory_allocate_zeroed((groups + 1) * sizeof *all.last),
        .counts = memory_allocate_zeroed((groups + 1) * sizeof *all.counts),
    };
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        if (!calls[i])
            continue;
        all.last[index_group_of(index, calls[i]->span.function)] = calls[i];
        if (calls[i]->span.start >= end)
            end = calls[i]->span.start + 1;
    }
    const struct part_scanner scanner = {&all, begin_ordinals, count_ordinals, end_ordinals};
    bool ok =
        scan_parts(index, (struct index_tracks){0}, (struct index_range){0, end}, &scanner, error);
    for (size_t i = 0; i < count; i++)
        ordinals[i] = calls[i] ? all.counts[index_group_of(index, calls[i]->span.function)] : 0;
    free(all.last);
    free(all.counts);
    return ok;
}

/* ---- the call of a number ---- */

struct nth_search {
    const struct trace_index *index;
    uint32_t group;
    struct array places; /* of struct call_place: the group's calls in the bucket of the call */
};

struct nth_part {
    const struct nth_search *search;
    struct array places;
};

static void *begin_nth(void *context)
{
    struct nth_part *part = memory_allocate(sizeof *part);
    *part = (struct nth_part){context, array_of(sizeof(struct call_place))};
    return part;
}

static bool scan_nth(void *state, const struct scan_part *scanned, struct error *error)
{
    struct nth_part *part = state;
    const struct nth_search *search = part->search;
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(search->index, scanned->track, scanned->range);
    scan.only_groups[0] = search->group;
    for (size_t given; (given = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = 0; i < given; i++)
            if (index_group_of(search->index, spans[i].function) == search->group &&
                begins_in(scanned->range, &spans[i]))
                array_add_all(&part->places, &(struct call_place){scanned->track, spans[i]}, 1);
    return span_scan_end(&scan);
}

static void end_nth(void *context, void *state)
{
    struct nth_search *search = context;
    struct nth_part *part = state;
    array_add_all(&search->places, part->places.elements, part->places.count);
    array_free(&part->places);
    free(part);
}

static int compare_places(const void *a, const void *b)
{
    return call_place_compare(a, b);
}

static bool too_few_calls(const struct trace_index *index, uint32_t group, uint64_t wanted,
                          struct error *error)
{
    uint64_t all = trace_index_group_calls(index, group);
    return error_set(error, ERROR_NOT_FOUND, "the trace has only %llu call%s of %s, not %llu",
                     (unsigned long long)all, all == 1 ? "" : "s",
                     trace_index_function(index, group).name, (unsigned long long)wanted);
}

bool index_nth_call(const struct trace_index *index, uint32_t group, uint64_t ordinal,
                    struct call_place *call, struct error *error)
{
    struct call_bucket bucket;
    struct nth_search search = {index, group, array_of(sizeof(struct call_place))};
    const struct part_scanner scanner = {&search, begin_nth, scan_nth, end_nth};
    if (!index_check_group(index, group, error) ||
        !call_bucket_of_ordinal(index, group, ordinal, &bucket, error))
        return false;
    bool ok = scan_parts(index, (struct index_tracks){0}, bucket.range, &scanner, error);
    uint64_t number = ordinal - bucket.before; /* in the bucket */
    if (ok && ordinal > bucket.before && number <= search.places.count) {
        qsort(search.places.elements, search.places.count, search.places.element_size,
              compare_places);
        *call = *(struct call_place *)array_at(&search.places, number - 1);
    } else if (ok) {
        ok = too_few_calls(index, group, ordinal, error);
    }
    array_free(&search.places);
    return ok;
}
