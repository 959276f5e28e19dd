/* What there is to decode, and whose events come of it: made before decoding begins.
 *
 * Private to decode_jobs.c, whose workers take the slices of a plan in their order.
 */
#ifndef MAGIC_TRACE_DECODE_PT_DECODE_PLAN_H
#define MAGIC_TRACE_DECODE_PT_DECODE_PLAN_H

#include "decode/pt/decode_jobs.h"
#include "decode/pt/psb_segment.h"
#include "decode/reorder_buffer.h"

#include <uthash.h>

/* A thread that events go to, found by its tid. */
struct receiver {
    uint32_t tid;
    struct thread_output output;
    UT_hash_handle hh;
};

/* A slice on its way. Once `done` it belongs to whoever passes events on. */
struct slice_work {
    struct decode_job *job;
    struct stream_work *stream;
    const struct trace_stretch *stretch;
    struct stretch_bytes *bytes;
    struct slice slice;
    bool last; /* of its stretch */
    bool done;
    struct delivery delivery;
};

/* The bytes of a stretch, contiguous. */
struct stretch_bytes {
    const uint8_t *bytes;
    uint8_t *copy; /* owned; NULL when they lie in the file */
};

/* The slices of one stream, whose events are passed on in this order. */
struct stream_work {
    struct schedule schedule;
    struct array slices; /* struct slice_work * */
    size_t next;         /* the first whose events have not all been passed on */
};

/* Streams whose events are passed on in the order of their time: one of a thread, or all of the
 * processors. */
struct decode_job {
    struct array streams;      /* struct stream_work * */
    struct receiver *receiver; /* of a thread's job; NULL for the job of the processors */
    uint64_t size;
    size_t order; /* the job's place in the file */
    bool busy;    /* somebody is passing events on */
};

struct decode_plan {
    const struct decode_request *request;
    struct receiver *receivers;
    struct array jobs;      /* struct decode_job *, the largest first */
    struct array stretches; /* struct stretch_bytes * */
    struct array slices;    /* struct slice_work *: in the order in which they are to be begun */
    uint64_t bytes;
};

/* `request` is borrowed. */
void decode_plan_make(struct decode_plan *plan, const struct decode_request *request);

/* Ends the threads that have not ended, and adds what their receivers have counted. */
void decode_plan_free(struct decode_plan *plan, struct flow_statistics *statistics);

static inline struct decode_job *plan_job(const struct array *jobs, size_t index)
{
    return *(struct decode_job **)array_at(jobs, index);
}

static inline struct stream_work *job_stream(const struct decode_job *job, size_t index)
{
    return *(struct stream_work **)array_at(&job->streams, index);
}

static inline struct slice_work *slice_work_at(const struct array *slices, size_t index)
{
    return *(struct slice_work **)array_at(slices, index);
}

#endif
