/* A kernel with Intel PT, for tests: real rings in memory, which it fills with what the test plays,
 * by the rules of Linux.
 *
 * Source of the rules: kernel/events/ring_buffer.c and core.c, arch/x86/events/intel/pt.c.
 *   - A record that finds no room is lost; the next one that finds some is preceded by a
 *     PERF_RECORD_LOST.
 *   - Packets that are kept stop one byte short of what has not been read; the event is disabled
 *     then and the PERF_RECORD_AUX says TRUNCATED.
 *   - Of packets that are overwritten aux_head is a place in the area.
 * Descriptors are eventfds. Mappings are two of the same memory, so that writing where the engine
 * may only read is seen.
 */
#ifndef MAGIC_TRACE_TESTS_ENGINE_PT_STAND_IN_H
#define MAGIC_TRACE_TESTS_ENGINE_PT_STAND_IN_H

#include "made_folder.h"

#include "base/array.h"
#include "base/clock.h"
#include "perf_event/kernel.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    STAND_IN_UNIT = 11, /* the number of intel_pt */
    STAND_IN_EVENTS = 4096,
};

struct stand_in_ring {
    struct perf_event_mmap_page *page; /* NULL: not mapped; writable */
    uint8_t *records, *packets;        /* after the page; NULL: no area */
    uint64_t records_size, packets_size;
    bool overwritten;
    uint64_t written; /* packets, ever */
    uint64_t lost;    /* records, since the last PERF_RECORD_LOST */
};

struct stand_in_event {
    struct perf_event_attr attributes;
    pid_t pid;
    int cpu;
    int descriptor;
    bool enabled;
    struct stand_in_ring *own, *ring; /* that it has mapped; that it writes into */
};

struct stand_in {
    struct kernel kernel; /* what the engine is given */
    struct made_folder sysfs;
    struct stand_in_event *events;
    size_t event_count;
    size_t mapped; /* mappings that have not been unmapped */
    /* Refusals for the test: the errno, from that call on (0: the first). */
    int open_problem, map_problem, control_problem;
    size_t open_calls, map_calls, control_calls; /* that still succeed */
    bool others_are_real;                        /* events of other units are the real kernel's */
    size_t largest_area;                         /* mapping more gives EPERM; 0: no limit */
    /* Called after an event was enabled, and before it is disabled. */
    void (*enabled)(struct stand_in *kernel, struct stand_in_event *event);
    void (*disabled)(struct stand_in *kernel, struct stand_in_event *event);
    void *context;                 /* of the test */
    struct clock_conversion clock; /* the conversion in the pages; a mult of 0: none */
    uint64_t time;                 /* of the next record of its own; grows by one */
};

/* A sysfs with an intel_pt of a new processor. Leaves the process if that cannot be made. */
void stand_in_begin(struct stand_in *kernel);

/* Frees what the test's engine left, after stand_in_left_over. */
void stand_in_end(struct stand_in *kernel);

/* The number of open descriptors and mappings. */
size_t stand_in_left_over(const struct stand_in *kernel);

/* Forgets all events, for the next recording. */
void stand_in_forget(struct stand_in *kernel);

/* Writes a file of the unit: "caps/psb_cyc". NULL removes it. */
void stand_in_put(const struct stand_in *kernel, const char *name, const char *text);

/* The events, in the order in which they were opened: the first of that kind. NULL: none. */
struct stand_in_event *stand_in_packets_event(struct stand_in *kernel, int cpu);
struct stand_in_event *stand_in_side_band_event(struct stand_in *kernel);

/* A whole record, as the event would write it. */
void stand_in_write_record(struct stand_in_event *event, const void *record, size_t size);

/* Packets. Returns how many were taken: less than all if they are kept and there was no room. Ends
 * with a PERF_RECORD_AUX, as when tracing stops. */
size_t stand_in_write_packets(struct stand_in *kernel, struct stand_in_event *event,
                              const uint8_t *packets, size_t size);

#endif
