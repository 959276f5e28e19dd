/* What the collector has to know of a recording besides its rings: made by the engine that recorded.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_RECORDED_H
#define MAGIC_TRACE_ENGINE_PACKETS_RECORDED_H

#include "engine/engine.h"
#include "engine/packets/off_cpu_log.h"
#include "engine/packets/sideband_layout.h"
#include "process/seen_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorded {
    const char *directory; /* of the recording, absolute */
    const char *folder;    /* where the files ring.SERIAL are, absolute */
    const uint8_t *log;    /* the sideband log, 16-byte aligned */
    size_t log_size;

    enum record_clock clock;
    /* When a record of the log was, in ticks of the packets; NULL: it says so itself. */
    uint64_t (*time_of)(void *context, const struct logged_record *record);
    void *time_context;
    uint64_t started;   /* CLOCK_REALTIME, ns */
    uint64_t frozen_at; /* ticks: when the recording ended for those who had not ended themselves */
    /* The recorder has watched the program to its end. Else a thread that is gone now can have
     * ended at any time. */
    bool watched;

    /* Several snapshots could be taken: of a ring is kept what belongs to them. */
    bool multi_snapshot;
    uint64_t snapshots; /* taken */
    uint64_t
        snapshot_size; /* bytes of packets before one that belong to it; 0: all that there are */

    uint32_t bus_ratio; /* in CBR packets */
    struct record_packets packets;

    /* When threads were not running; NULL: this is not known. Of lost records it is not, either. */
    struct off_cpu_log *off_cpu;
    uint64_t lost_switches;

    const struct seen_files *seen; /* of processes that do not see our files; NULL: all do */

    /* Threads that were not recorded because more ran at a time than there is room for. */
    uint64_t surplus_threads;
    uint32_t most_threads, most_processes;
    uint64_t lost_rings;   /* threads that were not recorded for lack of space */
    uint64_t lost_records; /* of the log, likewise */
};

#endif
