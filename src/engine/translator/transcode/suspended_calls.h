/* The calls in progress on the stacks of a thread that are not running: fibers.
 *
 * A stack that code leaves by loading the stack pointer, and comes back to, still has its calls. So who begins to decode
 * in between can learn them there (packet/callchain_snapshot.h).
 *
 * Called by call_stack.c.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_SUSPENDED_CALLS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_SUSPENDED_CALLS_H

#include "base/array.h"
#include "packet/encoder.h"

/* A stack that was left. */
struct suspended_stack {
    uint64_t pointer; /* the stack pointer then */
    uint64_t code;    /* the address of the block that left it */
    uint64_t
        psb; /* stream position of the newest PSB then; UINT64_MAX: decoders did not know its callers */
};

struct suspended_calls {
    struct array stacks; /* the one left longest ago first */
    /* Of usual_numbers.h: from the code that left a stack to the code that continues it. */
    struct array distances;
};

struct suspended_calls suspended_calls_none(void);
void suspended_calls_free(struct suspended_calls *suspended);

/* All stacks are unknown from now on. */
void suspended_calls_forget(struct suspended_calls *suspended);

/* A list has stacks with numbers or others, not both.
 *
 * The encoder's active calls are those of a stack that is left. What was known of stacks in the same
 * memory is forgotten. */
void suspended_calls_add(struct suspended_calls *suspended, const struct pt_encoder *encoder,
                         const struct suspended_stack *left);

/* The same, of a stack with a number, which is copied away (TR_COPIED): others may lie in the same memory meanwhile. One that
 * had that number is forgotten. */
void suspended_calls_add_numbered(struct suspended_calls *suspended,
                                  const struct pt_encoder *encoder,
                                  const struct suspended_stack *left, uint32_t number);

/* Whether a stack was left where the stack pointer is now. */
bool suspended_calls_has(const struct suspended_calls *suspended, uint64_t pointer);

/* That stack runs again: the calls that were active when it was left become the encoder's. False: that stack is not suspended, or
 * it has run in another thread since: stacks that the same code leaves, and that the block at `code` continues, are always left as far
 * from where they continue, and this one was not. */
bool suspended_calls_take(struct suspended_calls *suspended, struct pt_encoder *encoder,
                          uint64_t pointer, uint64_t code, struct suspended_stack *left);
bool suspended_calls_take_numbered(struct suspended_calls *suspended, struct pt_encoder *encoder,
                                   uint32_t number, struct suspended_stack *left);

#endif
