#include "index/build/stack_recorder.h"

#include "index/file/index_format.h"

void stack_recorder_init(struct stack_recorder *recorder, size_t tracks, const char *beside)
{
    *recorder = (struct stack_recorder){
        .running = stack_parts_new(tracks),
        .parts = spill_of(sizeof(struct stack_part), beside),
        .records = array_of(sizeof(struct stack_record)),
    };
}

void stack_recorder_free(struct stack_recorder *recorder)
{
    stack_parts_free(&recorder->running);
    spill_free(&recorder->parts);
    array_free(&recorder->records);
}

void stack_recorder_take(struct stack_recorder *recorder, const struct span_event *event,
                         uint64_t time)
{
    struct stack_part part;
    if (stack_parts_take(&recorder->running, event, time, &part))
        *(struct stack_part *)spill_add(&recorder->parts) = part;
}

static void add_records(struct stack_recorder *recorder, struct string_pool *strings)
{
    for (size_t i = 0; i < recorder->running.stacks.count; i++) {
        const struct known_stack *stack = array_at(&recorder->running.stacks, i);
        *(struct stack_record *)array_add(&recorder->records) = (struct stack_record){
            .parts = stack->parts,
            .running = stack->running,
            .first = stack->first,
            .last = stack->last,
            .name = string_pool_add_name(strings, stack->name),
            .depth = stack->depth,
            .track = stack->track,
        };
    }
}

bool stack_recorder_finish(struct stack_recorder *recorder, struct string_pool *strings,
                           struct error *error)
{
    if (recorder->parts.failed.code != ERROR_NONE) {
        *error = recorder->parts.failed;
        return false;
    }
    stack_parts_finish(&recorder->running, (struct stack_part *)(void *)recorder->parts.elements,
                       recorder->parts.count);
    add_records(recorder, strings);
    return true;
}
