/* Memory that fibers share as their stack: libaco and its like. The code that resumes one runs on another stack, copies away what lies
 * there and copies the other one's frames back, and only then loads the stack pointer.
 *
 * So the pointer does not say which of them continues: many are left with the same one. What lies there does, for nobody writes to a
 * stack that has been copied away. Memory is known to be shared once a stack continues that was left there before another one was,
 * with the same pointer: what lies next to it is as it was then. From then on the log has a number for each stack that is left
 * there, and for each that continues: a hash of all that lies on it (TR_COPIED, right after the TR_STACK). When both pointers are in
 * that memory, one stack was unwound: code cannot copy another one to where it runs.
 *
 * Readers of a chunk know the stack if it was left since the chunk began, by code whose callers they knew. Any other one is logged
 * as a stack that was switched to (stack_switches.h), as far as there is room.
 *
 * Until memory is known to be shared, only the first changes of the stack in each chunk are watched, so that others cost nothing.
 * None are once the process has had a second thread: a stack may have run there, and what it looks like when it comes back says
 * nothing.
 *
 * Not in logs that are read from their beginning: there the returns decide. Nor where selected calls alone are recorded.
 *
 * Called by dispatch.c and log.c, in the thread itself. A thread that stays on one stack has no memory for it.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SHARED_STACKS_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SHARED_STACKS_H

#include "runtime/translator/log/copied_stacks.h"

/* The thread begins to log: no memory is known to be shared. */
void tr_shared_stacks_begin(struct tr_thread *thread);

/* Code has loaded the stack pointer: from hot.stack_before to app.r[TR_RSP], which is in another page. hot.watches_stacks is set.
 * Returns the numbers of the stacks; 0: it has none. */
struct tr_copied_numbers tr_shared_stack_change(struct tr_thread *thread);

/* A copy of the stack that runs has been logged: readers know it. */
void tr_shared_stack_reported(struct tr_thread *thread);

/* A chunk begins, with a copy of the stack that runs. `again`: all others are to be reported once more (tr_switches_begin_chunk). */
void tr_shared_stacks_begin_chunk(struct tr_thread *thread, bool again);

#endif
