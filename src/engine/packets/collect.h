/* Rings of packets and a sideband log -> DIR/perf.data.
 *
 * Called by the engines that encode packets in software, when the program has ended (or, by salvage,
 * long after magic-trace was killed). What was recorded is only read; the caller removes it when
 * everything was written.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_COLLECT_H
#define MAGIC_TRACE_ENGINE_PACKETS_COLLECT_H

#include "base/array.h"
#include "base/clock.h"
#include "engine/packets/recorded.h"
#include "recording/session.h"

struct collection {
    /* Given by the caller. */
    struct recorded recorded;
    char *const *command_line;     /* of magic-trace, for the recording's header */
    struct clock_conversion clock; /* ticks of the packets to nanoseconds */

    /* What was found. */
    struct array rings;                /* of uint32_t: serials of those that hold packets */
    uint64_t instructions;             /* executed in them */
    uint64_t bytes;                    /* of packets written */
    struct session_untraced *untraced; /* owned by `memory` */
    size_t untraced_count;
    struct session_death *deaths; /* likewise */
    size_t death_count;
    struct session_hit *hits; /* likewise, by time */
    size_t hit_count;
    struct arena memory;
};

/* The recording must be frozen and quiet: see rings_settle. False when perf.data could not be
 * written, or nothing had been recorded (ERROR_NOT_FOUND). Free the collection in any case. */
bool collect(struct collection *collection, struct error *error);
void collection_free(struct collection *collection);

/* Puts what was found into what session.json will say; the session borrows it. */
void collection_describe(const struct collection *collection, struct session *session);
/* And out again, before the collection is freed and the session lives on. */
void collection_withdraw(struct session *session);

/* Waits until the threads that are still alive have seen that the recording is frozen: those that
 * sleep in the kernel write no more, those that run end at their next packet. A thread that runs
 * without making packets (an endless loop of direct jumps) is waited for until it has run for a
 * fifth of a second, which on a busy machine is later; for a minute at most. */
void rings_settle(const char *folder);

#endif
