#include "index/off_cpu_times.h"

#include "base/memory.h"
#include "index/open_groups.h"
#include "index/span_scan.h"
#include "stack/spans/off_cpu_spans.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct off_cpu_time {
    uint64_t start, end;
    uint64_t later; /* ns of all that follow */
};

struct off_cpu_times {
    const struct trace_index *index;
    uint32_t group;
    pthread_mutex_t lock; /* of reading */
    uint32_t read;        /* tracks */
    struct array
        *tracks; /* by track, of struct off_cpu_time, the last first, as spans are scanned */
};

static uint32_t special_group(const struct trace_index *index, const char *name)
{
    for (uint32_t i = 0; i < index->facts.functions; i++) {
        const struct index_function function = trace_index_function(index, i);
        if (function.colour == INDEX_SPECIAL && strcmp(function.name, name) == 0)
            return index_group_of(index, i);
    }
    return NO_GROUP;
}

uint32_t index_off_cpu_group(const struct trace_index *index)
{
    return special_group(index, OFF_CPU_NAME);
}

uint32_t index_system_call_group(const struct trace_index *index)
{
    return special_group(index, "[syscall]");
}

struct off_cpu_times *off_cpu_times_new(const struct trace_index *index)
{
    struct off_cpu_times *times = memory_allocate(sizeof *times);
    *times = (struct off_cpu_times){
        .index = index,
        .group = index_off_cpu_group(index),
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .tracks = memory_allocate_zeroed((index->facts.tracks + 1) * sizeof *times->tracks),
    };
    return times;
}

void off_cpu_times_free(struct off_cpu_times *times)
{
    if (!times)
        return;
    for (uint32_t i = 0; i < times->index->facts.tracks; i++)
        array_free(&times->tracks[i]);
    free(times->tracks);
    pthread_mutex_destroy(&times->lock);
    free(times);
}

bool off_cpu_times_known(const struct off_cpu_times *times)
{
    return times->group != NO_GROUP;
}

/* Whether the span lies in the time that was added last; spans come from the last to the first, outer ones before
 * inner ones. */
static bool is_inside(const struct array *times, const struct index_span *span)
{
    const struct off_cpu_time *last = times->count ? array_at(times, times->count - 1) : NULL;
    return last && span->start >= last->start;
}

static bool read_track(const struct off_cpu_times *times, uint32_t number, struct error *error)
{
    struct array *track = &times->tracks[number];
    const struct index_span *spans;
    struct span_scan scan =
        span_scan_begin(times->index, number, (struct index_range){0, UINT64_MAX});
    uint64_t later = 0;
    scan.only_group = times->group;
    *track = array_of(sizeof(struct off_cpu_time));
    for (size_t count; (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; i-- > 0;) {
            if (index_group_of(times->index, spans[i].function) != times->group ||
                is_inside(track, &spans[i]))
                continue;
            const struct off_cpu_time time = {spans[i].start, spans[i].end, later};
            array_add_all(track, &time, 1);
            later += time.end - time.start;
        }
    bool ok = span_scan_end(&scan);
    if (!ok)
        array_free(track);
    return ok;
}

/* Time off a processor from `moment` on. */
static uint64_t time_after(const struct array *track, uint64_t moment)
{
    size_t low = 0, high = track->count; /* the first that begins before the moment */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct off_cpu_time *time = array_at(track, middle);
        if (time->start < moment)
            high = middle;
        else
            low = middle + 1;
    }
    uint64_t after = 0;
    if (low > 0) {
        const struct off_cpu_time *next = array_at(track, low - 1);
        after = next->later + (next->end - next->start);
    }
    if (low < track->count) {
        const struct off_cpu_time *at = array_at(track, low);
        after += at->end > moment ? at->end - moment : 0;
    }
    return after;
}

bool off_cpu_times_read(struct off_cpu_times *times, struct error *error)
{
    bool ok = true;
    pthread_mutex_lock(&times->lock);
    while (ok && times->read < times->index->facts.tracks && off_cpu_times_known(times)) {
        ok = read_track(times, times->read, error);
        times->read += ok;
    }
    pthread_mutex_unlock(&times->lock);
    return ok;
}

uint64_t off_cpu_times_within(const struct off_cpu_times *times, uint32_t track,
                              struct index_range range)
{
    if (range.from >= range.to)
        return 0;
    return time_after(&times->tracks[track], range.from) -
           time_after(&times->tracks[track], range.to);
}
