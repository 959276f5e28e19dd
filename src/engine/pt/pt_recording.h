/* Writes what Intel PT tracing records into a recording folder.
 *
 * perf.data is written while recording: records as they come, packets of a full execution as they
 * come, those of a snapshot when it is taken. Several snapshots are in the same file, as those of
 * perf record -S are: chunks of the same rings, whose overlaps the decoder recognizes.
 */
#ifndef MAGIC_TRACE_ENGINE_PT_PT_RECORDING_H
#define MAGIC_TRACE_ENGINE_PT_PT_RECORDING_H

#include "engine/pt/pt_records.h"

struct pt_recording {
    struct tracing *tracing;             /* borrowed */
    const char *directory;               /* absolute; borrowed */
    struct raw_perf_data_writer *writer; /* NULL: not open */
    struct clock_conversion clock;       /* from ticks to perf's clock */
    uint64_t bytes;                      /* of packets */
    struct pt_records records;
    uint64_t wall_clock_ns, wall_clock_at; /* as in session.json */
};

/* The tracing is open and not started yet. Writes what `pids` had mapped before. */
bool pt_recording_begin(struct pt_recording *recording, struct tracing *tracing,
                        const char *directory, const pid_t *pids, size_t pid_count,
                        struct error *error);

/* Takes what the kernel has written since, but for packets that are being overwritten. */
bool pt_recording_drain(struct pt_recording *recording, struct error *error);

/* Adds the packets of all areas; tracing is stopped. */
bool pt_recording_add_packets(struct pt_recording *recording, struct error *error);

/* Completes perf.data. False also when nothing was recorded. The recording is empty then. */
bool pt_recording_end(struct pt_recording *recording, struct error *error);

/* Frees all; removes what was written, unless it has ended. */
void pt_recording_abandon(struct pt_recording *recording);

#endif
