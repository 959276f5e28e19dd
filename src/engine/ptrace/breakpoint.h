/* Stops a thread when it comes to one of the trigger's places, without touching its code.
 *
 * Hardware breakpoints of perf_event_open with attr.sigtrap (Linux 5.13): the thread gets SIGTRAP
 * (si_code TRAP_PERF) before the instruction runs, which its tracer sees and nobody else. They
 * belong to descriptors, so a tracer that dies takes them with it.
 */
#ifndef MAGIC_TRACE_ENGINE_PTRACE_BREAKPOINT_H
#define MAGIC_TRACE_ENGINE_PTRACE_BREAKPOINT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WATCH_PLACES = 4 }; /* the processor has so many debug registers */

/* si_code of the SIGTRAP: TRAP_PERF of asm-generic/siginfo.h. */
enum { WATCH_SIGNAL_CODE = 6 };

struct watch {
    int descriptors[WATCH_PLACES];
    uint64_t addresses[WATCH_PLACES];
    size_t count;
};

/* Watches `count` addresses in the thread. */
bool watch_open(struct watch *watch, pid_t tid, const uint64_t *addresses, size_t count,
                struct error *error);
bool watch_is_at(const struct watch *watch, uint64_t address);
void watch_close(struct watch *watch);

#endif
