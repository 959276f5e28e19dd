/* Calls of the trigger's function that are in progress, with the time at which they began: for -longer-than.
 *
 * At the function's first instruction the return address lies on the stack; the call has ended when execution arrives
 * there with the stack pointer just above it. Nothing on the stack is changed: where calls return to, a fragment begins
 * that asks the runtime, as at the trigger's own place. Calls that are left by longjmp or an exception are dropped.
 * What a thread calls, that thread has to return from: a goroutine that goes on in another thread is not followed.
 *
 * Called by trigger.c and, for the places, by call_values.c and superblock.c. Times are ticks of the recording's clock.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_TIMED_CALLS_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_TIMED_CALLS_H

#include "runtime/translator/thread.h"

/* How many places are known that timed calls, those whose results are recorded (call_values.h) and selected ones (selected_calls.h) return to; a fragment is always formed again with those of its time. */
uint32_t tr_return_places(void);

/* Whether `pc` is one of the first `known` of them. */
bool tr_is_return_place(uint64_t pc, uint32_t known);

/* Makes `pc` one. Fragments that pass there without asking the runtime are not run again. False: there is no room. */
bool tr_return_place_add(struct tr_thread *thread, uint64_t pc);

/* app.pc is the first instruction of the trigger's function. */
void tr_timed_call_begin(struct tr_thread *thread, uint64_t now);

/* app.pc is a place that timed calls return to. False: no call has ended here. */
bool tr_timed_call_end(struct tr_thread *thread, struct tr_timed_call *call);

/* Ticks from the call's beginning until now; with -on-cpu, if these are more than -longer-than, those of them that the
 * thread spent on a processor, which may be too few by a sixteenth of -longer-than. */
uint64_t tr_timed_call_duration(struct tr_thread *thread, const struct tr_timed_call *call,
                                uint64_t now);

#endif
