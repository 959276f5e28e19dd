#include "made_up_spans.h"

#include "base/memory.h"

#include <stdlib.h>

enum {
    FUNCTIONS = 2000,
    CALLEES = 8,
    DEPTH_MAX = 60,
};

struct walk {
    struct span_source source;
    struct span_track track;
    struct span_function functions[FUNCTIONS];
    uint32_t callees[FUNCTIONS][CALLEES];
    uint32_t stack[DEPTH_MAX];
    uint32_t depth;
    uint64_t random;
    uint64_t time;
    uint64_t spans_left;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13; /* xorshift64 (Marsaglia 2003) */
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool next_event(struct span_source *source, struct span_event *event, struct error *error)
{
    struct walk *walk = source->context;
    uint64_t random = next_random(&walk->random);
    if (walk->depth == 0 && walk->spans_left == 0) {
        *error = (struct error){0};
        return false;
    }
    walk->time += 2 + (random >> 40) % 30 + (random % 97 == 0 ? random >> 50 : 0);
    *event = (struct span_event){.time = {walk->time}};
    bool deeper = random % 100 < (walk->depth < 12 ? 55 : 40);
    if (walk->depth == 0 || (deeper && walk->depth < DEPTH_MAX && walk->spans_left > 0)) {
        uint32_t function =
            walk->depth ? walk->callees[walk->stack[walk->depth - 1]][(random >> 32) % CALLEES] : 0;
        walk->stack[walk->depth++] = function;
        walk->spans_left -= walk->spans_left > 0;
        event->kind = SPAN_ENTER;
        event->function = &walk->functions[function];
        event->address = 0x555555554000 + 64 * (uint64_t)function;
        return true;
    }
    event->kind = SPAN_LEAVE;
    event->function = &walk->functions[walk->stack[--walk->depth]];
    return true;
}

static void close_walk(struct span_source *source)
{
    struct walk *walk = source->context;
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        free((char *)walk->functions[i].name);
        free((char *)walk->functions[i].symbol);
        if (i % 20 == 0)
            free((char *)walk->functions[i].file);
    }
    free(walk);
}

struct span_source *made_up_spans(uint64_t spans)
{
    struct walk *walk = memory_allocate_zeroed(sizeof *walk);
    walk->random = 88172645463325252;
    walk->spans_left = spans;
    walk->track = (struct span_track){1234, 1234, "program --with arguments", "program"};
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        struct span_function *function = &walk->functions[i];
        function->index = i;
        function->name = memory_format("space::thing_%u::operation(int, char const*)", i);
        function->symbol = memory_format("_ZN5space9thing_%u9operationEiPKc", i);
        function->file =
            i % 20 ? function[-1].file : memory_format("/usr/src/program/source_%u.cc", i / 20);
        function->line = 10 + i * 37 % 2000;
        for (uint32_t j = 0; j < CALLEES; j++) /* mostly neighbours, as in real programs */
            walk->callees[i][j] =
                (uint32_t)(i + next_random(&walk->random) % (j < 6 ? 40 : FUNCTIONS)) % FUNCTIONS;
    }
    walk->source = (struct span_source){
        .context = walk,
        .tracks = &walk->track,
        .track_count = 1,
        .function_count = FUNCTIONS,
        .next = next_event,
        .close = close_walk,
    };
    return &walk->source;
}
