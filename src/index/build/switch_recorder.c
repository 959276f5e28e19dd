#include "index/build/switch_recorder.h"

#include "index/file/index_format.h"

void switch_recorder_init(struct switch_recorder *recorder, const char *beside)
{
    *recorder = (struct switch_recorder){
        .switches = spill_of(sizeof(struct switch_record), beside),
    };
}

void switch_recorder_free(struct switch_recorder *recorder)
{
    stack_flows_free(&recorder->flows);
    spill_free(&recorder->switches);
}

void switch_recorder_take(struct switch_recorder *recorder, const struct span_event *event,
                          uint64_t time)
{
    if (event->stack == 0)
        return;
    struct span_event at = *event;
    at.time.value = time;
    if (event->kind == SPAN_LEAVE) {
        stack_flows_begin(&recorder->flows, &at);
        return;
    }
    struct stack_origin from = stack_flows_end(&recorder->flows, &at);
    if (!from.known)
        return;
    *(struct switch_record *)spill_add(&recorder->switches) = (struct switch_record){
        .from_time = from.time.value,
        .to_time = time,
        .from_track = from.track,
        .to_track = event->track,
        .stack = event->stack,
        .was_seen = from.arrow != 0,
    };
}

bool switch_recorder_finish(const struct switch_recorder *recorder, struct error *error)
{
    bool failed = recorder->switches.failed.code != ERROR_NONE;
    if (failed)
        *error = recorder->switches.failed;
    return !failed;
}
