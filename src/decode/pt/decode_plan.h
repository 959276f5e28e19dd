/* What is to be decoded and to whom the events go: made before decoding begins.
 *
 * Private to decode_jobs.c, whose workers take the PSB segments of a plan in their order.
 */
#ifndef MAGIC_TRACE_DECODE_PT_DECODE_PLAN_H
#define MAGIC_TRACE_DECODE_PT_DECODE_PLAN_H

#include "decode/pt/decode_request.h"
#include "decode/pt/psb_segment.h"
#include "decode/reorder_buffer.h"

#include <uthash.h>

/* A thread that receives events, found by its tid. */
struct event_sink {
    uint32_t tid;
    struct thread_sink output;
    UT_hash_handle hh;
};

/* A PSB segment and its events. Once `done` it belongs to the worker that passes events on. */
struct psb_segment_work {
    struct decode_job *job;
    struct stream_work *stream;
    const struct trace_segment *segment;
    struct segment_bytes *bytes;
    struct psb_segment psb_segment;
    bool last; /* of its trace segment */
    bool done;
    struct reorder_buffer reorder_buffer;
};

/* The bytes of a trace segment, contiguous. */
struct segment_bytes {
    const uint8_t *bytes;
    uint8_t *copy; /* owned; NULL if they are contiguous in the file */
};

/* The PSB segments of one stream, whose events are passed on in this order. */
struct stream_work {
    struct schedule schedule;
    struct array psb_segments; /* struct psb_segment_work * */
    size_t next;               /* the first with events that have not been passed on */
};

/* Streams whose events are passed on in the order of their time: that of one thread, or those of
 * all processors. */
struct decode_job {
    struct array streams;          /* struct stream_work * */
    struct event_sink *event_sink; /* of a thread's job; NULL for the job of the processors */
    uint64_t size;
    size_t order; /* the job's place in the file */
    bool busy;    /* a worker is passing events on */
};

struct decode_plan {
    const struct decode_request *request;
    struct event_sink *event_sinks;
    struct array jobs;     /* struct decode_job *, the largest first */
    struct array segments; /* struct segment_bytes * */
    /* struct psb_segment_work *: in the order in which they are started */
    struct array psb_segments;
    uint64_t bytes;
};

/* `request` is borrowed. */
void decode_plan_make(struct decode_plan *plan, const struct decode_request *request);

/* Ends the threads that have not ended, and adds the counts of their sinks. */
void decode_plan_free(struct decode_plan *plan, struct flow_statistics *statistics);

static inline struct decode_job *plan_job(const struct array *jobs, size_t index)
{
    return *(struct decode_job **)array_at(jobs, index);
}

static inline struct stream_work *job_stream(const struct decode_job *job, size_t index)
{
    return *(struct stream_work **)array_at(&job->streams, index);
}

static inline struct psb_segment_work *psb_segment_work_at(const struct array *psb_segments,
                                                           size_t index)
{
    return *(struct psb_segment_work **)array_at(psb_segments, index);
}

#endif
