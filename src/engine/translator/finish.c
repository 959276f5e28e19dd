#include "engine/translator/finish.h"

#include "base/memory.h"
#include "engine/translator/code_dumps.h"
#include "engine/translator/kept_mappings.h"
#include "engine/translator/unused_dumps.h"

#include <stdlib.h>

static struct recorded describe(const struct translator_arena *arena)
{
    const struct tr_options *options = &arena->options;
    const struct tr_control *control = arena->control;
    struct log_reader log = translator_arena_sideband(arena);
    return (struct recorded){
        .log = log.log,
        .log_size = log.size,
        .clock = (enum record_clock)options->clock,
        .started = options->start_realtime_ns,
        .frozen_at = atomic_load(&control->frozen_at),
        .multi_snapshot = options->multi_snapshot && !options->full_execution,
        .snapshots = atomic_load(&control->snapshots),
        .snapshot_size = options->full_execution ? 0 : options->snapshot_size,
        .bus_ratio = options->bus_ratio,
        .lost_rings = atomic_load(&control->lost_threads),
        .surplus_threads = atomic_load(&control->lost_slots) + atomic_load(&control->lost_tables),
        .most_threads = arena->geometry.slot_count,
        .most_processes = arena->geometry.table_count,
        .lost_records = atomic_load(&control->lost_records) + atomic_load(&control->lost_dumps),
    };
}

/* The files that unwinding has to find are filled when it is known what they have to hold. */
static bool write_dumps(const struct translator_arena *arena, const char *directory,
                        const struct transcoding *transcoding, struct error *error)
{
    const struct fragments *fragments = transcoding_fragments(transcoding);
    if (fragments)
        unused_dumps_find(arena, fragments);
    return code_dumps_write(arena, directory, CODE_DUMPS_WHOLE, error);
}

bool translator_finish(const struct translator_arena *arena, const char *directory,
                       struct transcoding *transcoding, bool watched, struct seen_files *seen,
                       struct collection *collection, struct error *error)
{
    char *folder = memory_format("%s/translator", directory);
    collection->recorded = describe(arena);
    collection->recorded.directory = directory;
    collection->recorded.folder = folder;
    collection->recorded.watched = watched;
    collection->recorded.seen = seen;
    struct callers *callers = callers_open(arena, &collection->recorded, &collection->clock);
    bool dumped = code_dumps_write(arena, directory, CODE_DUMPS_HEADERS, error);
    kept_mappings_finish(arena, directory, seen);
    if (collection->recorded.clock == RECORD_CLOCK_INSTRUCTIONS) {
        collection->recorded.time_of = transcoding_time_of;
        collection->recorded.time_context = transcoding;
    }
    bool ok = transcoding_finish(transcoding, callers, dumped ? error : NULL) && dumped &&
              write_dumps(arena, directory, transcoding, error);
    /* It has records of what is kept now. */
    collection->recorded.log_size = translator_arena_sideband(arena).size;
    struct off_cpu *off_cpu = transcoding_off_cpu(transcoding);
    if (off_cpu && off_cpu_is_known(off_cpu)) {
        collection->recorded.off_cpu = off_cpu_kept(off_cpu);
        collection->recorded.lost_switches = off_cpu_lost(off_cpu);
    }
    ok = ok && collect(collection, error);
    callers_close(callers);
    transcoding_close(transcoding);
    collection->recorded.folder = NULL;
    free(folder);
    return ok;
}
