/* Arguments and results of chosen functions (-args): registers and bounded parts of memory, where such a function
 * begins and where its calls return to.
 *
 * Both are places where a fragment begins that asks the runtime, as at the trigger's. What to record is a list of
 * steps that the recorder has made (struct tr_value_step); nothing here knows of types. A call's result is recorded when
 * execution arrives at its return address with the stack pointer just above the place where that lay, as in timed_calls.h.
 * The xmm registers are read by plain stores; the runtime does not change them.
 *
 * Called by dispatch.c.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_CALL_VALUES_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_CALL_VALUES_H

#include "runtime/translator/thread.h"

struct tr_translation; /* translation.h */

/* `translation`, which begins at app.pc, is next: a function's beginning, a place that calls return to, or both. */
void tr_call_values_record(struct tr_thread *thread, const struct tr_translation *translation);

#endif
