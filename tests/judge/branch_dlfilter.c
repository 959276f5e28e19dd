/* A perf-dlfilter (man 1 perf-dlfilter) that logs the branches which perf decodes (branch_log.h)
 * and drops them, so that they need not be printed:
 *
 *     perf script --itrace=be --dlfilter branch_dlfilter.so [--dlarg print] -i perf.data
 *
 * Errors are printed by perf itself.
 */
#include "branch_log.h"

#include <perf/perf_dlfilter.h>
#include <stdlib.h>
#include <string.h>

struct logs {
    struct branch_log *logs; /* by their first branch */
    size_t count;
    bool print;
};

/* Filled in by perf. */
struct perf_dlfilter_fns perf_dlfilter_fns;

static struct branch_log *log_of(struct logs *logs, uint32_t tid)
{
    for (size_t i = logs->count; i > 0; i--)
        if (logs->logs[i - 1].tid == tid)
            return &logs->logs[i - 1];
    logs->logs = realloc(logs->logs, (logs->count + 1) * sizeof(*logs->logs));
    logs->logs[logs->count] = (struct branch_log){.tid = tid, .print = logs->print};
    return &logs->logs[logs->count++];
}

int start(void **data, void *ctx)
{
    int count = 0;
    char **arguments = perf_dlfilter_fns.args(ctx, &count);
    struct logs *logs = calloc(1, sizeof(*logs));
    logs->print = count > 0 && strcmp(arguments[0], "print") == 0;
    *data = logs;
    return 0;
}

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
    if (sample->flags & PERF_DLFILTER_FLAG_BRANCH)
        branch_log_add(log_of(data, (uint32_t)sample->tid), sample->ip, sample->addr);
    return 1;
}

int stop(void *data, void *ctx)
{
    struct logs *logs = data;
    for (size_t i = 0; i < logs->count; i++)
        branch_log_end(&logs->logs[i]);
    free(logs->logs);
    free(logs);
    return 0;
}
