/* What a recording of a full execution leaves free on its disk: the program, and others, need some.
 *
 * 5 % of the disk or 1 GB, whichever is less, and at most half of what was free at the beginning.
 *
 * Used by supervise.c and live_session.c while they wait.
 */
#ifndef MAGIC_TRACE_ENGINE_DISK_RESERVE_H
#define MAGIC_TRACE_ENGINE_DISK_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

struct disk_reserve {
    const char *folder; /* borrowed; NULL: no disk is watched */
    uint64_t least;     /* bytes that stay free */
    int look_ms;        /* between two looks */
    uint64_t looked_ns; /* CLOCK_MONOTONIC */
};

/* `copied`: what is recorded is written a second time when the recording is finished, so that as
 * much must be free as it has taken. */
void disk_reserve_begin(struct disk_reserve *reserve, const char *folder, bool copied);

/* How long to wait before the next look, in milliseconds; -1: for ever. */
int disk_reserve_patience(const struct disk_reserve *reserve);

/* Whether recording must stop; then a warning has said so. True once. */
bool disk_reserve_is_reached(struct disk_reserve *reserve);

#endif
