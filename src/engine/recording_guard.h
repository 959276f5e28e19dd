/* Finishes the recording of a magic-trace that is killed.
 *
 * The kernel frees its rings with the last process that maps them. So a second process, forked when
 * everything is open, maps them too and sleeps; when the first dies without having dismissed it, it
 * finishes the recording. It is in a session of its own, where signals to the terminal or to the
 * process group do not reach it, and blocks all signals.
 *
 * Used by live_session.c.
 */
#ifndef MAGIC_TRACE_ENGINE_RECORDING_GUARD_H
#define MAGIC_TRACE_ENGINE_RECORDING_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

struct recording_guard {
    pid_t pid; /* 0: none */
    int line;  /* a socket to it */
};

/* What the second process does: `prepare` at once (false: it cannot, and ends), `finish` when the
 * first has died. */
struct guard_duty {
    void *context;
    bool (*prepare)(void *context);
    void (*finish)(void *context);
};

/* Returns when it is prepared. When it cannot be made the recording goes on without it. */
void recording_guard_begin(struct recording_guard *guard, const struct guard_duty *duty);

/* It is not needed any more: ends it, if there is one. */
void recording_guard_dismiss(struct recording_guard *guard);

#endif
