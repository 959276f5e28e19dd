/* The functions of spans: one object per function that is shown, made when it is first shown.
 *
 * Readable names come from symbols; the source line, too, but only on request, because that reads
 * debug information. Gaps that are drawn as spans have functions of their own here ("[overflow]").
 *
 * Owned by a timeline and shared by all its sources, so that pointers can be compared; used from
 * one thread.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_SPAN_FUNCTIONS_H
#define MAGIC_TRACE_STACK_SPANS_SPAN_FUNCTIONS_H

#include "base/arena.h"
#include "base/array.h"
#include "stack/spans/span.h"
#include "stack/thread_stack.h"

struct shown_function {
    struct span_function function;
    bool line_known;
};

struct span_functions {
    struct symbols *symbols; /* borrowed */
    struct array by_id;      /* struct shown_function *, by function_id; NULL: not shown yet */
    struct array ready[2];   /* const struct span_function *, by function_id: [0] without the
                              * line, [1] with it; NULL: look it up */
    struct array of_gaps;    /* struct gap_function (private) */
    struct arena memory;
    uint32_t count; /* the next index */
};

void span_functions_init(struct span_functions *functions, struct symbols *symbols);
void span_functions_free(struct span_functions *functions);

/* span_functions_get for a function, or its line, that is requested for the first time. */
const struct span_function *span_functions_look_up(struct span_functions *functions, function_id id,
                                                   bool with_line);

static inline const struct span_function *span_functions_get(struct span_functions *functions,
                                                             function_id id, bool with_line)
{
    const struct array *ready = &functions->ready[with_line];
    const struct span_function *const *by_id = ready->elements;
    const struct span_function *known = id < ready->count ? by_id[id] : NULL;
    return known != NULL ? known : span_functions_look_up(functions, id, with_line);
}

const struct span_function *span_functions_get_gap(struct span_functions *functions,
                                                   const struct gap *gap);

/* A new object that is not a function of the program: the name of a hit. */
const struct span_function *span_functions_get_special(struct span_functions *functions,
                                                       const char *name);

/* The text of a gap for an INSTANT; allocated in `memory`. */
const char *gap_text(const struct gap *gap, struct arena *memory);

#endif
