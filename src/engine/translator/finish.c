#include "engine/translator/finish.h"

#include "base/memory.h"
#include "engine/packets/kept_file.h"
#include "engine/translator/code_dumps.h"

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
        .lost_rings = atomic_load(&control->lost_slots) + atomic_load(&control->lost_tables),
        .lost_records = atomic_load(&control->lost_records) + atomic_load(&control->lost_dumps),
    };
}

/* What the runtime copied of the file when its code ran; a damaged arena may say anything. */
static bool store_dumped(const struct translator_arena *arena, const char *directory,
                         const struct logged_mapping *mapping)
{
    uint64_t whole = arena->geometry.dump_size;
    for (unsigned i = 0; i < TR_KEPT_FILES; i++) {
        const struct tr_kept_file *file = &arena->control->kept_files[i];
        if (atomic_load(&file->version) == mapping->version && file->inode == mapping->inode &&
            file->offset <= whole && file->size <= whole - file->offset)
            return kept_file_store(directory, mapping->path, mapping->version,
                                   arena->bytes + arena->geometry.dump_offset + file->offset,
                                   file->size);
    }
    return false;
}

/* The version of the file that is in the recording from now on; 0: none. */
static uint64_t keep_file(const struct translator_arena *arena, const char *directory,
                          const struct logged_mapping *mapping)
{
    uint64_t ran = mapping->version,
             kept = kept_file_copy(directory, mapping->path, mapping->inode);
    return ran && kept != ran && store_dumped(arena, directory, mapping) ? ran : kept;
}

/* Copies the program's files into the recording, so that they can be replaced: those that changed or went while it ran, as
 * they were. */
static void keep_files(const struct translator_arena *arena, const char *directory)
{
    struct log_reader reader = translator_arena_sideband(arena);
    for (const struct logged_record *record; (record = log_reader_next(&reader));) {
        struct logged_mapping *mapping = (struct logged_mapping *)record;
        if (record->kind == LOGGED_MAPPING && !mapping->jit)
            mapping->version = keep_file(arena, directory, mapping);
    }
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
    bool dumped = code_dumps_write(arena, directory, error);
    keep_files(arena, directory);
    if (collection->recorded.clock == RECORD_CLOCK_INSTRUCTIONS) {
        collection->recorded.time_of = transcoding_time_of;
        collection->recorded.time_context = transcoding;
    }
    bool ok = transcoding_finish(transcoding, callers, dumped ? error : NULL) && dumped;
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
