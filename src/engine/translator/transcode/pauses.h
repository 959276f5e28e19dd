/* When a thread did not run while it took the steps that the transcoder has in hand: between which of them each such time lies is
 * found by the timeline. Used by transcoder.c and code_border.c. Times in ticks.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_PAUSES_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_PAUSES_H

#include "base/array.h"
#include "engine/translator/transcode/off_cpu.h"

/* The thread's program did not run. Its last instruction before was some time earlier than the kernel's record: it had to
 * get there. */
struct pause {
    uint64_t begin, end;
    struct off_cpu_period period;
};

struct pauses {
    struct array all; /* of struct pause, in order */
    size_t next;      /* the first of them that the steps have not come to */
    size_t last;      /* and the one after the last that the present part of the steps has */
};

void pauses_init(struct pauses *pauses);
void pauses_free(struct pauses *pauses);

/* Forgets all. */
void pauses_clear(struct pauses *pauses);

/* Adds those of the thread of `slot` from `from` to `until`. */
void pauses_find(struct pauses *pauses, struct off_cpu *off_cpu, const struct tr_slot *slot,
                 uint64_t tsc_hz, uint64_t from, uint64_t until);

/* Number `index`. */
const struct pause *pauses_get(const struct pauses *pauses, size_t index);

/* The next one of the present part; NULL: none. */
const struct pause *pauses_next(const struct pauses *pauses);

/* How long the thread will not have run when the present part is over. */
uint64_t pauses_to_come(const struct pauses *pauses);

/* The first one to come that ends at or after `time`; as many as there are: none. */
size_t pauses_at(const struct pauses *pauses, uint64_t time);

#endif
