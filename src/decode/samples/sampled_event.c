#include "decode/samples/sampled_event.h"

#include "base/array.h"
#include "base/memory.h"

#include <stdlib.h>
#include <uthash.h>

enum { NANOSECONDS_PER_SECOND = 1000000000 };

/* The kind of an event of the processor, without the number of the kind of cores, which Linux puts
 * into the upper half (PERF_PMU_TYPE_SHIFT). */
static uint64_t kind_of(const struct perf_event_attr *attribute)
{
    if (attribute->type == PERF_TYPE_HARDWARE || attribute->type == PERF_TYPE_HW_CACHE)
        return attribute->config & UINT32_MAX;
    return attribute->config;
}

static bool is_clock(const struct perf_event_attr *attribute)
{
    return attribute->type == PERF_TYPE_SOFTWARE && (attribute->config == PERF_COUNT_SW_CPU_CLOCK ||
                                                     attribute->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* How well the event measures time; 0: not at all. */
static int worth_of(const struct perf_event_attr *attribute)
{
    switch (attribute->type) {
    case PERF_TYPE_HARDWARE:
        return kind_of(attribute) == PERF_COUNT_HW_CPU_CYCLES ||
                       kind_of(attribute) == PERF_COUNT_HW_REF_CPU_CYCLES
                   ? 2
                   : 1;
    case PERF_TYPE_SOFTWARE:
        return is_clock(attribute) ? 2 : 0;
    case PERF_TYPE_TRACEPOINT:
    case PERF_TYPE_BREAKPOINT:
        return 0;
    default:
        return 1;
    }
}

uint32_t sampled_event_find(const struct perf_data *data)
{
    uint32_t found = SAMPLED_EVENT_NONE;
    int best = 0;
    for (uint32_t i = 0; i < data->event_count; i++) {
        int worth = worth_of(&data->events[i].attribute);
        if (worth > best) {
            best = worth;
            found = i;
        }
    }
    return found;
}

bool sampled_event_is(const struct perf_data *data, uint32_t found, uint32_t event)
{
    if (found == event)
        return true;
    if (found >= data->event_count || event >= data->event_count)
        return false;
    const struct perf_event_attr *a = &data->events[found].attribute;
    const struct perf_event_attr *b = &data->events[event].attribute;
    return a->type == b->type && kind_of(a) == kind_of(b) && a->config != b->config;
}

bool sampled_event_has_times(const struct perf_data *data, uint32_t found)
{
    return data->events[found].attribute.sample_type & PERF_SAMPLE_TIME;
}

/* ---- how often ---- */

struct last_time {
    uint32_t tid;
    uint64_t time;
    UT_hash_handle hh;
};

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void free_times(struct last_time *times)
{
    struct last_time *time, *next;
    HASH_ITER(hh, times, time, next)
    {
        HASH_DEL(times, time);
        free(time);
    }
}

/* The intervals between successive samples of each thread. */
static struct array find_intervals(const struct perf_data *data, uint32_t found)
{
    struct array intervals = array_of(sizeof(uint64_t));
    struct last_time *times = NULL;
    for (size_t i = 0; i < data->record_count; i++) {
        const struct sideband_record *record = &data->records[i];
        if (record->kind != SIDEBAND_SAMPLE || !sampled_event_is(data, found, record->sample.event))
            continue;
        struct last_time *last;
        HASH_FIND(hh, times, &record->tid, sizeof record->tid, last);
        if (last) {
            *(uint64_t *)array_add(&intervals) = record->time.value - last->time;
        } else {
            last = memory_allocate_zeroed(sizeof *last);
            last->tid = record->tid;
            HASH_ADD(hh, times, tid, sizeof last->tid, last);
        }
        last->time = record->time.value;
    }
    free_times(times);
    return intervals;
}

/* The median interval. An event that does not count time has no period in nanoseconds. */
static uint64_t usual_interval(const struct perf_data *data, uint32_t found)
{
    struct array intervals = find_intervals(data, found);
    uint64_t usual = 0;
    if (intervals.count > 0) {
        qsort(intervals.elements, intervals.count, intervals.element_size, compare_numbers);
        usual = *(uint64_t *)array_at(&intervals, intervals.count / 2);
    }
    array_free(&intervals);
    return usual;
}

uint64_t sampled_event_period(const struct perf_data *data, uint32_t found)
{
    const struct perf_event_attr *attribute = &data->events[found].attribute;
    if (attribute->freq && attribute->sample_freq > 0)
        return NANOSECONDS_PER_SECOND / attribute->sample_freq;
    if (is_clock(attribute) && attribute->sample_period > 0)
        return attribute->sample_period;
    return sampled_event_has_times(data, found) ? usual_interval(data, found) : 1;
}
