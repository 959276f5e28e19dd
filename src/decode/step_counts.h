/* How many steps of each kind a recording holds, and its first errors.
 *
 * Counted in a separate, slow pass (flow_step.h), so that it costs normal decoding nothing. Called
 * by `decode -stats`.
 */
#ifndef MAGIC_TRACE_DECODE_STEP_COUNTS_H
#define MAGIC_TRACE_DECODE_STEP_COUNTS_H

#include "base/array.h"
#include "decode/flow.h"

enum { STEP_COUNTS_ERRORS_AT_MOST = 1000 };

struct step_error {
    bool has_thread;
    uint32_t tid;
    uint64_t address; /* where it was noticed; 0: unknown */
    uint64_t offset;  /* of the packet, in its ring */
    enum decode_error error;
};

struct step_counts {
    uint64_t kinds[STEP_KINDS];
    struct array errors; /* struct step_error: the first STEP_COUNTS_ERRORS_AT_MOST */
};

/* The caller frees the result. */
struct step_counts step_counts_of(const struct flow *flow);
void step_counts_free(struct step_counts *counts);

#endif
