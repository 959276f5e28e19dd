#include "stack/spans/counter_values.h"

#include <string.h>

void counter_values_init(struct counter_values *values, const struct span_source *source)
{
    *values = (struct counter_values){.tracks = source->tracks,
                                      .newest = array_of(sizeof(struct span_event))};
}

void counter_values_free(struct counter_values *values)
{
    array_free(&values->newest);
}

static bool is_same(const struct counter_values *values, const struct span_event *a,
                    const struct span_event *b)
{
    return strcmp(a->text, b->text) == 0 &&
           values->tracks[a->track].pid == values->tracks[b->track].pid;
}

void counter_values_keep(struct counter_values *values, const struct span_event *event)
{
    if (event->kind != SPAN_COUNTER)
        return;
    for (size_t i = 0; i < values->newest.count; i++) {
        struct span_event *kept = array_at(&values->newest, i);
        if (is_same(values, kept, event)) {
            *kept = *event;
            return;
        }
    }
    array_add_all(&values->newest, event, 1);
}

void counter_values_walk(struct counter_values *values)
{
    values->walked = 0;
}

bool counter_values_next(struct counter_values *values, struct nanoseconds time,
                         struct span_event *event)
{
    if (values->walked == values->newest.count)
        return false;
    *event = *(struct span_event *)array_at(&values->newest, values->walked++);
    event->time = time;
    return true;
}
