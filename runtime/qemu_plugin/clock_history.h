/* What time it was for the traced program when the host's time-stamp counter stood at some value.
 *
 * Programs take times by themselves (mark_start of libmagic_trace reads the TSC) and pass them on
 * later, when more time has been stolen (clock.h). So every theft is remembered, with the moment it
 * was over. The newest QEMU_CLOCK_THEFTS are kept, for all processes of the recording; a time from
 * before them is converted as if it were of the oldest.
 *
 * Written by the clocks of all threads without a lock; entries may be a little out of order.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_CLOCK_HISTORY_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_CLOCK_HISTORY_H

#include "engine/qemu/shared.h"

/* At `tsc`, `stolen` ticks in all had been stolen. */
void clock_history_add(struct qemu_clock_history *history, uint64_t tsc, uint64_t stolen);

/* The default clock's time at `tsc`, a moment that is over. */
uint64_t clock_history_time(const struct qemu_clock_history *history, uint64_t tsc);

#endif
