/* Functions by name: one represents all that share a name.
 *
 * Reports identify functions by name alone, so two of the same name would be two rows that readers
 * cannot distinguish. What makes two functions one also differs from source to source (a recording
 * goes by address, a trace by what it says of a span), and a report on either must be the same.
 */
#ifndef MAGIC_TRACE_OUTPUT_SAME_NAME_H
#define MAGIC_TRACE_OUTPUT_SAME_NAME_H

#include "base/arena.h"
#include "base/array.h"
#include "stack/spans/span.h"

struct same_name {
    struct array by_index; /* of const struct span_function *, by the index of each; NULL: not
                              asked for yet */
    struct same_name_entry *entries;
    struct arena memory;
};

void same_name_init(struct same_name *names);
void same_name_free(struct same_name *names);

/* The first function asked for that has this one's name. */
const struct span_function *same_name_first(struct same_name *names,
                                            const struct span_function *function);

#endif
