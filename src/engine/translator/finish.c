#include "engine/translator/finish.h"

#include "base/memory.h"
#include "engine/translator/code_dumps.h"

#include <stdlib.h>

static uint64_t log_size(const struct translator_arena *arena)
{
    uint64_t tail = atomic_load(&arena->control->log_tail);
    return tail < arena->geometry.log_size ? tail : arena->geometry.log_size;
}

static struct recorded describe(const struct translator_arena *arena)
{
    const struct tr_options *options = &arena->options;
    const struct tr_control *control = arena->control;
    return (struct recorded){
        .log = arena->bytes + arena->geometry.log_offset,
        .log_size = log_size(arena),
        .clock = (enum record_clock)options->clock,
        .started = options->start_realtime_ns,
        .frozen_at = atomic_load(&control->frozen_at),
        .bus_ratio = options->bus_ratio,
        .lost_rings = atomic_load(&control->lost_slots) + atomic_load(&control->lost_tables),
        .lost_records = atomic_load(&control->lost_records) + atomic_load(&control->lost_dumps),
    };
}

bool translator_finish(const struct translator_arena *arena, const char *directory,
                       struct transcoding *transcoding, bool watched, struct collection *collection,
                       struct error *error)
{
    char *folder = memory_format("%s/translator", directory);
    collection->recorded = describe(arena);
    collection->recorded.directory = directory;
    collection->recorded.folder = folder;
    collection->recorded.watched = watched;
    struct callers *callers = callers_open(&collection->recorded, &collection->clock);
    bool dumped = code_dumps_write(arena, directory, collection->recorded.log,
                                   collection->recorded.log_size, error);
    bool ok = transcoding_finish(transcoding, callers, dumped ? error : NULL) && dumped &&
              collect(collection, error);
    callers_close(callers);
    collection->recorded.folder = NULL;
    free(folder);
    return ok;
}
