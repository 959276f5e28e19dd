/* A kernel that records context switches: tests write the records that it would. It has two processors. */
#ifndef SWITCH_STAND_IN_H
#define SWITCH_STAND_IN_H

#include "made_folder.h"
#include "perf_event/kernel.h"

#include <stdbool.h>

enum { STAND_IN_PROCESSORS = 2 };

struct switch_stand_in {
    struct kernel kernel; /* first, to be found again */
    struct made_folder sysfs;
    int refuses;       /* events, with this errno; 0: not */
    int refuses_rings; /* likewise */
    size_t events;     /* that were opened */
    struct perf_event_attr attributes;
    void *rings[STAND_IN_PROCESSORS]; /* in the order in which they were mapped: by processor */
    size_t ring_count;
    size_t ring_bytes; /* of each, with the page before its records */
};

void switch_stand_in_open(struct switch_stand_in *stand_in);
void switch_stand_in_close(struct switch_stand_in *stand_in);

/* The record of a switch: off the processor, preempted or not, or to it. `time`: CLOCK_MONOTONIC. */
enum switch_kind { SWITCH_IN, SWITCH_WAITS, SWITCH_PREEMPTED };
void switch_stand_in_record(struct switch_stand_in *stand_in, unsigned processor,
                            enum switch_kind kind, uint32_t tid, uint64_t time);
/* So many records found no room. */
void switch_stand_in_lose(struct switch_stand_in *stand_in, unsigned processor, uint64_t count);
/* A record that is too short for what was asked for. */
void switch_stand_in_cut(struct switch_stand_in *stand_in, unsigned processor);

#endif
