/* What ran beside the traced threads and was not traced: told by the side band (sideband.h), which
 * hears of all threads and children of a process.
 *
 * Used by engines of perf events, for session.json.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_UNTRACED_H
#define MAGIC_TRACE_PERF_EVENT_UNTRACED_H

#include "base/array.h"
#include "recording/session.h"

#include <linux/perf_event.h>
#include <sys/types.h>

struct untraced {
    bool threads, children; /* are traced too */
    struct array found;     /* of struct session_untraced, in the order of their births */
    struct array named;     /* of struct named_process: before their births were heard of */
    struct arena memory;    /* the names */
};

void untraced_begin(struct untraced *untraced, bool threads, bool children);
void untraced_free(struct untraced *untraced);

/* A thread of a traced process runs already and is not traced. */
void untraced_add_thread(struct untraced *untraced, pid_t pid);

/* A whole record of the kernel; others than FORK and COMM tell nothing. Those of one processor come
 * in their order; a child may have run on another than its parent, so that its name is heard before
 * its birth. */
void untraced_handle(struct untraced *untraced, const struct perf_event_header *record);

#endif
