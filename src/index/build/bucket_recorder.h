/* How many calls of each function begin in each part of the trace, while its index is built.
 *
 * Called by index_builder.c for each call of a thread, in the order of time; read by call_buckets.c. A bucket (of an
 * equi-depth histogram, as databases keep them) ends when it has `bucket_calls` calls, at the next moment: calls that begin at
 * the same time are in the same one. So the calls that begin before a bucket are known without looking at them.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_BUCKET_RECORDER_H
#define MAGIC_TRACE_INDEX_BUILD_BUCKET_RECORDER_H

#include "base/array.h"

#include <stdbool.h>

struct bucket_recorder {
    struct array buckets; /* of struct bucket_record: those that ended, and the last one */
    struct array bytes;   /* their counts (bucket_codec.h) */
    struct array calls;   /* of uint64_t, by function: those of the last bucket */
    struct array met;     /* of uint32_t: the functions that have calls in it */
    uint64_t count;       /* calls in it */
    uint64_t last;        /* ns: when the last of them began */
    uint64_t bucket_calls;
    bool is_void; /* what was counted cannot be used */
};

void bucket_recorder_init(struct bucket_recorder *recorder, uint64_t bucket_calls);
void bucket_recorder_free(struct bucket_recorder *recorder);

/* A call of the function begins; `time` never decreases. */
void bucket_recorder_take(struct bucket_recorder *recorder, uint32_t function, uint64_t time);

/* Calls were counted that turn out to be no calls of a thread: the index gets no buckets, so that its questions are answered
 * by its spans alone. */
void bucket_recorder_void(struct bucket_recorder *recorder);

/* Ends the last bucket. */
void bucket_recorder_finish(struct bucket_recorder *recorder);

#endif
