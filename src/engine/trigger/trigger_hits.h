/* The trigger's hits while it is recorded: which count, and what the recording says of them.
 */
#ifndef MAGIC_TRACE_ENGINE_TRIGGER_HITS_H
#define MAGIC_TRACE_ENGINE_TRIGGER_HITS_H

#include "base/array.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/trigger/breakpoints.h"
#include "engine/trigger/trigger_conditions.h"

struct trigger_hits {
    const struct record_options *options; /* borrowed */
    struct breakpoints *breakpoints;      /* NULL: no place is watched */
    struct trigger_conditions conditions;
    struct clock_conversion clock; /* from the ticks that a program passes to perf's clock */
    struct array taken;            /* of struct session_hit: those that counted */
    uint64_t seen;                 /* all */
};

/* Whether this machine can watch the trigger of the options, if one is wanted: for the serves() of the engine of that name.
 */
bool trigger_hits_served(const struct record_options *options, const char *engine,
                         struct error *error);

/* Watches the trigger of the options, if there is one. Close in any case. */
bool trigger_hits_open(struct trigger_hits *hits, const struct kernel *kernel,
                       const struct record_options *options, const pid_t *pids, size_t pid_count,
                       struct error *error);

/* Stops watching; what was taken stays until trigger_hits_free. */
void trigger_hits_close(struct trigger_hits *hits);
void trigger_hits_free(struct trigger_hits *hits);

/* For poll(2); -1: no place is watched. */
int trigger_hits_descriptor(const struct trigger_hits *hits);

/* The next hit that counts is in `taken`; false: none has come yet. */
bool trigger_hits_next(struct trigger_hits *hits);

/* With a delay threshold: reports the longest delay since the last report. */
void trigger_hits_report_delay(struct trigger_hits *hits);

#endif
