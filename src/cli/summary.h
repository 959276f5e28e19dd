/* The few lines on stderr that say what a trace holds, and what it lacks. */
#ifndef MAGIC_TRACE_CLI_SUMMARY_H
#define MAGIC_TRACE_CLI_SUMMARY_H

#include "stack/timeline.h"

#include <stddef.h>
#include <stdint.h>

struct trace_summary {
    struct timeline_statistics statistics;
    size_t threads;
    uint64_t length; /* nanoseconds from first to last event; 0 unknown */
};

/* `recording`: where session.json is looked for, which knows what ran untraced. */
void summary_print(const struct trace_summary *summary, const char *recording);

#endif
