/* The recording's clock: the time-stamp counter without what the runtime itself used up.
 *
 * Ticks. One clock for all threads, which stands still while one of them works on the runtime's account, for
 * 200 us at most (clock_state.h). A thread's time never goes back. With -clock host it is the TSC itself.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_CLOCK_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_CLOCK_H

#include "runtime/translator/thread.h"

/* The time now; never less than before in this thread. */
uint64_t tr_time(struct tr_thread *thread);

/* The time for records of new code, which is there from now on: TR_MOMENT later than all that ran before, so that the two have different times in
 * nanoseconds, too. The same for all such records between two fragments. */
uint64_t tr_clock_new_moment(struct tr_thread *thread);

/* Around what the runtime does on its own account: the time stands still between them. */
void tr_clock_begin_work(struct tr_thread *thread);
void tr_clock_end_work(struct tr_thread *thread);

/* Work under the process's lock. Waiting for the lock is no work: whoever has it stops the clock, and a thread that is
 * woken may wait for a processor while others run, whose calls would take no time. */
void tr_clock_begin_locked_work(struct tr_thread *thread);
void tr_clock_end_locked_work(struct tr_thread *thread);

/* In work that takes long: the clock stands on, for another 200 us. */
void tr_clock_prolong_work(struct tr_control *control);

/* With options.on_cpu: ticks that the thread has been on a processor, without those in which it translated. Takes a system
 * call. */
uint64_t tr_processor_time(const struct tr_thread *thread);

/* Around a translation, and around the search for hot paths, which translates, too. */
void tr_clock_begin_translation(struct tr_thread *thread);
void tr_clock_end_translation(struct tr_thread *thread);

#endif
