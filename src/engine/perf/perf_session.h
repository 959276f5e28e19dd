/* A recording by perf, from the machine's examination to session.json: what `run` and `attach` have
 * in common.
 */
#ifndef MAGIC_TRACE_ENGINE_PERF_PERF_SESSION_H
#define MAGIC_TRACE_ENGINE_PERF_PERF_SESSION_H

#include "engine/perf/perf_recorder.h"
#include "perf_event/perf_clock.h"

struct perf_session {
    const struct record_options *options;
    struct perf_machine machine;
    struct signals signals;
    char *directory; /* absolute */
    char *output;    /* its perf.data */
    char *program;   /* absolute path of the traced executable; NULL: not known. Given by the caller
                        after perf_session_open, owned */
    struct perf_clock clock;
    struct trigger_hits hits;
};

/* Warns of options that have no effect; holds back signals until perf_session_close. */
bool perf_session_open(struct perf_session *session, const struct record_options *options,
                       struct error *error);
void perf_session_close(struct perf_session *session, bool interrupted);

/* What perf is to do with these processes. Warns of what it cannot do. */
struct perf_request perf_session_request(const struct perf_session *session, const pid_t *pids,
                                         size_t pid_count);

/* perf is ready: the trigger is watched from now on, if there is one. */
bool perf_session_watch_trigger(struct perf_session *session, struct perf_recorder *recorder,
                                struct error *error);

/* perf has ended: whether there is a recording, which is made complete. */
bool perf_session_finish(const struct perf_session *session, const struct perf_recorder *recorder,
                         struct record_result *result, struct error *error);

#endif
