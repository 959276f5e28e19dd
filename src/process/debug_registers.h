/* Breakpoints on instructions in the debug registers of a stopped tracee.
 *
 * They belong to one thread: threads and processes that it starts have none, and exec removes them. The
 * thread stops before the instruction runs, by a SIGTRAP that its tracer must take away, and runs it when
 * it is continued. After a tracer that dies they stay: the next hit ends the program.
 *
 * Sources: Intel SDM 3B, 18.2 "Debug Registers"; arch/x86/kernel/ptrace.c of Linux.
 */
#ifndef MAGIC_TRACE_PROCESS_DEBUG_REGISTERS_H
#define MAGIC_TRACE_PROCESS_DEBUG_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { DEBUG_REGISTERS = 4 };

/* Breaks at these addresses alone, at most DEBUG_REGISTERS; none: nowhere. False and errno: the
 * thread is gone, or its registers are in use (ENOSPC). */
bool debug_registers_set(pid_t tid, const uint64_t *addresses, size_t count);

/* Whether the thread's stop, `status` as from waitpid, is at one of them. */
bool debug_registers_hit(pid_t tid, int status);

/* False: this machine takes breakpoints, but never reports one, because its hypervisor does not pass the debug registers on
 * (seen in one Firecracker guest). Tried in a child of ours, for about a millisecond; true where that cannot be tried.
 * The breakpoints of perf_event_open(2) are in the same registers. */
bool debug_registers_fire(void);

/* The end of a message about that. */
#define DEBUG_REGISTERS_SILENT                                                                     \
    "hardware breakpoints never fire on this machine: its hypervisor does not pass the "           \
    "processor's debug registers on"

#endif
