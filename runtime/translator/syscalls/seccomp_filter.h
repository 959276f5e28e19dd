/* What a seccomp filter decides on the runtime's own system calls (seccomp(2);
 * Documentation/userspace-api/seccomp_filter.rst; kernel/seccomp.c): the program would be killed for a call that it
 * never made.
 *
 * Called by syscall.c for a filter that the program is about to install. It is in the program's memory and may change while it
 * is read; only the program itself can do that. Called by the recorder, in its own process, for the filters of a process that it
 * is about to attach to (installed_filters.c).
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SECCOMP_FILTER_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SECCOMP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tr_filter {
    uint64_t program;             /* address of a struct sock_fprog */
    uint64_t instruction_pointer; /* where the kernel sees the calls come from */
    bool (*read)(void *to, uint64_t from, size_t size); /* false: there is no such memory */
};

/* Whether the filter lets the call through. True also for a filter that cannot be read, which the kernel refuses. */
bool tr_filter_allows(const struct tr_filter *filter, int32_t number, const uint64_t arguments[6]);

/* All calls that the runtime cannot do without. */
bool tr_filter_allows_translator(const struct tr_filter *filter);

/* The one that reads a thread's time on processors. */
bool tr_filter_allows_processor_time(const struct tr_filter *filter);

/* The one that makes pages of memory at once (own_memory.h). */
bool tr_filter_allows_populate(const struct tr_filter *filter);

/* Those that change the limit of address space (own_memory.h). */
bool tr_filter_allows_limits(const struct tr_filter *filter);

/* Those with which attaching begins and ends (attach.c), besides. */
bool tr_filter_allows_attach(const struct tr_filter *filter);

/* Those by which it reads /proc/self/maps, and looks at files before exec. */
bool tr_filter_allows_files(const struct tr_filter *filter);

#endif
