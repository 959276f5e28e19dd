/* Makes magic-trace take a snapshot, from inside the traced program.
 *
 *     magic_trace_mark_start();
 *     answer(request);
 *     magic_trace_take_snapshot_with_arg(request->number);
 *
 * Recorded by `magic-trace run -trigger . -duration-thresh 2ms ./server`, such a program leaves a
 * trace of the first request that took longer than 2 ms. When the program is not being recorded, a
 * call costs a few nanoseconds and does nothing.
 *
 * For C, C++, and every language that can call C. Link with -lmagic_trace (pkg-config magic-trace).
 * All functions may be called from any thread, and from signal handlers. A program whose plugins
 * take snapshots too links the shared library: of two copies, magic-trace watches the program's
 * own.
 *
 * How it works: every snapshot calls magic_trace_stop_indicator, which does nothing; magic-trace
 * watches for that call and reads its arguments. The name and the form of the arguments are those
 * of Jane Street's library for OCaml, so programs that use either are understood.
 */
#ifndef MAGIC_TRACE_H
#define MAGIC_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Asks for a snapshot here. The argument, of 63 bits, is shown with the hit. */
void magic_trace_take_snapshot(void);
void magic_trace_take_snapshot_with_arg(int64_t argument);

/* The same for work that began at `time`, a value of magic_trace_now(): for work that passes from
 * one thread to another. */
void magic_trace_take_snapshot_with_time_and_arg(uint64_t time, int64_t argument);

/* Marks the beginning of an interval: this thread's next snapshots take their duration from it,
 * which -duration-thresh compares. */
void magic_trace_mark_start(void);

/* The time now: ticks of the processor's time-stamp counter; on other processors than x86, which
 * magic-trace does not record, nanoseconds. */
uint64_t magic_trace_now(void);

/* A length of time that can be compared without a call to the system: made once, from nanoseconds
 * (the first one made takes 10 ms, to measure the counter). */
typedef struct magic_trace_min_duration {
    uint64_t ticks;
} magic_trace_min_duration;

magic_trace_min_duration magic_trace_min_duration_of_ns(uint64_t nanoseconds);

/* Whether more than that has passed since this thread's mark_start: to take a snapshot only then,
 * and spare the others even the few microseconds that magic-trace may take at each. False before
 * the first mark_start. */
bool magic_trace_min_duration_over(magic_trace_min_duration duration);

/* What magic-trace watches: for other languages' bindings. Both arguments x as 2x + 1. */
intptr_t magic_trace_stop_indicator(intptr_t time, intptr_t argument);

#ifdef __cplusplus
}
#endif

#endif
