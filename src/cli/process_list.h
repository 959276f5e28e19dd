/* The processes that a user may want to attach to: all but kernel threads and ourselves. */
#ifndef MAGIC_TRACE_CLI_PROCESS_LIST_H
#define MAGIC_TRACE_CLI_PROCESS_LIST_H

#include "base/arena.h"
#include "base/array.h"

struct process_list {
    struct array pids;  /* of pid_t, ascending */
    struct array names; /* of const char *: "PID COMMAND LINE" */
    struct arena memory;
};

void process_list_read(struct process_list *list);
void process_list_free(struct process_list *list);

#endif
