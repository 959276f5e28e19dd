/* Goroutines that go on in another thread than they were parked in.
 *
 * Threads are followed one by one, so a goroutine that comes from another thread begins a stack
 * whose callers are not known, save those that are returned to. When all threads of a process are
 * known, its stack is looked for among those that were parked: the newest that was parked before,
 * at the same stack pointer. The callers that only one side knows are then the other's, too. When
 * what both know does not agree, they stay apart.
 *
 * Only recordings that tell the stack pointer (stack_pointer_switch.h) have what it takes.
 *
 * Called by the owner of a process's stacks, after all of them were finished and before they are
 * replayed.
 */
#ifndef MAGIC_TRACE_STACK_MIGRATED_STACKS_H
#define MAGIC_TRACE_STACK_MIGRATED_STACKS_H

#include "stack/thread_stack.h"

#include <stddef.h>

/* `stacks`: of all threads of one process. */
void migrate_stacks(struct thread_stack *const *stacks, size_t count);

#endif
