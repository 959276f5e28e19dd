/* The perf events that breakpoints.h uses: for each thread, on each processor, one that reports new
 * threads, exec and mappings (the sideband), and one breakpoint per address.
 *
 * Why on each processor: new threads inherit their parent's events in the kernel, before their
 * first instruction (attr.inherit), and the ring of an inherited event can only be mapped when the
 * event is bound to a processor (perf_mmap() in kernel/events/core.c).
 *
 * For existing threads, events are opened one by one. A thread that is created at the same time
 * inherits the events that its parent had by then: the first few of the list, because they are
 * always opened in the same order. The kernel does not report how many, but it refuses a fifth
 * breakpoint (kernel/events/hw_breakpoint.c: registers are reserved per thread and processor), so
 * they can be counted. The count may be 0 although the thread has them: the kernel exchanges equal
 * events between threads when it switches from one to the other, and an event ends with the thread
 * that holds it (perf_event_context_sched_out()), while registers are counted for the thread that
 * the event was made for. Such a thread gets breakpoints of its own, and may then have two at one
 * address. Their hits come in pairs, which shows it, and the second is closed.
 *
 * Breakpoints are enabled from the beginning. Disabled events must not be inherited: a thread that
 * is created while they are being enabled could inherit disabled ones, keep them and pass them on
 * in the same way, until hardly any thread has an enabled one.
 *
 * Used by breakpoints.c alone.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_BREAKPOINT_EVENTS_H
#define MAGIC_TRACE_PERF_EVENT_BREAKPOINT_EVENTS_H

#include "perf_event/file_limit.h"
#include "perf_event/record_rings.h"

/* Debug registers of an x86 processor. */
enum { BREAKPOINT_REGISTERS = 4 };

/* Which threads and processes inherit the events. */
enum breakpoint_scope {
    BREAKPOINTS_ONE_THREAD,  /* the first thread of each process alone */
    BREAKPOINTS_ALL_THREADS, /* also new threads */
    BREAKPOINTS_CHILDREN,    /* also child processes, with all their threads */
};

struct breakpoint_event {
    int descriptor;
    uint32_t pid;
    uint64_t address; /* 0: sideband */
    uint64_t id;      /* the kernel's id, if it may be the second at this address; else 0 */
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

/* One thread, and the events that it needs. */
struct breakpoint_request {
    uint32_t pid, tid;
    const uint64_t *addresses;
    size_t count;
    size_t watched; /* how many of the first it has already */
    bool listen;    /* it needs the sideband too */
    bool created;   /* it may have inherited more of them */
    bool reported;  /* the sideband reported its creation: it may have run since */
};

/* Opens the events that the thread lacks. A thread that has ended needs none. False: some could not
 * be opened; those that were stay open. `complete`: it had all of them. */
bool breakpoint_events_open(struct breakpoint_events *events,
                            const struct breakpoint_request *request, bool *complete,
                            struct error *error);

/* Closes the breakpoints at an address in a process, including inherited ones. */
void breakpoint_events_forget(struct breakpoint_events *events, uint32_t pid, uint64_t address);

/* Closes all breakpoints; the sideband stays. */
void breakpoint_events_forget_all(struct breakpoint_events *events);

/* A thread has two breakpoints with these ids at one address: closes the second. */
void breakpoint_events_withdraw(struct breakpoint_events *events, uint64_t one, uint64_t other);

#endif
