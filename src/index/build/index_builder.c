#include "index/build/index_builder.h"

#include "base/log.h"
#include "base/memory.h"
#include "index/build/index_build.h"
#include "index/build/index_sections.h"
#include "index/build/stack_recorder.h"
#include "index/build/switch_recorder.h"

#include <stdlib.h>
#include <string.h>

/* Events between two looks at the progress line. */
static const uint64_t EVENTS_PER_LOOK = 1 << 18;

/* Each track fills a chunk of its own: of many tracks, smaller ones. */
enum { MANY_TRACKS = 512, CHUNK_ITEMS_OF_MANY = 1024 };

struct index_builder {
    struct span_source *source;
    struct index_file file;
    struct indexed_track *tracks; /* owned */
    struct function_catalog functions;
    struct string_pool strings;
    struct mark_recorder marks;
    struct value_recorder values;
    struct switch_recorder switches;
    struct stack_recorder stacks;
    struct bucket_recorder buckets;
    struct spill crossing;
    struct track_output output;
    struct index_layout layout;
    bool began;
    uint64_t origin, last; /* ns: of the source, and since then */
    struct error damage;   /* why the source ended; ERROR_NONE: it just did */
};

/* ---- events ---- */

/* The index requires times that never decrease; those of the source may. */
static uint64_t time_of(struct index_builder *builder, const struct span_event *event)
{
    uint64_t time = event->time.value;
    if (!builder->began)
        builder->origin = time;
    builder->began = true;
    time = time < builder->origin ? 0 : time - builder->origin;
    if (time > INDEX_TIME_MAX)
        time = INDEX_TIME_MAX;
    if (time > builder->last)
        builder->last = time;
    return builder->last;
}

static void enter(struct index_builder *builder, const struct span_event *event, uint64_t time)
{
    struct track_builder *track = &builder->tracks[event->track].builder;
    if (event->hit) {
        if (!track->is_hits && track->spans + track->depth > 0)
            bucket_recorder_void(&builder->buckets);
        track->is_hits = true;
        mark_recorder_begin_hit(&builder->marks, event, track->depth, time);
    }
    const struct span_beginning beginning = {
        .time = time,
        .function = function_catalog_call(&builder->functions, event->function, event->address),
        .flags = event->flags & SPAN_START_INFERRED,
    };
    if (!track->is_hits)
        bucket_recorder_take(&builder->buckets, beginning.function, time);
    track_builder_enter(track, &beginning);
}

static struct mark_place place_in(const struct index_builder *builder, uint32_t number,
                                  uint64_t time)
{
    const struct track_builder *track = &builder->tracks[number].builder;
    return (struct mark_place){time, track->depth, track->spans + track->depth};
}

/* After the leave of its span. */
static void end_hit(struct index_builder *builder, const struct span_event *event, uint64_t time)
{
    size_t depth = builder->tracks[event->track].builder.depth;
    const struct hit_record *hit = mark_recorder_open_hit(&builder->marks, event->track, depth);
    if (!hit)
        return;
    uint32_t thread = span_track_of_hit(builder->source, hit->pid, hit->tid, event->track);
    const struct mark_place place = place_in(builder, thread, time);
    mark_recorder_end_hit(&builder->marks, event->track, depth, thread, &place,
                          event->end != SPAN_END_FILTER);
}

static void leave(struct index_builder *builder, const struct span_event *event, uint64_t time)
{
    struct track_builder *track = &builder->tracks[event->track].builder;
    const struct span_ending ending = {
        .time = time,
        .flags = event->flags & (SPAN_START_INFERRED | SPAN_END_INFERRED | SPAN_ACROSS_GAP),
        .ending = event->end <= SPAN_END_LAST ? (uint8_t)event->end : SPAN_END_RETURN,
    };
    const uint64_t number = track->spans;
    struct index_span span;
    if (!track_builder_leave(track, &builder->output, &ending, &span))
        return;
    if (event->values)
        value_recorder_add(&builder->values, event->track, number, &span, event->values);
    if (track->is_hits)
        end_hit(builder, event, time);
}

static void mark(struct index_builder *builder, const struct span_event *event, uint64_t time)
{
    const struct mark_place place = place_in(builder, event->track, time);
    mark_recorder_mark(&builder->marks, event, &place);
}

static void take_event(struct index_builder *builder, const struct span_event *event)
{
    if (event->track >= builder->source->track_count)
        return;
    uint64_t time = time_of(builder, event);
    switch (event->kind) {
    case SPAN_ENTER:
        enter(builder, event, time);
        switch_recorder_take(&builder->switches, event, time);
        stack_recorder_take(&builder->stacks, event, time);
        break;
    case SPAN_LEAVE:
        leave(builder, event, time);
        switch_recorder_take(&builder->switches, event, time);
        stack_recorder_take(&builder->stacks, event, time);
        break;
    case SPAN_INSTANT:
        mark(builder, event, time);
        break;
    case SPAN_COUNTER:
        mark_recorder_count(&builder->marks, event, builder->source->tracks[event->track].pid,
                            time);
        break;
    case SPAN_MOVE:
        break; /* only for those who ask for it */
    }
}

static void take_events(struct index_builder *builder)
{
    struct span_event room;
    const struct span_event *events;
    uint64_t taken = 0;
    for (size_t count;
         (count = span_source_take(builder->source, &room, &events, &builder->damage)) > 0;) {
        for (size_t i = 0; i < count; i++)
            take_event(builder, &events[i]);
        if (taken / EVENTS_PER_LOOK != (taken + count) / EVENTS_PER_LOOK)
            log_progress("Indexing events", taken + count, 0);
        taken += count;
    }
    log_progress_end();
    for (size_t i = 0; i < builder->source->track_count; i++)
        track_builder_finish(&builder->tracks[i].builder, &builder->output, builder->last);
}

