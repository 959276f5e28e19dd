#include "index/build/mark_recorder.h"

#include "base/memory.h"
#include "index/marks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct open_hit {
    uint32_t track;
    size_t depth;
    size_t hit;
};

/* A sample as it comes: of any counter. */
struct counted_sample {
    uint32_t counter;
    struct sample_record sample;
};

void mark_recorder_init(struct mark_recorder *recorder, struct string_pool *strings,
                        const char *beside)
{
    *recorder = (struct mark_recorder){
        .strings = strings,
        .marks = spill_of(sizeof(struct mark_record), beside),
        .hits = spill_of(sizeof(struct hit_record), beside),
        .samples = spill_of(sizeof(struct counted_sample), beside),
        .counters = array_of(sizeof(struct counter_record)),
        .open_hits = array_of(sizeof(struct open_hit)),
    };
}

void mark_recorder_free(struct mark_recorder *recorder)
{
    spill_free(&recorder->marks);
    spill_free(&recorder->hits);
    spill_free(&recorder->samples);
    array_free(&recorder->counters);
    array_free(&recorder->open_hits);
}

/* ---- marks ---- */

void mark_recorder_mark(struct mark_recorder *recorder, const struct span_event *event,
                        const struct mark_place *place)
{
    const char *text = event->text ? event->text : "";
    *(struct mark_record *)spill_add(&recorder->marks) = (struct mark_record){
        .time = place->time,
        .track = event->track,
        .text = string_pool_add_name(recorder->strings, text),
        .kind = mark_kind_of(text),
        .depth = (uint32_t)place->depth,
        .spans = place->spans,
    };
}

/* ---- hits ---- */

void mark_recorder_begin_hit(struct mark_recorder *recorder, const struct span_event *event,
                             size_t depth, uint64_t time)
{
    *(struct open_hit *)array_add(&recorder->open_hits) =
        (struct open_hit){event->track, depth, recorder->hits.count};
    const struct span_hit *hit = event->hit;
    *(struct hit_record *)spill_add(&recorder->hits) = (struct hit_record){
        .start = time,
        .argument = hit->argument,
        .address = hit->address,
        .track = event->track,
        .name = string_pool_add_name(recorder->strings, event->function->name),
        .pid = hit->pid,
        .tid = hit->tid,
        .has_argument = hit->has_argument,
        .passed = hit->has_passed ? span_hit_length(hit) : INDEX_NOT_PASSED,
        .thread = event->track,
        .number = INDEX_NOT_HAPPENED,
    };
}

static struct open_hit *find_open_hit(const struct array *open, uint32_t track, size_t depth)
{
    for (size_t i = open->count; i-- > 0;) {
        struct open_hit *hit = array_at(open, i);
        if (hit->track == track && hit->depth == depth)
            return hit;
    }
    return NULL;
}

const struct hit_record *mark_recorder_open_hit(const struct mark_recorder *recorder,
                                                uint32_t track, size_t depth)
{
    const struct open_hit *open = find_open_hit(&recorder->open_hits, track, depth);
    return open ? spill_at(&recorder->hits, open->hit) : NULL;
}

void mark_recorder_end_hit(struct mark_recorder *recorder, uint32_t track, size_t depth,
                           uint32_t thread, const struct mark_place *place, bool happens)
{
    struct array *open = &recorder->open_hits;
    struct open_hit *ended = find_open_hit(open, track, depth);
    if (!ended)
        return;
    struct hit_record *hit = spill_at(&recorder->hits, ended->hit);
    hit->end = place->time;
    hit->thread = thread;
    hit->spans = place->spans;
    hit->depth = (uint32_t)place->depth;
    hit->marks = recorder->marks.count;
    if (happens)
        hit->number = recorder->hits_happened++;
    *ended = *(struct open_hit *)array_at(open, --open->count);
}

/* ---- counters ---- */

static uint32_t find_counter(struct mark_recorder *recorder, uint32_t name, uint32_t pid)
{
    for (size_t i = 0; i < recorder->counters.count; i++) {
        const struct counter_record *counter = array_at(&recorder->counters, i);
        if (counter->name == name && counter->pid == pid)
            return (uint32_t)i;
    }
    *(struct counter_record *)array_add(&recorder->counters) =
        (struct counter_record){.name = name, .pid = pid};
    return (uint32_t)recorder->counters.count - 1;
}

/* What is no number has no place on a curve. */
void mark_recorder_count(struct mark_recorder *recorder, const struct span_event *event,
                         uint32_t pid, uint64_t time)
{
    if (!isfinite(event->value))
        return;
    uint32_t name = string_pool_add_name(recorder->strings, event->text);
    uint32_t counter = find_counter(recorder, name, pid);
    ((struct counter_record *)array_at(&recorder->counters, counter))->sample_count++;
    *(struct counted_sample *)spill_add(&recorder->samples) =
        (struct counted_sample){counter, {time, event->value}};
}

/* Groups the samples by counter. */
static void sort_samples(struct mark_recorder *recorder, struct spill *sorted)
{
    uint64_t *next = memory_allocate((recorder->counters.count + 1) * sizeof *next);
    uint64_t first = 0;
    for (size_t i = 0; i < recorder->counters.count; i++) {
        struct counter_record *counter = array_at(&recorder->counters, i);
        next[i] = counter->first_sample = first;
        first += counter->sample_count;
    }
    for (size_t i = 0; i < recorder->samples.count; i++)
        spill_add(sorted);
    for (size_t i = 0; i < recorder->samples.count && sorted->failed.code == ERROR_NONE; i++) {
        const struct counted_sample *counted = spill_at(&recorder->samples, i);
        *(struct sample_record *)spill_at(sorted, next[counted->counter]++) = counted->sample;
    }
    free(next);
}

bool mark_recorder_finish(struct mark_recorder *recorder, const char *beside, uint64_t time,
                          struct error *error)
{
    for (size_t i = 0; i < recorder->open_hits.count; i++) {
        const struct open_hit *open = array_at(&recorder->open_hits, i);
        ((struct hit_record *)spill_at(&recorder->hits, open->hit))->end = time;
    }
    struct spill sorted = spill_of(sizeof(struct sample_record), beside);
    if (recorder->samples.failed.code == ERROR_NONE)
        sort_samples(recorder, &sorted);
    else
        sorted.failed = recorder->samples.failed;
    spill_free(&recorder->samples);
    recorder->samples = sorted;
    const struct spill *all[] = {&recorder->marks, &recorder->hits, &recorder->samples};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i]->failed.code != ERROR_NONE) {
            *error = all[i]->failed;
            return false;
        }
    return true;
}
