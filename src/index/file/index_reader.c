#include "index/file/index_reader.h"

#include "index/file/span_codec.h"

#include <sys/mman.h>
#include <unistd.h>

struct chunk_run index_spans_of(const struct trace_index *index, uint32_t track)
{
    const struct track_record *record = &index->tracks[track];
    return (struct chunk_run){
        .chunks = index->chunks + record->first_chunk,
        .count = record->chunk_count,
        .depths = record->depth,
        .is_spans = true,
    };
}

struct chunk_run index_level_of(const struct trace_index *index, uint32_t track, unsigned shift)
{
    const struct track_record *record = &index->tracks[track];
    struct chunk_run run = index_spans_of(index, track);
    for (uint32_t i = 0; i < record->level_count; i++) {
        const struct index_level *level = &index->levels[record->first_level + i];
        if (level->shift > shift)
            break;
        run.chunks = index->chunks + level->first_chunk;
        run.count = level->chunk_count;
        run.shift = level->shift;
        run.is_spans = false;
    }
    return run;
}

size_t chunk_run_find(const struct chunk_run *run, uint64_t time)
{
    size_t low = 0, high = run->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->chunks[middle].last_end < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct span_limits limits_of(const struct trace_index *index, const struct chunk_run *run,
                                    size_t chunk)
{
    return (struct span_limits){
        .last_end = run->chunks[chunk].last_end,
        .functions = index->facts.functions,
        .depths = run->depths,
    };
}

bool index_read_spans(const struct trace_index *index, const struct chunk_run *run, size_t chunk,
                      struct index_span *spans, struct error *error)
{
    const struct index_chunk *entry = &run->chunks[chunk];
    const struct span_limits limits = limits_of(index, run, chunk);
    return span_decode_chunk(index->chunk_bytes + entry->offset, entry, &limits, spans) ||
           index_damaged(index, error);
}

bool index_read_tiles(const struct trace_index *index, const struct chunk_run *run, size_t chunk,
                      struct tile_item *tiles, struct error *error)
{
    const struct index_chunk *entry = &run->chunks[chunk];
    const struct span_limits limits = limits_of(index, run, chunk);
    return tile_decode_chunk(index->chunk_bytes + entry->offset, entry, &limits, tiles) ||
           index_damaged(index, error);
}

void index_forget_chunks(const struct trace_index *index, const struct chunk_run *run, size_t first,
                         size_t last)
{
    if (first >= last)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const struct index_chunk *end = &run->chunks[last - 1];
    uintptr_t from = (uintptr_t)(index->chunk_bytes + run->chunks[first].offset);
    uintptr_t to = (uintptr_t)(index->chunk_bytes + end->offset + end->size);
    from = (from + page - 1) / page * page;
    to = to / page * page;
    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

bool index_may_hold(const struct trace_index *index, const struct chunk_run *run, size_t chunk,
                    uint32_t group)
{
    const struct index_sieve *sieve = &index->sieves[&run->chunks[chunk] - index->chunks];
    for (uint32_t i = index->first_members[group]; i < index->first_members[group + 1]; i++) {
        uint32_t bit = sieve_bit(index->members[i]);
        if (sieve->words[bit / 64] >> bit % 64 & 1)
            return true;
    }
    return false;
}

struct crossing_walk crossing_walk_begin(const struct trace_index *index,
                                         const struct chunk_run *run, size_t chunk)
{
    return (struct crossing_walk){
        .index = index,
        .number = run->chunks[chunk].crossing,
        .depths = run->depths,
    };
}

/* Depths fall and numbers too, so every walk ends. */
bool crossing_walk_next(struct crossing_walk *walk, struct index_span *span)
{
    if (walk->number == INDEX_NO_CROSSING)
        return false;
    const struct crossing_span *crossing = &walk->index->crossing[walk->number];
    if (crossing->depth >= walk->depths || crossing->start > crossing->end ||
        crossing->end > walk->index->header->duration ||
        crossing->function >= walk->index->facts.functions ||
        (crossing->parent != INDEX_NO_CROSSING && crossing->parent >= walk->number)) {
        walk->damaged = true;
        return false;
    }
    *span = (struct index_span){
        .start = crossing->start,
        .end = crossing->end,
        .depth = crossing->depth,
        .function = crossing->function,
        .flags = crossing->flags,
        .ending = crossing->ending,
    };
    walk->crossing = crossing;
    walk->number = crossing->parent;
    walk->depths = crossing->depth;
    return true;
}

bool index_check_track(const struct trace_index *index, uint32_t track, struct error *error)
{
    return track < index->facts.tracks ||
           error_set(error, ERROR_USAGE, "the trace has no track %u; it has %u, from 0 on", track,
                     index->facts.tracks);
}

bool index_check_group(const struct trace_index *index, uint32_t group, struct error *error)
{
    return group < index->facts.functions ||
           error_set(error, ERROR_USAGE, "the trace has no function %u; it has %u, from 0 on",
                     group, index->facts.functions);
}
