/* Switches to stacks that the reader of a ring cannot know: fibers that were suspended before it begins.
 *
 * Code that loads the stack pointer ends up in enter.S (tr_stack_loaded). When it points to another page than before, and
 * to one that is not among the pages seen, the next head leaves the cache, and when the switch is over, a copy of the stack's
 * innermost part is logged (TR_SWITCHED): the recorder finds the callers in it. So a stack is copied once per chunk of the
 * ring, or once in several chunks where the ring is larger than a snapshot, as far as there is credit: an eighth of what is logged, and no more at a time than a part of the ring. When the
 * credit was used up in a chunk, the stacks that were copied are not copied again in the next one, where others may be.
 *
 * Where it is moved up by less than some pages, a part of the stack was unwound (an exception, longjmp): the log does not show how many calls
 * that has ended. So the stack is copied then, too, as far as there is credit, whether its page was seen or not.
 *
 * Not in logs that are read from their beginning: there all switches are known.
 *
 * Called by log.c; pages are known by a hash, in hot.seen_pages.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_STACK_SWITCHES_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_STACK_SWITCHES_H

#include "runtime/translator/thread.h"

/* The thread begins to log; with `reported`, into a ring whose oldest part gets lost. */
void tr_switches_begin(struct tr_thread *thread, bool reported);

/* So many bytes were logged. */
void tr_switches_earn(struct tr_thread *thread, uint64_t bytes);

/* A chunk begins: a reader that begins there has seen no stack. Whether all are to be reported once more from there on. */
bool tr_switches_begin_chunk(struct tr_thread *thread);

/* Whether the branch that ends the switch was taken: before it, the registers are partly of the one stack and partly of
 * the other. hot.switched_at is not 0. */
bool tr_switch_is_over(const struct tr_thread *thread);

/* How much of the stack may be copied, in bytes. */
uint64_t tr_switch_copy_size(const struct tr_thread *thread);

/* A copy was logged, in so many bytes. */
void tr_switch_reported(struct tr_thread *thread, uint64_t bytes);

#endif
