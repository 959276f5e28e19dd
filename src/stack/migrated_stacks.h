/* Goroutines that continue, in the thread in which they were suspended or in another one.
 *
 * Threads are followed one by one, so a goroutine that continues begins a stack whose callers are unknown, except those that
 * it returns to. When all threads of a process have been followed, its stack is searched for among the suspended ones
 * (goroutine_trips.h). Callers that only one side knows then belong to the other, too. If the frames that both know differ,
 * the stacks stay apart.
 *
 * All parts of it then have the same number (struct shared_stack), by which they are recognized as one stack.
 *
 * Works only for recordings with the stack pointer (stack_pointer.h).
 *
 * Called by the owner of a process's stacks, after all of them were finished and before they are
 * replayed.
 */
#ifndef MAGIC_TRACE_STACK_MIGRATED_STACKS_H
#define MAGIC_TRACE_STACK_MIGRATED_STACKS_H

#include "stack/thread_stack.h"

#include <stddef.h>

/* `stacks`: of all threads of one process. *number: how many numbers of shared stacks are in use. */
void migrated_stacks_join(struct thread_stack *const *stacks, size_t count, uint32_t *number);

#endif
