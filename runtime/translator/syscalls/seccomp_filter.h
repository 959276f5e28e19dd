/* What a seccomp filter that the program is about to install decides on the runtime's own system calls (seccomp(2);
 * Documentation/userspace-api/seccomp_filter.rst; kernel/seccomp.c): the program would be killed for a call that it
 * never made.
 *
 * Called by syscall.c. The filter is in the program's memory and may change while it is read; only the program itself
 * can do that.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SECCOMP_FILTER_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SECCOMP_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the filter, a struct sock_fprog of the program's at `filter`, lets the call through. True also for a filter
 * that cannot be read, which the kernel refuses. */
bool tr_filter_allows(uint64_t filter, int32_t number, const uint64_t arguments[6]);

/* All calls that the runtime cannot do without. */
bool tr_filter_allows_translator(uint64_t filter);

/* The one that reads a thread's time on processors. */
bool tr_filter_allows_processor_time(uint64_t filter);

/* Those by which it reads /proc/self/maps, and looks at files before exec. */
bool tr_filter_allows_files(uint64_t filter);

#endif
