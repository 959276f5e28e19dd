/* The name of a counter: one text in the program (struct span_event), a name and an argument in the
 * trace, because there one counter event can have several values.
 *
 *     "frequency of CPU 3 (MHz)"   name "frequency of CPU 3", argument "(MHz)"
 *     "queue"                      name "queue", argument "value"
 *     "CPU freq (MHz)"             read from name "CPU", argument "freq (MHz)": as Jane Street's
 *                                  magic-trace writes it
 *
 * The format has an id beside the name. We write 0; in traces of others, an id other than 0 is
 * appended to the name: "heap #7 used".
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_FXT_COUNTER_TEXT_H
#define MAGIC_TRACE_OUTPUT_FXT_FXT_COUNTER_TEXT_H

#include "base/arena.h"

#include <stdint.h>

struct fxt_counter_name {
    const char *name, *argument; /* owned by the arena or permanent */
};

struct fxt_counter_name fxt_counter_split(const char *text, struct arena *memory);

/* To be freed by the caller. */
char *fxt_counter_join(const char *name, uint64_t id, const char *argument);

#endif
