/* What the tests of the index share: a random trace, its index with a random layout, and random
 * questions.
 */
#ifndef MAGIC_TRACE_TESTS_VIEW_TEST_H
#define MAGIC_TRACE_TESTS_VIEW_TEST_H

#include "index/build/index_build.h"
#include "index/build/index_builder.h"
#include "index/trace_index.h"
#include "made_trace.h"

struct indexed_trace {
    struct made_trace *trace;
    struct trace_index *index;
    uint32_t groups[MADE_NAMES]; /* by name; UINT32_MAX: no function of the name is called */
    uint64_t level_ratio;        /* of its layout */
    uint64_t random;             /* state, for questions */
};

/* Traces of a seed: some are empty, most have a few hundred spans. */
struct indexed_trace indexed_trace_new(uint64_t seed);
void indexed_trace_free(struct indexed_trace *indexed);

/* The index of `source`, with the usual layout. */
struct trace_index *index_source(struct span_source *source);

/* The number of the function's name, as in made_span.name. */
uint32_t name_of(const struct indexed_trace *indexed, uint32_t function);

/* A moment near the begin or end of a span, and a range of such. */
uint64_t random_time(struct indexed_trace *indexed);
struct index_range random_range(struct indexed_trace *indexed);

#endif
