/* Trips of goroutines: which of them, suspended in one thread, is the one that continues in another thread, or in the same.
 *
 * A goroutine is suspended with a stack pointer and continues with the same. Since a stack runs in one thread at a time,
 * suspensions (departures) and continuations (arrivals) with one stack pointer alternate, and each arrival belongs to the
 * departure before it. In a thread their order is certain. Between threads it follows from times, and these are estimates: a
 * thread that loses its processor just after it has suspended a goroutine may seem to have lost it before, and to suspend it
 * milliseconds after it has continued elsewhere; and much may have the same time. So an arrival without a departure before it takes a later one of another thread
 * that is left over, if both can have happened in the right order: that thread went on to its departure from a moment before
 * the arriving one went on from its arrival.
 *
 * Goroutines whose callers are known to differ are not the same. What is left over without a partner was suspended before
 * the recording, never continues in it, or has got another stack while it was suspended (Go's garbage collector shrinks
 * stacks).
 *
 * Called by migrated_stacks.c, when all threads of a process have been followed. Not shared between threads.
 */
#ifndef MAGIC_TRACE_STACK_GOROUTINE_TRIPS_H
#define MAGIC_TRACE_STACK_GOROUTINE_TRIPS_H

#include "stack/rules/goroutines.h"

/* Where a goroutine leaves a thread or arrives in one. */
struct trip_end {
    struct goroutine_moment moment;
    struct thread_stack *stack;
    /* The time of the thread's moment before a departure, or after an arrival: it may have happened at any time between
     * that and its own. */
    struct ticks limit;
    size_t order; /* among the thread's moments */
    bool used;    /* of a departure: it has a partner */
};

struct trip {
    struct trip_end from, to;
    bool
        is_joined; /* for migrated_stacks.c: both are one in the tree of one thread, and learn the same from now on */
};

/* Frames that are the same one. */
struct trip_inner {
    frame_id from, to;
};

/* True if both can be the same stack: their functions and return addresses are the same, as far out as both are known. Moves
 * them out to the first frames of which one is unknown (a placeholder); *inner: the frames inside of these, FRAME_NONE: they
 * were not moved. */
bool goroutine_trips_agree(struct trip_end *from, struct trip_end *to, struct trip_inner *inner);

/* Of all threads of a process; an array of struct trip in the order of their arrivals, which the caller frees. */
struct array goroutine_trips_find(struct thread_stack *const *stacks, size_t count);

#endif
