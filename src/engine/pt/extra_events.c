#include "engine/pt/extra_events.h"

#include "engine/sample_event.h"

struct perf_event_attr extra_event_attributes(const struct processor_options *wanted,
                                              const struct perf_event_attr *packets,
                                              const struct event_rings *extras, size_t index)
{
    struct perf_event_attr attributes = sample_extra_event(&wanted->events[index], wanted->scope);
    attributes.inherit = packets->inherit;
    attributes.inherit_thread = packets->inherit_thread;
    attributes.enable_on_exec = packets->enable_on_exec;
    attributes.watermark = 1;
    attributes.wakeup_watermark = (uint32_t)extras->size / 2;
    return attributes;
}

int extra_events_add(struct event_rings *extras, const struct processor_options *wanted,
                     const struct perf_event_attr *packets, pid_t tid)
{
    int problem = 0;
    for (size_t i = 0; !problem && i < wanted->event_count; i++) {
        extras->kind = (unsigned)i;
        extras->attributes = extra_event_attributes(wanted, packets, extras, i);
        problem = event_rings_add_fitting(extras, tid,
                                          wanted->events[i].precision == EVENT_PRECISION_HIGHEST);
    }
    return problem;
}
