/* Whether the seccomp filters of a thread let the translator's system calls through: before it is attached to.
 *
 * The kernel shows filters to a tracer with CAP_SYS_ADMIN that has none itself (PTRACE_SECCOMP_GET_FILTER, ptrace(2)). In a
 * container, whose processes all inherit the same filters, their number says that the process has none but those that magic-trace
 * runs with, too.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_INSTALLED_FILTERS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_INSTALLED_FILTERS_H

#include "base/error.h"

#include <sys/types.h>

/* As /proc/PID/status has it: the largest of its threads' (seccomp.h's SECCOMP_MODE_DISABLED, _STRICT, _FILTER). */
int installed_seccomp_mode(pid_t pid);

/* Whether all of its threads have as many filters as this process and the first one of the pid namespace: Linux 5.9. */
bool installed_filters_are_ours(pid_t pid);

/* The thread is stopped, and traced by the caller. False: they do not, or cannot be read; the error's text is the end of a
 * sentence. */
bool installed_filters_allow(pid_t tid, struct error *error);

#endif
