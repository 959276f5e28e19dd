/* What a trace holds besides calls, while its index is built: marks, hits of the trigger, counters.
 *
 * Called by index_builder.c. All but the counters' names lies in files (spill.h).
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_MARK_RECORDER_H
#define MAGIC_TRACE_INDEX_BUILD_MARK_RECORDER_H

#include "base/array.h"
#include "index/build/index_file.h"
#include "index/build/spill.h"
#include "index/build/string_pool.h"
#include "index/marks.h"
#include "stack/spans/span.h"

struct mark_recorder {
    struct string_pool *strings; /* not owned */
    struct spill marks;          /* of struct mark_record */
    struct spill hits;           /* of struct hit_record */
    struct spill samples;        /* of struct counted_sample, as they come */
    struct array counters;       /* of struct counter_record */
    struct array open_hits;      /* of struct open_hit */
    uint32_t hits_happened;
};

void mark_recorder_init(struct mark_recorder *recorder, struct string_pool *strings,
                        const char *beside);
void mark_recorder_free(struct mark_recorder *recorder);

/* Where a mark is among the spans of its track. */
struct mark_place {
    uint64_t time;  /* of the index */
    size_t depth;   /* spans that are active */
    uint64_t spans; /* that began before */
};

void mark_recorder_mark(struct mark_recorder *recorder, const struct span_event *event,
                        const struct mark_place *place);
/* `time` is that of the index. */
void mark_recorder_count(struct mark_recorder *recorder, const struct span_event *event,
                         uint32_t pid, uint64_t time);

/* The span of a hit begins and ends at `depth` of its track. */
void mark_recorder_begin_hit(struct mark_recorder *recorder, const struct span_event *event,
                             size_t depth, uint64_t time);
/* NULL: no hit is open there. Valid until the next one begins. */
const struct hit_record *mark_recorder_open_hit(const struct mark_recorder *recorder,
                                                uint32_t track, size_t depth);
/* `place`: where it is among the spans of its thread's track `thread`; `happens`: it was not cut off. */
void mark_recorder_end_hit(struct mark_recorder *recorder, uint32_t track, size_t depth,
                           uint32_t thread, const struct mark_place *place, bool happens);

/* Sorts the samples into the order of the index, which ends at `time`. False when some marks were
 * lost for lack of space. */
bool mark_recorder_finish(struct mark_recorder *recorder, const char *beside, uint64_t time,
                          struct error *error);

#endif
