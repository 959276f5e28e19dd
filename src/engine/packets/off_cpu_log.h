/* When recorded threads were not on a processor, gathered for the recording: what becomes
 * PERF_RECORD_SWITCH in perf.data.
 *
 * Filled by the engine that has the kernel's context switches, written by collect.c. A recording
 * that keeps only its end may go on for days: of more periods than MOST the oldest are dropped. A full
 * execution moves them to a file instead, so that memory stays bounded.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_OFF_CPU_LOG_H
#define MAGIC_TRACE_ENGINE_PACKETS_OFF_CPU_LOG_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { OFF_CPU_LOG_MOST = 1 << 20 }; /* periods */

struct off_cpu_period {
    uint64_t out, in; /* ticks: off the processor, and on one again */
    uint32_t pid, tid;
    uint32_t out_cpu, in_cpu;
    bool preempted; /* it could have run on; else it waited */
};

struct off_cpu_log {
    struct array older, newer; /* of struct off_cpu_period */
    FILE *file; /* of a full execution: those before, unnamed; NULL: this is no full execution */
    uint64_t dropped;
};

/* `folder`: where a full execution has its file; NULL for other recordings. */
void off_cpu_log_begin(struct off_cpu_log *log, const char *folder);
void off_cpu_log_free(struct off_cpu_log *log);

void off_cpu_log_add(struct off_cpu_log *log, const struct off_cpu_period *period);

/* Calls `handle` for all, about in the order of time, until it returns false: then that. */
bool off_cpu_log_walk(struct off_cpu_log *log,
                      bool (*handle)(void *context, const struct off_cpu_period *period),
                      void *context);

#endif
