/* Reads the list of callers that a recorder tells behind a PSB (packet/callchain_snapshot.h).
 *
 * Used by the decoder, which gives it every MNT packet, and by control_flow, which makes events of
 * the list where it is needed.
 */
#ifndef MAGIC_TRACE_DECODE_PT_RECORDED_CALLCHAIN_H
#define MAGIC_TRACE_DECODE_PT_RECORDED_CALLCHAIN_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>

struct recorded_callchain {
    struct array addresses; /* uint64_t, as in the packets; the innermost first */
    uint32_t expected;      /* how many there are to be */
    bool all;               /* the last one was called by nobody */
    bool whole;             /* all of the list was read, and nobody has taken it */
};

void recorded_callchain_init(struct recorded_callchain *callers);
void recorded_callchain_free(struct recorded_callchain *callers);

/* The payload of an MNT packet, perhaps of somebody else's. */
void recorded_callchain_add(struct recorded_callchain *callers, uint64_t payload);

/* The list, if there is one, is about something else. */
void recorded_callchain_forget(struct recorded_callchain *callers);

#endif
