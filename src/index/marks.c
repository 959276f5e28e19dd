#include "index/marks.h"

#include "index/file/index_reader.h"

#include <math.h>
#include <stdlib.h>

/* ---- even selections ---- */

/* Whether item `number` of `count` is one of the `limit` that are kept. */
static bool is_selected(uint64_t number, uint64_t count, size_t limit)
{
    if (count <= limit)
        return true;
    /* Kept are those at which number * limit / count steps. */
    unsigned __int128 scaled = (unsigned __int128)number * limit;
    return limit > 0 && (uint64_t)(scaled % count) < limit;
}

/* ---- marks ---- */

static size_t find_mark(const struct trace_index *index, uint64_t time)
{
    size_t low = 0, high = index->facts.marks;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->marks[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_mark(const struct trace_index *index, const struct mark_record *record,
                     struct array *marks)
{
    *(struct index_mark *)array_add(marks) = (struct index_mark){
        .time = record->time,
        .track = record->track,
        .depth = record->depth,
        .spans = record->spans,
        .number = (uint64_t)(record - index->marks),
        .kind = record->kind <= MARK_NOTE ? (enum mark_kind)record->kind : MARK_NOTE,
        .text = index->strings + record->text,
    };
}

bool index_marks(const struct trace_index *index, struct index_range range, size_t limit,
                 struct array *marks, bool *more, struct error *error)
{
    (void)error;
    size_t first = find_mark(index, range.from), last = find_mark(index, range.to);
    size_t count = last > first ? last - first : 0;
    *more = count > limit;
    for (size_t i = 0; i < count; i++)
        if (is_selected(i, count, limit))
            add_mark(index, &index->marks[first + i], marks);
    return true;
}

/* ---- switches ---- */

static uint64_t find_switch(const struct trace_index *index, uint64_t time)
{
    uint64_t low = 0, high = index->facts.switches;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (index->switches[middle].to_time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void index_switches(const struct trace_index *index, struct index_range range, size_t limit,
                    struct array *switches, bool *more)
{
    uint64_t first = find_switch(index, range.from), last = find_switch(index, range.to);
    uint64_t count = last > first ? last - first : 0;
    *more = count > limit;
    for (uint64_t i = 0; i < count; i++) {
        const struct switch_record *record = &index->switches[first + i];
        if (is_selected(i, count, limit))
            *(struct index_switch *)array_add(switches) = (struct index_switch){
                record->from_time, record->to_time, record->from_track, record->to_track};
    }
}

/* ---- hits ---- */

static bool hit_overlaps(const struct hit_record *hit, struct index_range range)
{
    return range.from < range.to && hit->start < range.to &&
           (hit->end > range.from || (hit->end == hit->start && hit->start == range.from));
}

static void add_hit(const struct trace_index *index, const struct hit_record *record,
                    struct array *hits)
{
    *(struct index_hit *)array_add(hits) = (struct index_hit){
        .start = record->start,
        .end = record->end,
        .track = record->track,
        .pid = record->pid,
        .tid = record->tid,
        .name = index->strings + record->name,
        .has_argument = record->has_argument != 0,
        .argument = record->argument,
        .address = record->address,
        .has_passed = record->passed != INDEX_NOT_PASSED,
        .passed = record->passed,
        .thread = record->thread,
        .depth = record->depth,
        .spans = record->spans,
        .marks = record->marks,
        .number = record->number,
    };
}

bool index_hits(const struct trace_index *index, struct index_range range, size_t limit,
                struct array *hits, bool *more, struct error *error)
{
    (void)error;
    uint64_t count = 0, number = 0;
    for (uint32_t i = 0; i < index->facts.hits; i++)
        count += hit_overlaps(&index->hits[i], range);
    *more = count > limit;
    for (uint32_t i = 0; i < index->facts.hits; i++)
        if (hit_overlaps(&index->hits[i], range) && is_selected(number++, count, limit))
            add_hit(index, &index->hits[i], hits);
    return true;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = ((const struct index_hit *)left)->number;
    uint32_t b = ((const struct index_hit *)right)->number;
    return (a > b) - (a < b);
}

void index_hits_within(const struct trace_index *index, struct index_range range,
                       struct array *hits)
{
    size_t first = hits->count;
    for (uint32_t i = 0; i < index->facts.hits; i++) {
        const struct hit_record *hit = &index->hits[i];
        if (hit->number != INDEX_NOT_HAPPENED && hit->end >= range.from && hit->end < range.to)
            add_hit(index, hit, hits);
    }
    if (hits->count > first)
        qsort(array_at(hits, first), hits->count - first, sizeof(struct index_hit), by_number);
}

/* ---- counters ---- */

struct index_counter trace_index_counter(const struct trace_index *index, uint32_t counter)
{
    const struct counter_record *record = &index->counters[counter];
    return (struct index_counter){
        .name = index->strings + record->name,
        .pid = record->pid,
        .samples = record->sample_count,
    };
}

/* The first sample of the counter at `time` or later. */
static uint64_t find_sample(const struct trace_index *index, const struct counter_record *counter,
                            uint64_t time)
{
    uint64_t low = 0, high = counter->sample_count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (index->samples[counter->first_sample + middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return counter->first_sample + low;
}

struct counter_values index_counter_values(const struct trace_index *index, uint32_t counter,
                                           struct index_range range)
{
    const struct counter_record *record = &index->counters[counter];
    uint64_t first = find_sample(index, record, range.from);
    uint64_t last = find_sample(index, record, range.to);
    struct counter_values values = {0};
    for (uint64_t i = first; i < last; i++) {
        double value = index->samples[i].value;
        bool is_first = values.count++ == 0;
        values.min = is_first ? value : fmin(values.min, value);
        values.max = is_first ? value : fmax(values.max, value);
    }
    return values;
}

static void begin_point(const struct sample_record *sample, struct array *points)
{
    *(struct counter_point *)array_add(points) =
        (struct counter_point){sample->time, sample->value, sample->value, sample->value};
}

static void add_to_point(const struct sample_record *sample, struct counter_point *point)
{
    if (sample->value < point->min)
        point->min = sample->value;
    if (sample->value > point->max)
        point->max = sample->value;
    point->last = sample->value;
}

/* The samples of each of `slots` equal parts of the range are one point, where there are more of
 * them than slots. */
static void add_points(const struct sample_record *samples, uint64_t count,
                       struct index_range range, size_t slots, struct array *points)
{
    uint64_t slot = UINT64_MAX;
    for (uint64_t i = 0; i < count && slots > 0; i++) {
        unsigned __int128 offset = (unsigned __int128)(samples[i].time - range.from) * slots;
        uint64_t here = count <= slots ? i : (uint64_t)(offset / (range.to - range.from));
        if (i == 0 || here != slot)
            begin_point(&samples[i], points);
        else
            add_to_point(&samples[i], array_at(points, points->count - 1));
        slot = here;
    }
}

bool index_counter_points(const struct trace_index *index, uint32_t counter,
                          struct index_range range, size_t points, struct array *result,
                          struct error *error)
{
    if (counter >= index->facts.counters)
        return error_set(error, ERROR_USAGE, "the trace has no counter %u; it has %u, from 0 on",
                         counter, index->facts.counters);
    const struct counter_record *record = &index->counters[counter];
    if (points == 0 || range.from >= range.to)
        return true;
    uint64_t first = find_sample(index, record, range.from);
    uint64_t last = find_sample(index, record, range.to);
    if (first > record->first_sample) {
        begin_point(&index->samples[first - 1], result);
        points--;
    }
    if (range.to > index->facts.duration + 1)
        range.to = index->facts.duration + 1; /* so that the range is cut to the trace */
    if (last > first)
        add_points(&index->samples[first], last - first, range, points, result);
    return true;
}
