/* Recorded arguments and results of calls, read and as text: "size=4096, name=\"x\"".
 *
 * Called by stack/ for each call with recorded words (FLOW_CALL_VALUE). What a function's words mean is in recording/call_values.h;
 * words that are missing, or are more than it says, are left out.
 */
#ifndef MAGIC_TRACE_DECODE_CALL_VALUE_TEXT_H
#define MAGIC_TRACE_DECODE_CALL_VALUE_TEXT_H

#include "base/arena.h"
#include "base/named_values.h"
#include "recording/call_values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A group of recorded words: the head (packet/call_values_head.h), then what belongs to it; 0 words: none. */
struct recorded_group {
    const uint64_t *words;
    size_t count;
};

/* What is read lives in `memory`. False: no described function has such values. */
bool call_values_read_groups(const struct call_values *values, struct recorded_group arguments,
                             struct recorded_group result, struct arena *memory,
                             struct named_values *read);

#endif
