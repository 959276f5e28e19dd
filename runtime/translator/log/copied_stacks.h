/* Stacks that a program copies away, and back to the same addresses: greenlet, and so gevent and eventlet. Which one has come
 * back?
 *
 * Code that adds a register to the stack pointer, and then calls a function or copies by a string instruction, may go on in
 * such a stack (superblock.c): it ends up in enter.S (tr_stack_copied). The stack pointer alone does not say which stack
 * continues, for all of them are left at the same few depths. What lies on it does: each stack that is left gets a number, and
 * for each line of its innermost part a hash is kept. The copy is over when the code pops what was copied. Then the stack is the
 * one that was left with exactly that stack pointer and with the same lines, as far as the copy has changed any; of several, the
 * one that agrees furthest.
 *
 * The log has both numbers (TR_COPIED). Readers that begin with a later chunk know the stack if it was left since that
 * began, and a copy of any other is logged as of a stack that was switched to (stack_switches.h), as far as there is room.
 *
 * While a copy is awaited, what lies further out than the stack pointer that it has set belongs to neither stack: the log has
 * no callers from there (tr_copied_stack_keeps). A chunk that begins meanwhile has those of the code that copies, and those
 * of the stack that continues once the copy is over, without its number: readers could not bind that to the change of the
 * stack pointer, which was logged before.
 *
 * Not in logs that are read from their beginning: there the returns decide (stack/rules/copied_stacks.h).
 *
 * Called by dispatch.c and log.c, in the thread itself. A thread that never runs such code has no memory for it.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_COPIED_STACKS_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_COPIED_STACKS_H

#include "runtime/translator/thread.h"

/* 0 where no number is known. */
struct tr_copied_numbers {
    uint32_t left, continues;
};

/* The stack pointer has been changed from hot.stack_before to app.r[TR_RSP]; the other stack is not there yet. */
void tr_copied_stack_begin(struct tr_thread *thread);

/* Whether a stack that is being copied is still to be recognized. */
static inline bool tr_copied_stack_is_awaited(const struct tr_thread *thread)
{
    return thread->copied.is_awaited;
}

/* Whether the log can still have its number, and that of the one that is left: it has had no time since. */
static inline bool tr_copied_stack_has_numbers(const struct tr_thread *thread)
{
    return thread->copied.leaving != 0;
}

/* And whether each head is to ask for it: not if the copy takes long. */
static inline bool tr_copied_stack_is_asked(const struct tr_thread *thread)
{
    return thread->copied.is_awaited && thread->copied.is_asked;
}

/* The log begins again: the stack stays unknown. */
void tr_copied_stack_forget(struct tr_thread *thread);

/* Something was logged at which readers go on to what follows: they cannot bind numbers to what came before. */
void tr_copied_stack_lose_numbers(struct tr_thread *thread);

/* The same, and heads do not ask: one that asks comes to no end. */
static inline void tr_copied_stack_ask_no_more(struct tr_thread *thread)
{
    tr_copied_stack_lose_numbers(thread);
    thread->copied.is_asked = false;
}

/* Whether the copy is over, with the program's registers in app. Then no stack is awaited any more: *numbers says which
 * stacks these are, both 0 if they are lost, and *known whether readers of the present chunk know the callers of the one
 * that continues. */
bool tr_copied_stack_is_over(struct tr_thread *thread, struct tr_copied_numbers *numbers,
                             bool *known);

/* Of `size` bytes of the program's stack at `address`, how many belong to the code that runs, whatever is being copied. */
uint64_t tr_copied_stack_keeps(const struct tr_thread *thread, uint64_t address, uint64_t size);

/* Whether the callers are to be logged although there is no room. */
static inline bool tr_copied_stack_is_due(const struct tr_thread *thread)
{
    return thread->copied.is_due;
}

/* A copy of the stack that continues has been logged. */
static inline void tr_copied_stack_reported(struct tr_thread *thread)
{
    thread->copied.is_known = true;
    thread->copied.is_due = false;
}

/* A chunk begins: its readers know the stack that runs, unless one is awaited, and no other. `again`: all are to be reported
 * once more (tr_switches_begin_chunk). */
void tr_copied_stacks_begin_chunk(struct tr_thread *thread, bool again);

#endif
