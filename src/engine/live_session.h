/* A recording by kernel events while it runs: starts the program or attaches to processes, waits
 * for events, has the rings drained and the snapshots taken, and writes session.json.
 *
 * A live_recorder does the recording itself. The session never polls: it sleeps until the kernel
 * reports that a ring is filling, a process has ended, a trigger was hit or a signal has come.
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
    /* Opens everything; recording has not begun. After a failure, close() is called too. */
    bool (*open)(void *context, const struct live_target *target, struct error *error);
    void (*start)(void *context); /* not called when the target is held: exec starts it */
    /* The processes run the code to be recorded: called before start(), or right after exec. May be
     * NULL.
     */
    void (*runs)(void *context);
    void (*stop)(void *context);
    /* Descriptors that are readable when drain() has work; -1: none. */
    void (*descriptors)(void *context, int descriptors[LIVE_DESCRIPTORS]);
    /* With -follow: one that hangs up when some of those that are recorded, also of what has been forked since, have ended; -1: all
     * have. Waited for after the descriptors. */
    int (*recorded)(void *context);
    /* Takes what has come; what is being overwritten stays. */
    bool (*drain)(void *context, struct error *error);
    /* Takes what was being overwritten, or is left; it is stopped. */
    bool (*take)(void *context, struct error *error);
    /* In a process that was forked from ours while everything is open (recording_guard.h): maps the
     * rings there; then, when ours has died, goes on with perf.data where it stopped. */
    bool (*map_again)(void *context, struct error *error);
    bool (*go_on)(void *context, struct error *error);
    /* Completes perf.data; after it, only facts() and close() are called. */
    bool (*end)(void *context, struct error *error);
    void (*facts)(void *context, struct live_facts *facts);
    /* Frees everything, at any time; removes a perf.data that was not completed. Warns of losses.
     */
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
