#include "made_trace.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { HITS = 64 };

uint64_t made_random(uint64_t *state, uint64_t limit)
{
    *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    uint64_t mixed = *state;
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return (mixed ^ mixed >> 31) % limit;
}

/* How a trace goes. */
struct shape {
    unsigned zero_share;  /* of 100 steps, those that take no time */
    uint64_t step;        /* ns at most */
    unsigned enter_share; /* of 100 steps, those that begin a span */
    unsigned odd_share;   /* of 100 spans, those with flags or a rare end */
    bool has_pauses;      /* of hours */
};

static struct shape random_shape(uint64_t *random)
{
    static const uint64_t STEPS[] = {1, 3, 20, 1000, 1000000};
    return (struct shape){
        .zero_share = (unsigned)made_random(random, 90),
        .step = STEPS[made_random(random, 5)],
        .enter_share = 35 + (unsigned)made_random(random, 30),
        .odd_share = (unsigned)made_random(random, 40),
        .has_pauses = made_random(random, 4) == 0,
    };
}

/* ---- making events ---- */

struct making {
    struct made_trace *trace;
    struct shape shape;
    uint64_t time;
    size_t open[MADE_TRACKS + 1]; /* the innermost open span; NO_PARENT: none */
};

static struct made_span *span_at(struct made_trace *trace, size_t number)
{
    return array_at(&trace->spans, number);
}

static struct span_event *add_event(struct making *making, enum span_event_kind kind,
                                    uint32_t track)
{
    struct made_trace *trace = making->trace;
    struct span_event *event = array_add(&trace->events);
    array_add(&trace->ended);
    event->kind = kind;
    event->track = track;
    event->time.value = making->time;
    if (trace->events.count == 1)
        trace->origin = making->time;
    trace->duration = making->time - trace->origin;
    return event;
}

static const struct span_hit *random_hit(struct making *making)
{
    struct made_trace *trace = making->trace;
    struct span_hit *hit = array_add(&trace->hits);
    *hit = (struct span_hit){
        .time = {making->time},
        .has_argument = made_random(&trace->random, 2) == 0,
        .argument = (int64_t)made_random(&trace->random, 100) - 50,
        .address = made_random(&trace->random, 1000),
        .pid = 7,
        .tid = 100 + (uint32_t)made_random(&trace->random, MADE_TRACKS + 1),
    };
    return hit;
}

static void enter(struct making *making, uint32_t track)
{
    struct made_trace *trace = making->trace;
    bool is_hit = trace->has_hits && track == trace->track_count - 1;
    if (is_hit && trace->hits.count == HITS)
        return;
    const struct span_function *function =
        is_hit ? &trace->functions[0]
               : &trace->functions[made_random(&trace->random, MADE_FUNCTIONS)];
    size_t parent = making->open[track];
    struct span_event *event = add_event(making, SPAN_ENTER, track);
    event->function = function;
    event->address =
        function->index % 3 == 0 ? 0 : 0x1000 * function->index + made_random(&trace->random, 2);
    if (made_random(&trace->random, 100) < making->shape.odd_share)
        event->flags = SPAN_START_INFERRED;
    if (is_hit)
        event->hit = random_hit(making);
    making->open[track] = trace->spans.count;
    *(struct made_span *)array_add(&trace->spans) = (struct made_span){
        .start = making->time - trace->origin,
        .track = track,
        .depth = parent == NO_PARENT ? 0 : span_at(trace, parent)->depth + 1,
        .name = function->index % MADE_NAMES,
        .address = event->address,
        .flags = event->flags,
        .parent = parent,
        .began = trace->events.count,
    };
}

static void leave(struct making *making, uint32_t track)
{
    struct made_trace *trace = making->trace;
    if (making->open[track] == NO_PARENT)
        return;
    struct span_event *event = add_event(making, SPAN_LEAVE, track);
    event->function = &trace->functions[span_at(trace, making->open[track])->name];
    if (made_random(&trace->random, 100) < making->shape.odd_share) {
        event->flags = (uint8_t)(made_random(&trace->random, 4) * SPAN_END_INFERRED);
        event->end = (enum span_end)made_random(&trace->random, SPAN_END_LAST + 1);
    }
    struct made_span *span = span_at(trace, making->open[track]);
    *(size_t *)array_at(&trace->ended, trace->events.count - 1) = making->open[track];
    making->open[track] = span->parent;
    span->end = making->time - trace->origin;
    span->flags |= event->flags;
    span->ending = (uint8_t)event->end;
    span->ended = trace->events.count;
}

static void pass_time(struct making *making)
{
    uint64_t *random = &making->trace->random;
    if (made_random(random, 100) >= making->shape.zero_share)
        making->time += 1 + made_random(random, making->shape.step);
    if (making->shape.has_pauses && made_random(random, 50) == 0)
        making->time += made_random(random, UINT64_C(36000000000000));
}

