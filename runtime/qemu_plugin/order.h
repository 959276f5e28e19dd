/* Orders the times of threads that communicate through memory: an effect in one thread comes after
 * its cause in another.
 *
 * Packets carry the time at some branches only, and the decoder estimates the times between them;
 * so the two sides of a communication through memory need exact times of their own:
 *
 *   - Before a block with an atomic instruction runs, its thread emits packets up to there
 *     (pt_encoder_emit_arrival), publishes that time in control->latest and counts one more moment.
 *   - Every thread that enters a block and finds that others have counted moments continues at
 *     control->latest at the earliest, and emits its arrival there.
 *
 * x86 keeps loads in order: a thread that has loaded what the atomic instruction stored also sees
 * the moment that was counted before it (SDM volume 3, "Memory Ordering in P6 and More Recent
 * Processor Families"). A plain store has no such moment.
 *
 * Programs with one thread are not slowed down: their blocks get a callback without these checks.
 * `watched` is set when the first thread is created, at which qemu translates all blocks again, or
 * memory is shared. Called by plugin.c alone.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_ORDER_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_ORDER_H

#include "runtime/qemu_plugin/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { ORDER_CACHE_LINE = 64 };

struct order {
    atomic_bool watched; /* blocks that are translated from now on look after moments */
    atomic_bool several; /* the process has had more than one thread: moments are counted */
    /* Read at every block: on a cache line of its own. */
    _Alignas(ORDER_CACHE_LINE) _Atomic uint64_t moments;
};

/* A system call with these arguments is about to be made, under the recording's options. */
void order_before_system_call(struct order *order, const struct qemu_options *options,
                              int64_t number, uint64_t a1, uint64_t a4);

/* Whether others have counted moments since this thread had seen `seen`. */
static inline bool order_has_news(const struct order *order, uint64_t seen)
{
    return atomic_load_explicit(&order->moments, memory_order_acquire) != seen;
}

/* The calling thread continues no earlier than all moments so far. Returns how many it has seen. */
uint64_t order_take(struct order *order, struct qemu_clock *clock);

/* The calling thread has emitted all packets up to now, and other threads may see its effects from
 * now on. `seen`: the moments that it has seen so far; returns how many it has now. */
uint64_t order_publish(struct order *order, struct qemu_clock *clock, uint64_t seen);

#endif
