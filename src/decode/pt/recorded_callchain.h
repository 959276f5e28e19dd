/* Reads the callchain snapshot that a recorder emits after a PSB, or where code has changed to another stack
 * (packet/callchain_snapshot.h).
 *
 * Used by the decoder, which gives it every MNT packet, and by control_flow, which makes events of
 * it where they are needed.
 */
#ifndef MAGIC_TRACE_DECODE_PT_RECORDED_CALLCHAIN_H
#define MAGIC_TRACE_DECODE_PT_RECORDED_CALLCHAIN_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>

struct recorded_callchain {
    struct array addresses; /* uint64_t, as in the packets; the innermost first */
    uint32_t expected;      /* how many addresses the header announced */
    bool all;               /* the last one is the outermost frame of its stack */
    bool placed;            /* a PTWRITE says where it belongs */
    bool whole;             /* the snapshot is complete and has not been taken yet */
};

void recorded_callchain_init(struct recorded_callchain *callers);
void recorded_callchain_free(struct recorded_callchain *callers);

/* Adds the payload of an MNT packet, which may have another meaning. */
void recorded_callchain_add(struct recorded_callchain *callers, uint64_t payload);

/* Drops the snapshot, if there is one: it does not belong to what follows. */
void recorded_callchain_forget(struct recorded_callchain *callers);

#endif
