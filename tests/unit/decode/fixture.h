/* A recording made up in memory, decoded, and the result.
 *
 * The traced process has program.S at PROGRAM_BASE. One tick is one nanosecond.
 */
#ifndef MAGIC_TRACE_TESTS_FLOW_FIXTURE_H
#define MAGIC_TRACE_TESTS_FLOW_FIXTURE_H

#include "base/array.h"
#include "decode/flow.h"
#include "packets.h"

enum {
    PROGRAM_BASE = 0x10000000,
    PROGRAM_COPY_BASE = 0x20000000,
    PROGRAM_PID = 100,
    PROGRAM_TID = 100
};

struct decoded_thread {
    uint32_t tid;
    struct array events; /* struct flow_event */
    unsigned ended;      /* calls of the sink's end */
};

struct fixture {
    struct packets packets; /* of ring 0, thread PROGRAM_TID */
    struct array records;   /* struct sideband_record */
    struct array chunks;    /* struct aux_chunk: added to, or made from `packets` when empty */
    struct pt_setup setup;
    struct cpu_identity cpu;
    unsigned cores;
    bool counts_cycles; /* for the test that adds packets */
    const struct flow_observer *observer;

    struct perf_data data;
    struct address_spaces spaces;
    struct symbols *symbols;
    struct array threads; /* struct decoded_thread *, in the order of the sink's begin */
    struct flow_statistics statistics;
};

void fixture_begin(struct fixture *fixture);
void fixture_free(struct fixture *fixture);

/* The address of a symbol of program.S in the traced process. */
uint64_t at(const char *symbol);

struct sideband_record *fixture_add_record(struct fixture *fixture, enum sideband_kind kind,
                                           uint64_t time, uint32_t tid);
/* Maps the program once more, at PROGRAM_COPY_BASE. */
void fixture_add_copy(struct fixture *fixture);
/* Maps the page of patched.S over the page `patched` of program.S at `time`. */
void fixture_patch(struct fixture *fixture, uint64_t time);

void fixture_decode(struct fixture *fixture);
/* As fixture_decode, but perf decoded the packets, and `stream` is the output of its filter: an
 * array of bytes (made_stream.h). */
void fixture_decode_stream(struct fixture *fixture, const struct array *stream,
                           struct error *damage);

struct decoded_thread *fixture_thread(struct fixture *fixture, uint32_t tid);
/* Event `index` of the thread PROGRAM_TID; fails the test if there are fewer. */
const struct flow_event *fixture_event(struct fixture *fixture, size_t index);
size_t fixture_event_count(struct fixture *fixture);

/* Fails the test unless event `index` is this one. */
void expect_event(struct fixture *fixture, size_t index, enum flow_kind kind, uint64_t from,
                  uint64_t to);
void expect_function(struct fixture *fixture, size_t index, const char *name);

#endif
