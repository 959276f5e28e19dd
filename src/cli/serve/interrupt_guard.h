/* A folder that must not outlive us, while a library that does not handle signals works for long. */
#ifndef MAGIC_TRACE_CLI_SERVE_INTERRUPT_GUARD_H
#define MAGIC_TRACE_CLI_SERVE_INTERRUPT_GUARD_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

struct interrupt_guard {
    const char *folder; /* the caller's */
    sigset_t signals;
    pthread_t thread;
    bool is_watching;
    atomic_bool is_over;
};

/* From here on a signal that ends magic-trace removes `folder` first. NULL: does nothing. */
void interrupt_guard_begin(struct interrupt_guard *guard, const char *folder);

/* The signals stay blocked: what comes next has its own way with them. */
void interrupt_guard_end(struct interrupt_guard *guard);

#endif
