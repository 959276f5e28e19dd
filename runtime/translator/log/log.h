/* The path log from the writer's side: records other than fragment entries, which generated code writes; the ring's
 * end.
 *
 * Called by the runtime's C code with the log pointer in thread->hot.log. Layout: layout.h.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_LOG_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_LOG_H

#include "runtime/translator/thread.h"

/* An event with `count` 64-bit values. */
void tr_log_event(struct tr_thread *thread, enum tr_event kind, uint32_t payload,
                  const uint64_t *values, unsigned count);

/* The fragment that was entered last was left in its middle, before `pc`. */
static inline void tr_log_partial(struct tr_thread *thread, uint64_t pc)
{
    tr_log_event(thread, TR_PARTIAL, thread->partial_block, &pc, 1);
    thread->partial_block = 0;
}

/* An event that its caller fills in: where its values go, at most `most` 64-bit values, at an address that is a multiple
 * of 4. NULL: the log has ended. tr_log_end_event completes it with `count` of them. */
uint64_t *tr_log_open_event(struct tr_thread *thread, unsigned most);
void tr_log_end_event(struct tr_thread *thread, enum tr_event kind, uint32_t payload,
                      unsigned count);

/* A reader can have all that has been logged. */
void tr_log_publish(struct tr_thread *thread);

/* Who has called what runs next, at app.pc (TR_CALLS). */
void tr_log_calls(struct tr_thread *thread);
/* By `most` bytes of the stack, at most LARGEST_FIRST_COPY. */
void tr_log_callers(struct tr_thread *thread, uint64_t most);
/* The same, of a thread whose log begins here and that has run before: from more of its stack. */
void tr_log_first_calls(struct tr_thread *thread);

/* The head of a fragment whose entry has been logged found that the stack pointer was loaded: once the switch to the other
 * stack is over, logs who has called what runs there (TR_SWITCHED; stack_switches.h). */
void tr_log_switch(struct tr_thread *thread);

/* The same, of a stack that is being copied to where another one was: once it is there, logs which one it is (TR_COPIED;
 * copied_stacks.h), and, where readers do not know it, who has called what. */
void tr_log_copied_stack(struct tr_thread *thread);

/* The newest record is a TR_STACK: by that, these stacks were left and continue (TR_COPIED; shared_stacks.h). In the middle of a
 * fragment, so without making room. */
void tr_log_stack_numbers(struct tr_thread *thread, uint32_t left, uint32_t continues);

/* The word of the newest fragment entry, which has to be the newest record. */
uint32_t tr_log_last(const struct tr_thread *thread);

/* Gives the thread a slot and a ring, or, when there is none or with `untraced`, a small private ring that is never
 * read. */
void tr_log_begin(struct tr_thread *thread, uint32_t slot, bool untraced);

/* After a system call, whose end has been logged: what runs next may be slower than what ran before, so the next stamp
 * comes soon. */
void tr_log_resume(struct tr_thread *thread);

/* So much has been logged that tr_log_check has to be called at the next opportunity. */
bool tr_log_is_due(const struct tr_thread *thread);

/* The head of a fragment found the log pointer above hot.limit, or tr_log_is_due: makes room, clears ahead, begins chunks (stack copy),
 * stamps the time, waits for the reader. `in_fragment`: the fragment's entry has been logged. False: tracing is to
 * end. */
bool tr_log_check(struct tr_thread *thread, bool in_fragment);

/* A fault at `address`: true when it is the guard page after the ring, or a page of the ring for which the disk has no
 * space; the log pointer to go on with is in hot.log. */
bool tr_log_is_guard(struct tr_thread *thread, uint64_t address);

/* The log ends here, for that reason, before `pc`. */
void tr_log_stop(struct tr_thread *thread, enum tr_slot_end reason, uint64_t pc);

#endif
