/* Stops a thread at the trigger's places, without changing its code.
 *
 * Hardware breakpoints of perf_event_open with attr.sigtrap (Linux 5.13): the thread gets SIGTRAP
 * (si_code TRAP_PERF) before the instruction runs, which only its tracer sees. They belong to
 * descriptors, so they vanish with a tracer that dies.
 */
#ifndef MAGIC_TRACE_ENGINE_PTRACE_BREAKPOINT_H
#define MAGIC_TRACE_ENGINE_PTRACE_BREAKPOINT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { THREAD_BREAKPOINTS_MAX = 4 }; /* debug registers of the processor */

/* si_code of the SIGTRAP: TRAP_PERF of asm-generic/siginfo.h. */
enum { BREAKPOINT_SIGNAL_CODE = 6 };

struct thread_breakpoints {
    int descriptors[THREAD_BREAKPOINTS_MAX];
    uint64_t addresses[THREAD_BREAKPOINTS_MAX];
    size_t count;
};

/* Watches `count` addresses in the thread. */
bool thread_breakpoints_open(struct thread_breakpoints *breakpoints, pid_t tid,
                             const uint64_t *addresses, size_t count, struct error *error);
bool thread_breakpoints_are_at(const struct thread_breakpoints *breakpoints, uint64_t address);
void thread_breakpoints_close(struct thread_breakpoints *breakpoints);

#endif
