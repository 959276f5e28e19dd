/* A made-up trace for tests of the index: random spans that nest, as an array for lookups, and as a
 * span source.
 *
 * The same seed makes the same trace. Everything belongs to the trace.
 */
#ifndef MAGIC_TRACE_TESTS_MADE_TRACE_H
#define MAGIC_TRACE_TESTS_MADE_TRACE_H

#include "base/array.h"
#include "base/named_values.h"
#include "stack/spans/span.h"

#define NO_PARENT SIZE_MAX

struct made_span {
    uint64_t start, end; /* ns since the first event */
    uint32_t track, depth;
    uint32_t name; /* of its function: number of the first function of that name */
    uint64_t address;
    uint8_t flags, ending;
    size_t parent;       /* in made_trace.spans; NO_PARENT: none */
    size_t began, ended; /* order of the events */
};

enum { MADE_FUNCTIONS = 12, MADE_NAMES = 9, MADE_TRACKS = 4 };

struct made_trace {
    struct span_function functions[MADE_FUNCTIONS];
    struct span_track tracks[MADE_TRACKS + 1];
    size_t track_count; /* with that of the hits, which is the last if there is one */
    bool has_hits;
    struct array spans;  /* of struct made_span, in the order of their beginnings */
    struct array events; /* of struct span_event */
    struct array ended;  /* of size_t, by event: the span that it ends, if it is a LEAVE */
    struct array hits;   /* of struct span_hit, as many as events need; never grows */
    uint64_t origin;     /* time of the first event */
    uint64_t duration;
    uint64_t random; /* state */
    struct span_source source;
    size_t given;
    struct named_value values[2]; /* of the event that was given last */
    struct named_values named;
    char number[24], text[48];
    struct error fails_with;
};

/* A random number below `limit`. */
uint64_t made_random(uint64_t *state, uint64_t limit);

/* `steps` events about; how times and depths go is up to the seed. */
struct made_trace *made_trace_new(uint64_t seed, size_t steps);
void made_trace_free(struct made_trace *trace);

/* The same source each time, from its beginning. */
struct span_source *made_trace_source(struct made_trace *trace);

/* Spans of some functions have values: n, the number of the event that ends them, and some a result. */
bool made_trace_has_values(const struct made_span *span);

const struct made_span *made_trace_span(const struct made_trace *trace, size_t number);

#endif
