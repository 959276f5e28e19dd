/* Selected calls (selected_calls.h) whose thread has changed to another stack, that of a fiber or a goroutine, before they returned: any
 * thread may go on with them. So while there are some, all threads that come to the runtime stay in the cache and are recorded; and
 * threads that run natively come to it, by INT3, where the functions on such a stack return to, so far as words on it look like return addresses.
 *
 * They are of the process, and fork copies them. Not called under its lock, which they take. A call is known by where its return address lies. It ends
 * where it returns, or has been left when that place holds something else.
 *
 * Called by selected_calls.c.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SUSPENDED_CALLS_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SUSPENDED_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct tr_suspended_call {
    uint64_t stack_pointer, return_address; /* at the function's first instruction; not 0 */
    uint64_t left; /* the stack pointer when another stack took its place */
};

/* Whether the place of the return address holds something else, or cannot be read: the call has returned, or was left. */
bool tr_call_has_lost_its_place(uint64_t stack_pointer, uint64_t return_address);

/* When there is no room, the oldest is forgotten: the rest of it is recorded only as long as others are suspended. */
void tr_suspended_add(const struct tr_suspended_call *call);

/* A thread goes on with this stack pointer: forgets the call that it goes on with, and returns it. False: it is none of these. */
bool tr_suspended_take(uint64_t stack_pointer, struct tr_suspended_call *call);

/* Execution has come to `pc`, where suspended calls may return to, with this stack pointer: forgets the one that has returned, if one has. */
void tr_suspended_return(uint64_t pc, uint64_t stack_pointer);

/* Another call has its return address there now. */
void tr_suspended_forget(uint64_t stack_pointer);

/* Whether one has its return address there. */
bool tr_suspended_at(uint64_t stack_pointer);

/* Forgets calls that were left, in memory that is read safely. */
void tr_suspended_drop_left(void);

bool tr_suspended_any(void);

#endif
