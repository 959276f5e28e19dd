/* The few lines on stderr that say what a trace holds, and what it lacks. */
#ifndef MAGIC_TRACE_CLI_TEXT_SUMMARY_H
#define MAGIC_TRACE_CLI_TEXT_SUMMARY_H

#include "cli/trace_format.h"
#include "recording/recording.h"
#include "stack/timeline.h"

#include <stddef.h>
#include <stdint.h>

struct trace_summary {
    struct timeline_statistics statistics;
    struct trace_contents contents; /* of the file that was written; length 0: not known */
};

/* `recording` knows, in its session.json, what ran untraced, and whether it has more snapshots than
 * the one that was decoded; NULL when perf script's text was decoded, which has neither. */
void summary_print(const struct trace_summary *summary, const struct recording *recording);

#endif
