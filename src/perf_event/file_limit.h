/* The limit of open files, raised to what this user may have: events take a descriptor per thread
 * and processor, and the usual 1024 is soon used up.
 *
 * The limit belongs to the process, and child processes inherit it: start programs before it is
 * raised. It is restored when the descriptors are closed, unless so many others are open that none
 * could be opened under the old limit.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_FILE_LIMIT_H
#define MAGIC_TRACE_PERF_EVENT_FILE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct file_limit {
    bool raised;
    uint64_t before; /* valid when raised */
};

/* Called when there are too many (EMFILE). Returns whether there can be more now. */
bool file_limit_raise(struct file_limit *limit);
void file_limit_restore(struct file_limit *limit);

#endif
