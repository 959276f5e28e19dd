/* A recording by the kernel's events while it goes on: the program is started or the processes are
 * attached to, then it waits for what can happen, has the rings drained, the snapshots taken, and
 * writes session.json.
 *
 * What is recorded is up to a live_recorder. Nothing is looked at twice for nothing: the session
 * sleeps until the kernel says that a ring is filling, a process has ended, a trigger was hit or a
 * signal has come.
 *
 * Used by engine/pt/ and engine/sample/.
 */
#ifndef MAGIC_TRACE_ENGINE_LIVE_SESSION_H
#define MAGIC_TRACE_ENGINE_LIVE_SESSION_H

#include "base/clock.h"
#include "engine/engine.h"
#include "perf_event/kernel.h"
#include "recording/session.h"

/* Whom a recorder is to record. All is borrowed and outlives the recording. */
struct live_target {
    const struct kernel *kernel;
    const struct record_options *options;
    const char *directory; /* absolute, with a folder images/ */
    const pid_t *pids;
    size_t pid_count;
    bool held; /* the only process waits before exec: recording begins there */
};

/* For session.json and the result. */
struct live_facts {
    const struct session_untraced *untraced; /* valid until close() */
    size_t untraced_count;
    const char *engine;
    const char *callgraph;                 /* as in session.json */
    struct clock_conversion tsc;           /* from ticks to perf's clock; mult 0: not known */
    uint64_t wall_clock_ns, wall_clock_at; /* as in session.json */
    uint64_t bytes;                        /* that were kept */
};

enum { LIVE_DESCRIPTORS = 2 };

/* What does the recording. All are called from one thread. */
struct live_recorder {
    void *context;
    /* Opens everything; nothing is recorded yet. When it fails, close() is called all the same. */
    bool (*open)(void *context, const struct live_target *target, struct error *error);
    void (*start)(void *context); /* not called when the target is held: exec starts it */
    /* The processes run what is to be recorded: before start(), or right behind exec. May be NULL.
     */
    void (*runs)(void *context);
    void (*stop)(void *context);
    /* Those that are readable when drain() has something to do; -1: none. */
    void (*descriptors)(void *context, int descriptors[LIVE_DESCRIPTORS]);
    /* Takes what has come; what is being overwritten stays. */
    bool (*drain)(void *context, struct error *error);
    /* Takes what was being overwritten, or is left; it is stopped. */
    bool (*take)(void *context, struct error *error);
    /* Completes perf.data; after it, only facts() and close() are called. */
    bool (*end)(void *context, struct error *error);
    void (*facts)(void *context, struct live_facts *facts);
    /* Frees everything, at any time; perf.data that was not completed is removed. Says what was
     * lost. */
    void (*close)(void *context);
};

/* As record() and attach() of struct engine. */
bool live_record(const struct kernel *kernel, const struct live_recorder *recorder,
                 const struct record_options *options, struct record_result *result,
                 struct error *error);
bool live_attach(const struct kernel *kernel, const struct live_recorder *recorder,
                 const struct record_options *options, struct record_result *result,
                 struct error *error);

#endif
