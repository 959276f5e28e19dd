/* Calls that are to be explained, as the user gave them.
 *
 * Called by `magic-trace explain` and by `report -why`.
 */
#ifndef MAGIC_TRACE_CLI_TEXT_EXPLAINED_CALLS_H
#define MAGIC_TRACE_CLI_TEXT_EXPLAINED_CALLS_H

#include "index/trace_index.h"

#include <stdio.h>

struct explained_calls {
    const char *function; /* or a call of it: NAME#804 */
    double factor;        /* slow calls take longer than so many medians; or */
    uint64_t limit;       /* longer than this, ns; 0: the factor counts */
    bool wall;            /* the time in which calls were preempted counts, too */
    size_t causes;        /* named at most */
    bool json;
    size_t max_bytes; /* of JSON; 0: any size */
};

/* What is meant where the user says nothing; the function is still to be set. */
struct explained_calls explained_calls_standard(void);

/* `trace`: as the user gave it, for the commands that show a place. */
bool explained_calls_print(const struct explained_calls *calls, const struct trace_index *index,
                           const char *trace, FILE *stream, struct error *error);

#endif
