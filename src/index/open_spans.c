#include "index/open_spans.h"

#include "base/memory.h"

#include <stdlib.h>

static bool add_crossing(const struct trace_index *index, const struct chunk_run *run, size_t chunk,
                         uint64_t time, struct array *open, struct error *error)
{
    struct crossing_walk walk = crossing_walk_begin(index, run, chunk);
    for (struct index_span span; crossing_walk_next(&walk, &span);)
        if (span.start <= time && span.end > time)
            array_add_all(open, &span, 1);
    return !walk.damaged || index_damaged(index, error);
}

static void add_from_chunk(const struct index_span *spans, size_t count, uint64_t time,
                           struct array *open, struct array *ended)
{
    for (size_t i = 0; i < count; i++) {
        const struct index_span *span = &spans[i];
        if (span->end > time && span->start <= time)
            array_add_all(open, span, 1);
        else if (span->end == time && ended)
            array_add_all(ended, span, 1);
    }
}

/* What is open at `time` either ends in the first chunk that ends later, or is open at its end. */
bool index_open_spans(const struct trace_index *index, uint32_t track, uint64_t time,
                      struct array *open, struct array *ended, struct error *error)
{
    const struct chunk_run run = index_spans_of(index, track);
    struct index_span *spans = memory_allocate(INDEX_CHUNK_ITEMS * sizeof *spans);
    bool ok = true;
    for (size_t chunk = chunk_run_find(&run, ended ? time : time + 1); ok && chunk < run.count;
         chunk++) {
        ok = index_read_spans(index, &run, chunk, spans, error);
        if (ok)
            add_from_chunk(spans, run.chunks[chunk].count, time, open, ended);
        if (!ok || run.chunks[chunk].last_end <= time)
            continue;
        ok = add_crossing(index, &run, chunk, time, open, error);
        break;
    }
    free(spans);
    return ok;
}
