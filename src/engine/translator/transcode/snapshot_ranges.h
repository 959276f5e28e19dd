/* Which packets of a thread belong to snapshots, when there can be several?
 *
 * A snapshot must not stall the program, so packets are written from beginning to end, as in full
 * execution, and after each step of them it is decided: if a snapshot was taken, by whichever thread of
 * whichever process, before the newest packets, all that is not decided yet is kept; if not, what lies
 * further back than a snapshot reaches goes back to the file system. What follows a snapshot's step is
 * kept for one step more. What is left undecided at the end kept_parts.h decides.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_SNAPSHOT_RANGES_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_SNAPSHOT_RANGES_H

#include "base/array.h"
#include "engine/translator/arena.h"
#include "engine/translator/transcode/packet_file.h"

/* When snapshots were taken: trigger hits that counted. */
struct snapshot_times {
    struct array ticks; /* of uint64_t, ascending */
    uint64_t seen;      /* snapshots when the log was read last */
    uint64_t read_to;   /* offset in the sideband log; 0: from its beginning */
};

void snapshot_times_init(struct snapshot_times *times);
void snapshot_times_free(struct snapshot_times *times);

/* Reads on in the sideband log if there were more snapshots. Called after the logs whose packets
 * snapshot_ranges_settle is to decide over have been read: then it knows all that were taken meanwhile. */
void snapshot_times_update(struct snapshot_times *times, const struct translator_arena *arena);

/* Decides over the packets of slot `serial`, which reach until `time` (ticks), if there is a
 * step of them since `*decided_at` (a stream position), where it was done last. */
void snapshot_ranges_settle(struct translator_arena *arena, uint32_t serial,
                            const struct packet_file *file, const struct snapshot_times *times,
                            uint64_t time, uint64_t *decided_at);

#endif