static void add_mark(struct making *making, uint32_t track)
{
    static const char *const TEXTS[] = {"[overflow]", "[decode error: bad]", "killed by SIGSEGV"};
    struct made_trace *trace = making->trace;
    bool is_counter = made_random(&trace->random, 2) == 0;
    struct span_event *event = add_event(making, is_counter ? SPAN_COUNTER : SPAN_INSTANT, track);
    event->text = is_counter ? "frequency" : TEXTS[made_random(&trace->random, 3)];
    event->value = (double)made_random(&trace->random, 5000);
}

static void make_events(struct making *making, size_t steps)
{
    struct made_trace *trace = making->trace;
    uint64_t *random = &trace->random;
    for (size_t i = 0; i < steps; i++) {
        uint32_t track = (uint32_t)made_random(random, trace->track_count);
        pass_time(making);
        if (made_random(random, 20) == 0)
            add_mark(making, track);
        else if (made_random(random, 100) < making->shape.enter_share)
            enter(making, track);
        else
            leave(making, track);
    }
    for (uint32_t track = 0; track < trace->track_count; track++)
        while (making->open[track] != NO_PARENT)
            leave(making, track);
}

/* ---- beginning and end ---- */

/* Functions share names, and some have no address. */
static void make_functions(struct made_trace *trace)
{
    static const char *const NAMES[MADE_NAMES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    for (uint32_t i = 0; i < MADE_FUNCTIONS; i++)
        trace->functions[i] = (struct span_function){
            .name = NAMES[i % MADE_NAMES],
            .symbol = i % 2 ? NAMES[i % MADE_NAMES] : NULL,
            .file = i % 4 ? "file.c" : NULL,
            .line = i,
            .special = i == 1,
            .origin = (enum span_origin)(i % 4),
            .index = i,
        };
}

struct made_trace *made_trace_new(uint64_t seed, size_t steps)
{
    struct made_trace *trace = memory_allocate_zeroed(sizeof *trace);
    trace->random = seed;
    trace->spans = array_of(sizeof(struct made_span));
    trace->events = array_of(sizeof(struct span_event));
    trace->ended = array_of(sizeof(size_t));
    trace->hits = array_of(sizeof(struct span_hit));
    for (size_t i = 0; i < HITS; i++)
        array_add(&trace->hits);
    trace->hits.count = 0;
    make_functions(trace);
    trace->track_count = 1 + made_random(&trace->random, MADE_TRACKS);
    trace->has_hits = made_random(&trace->random, 2) == 0;
    trace->track_count += trace->has_hits;
    for (uint32_t i = 0; i < trace->track_count; i++)
        trace->tracks[i] = (struct span_track){7, 100 + i, "process", "thread"};
    struct making making = {
        .trace = trace,
        .shape = random_shape(&trace->random),
        .time = made_random(&trace->random, 1000),
    };
    for (size_t i = 0; i <= MADE_TRACKS; i++)
        making.open[i] = NO_PARENT;
    make_events(&making, steps);
    return trace;
}

void made_trace_free(struct made_trace *trace)
{
    array_free(&trace->spans);
    array_free(&trace->events);
    array_free(&trace->ended);
    array_free(&trace->hits);
    free(trace);
}

bool made_trace_has_values(const struct made_span *span)
{
    return span->name % 3 == 2;
}

/* They are valid until the next event, as a recording's are. */
static void give_values(struct made_trace *trace, struct span_event *event)
{
    if (event->kind != SPAN_LEAVE || trace->given > trace->ended.count)
        return; /* or the test has made it itself */
    size_t span = *(size_t *)array_at(&trace->ended, trace->given - 1);
    if (!made_trace_has_values(made_trace_span(trace, span)))
        return;
    snprintf(trace->number, sizeof trace->number, "%zu", trace->given);
    trace->values[0] = (struct named_value){.name = "n",
                                            .text = trace->number,
                                            .kind = NAMED_UNSIGNED,
                                            .unsigned_number = trace->given};
    trace->values[1] =
        (struct named_value){.name = "result", .text = "\"x\"", .kind = NAMED_TEXT, .string = "x"};
    bool has_result = trace->given % 2 == 1;
    snprintf(trace->text, sizeof trace->text, "n=%s%s", trace->number,
             has_result ? " -> \"x\"" : "");
    trace->named = (struct named_values){
        .count = 1 + has_result,
        .values = trace->values,
        .has_result = has_result,
        .text = trace->text,
    };
    event->values = &trace->named;
}

static bool next_event(struct span_source *source, struct span_event *event, struct error *error)
{
    struct made_trace *trace = source->context;
    if (trace->given == trace->events.count) {
        *error = trace->fails_with;
        return false;
    }
    *event = *(struct span_event *)array_at(&trace->events, trace->given++);
    give_values(trace, event);
    return true;
}

struct span_source *made_trace_source(struct made_trace *trace)
{
    trace->given = 0;
    trace->source = (struct span_source){
        .context = trace,
        .tracks = trace->tracks,
        .track_count = trace->track_count,
        .function_count = MADE_FUNCTIONS,
        .next = next_event,
    };
    return &trace->source;
}

const struct made_span *made_trace_span(const struct made_trace *trace, size_t number)
{
    return array_at(&trace->spans, number);
}
