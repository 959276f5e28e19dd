/* Which spans of a recording's trace go on across a loss of packets. Used by cut_judge. */
#ifndef MAGIC_TRACE_TESTS_SPANS_ACROSS_H
#define MAGIC_TRACE_TESTS_SPANS_ACROSS_H

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* One loss of one thread. */
struct loss_spans {
    uint32_t pid, tid;
    struct ticks begin, end; /* of what is not known: of the gap and of the first event after it */
    struct array names;      /* const char *: of the functions that are open all the time, root
                                first. The caller's */
    uint64_t kept;           /* result: so many of them are one span */
    uint64_t invented;       /* result: other spans that go on across the loss */
};

/* Fills in the results of `losses` (struct loss_spans) from the trace of the recording at `path`.
 */
bool spans_across(const char *path, struct array *losses, struct error *error);

#endif
