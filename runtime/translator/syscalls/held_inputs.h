/* What a program reads that is another thing in every run, held still (tr_options.hold_inputs), so that a program which
 * does the same has the same counts: the seeds of its hash tables.
 *
 * - the 16 random bytes that the kernel gives a program (AT_RANDOM): the C library's canary, Go's hash seed
 * - getrandom(2): Rust's and python3's hash seeds; /dev/urandom and /dev/random, read by read(2), readv(2)
 *   and the like
 * - time(2), a seed of lua's and of many programs: the same for ten seconds, then as many seconds later as
 *   have passed, for programs that wait for it. It is a system call only without the vDSO, which therefore is hidden
 *   (AT_SYSINFO_EHDR), or a call of the vsyscall page. Other clocks stay as they are.
 *
 * Called by start.c and syscall.c.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_HELD_INPUTS_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_HELD_INPUTS_H

#include "runtime/translator/thread.h"

/* Before the program runs: `stack` as the kernel made it at exec. */
void tr_hold_start(uint64_t *stack);

/* Whether the open file is /dev/random or /dev/urandom. */
bool tr_reads_random(const struct tr_thread *thread, uint64_t descriptor);

/* After getrandom() or such a read(): `count` bytes at `address` become those of the thread's fixed sequence. */
void tr_hold_random(struct tr_thread *thread, uint64_t address, uint64_t count);

/* time(): what the program gets. */
int64_t tr_held_time(const struct tr_thread *thread);

#endif
