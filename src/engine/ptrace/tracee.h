/* A thread that is traced: seized with ptrace, perhaps watched, perhaps stepped.
 */
#ifndef MAGIC_TRACE_ENGINE_PTRACE_TRACEE_H
#define MAGIC_TRACE_ENGINE_PTRACE_TRACEE_H

#include "base/array.h"
#include "engine/ptrace/breakpoint.h"
#include "engine/ptrace/stepper.h"

struct tracee {
    pid_t pid, tid;
    struct thread_breakpoints breakpoints;
    struct stepper *stepper; /* NULL: it runs at full speed */
    bool ready;              /* the stepper can go on: the thread is stopped */
    bool wanted;             /* to be stepped as soon as it stops */
    bool unwatched;          /* its process has not mapped the trigger's places */
};

/* Seizes the process's threads that are there, or its first one alone, without stopping them; adds
 * them (struct tracee *, owned) to `tracees`. */
bool tracees_seize(struct array *tracees, pid_t pid, bool all_threads, struct error *error);

struct tracee *tracees_add(struct array *tracees, pid_t pid, pid_t tid);
struct tracee *tracees_find(const struct array *tracees, pid_t tid);

/* The thread is gone, or let go: closes its watch, frees it. */
void tracees_remove(struct array *tracees, struct tracee *tracee);

/* Lets the thread go on as it was; its watch is closed. It may be running, sleeping or stopped; one
 * that sleeps in a system call, which an interruption might cut short, stays seized until this
 * process ends, which does not disturb it. */
void tracee_release(struct tracee *tracee);

/* Whether it has SIGTRAP in its signal mask. */
bool thread_blocks_traps(pid_t tid);

/* The process that a thread belongs to; 0: it is gone. */
pid_t process_of_thread(pid_t tid);

#endif
