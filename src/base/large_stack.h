/* Stacks of a known size, whatever `ulimit -s` says: the limit is meant for the traced program, which
 * inherits it.
 *
 * Called once, by main.
 */
#ifndef MAGIC_TRACE_BASE_LARGE_STACK_H
#define MAGIC_TRACE_BASE_LARGE_STACK_H

/* What `run` returns. Where the limit is small it runs in a thread of its own, and no signal is
 * delivered to the first thread meanwhile. Threads made from now on have large stacks, too. */
int large_stack_run(int (*run)(void *context), void *context);

#endif
