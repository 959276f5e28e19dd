#include "index/off_cpu_times.h"

#include "base/memory.h"
#include "index/open_groups.h"
#include "index/span_scan.h"
#include "index/span_search.h"
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
    enum off_cpu_kind kind;
    struct off_cpu_groups groups;
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

struct off_cpu_groups index_off_cpu_groups(const struct trace_index *index)
{
    return (struct off_cpu_groups){
        .not_running = special_group(index, OFF_CPU_NAME),
        .preempted = special_group(index, PREEMPTED_NAME),
    };
}

uint32_t index_system_call_group(const struct trace_index *index)
{
    return special_group(index, "[syscall]");
}

struct off_cpu_times *off_cpu_times_new(const struct trace_index *index, enum off_cpu_kind kind)
{
    struct off_cpu_times *times = memory_allocate(sizeof *times);
    *times = (struct off_cpu_times){
        .index = index,
        .kind = kind,
        .groups = index_off_cpu_groups(index),
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
    return times->groups.not_running != NO_GROUP || times->groups.preempted != NO_GROUP;
}

/* Whether the span lies in the time that was added last; spans come from the last to the first, outer ones before
 * inner ones. */
static bool is_inside(const struct array *times, const struct index_span *span)
{
    const struct off_cpu_time *last = times->count ? array_at(times, times->count - 1) : NULL;
    return last && span->start >= last->start;
}

/* ---- what a thread did when it was stopped ---- */

/* The span at which the last of `callers` is one less deep and holds `span`; NULL: it is not among them. */
static const struct index_span *caller_among(const struct array *callers,
                                             const struct index_span *span)
{
    for (size_t i = callers->count; i-- > 0;) {
        const struct index_span *caller = array_at(callers, i);
        if (caller->depth + 1 == span->depth)
            return caller->start <= span->start && caller->end >= span->end ? caller : NULL;
    }
    return NULL;
}

/* Spans come from the last to the first, outer ones before inner ones. */
static void remember_caller(struct array *callers, const struct index_span *span)
{
    while (callers->count > 0 &&
           ((struct index_span *)array_at(callers, callers->count - 1))->depth >= span->depth)
        callers->count--;
    array_add_all(callers, span, 1);
}

/* Whether the thread could have run on: the kernel has recorded it, or it was stopped in the program's code, not in the
 * kernel, where it waits. `callers` holds spans that were read; a caller that ends much later is not among them, and is added. */
static bool is_preempted(const struct off_cpu_times *times, uint32_t track,
                         const struct index_span *span, struct array *callers, bool *ok,
                         struct error *error)
{
    if (span->depth == 0 || index_group_of(times->index, span->function) == times->groups.preempted)
        return true;
    const struct index_span *caller = caller_among(callers, span);
    if (!caller) {
        callers->count = 0;
        *ok = index_span_at(times->index, track, span->depth - 1, span->start, callers, error);
        caller = *ok ? caller_among(callers, span) : NULL;
    }
    enum index_colour colour =
        caller ? trace_index_function(times->index, caller->function).colour : INDEX_OWN;
    return colour != INDEX_SPECIAL && colour != INDEX_KERNEL;
}

/* ---- reading ---- */

bool off_cpu_times_has(const struct off_cpu_times *times, const struct index_span *span)
{
    return off_cpu_groups_has(times->groups, index_group_of(times->index, span->function));
}

static bool add_time(const struct off_cpu_times *times, uint32_t number,
                     const struct index_span *span, struct array *callers, struct error *error)
{
    struct array *track = &times->tracks[number];
    bool ok = true;
    if (!off_cpu_times_has(times, span)) {
        if (times->kind == OFF_CPU_PREEMPTED)
            remember_caller(callers, span);
        return true;
    }
    if (is_inside(track, span) || (times->kind == OFF_CPU_PREEMPTED &&
                                   !is_preempted(times, number, span, callers, &ok, error)))
        return ok;
    const struct off_cpu_time *next = track->count ? array_at(track, track->count - 1) : NULL;
    const struct off_cpu_time time = {
        .start = span->start,
        .end = span->end,
        .later = next ? next->later + (next->end - next->start) : 0,
    };
    array_add_all(track, &time, 1);
    return ok;
}

static bool read_track(const struct off_cpu_times *times, uint32_t number, struct error *error)
{
    const struct index_span *spans;
    struct array callers = array_of(sizeof(struct index_span));
    struct span_scan scan =
        span_scan_begin(times->index, number, (struct index_range){0, UINT64_MAX});
    bool ok = true;
    scan.only_groups[0] = times->groups.not_running;
    scan.only_groups[1] = times->groups.preempted;
    times->tracks[number] = array_of(sizeof(struct off_cpu_time));
    for (size_t count; ok && (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; ok && i-- > 0;)
            ok = add_time(times, number, &spans[i], &callers, error);
    ok = span_scan_end(&scan) && ok;
    array_free(&callers);
    if (!ok)
        array_free(&times->tracks[number]);
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
