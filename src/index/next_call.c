/* From call to call of a function (span_search.h). */
#include "base/memory.h"
#include "index/call_ordinal.h"
#include "index/file/index_reader.h"
#include "index/span_search.h"

#include <stdlib.h>

int call_place_compare(const struct call_place *a, const struct call_place *b)
{
    if (a->span.start != b->span.start)
        return a->span.start < b->span.start ? -1 : 1;
    if (a->span.depth != b->span.depth)
        return a->span.depth < b->span.depth ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

/* ---- searching ---- */

struct call_search {
    const struct trace_index *index;
    uint32_t group;
    const struct call_place *from;
    bool forward;
    struct call_place best;
    bool found;
    struct index_span *room; /* of a chunk; owned */
};

static void offer(struct call_search *search, uint32_t track, const struct index_span *span)
{
    if (index_group_of(search->index, span->function) != search->group)
        return;
    int sign = search->forward ? 1 : -1;
    const struct call_place place = {track, *span};
    if (sign * call_place_compare(&place, search->from) <= 0 ||
        (search->found && sign * call_place_compare(&place, &search->best) >= 0))
        return;
    search->best = place;
    search->found = true;
}

static bool offer_chunk(struct call_search *search, uint32_t track, const struct chunk_run *run,
                        size_t chunk, struct error *error)
{
    if (!index_may_hold(search->index, run, chunk, search->group))
        return true;
    if (!index_read_spans(search->index, run, chunk, search->room, error))
        return false;
    for (uint32_t i = 0; i < run->chunks[chunk].count; i++)
        offer(search, track, &search->room[i]);
    return true;
}

/* Offers the spans that are open at the end of the chunk, up to those with numbers not above
 * `known`: they are numbered in the order in which they come to cross a chunk's end. */
static bool offer_crossing(struct call_search *search, uint32_t track, const struct chunk_run *run,
                           size_t chunk, int64_t known, struct error *error)
{
    struct crossing_walk walk = crossing_walk_begin(search->index, run, chunk);
    for (struct index_span span; (int64_t)walk.number > known && crossing_walk_next(&walk, &span);)
        offer(search, track, &span);
    return !walk.damaged || index_damaged(search->index, error);
}

/* What has not been offered with a chunk, or as open at its end, begins when the chunk ends or
 * later. */
static bool search_forward(struct call_search *search, uint32_t track, struct error *error)
{
    const struct chunk_run run = index_spans_of(search->index, track);
    int64_t known = -1;
    for (size_t chunk = chunk_run_find(&run, search->from->span.start); chunk < run.count;
         chunk++) {
        if (!offer_chunk(search, track, &run, chunk, error) ||
            !offer_crossing(search, track, &run, chunk, known, error))
            return false;
        if (search->found && search->best.span.start < run.chunks[chunk].last_end)
            break;
        uint32_t crossing = run.chunks[chunk].crossing;
        known = crossing == INDEX_NO_CROSSING ? -1 : (int64_t)crossing;
    }
    return true;
}

/* A span that begins up to a moment ends in the first chunk that ends later, or before it, or is
 * active at its end. In earlier chunks, all spans begin before the chunk's end. */
static bool search_backward(struct call_search *search, uint32_t track, struct error *error)
{
    const struct chunk_run run = index_spans_of(search->index, track);
    if (run.count == 0)
        return true;
    uint64_t time = search->from->span.start;
    size_t chunk = chunk_run_find(&run, time < UINT64_MAX ? time + 1 : time);
    if (chunk == run.count)
        chunk--;
    if (!offer_crossing(search, track, &run, chunk, -1, error))
        return false;
    do {
        if (!offer_chunk(search, track, &run, chunk, error))
            return false;
    } while (chunk-- > 0 &&
             !(search->found && search->best.span.start > run.chunks[chunk].last_end));
    return true;
}

static bool search_tracks(struct call_search *search, struct index_tracks tracks,
                          struct error *error)
{
    size_t count = tracks.ids ? tracks.count : search->index->facts.tracks;
    for (size_t i = 0; i < count; i++) {
        uint32_t track = tracks.ids ? tracks.ids[i] : (uint32_t)i;
        if (!index_check_track(search->index, track, error))
            return false;
        if (!tracks.ids && search->index->tracks[track].is_hits)
            continue;
        if (!(search->forward ? search_forward : search_backward)(search, track, error))
            return false;
    }
    return true;
}

bool index_next_call(const struct trace_index *index, struct index_tracks tracks, uint32_t group,
                     const struct call_place *from, bool forward, struct call_place *call,
                     uint64_t *ordinal, struct error *error)
{
    if (error)
        *error = (struct error){0};
    if (!index_check_group(index, group, error))
        return false;
    struct call_search search = {
        .index = index,
        .group = group,
        .from = from,
        .forward = forward,
        .room = memory_allocate(INDEX_CHUNK_ITEMS * sizeof(struct index_span)),
    };
    bool ok = search_tracks(&search, tracks, error);
    free(search.room);
    if (!ok || !search.found ||
        !index_call_ordinal(index, tracks, group, &search.best, ordinal, error))
        return false;
    *call = search.best;
    return true;
}
