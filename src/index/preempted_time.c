#include "index/preempted_time.h"

#include "index/off_cpu_times.h"
#include "index/open_groups.h"
#include "index/span_scan.h"

static bool is_special(const struct trace_index *index, const struct index_span *span)
{
    return trace_index_function(index, span->function).colour == INDEX_SPECIAL;
}

bool index_preempted_time(const struct trace_index *index, const struct call_place *call,
                          uint64_t *time, struct error *error)
{
    uint32_t off_cpu = index_off_cpu_group(index);
    const struct index_range range = {call->span.start, call->span.end};
    const struct index_span *spans;
    struct index_span special = {0}; /* the last, which encloses what it calls */
    struct span_scan scan = span_scan_begin(index, call->track, range);
    *time = 0;
    for (size_t count; off_cpu != NO_GROUP && (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; i-- > 0;) {
            if (!is_special(index, &spans[i]) || spans[i].depth <= call->span.depth ||
                !range_overlaps(range, &spans[i]))
                continue;
            bool is_enclosed = spans[i].depth > special.depth && spans[i].start >= special.start &&
                               spans[i].end <= special.end;
            if (!is_enclosed && index_group_of(index, spans[i].function) == off_cpu)
                *time += spans[i].end - spans[i].start;
            if (!is_enclosed)
                special = spans[i];
        }
    return span_scan_end(&scan);
}
