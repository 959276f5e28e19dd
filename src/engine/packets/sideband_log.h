/* The log of the traced processes (log_reader.h) -> sideband records of the recording.
 *
 * Translates layouts, times and paths, and lists what ran untraced. With the instruction clock,
 * processes and threads are numbered 1, 2, 3 in the order of creation, so that two runs of one
 * program give the same recording.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_SIDEBAND_LOG_H
#define MAGIC_TRACE_ENGINE_PACKETS_SIDEBAND_LOG_H

#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "engine/packets/log_reader.h"
#include "recording/sideband.h"

/* A process whose end was reported to its traced parent. */
struct reaped_process {
    uint32_t pid; /* of the machine */
    struct ticks time;
};

struct sideband_log {
    /* That of the recording, absolute: paths of code dumps are relative to it. */
    const char *directory;
    struct clock_conversion clock;
    bool renumber;
    struct array records;        /* of struct sideband_record, in the order of the log */
    struct array untraced;       /* of struct session_untraced */
    struct array deaths;         /* of struct session_death */
    struct array hits;           /* of struct session_hit */
    struct array kept;           /* of struct kept_part (kept_parts.h) */
    struct array reaped;         /* of struct reaped_process, in the order of the log */
    struct task_number *numbers; /* a hash table; see sideband_log_number */
    struct arena memory;         /* strings of records and untraced */
};

/* Starts empty. */
void sideband_log_begin(struct sideband_log *log, const char *directory,
                        const struct clock_conversion *clock, bool renumber);
void sideband_log_add(struct sideband_log *log, const struct logged_record *record);

/* All records by time, else in the order of the log; to be freed. */
const struct sideband_record **sideband_log_sorted(const struct sideband_log *log);

/* What a process or thread number of this machine is in the recording. */
uint32_t sideband_log_number(struct sideband_log *log, uint32_t number);

/* Except `memory`, which the caller may have kept. */
void sideband_log_free(struct sideband_log *log);

#endif
