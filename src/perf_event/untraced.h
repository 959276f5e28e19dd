/* The threads and processes beside the traced ones that ran and were not traced. The sideband
 * (sideband.h) reports all threads and children of a process.
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
    struct array found;     /* of struct session_untraced, in the order of their creation */
    struct array named;     /* of struct named_process: names that came before the creation */
    struct arena memory;    /* the names */
};

void untraced_begin(struct untraced *untraced, bool threads, bool children);
void untraced_free(struct untraced *untraced);

/* A thread of a traced process runs already and is not traced. */
void untraced_add_thread(struct untraced *untraced, pid_t pid);

/* Takes a whole record of the kernel; only FORK and COMM matter. The records of one processor come
 * in order; a child may have run on another processor than its parent, so its name may come before
 * its creation. */
void untraced_handle(struct untraced *untraced, const struct perf_event_header *record);

#endif