/* ---- what follows from them ---- */

static bool make_levels(struct index_builder *builder, struct error *error)
{
    struct file_view written;
    if (!index_file_map(&builder->file, &written, error))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < builder->source->track_count; i++) {
        struct indexed_track *track = &builder->tracks[i];
        ok = make_levels_of_detail(&track->builder, &builder->layout, &written, &builder->file,
                                   &track->levels, error);
    }
    file_unmap(&written);
    return ok;
}

static bool check_crossing(const struct index_builder *builder, struct error *error)
{
    if (builder->crossing.failed.code != ERROR_NONE) {
        *error = builder->crossing.failed;
        return false;
    }
    if (builder->crossing.count >= INDEX_NO_CROSSING)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the trace has too many long spans to index (%zu). Trace a shorter time",
                         builder->crossing.count);
    return true;
}

static void fill_header(struct index_builder *builder, uint64_t id, struct index_header *header)
{
    uint64_t wall_clock = builder->source->wall_clock;
    memcpy(header->magic, INDEX_MAGIC, sizeof header->magic);
    header->version = INDEX_VERSION;
    header->id = id;
    header->duration = builder->last;
    header->wall_clock = wall_clock ? wall_clock + builder->origin : 0;
    header->sampled = builder->source->sampled;
    header->recorded = string_pool_add(&builder->strings, builder->source->recorded);
    header->damage = string_pool_add(
        &builder->strings, builder->damage.code == ERROR_NONE ? NULL : builder->damage.text);
}

static bool write_rest(struct index_builder *builder, uint64_t id, struct index_header *header,
                       struct error *error)
{
    if (!make_levels(builder, error) || !check_crossing(builder, error) ||
        !mark_recorder_finish(&builder->marks, builder->file.output.path, builder->last, error) ||
        !value_recorder_finish(&builder->values, builder->source->track_count, error) ||
        !switch_recorder_finish(&builder->switches, error) ||
        !stack_recorder_finish(&builder->stacks, &builder->strings, error))
        return false;
    bucket_recorder_finish(&builder->buckets);
    fill_header(builder, id, header);
    const struct gathered_index gathered = {
        .source = builder->source,
        .tracks = builder->tracks,
        .functions = &builder->functions,
        .strings = &builder->strings,
        .marks = &builder->marks,
        .values = &builder->values,
        .crossing = &builder->crossing,
        .switches = &builder->switches.switches,
        .stacks = &builder->stacks,
        .buckets = &builder->buckets,
    };
    write_index_sections(&gathered, &builder->file, header);
    return true;
}

/* ---- beginning and end ---- */

static void init(struct index_builder *builder)
{
    size_t tracks = builder->source->track_count;
    builder->tracks = memory_allocate_zeroed((tracks + 1) * sizeof *builder->tracks);
    for (size_t i = 0; i < tracks; i++) {
        track_builder_init(&builder->tracks[i].builder);
        builder->tracks[i].levels = array_of(sizeof(struct made_level));
    }
    function_catalog_init(&builder->functions);
    string_pool_init(&builder->strings);
    mark_recorder_init(&builder->marks, &builder->strings, builder->file.output.path);
    value_recorder_init(&builder->values, &builder->strings, builder->file.output.path);
    switch_recorder_init(&builder->switches, builder->file.output.path);
    stack_recorder_init(&builder->stacks, tracks, builder->file.output.path);
    bucket_recorder_init(&builder->buckets, builder->layout.bucket_calls);
    builder->crossing = spill_of(sizeof(struct crossing_span), builder->file.output.path);
    builder->output = (struct track_output){
        .file = &builder->file,
        .crossing = &builder->crossing,
        .chunk_items = builder->layout.chunk_items,
    };
}

static void free_builder(struct index_builder *builder)
{
    for (size_t i = 0; i < builder->source->track_count; i++) {
        struct indexed_track *track = &builder->tracks[i];
        track_builder_free(&track->builder);
        for (size_t level = 0; level < track->levels.count; level++)
            array_free(&((struct made_level *)array_at(&track->levels, level))->chunks);
        array_free(&track->levels);
    }
    free(builder->tracks);
    function_catalog_free(&builder->functions);
    string_pool_free(&builder->strings);
    mark_recorder_free(&builder->marks);
    value_recorder_free(&builder->values);
    switch_recorder_free(&builder->switches);
    stack_recorder_free(&builder->stacks);
    bucket_recorder_free(&builder->buckets);
    spill_free(&builder->crossing);
}

bool index_build_as(struct span_source *source, const char *path, uint64_t id,
                    const struct index_layout *layout, struct error *error)
{
    struct index_builder builder = {.source = source, .layout = *layout};
    struct index_header header = {0};
    struct error reason = {0};
    if (!index_file_create(&builder.file, path, error))
        return false;
    init(&builder);
    take_events(&builder);
    bool ok = write_rest(&builder, id, &header, &reason);
    free_builder(&builder);
    if (ok)
        return index_file_commit(&builder.file, &header, error);
    index_file_abandon(&builder.file);
    if (error)
        *error = reason;
    return false;
}

bool index_build(struct span_source *source, const char *path, uint64_t id, struct error *error)
{
    const struct index_layout layout = {
        .chunk_items = source->track_count > MANY_TRACKS ? CHUNK_ITEMS_OF_MANY : INDEX_CHUNK_ITEMS,
        .level_ratio = 4,
        .level_enough = INDEX_CHUNK_ITEMS,
        .bucket_calls = INDEX_BUCKET_CALLS,
    };
    return index_build_as(source, path, id, &layout, error);
}
