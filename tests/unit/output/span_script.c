#include "span_script.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct script_function {
    struct span_function function;
    UT_hash_handle hh;
};

struct span_script *span_script_new(void)
{
    struct span_script *script = memory_allocate_zeroed(sizeof *script);
    script->tracks = array_of(sizeof(struct span_track));
    script->stacks = array_of(sizeof(struct array));
    script->events = array_of(sizeof(struct span_event));
    return script;
}

void span_script_free(struct span_script *script)
{
    HASH_CLEAR(hh, script->functions);
    for (size_t i = 0; i < script->stacks.count; i++)
        array_free(array_at(&script->stacks, i));
    array_free(&script->stacks);
    array_free(&script->tracks);
    array_free(&script->events);
    arena_free(&script->arena);
    free(script->batch);
    free(script);
}

uint32_t span_script_track(struct span_script *script, uint32_t pid, uint32_t tid,
                           const char *process, const char *thread)
{
    struct span_track track = {
        .pid = pid,
        .tid = tid,
        .process_name = arena_copy_string(&script->arena, process),
        .thread_name = arena_copy_string(&script->arena, thread),
    };
    array_add_all(&script->tracks, &track, 1);
    *(struct array *)array_add(&script->stacks) = array_of(sizeof(struct span_function *));
    return (uint32_t)script->tracks.count - 1;
}

struct span_function *span_script_function(struct span_script *script, const char *name)
{
    struct script_function *found;
    HASH_FIND_STR(script->functions, name, found);
    if (!found) {
        found = arena_allocate(&script->arena, sizeof *found);
        *found = (struct script_function){
            .function = {.name = arena_copy_string(&script->arena, name),
                         .index = (uint32_t)script->function_count++},
        };
        HASH_ADD_KEYPTR(hh, script->functions, found->function.name, strlen(name), found);
    }
    return &found->function;
}

static struct span_event *add_event(struct span_script *script, enum span_event_kind kind,
                                    uint32_t track, uint64_t time)
{
    struct span_event *event = array_add(&script->events);
    event->kind = kind;
    event->track = track;
    event->time.value = time;
    return event;
}

struct span_event *span_script_enter(struct span_script *script, uint32_t track, uint64_t time,
                                     const char *function)
{
    const struct span_function *entered = span_script_function(script, function);
    array_add_all(array_at(&script->stacks, track), &entered, 1);
    struct span_event *event = add_event(script, SPAN_ENTER, track, time);
    event->function = entered;
    return event;
}

struct span_event *span_script_leave(struct span_script *script, uint32_t track, uint64_t time)
{
    struct array *stack = array_at(&script->stacks, track);
    const struct span_function *left =
        *(const struct span_function **)array_at(stack, --stack->count);
    struct span_event *event = add_event(script, SPAN_LEAVE, track, time);
    event->function = left;
    return event;
}

struct span_event *span_script_instant(struct span_script *script, uint32_t track, uint64_t time,
                                       const char *text)
{
    struct span_event *event = add_event(script, SPAN_INSTANT, track, time);
    event->text = arena_copy_string(&script->arena, text);
    return event;
}

struct span_event *span_script_counter(struct span_script *script, uint32_t track, uint64_t time,
                                       const char *text, double value)
{
    struct span_event *event = add_event(script, SPAN_COUNTER, track, time);
    event->text = arena_copy_string(&script->arena, text);
    event->value = value;
    return event;
}

static bool next_event(struct span_source *source, struct span_event *event, struct error *error)
{
    struct span_script *script = source->context;
    if (script->replayed == script->events.count) {
        *error = script->fails_with;
        return false;
    }
    *event = *(struct span_event *)array_at(&script->events, script->replayed++);
    return true;
}

static size_t take_events(struct span_source *source, const struct span_event **events,
                          struct error *error)
{
    struct span_script *script = source->context;
    size_t count = script->events.count - script->replayed;
    if (count > script->batch_size)
        count = script->batch_size;
    if (count == 0) {
        *error = script->fails_with;
        return 0;
    }
    free(script->batch);
    script->batch = memory_allocate(count * sizeof *script->batch);
    memcpy(script->batch, array_at(&script->events, script->replayed),
           count * sizeof *script->batch);
    script->replayed += count;
    *events = script->batch;
    return count;
}

void span_script_in_batches(struct span_script *script, size_t size)
{
    script->batch_size = size;
}

static void close_source(struct span_source *source)
{
    (void)source;
}

struct span_source *span_script_source(struct span_script *script)
{
    script->replayed = 0;
    script->source.context = script;
    script->source.tracks = script->tracks.elements;
    script->source.track_count = script->tracks.count;
    script->source.function_count = script->function_count;
    script->source.next = next_event;
    script->source.take = script->batch_size > 0 ? take_events : NULL;
    script->source.close = close_source;
    return &script->source;
}
