/* Why the kernel refuses that a process be traced, and what to do.
 *
 * Called by the engines that trace by ptrace, where it has failed with EPERM for a process that nobody else traces.
 * Sources: ptrace(2), "Ptrace access mode checking"; the kernel's Documentation/admin-guide/LSM/Yama.rst.
 */
#ifndef MAGIC_TRACE_PROCESS_TRACE_PERMISSION_H
#define MAGIC_TRACE_PROCESS_TRACE_PERMISSION_H

/* The end of a sentence, without a full stop: a constant. By the caller's user and Yama's setting. */
const char *trace_permission_reason(void);

#endif
