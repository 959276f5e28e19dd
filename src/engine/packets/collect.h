/* Rings of packets and a sideband log -> DIR/perf.data.
 *
 * Called by the engines that encode packets in software, when the program has ended (or, by
 * salvage, long after magic-trace was killed). It only reads what was recorded; the caller removes
 * that when everything was written.
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

/* Puts the counts and lists of the collection into `session`, which borrows them. */
void collection_describe(const struct collection *collection, struct session *session);
/* Removes them from `session`, before the collection is freed. */
void collection_withdraw(struct session *session);

/* Adds to an ERROR_IO that what was recorded is kept in `folder` of the recording, and how it is finished. */
void collection_explain_kept(struct error *error, const char *directory, const char *folder);

/* Waits until the living threads have noticed that the recording is frozen: threads that sleep in
 * the kernel write no more, threads that run stop at their next packet. A thread that runs without
 * making packets (an endless loop of direct jumps) is waited for until it has run for a fifth of a
 * second, which takes longer on a busy machine; a minute at most. */
void rings_settle(const char *folder);

#endif
