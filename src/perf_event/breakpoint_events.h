/* The events behind breakpoints.h: for each thread, on each processor, one that tells of births,
 * new programs and mappings (the side band), and one breakpoint per address.
 *
 * Why on each processor: threads that are born inherit their parent's events in the kernel, before
 * their first instruction (attr.inherit), and the ring of an inherited event can only be mapped
 * when the event is bound to a processor (perf_mmap() in kernel/events/core.c).
 *
 * Threads that exist are opened one by one. A thread that is born meanwhile inherits those events
 * of its parent's that were open then: the first so many, because they are always opened in the
 * same order. How many, the kernel does not tell, but it refuses a fifth breakpoint
 * (kernel/events/hw_breakpoint.c: registers are reserved per thread and processor), so it can be
 * counted. The count may be 0 for a thread that has them: events that are alike change hands when
 * the kernel switches between their threads, and go with the thread that ends first
 * (perf_event_context_sched_out()), but the registers are counted for whom the event was made. So
 * such a thread is given its own and may then have two at one address. Their hits come in pairs,
 * which tell it, and the second is taken away again.
 *
 * Breakpoints are on from the beginning. Events that are off must not have heirs: a thread that is
 * being born while they are switched on can inherit them off for ever, and hand that on in the way
 * described above until hardly any thread has one that is on.
 *
 * Used by breakpoints.c alone.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_BREAKPOINT_EVENTS_H
#define MAGIC_TRACE_PERF_EVENT_BREAKPOINT_EVENTS_H

#include "perf_event/file_limit.h"
#include "perf_event/record_rings.h"

/* Debug registers of an x86 processor. */
enum { BREAKPOINT_REGISTERS = 4 };

/* Who inherits. */
enum breakpoint_scope {
    BREAKPOINTS_ONE_THREAD,  /* of each process the first thread alone */
    BREAKPOINTS_ALL_THREADS, /* threads born later too */
    BREAKPOINTS_CHILDREN,    /* and child processes with all theirs */
};

struct breakpoint_event {
    int descriptor;
    uint32_t pid;
    uint64_t address; /* 0: side band */
    uint64_t id;      /* the kernel's, of one that may be the second; else 0 */
};

struct breakpoint_events {
    const struct kernel *kernel;
    const struct record_rings *rings;
    const char *name; /* of the trigger, for messages; borrowed */
    enum breakpoint_scope scope;
    bool old_kernel; /* before Linux 5.13: no attr.inherit_thread, attr.remove_on_exec */
    struct file_limit file_limit;
    struct array events; /* of struct breakpoint_event */
};

void breakpoint_events_begin(struct breakpoint_events *events, const struct kernel *kernel,
                             const struct record_rings *rings, const char *name,
                             enum breakpoint_scope scope);
void breakpoint_events_close(struct breakpoint_events *events);

/* One thread, and what it is to have. */
struct breakpoint_request {
    uint32_t pid, tid;
    const uint64_t *addresses;
    size_t count;
    size_t watched; /* the first so many it has already */
    bool listen;    /* the side band too */
    bool created;   /* it may have inherited more of them */
    bool reported;  /* its birth was told by the side band: it may have run since */
};

/* Opens what the thread has not. A thread that has ended needs nothing. False: some of it could not
 * be opened; what was opened stays. `complete`: it had everything. */
bool breakpoint_events_open(struct breakpoint_events *events,
                            const struct breakpoint_request *request, bool *complete,
                            struct error *error);

/* Closes the breakpoints at an address in a process, also those that others have inherited of it.
 */
void breakpoint_events_forget(struct breakpoint_events *events, uint32_t pid, uint64_t address);

/* Closes all breakpoints; the side band stays. */
void breakpoint_events_forget_all(struct breakpoint_events *events);

/* A thread has two breakpoints with these ids at one address: takes away the second. */
void breakpoint_events_withdraw(struct breakpoint_events *events, uint64_t one, uint64_t other);

#endif
