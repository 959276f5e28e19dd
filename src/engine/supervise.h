/* Waits for a program that an engine runs: handles its signals as program_signals.h describes,
 * freezes the recording at the first Ctrl-C, and kills the program and all its descendants at the
 * second.
 *
 * Used by the engines whose traced processes share their state with the recorder.
 */
#ifndef MAGIC_TRACE_ENGINE_SUPERVISE_H
#define MAGIC_TRACE_ENGINE_SUPERVISE_H

#include "engine/disk_reserve.h"
#include "process/processes.h"
#include "process/program_signals.h"

#include <stdatomic.h>
#include <stdint.h>

/* The state of a recording that the traced processes change while they run; times in ticks. */
struct shared_state {
    _Atomic uint32_t *frozen;
    _Atomic uint64_t *snapshots;     /* taken at trigger hits */
    _Atomic uint64_t *freeze_at;     /* when the recording shall freeze; 0: not known yet */
    _Atomic uint64_t *longest_delay; /* between two hits, since it was last set to 0 */
};

struct supervision {
    struct program_signals program;
    struct shared_state shared;
    bool has_trigger, has_delay_threshold;
    uint64_t ticks_per_second;
    const char *filled_folder; /* whose disk a full execution fills; NULL for other recordings */
    void (*freeze)(void *recording); /* called at the first Ctrl-C, and after the last snapshot */
    /* Called when `descriptor` is readable, and when a signal has come, including SIGCHLD; NULL and
     * -1: the engine has no work meanwhile. */
    void (*serve)(void *recording);
    int descriptor;
    /* Whether a process that was attached to is traced no more, though it lives; NULL: they always are. */
    bool (*has_left)(void *recording, pid_t pid);
    /* Whether a followed process is about to run another program, and will be followed again; NULL: it is followed all the time. */
    bool (*executes)(void *recording);
    void *recording;               /* given to them; the engine's own */
    struct process_test is_traced; /* for the second Ctrl-C: processes that have left the tree */
    /* Processes that are recorded, and go on being when the program has ended; `holds` is NULL: there are none. */
    struct process_test is_followed;

    bool snapshot_reported;  /* that the trigger has had one taken */
    bool seen_frozen;        /* when it was last looked at; what follows from that was done since */
    uint64_t last_report_ns; /* of the longest delay: CLOCK_MONOTONIC */
    struct disk_reserve reserve;
};

/* Until the program has ended, and all processes that are followed have; returns the program's status as from waitpid and
 * closes the child's descriptor. A signal after the program's end counts in `program.interrupts`. */
int supervise(struct supervision *supervision);

/* Processes that were attached to: until the recording is frozen, the first Ctrl-C, or all of them, and those that are followed, have ended or left. Whether it
 * was Ctrl-C. `program.child` is not used. */
bool supervise_attached(struct supervision *supervision, const pid_t *pids, size_t count);

#endif
