/* In which part of a trace a call of a function begins, by the buckets of its index: none of its spans is read.
 *
 * Called by call_ordinal.c. All tracks but those of hits are meant.
 */
#ifndef MAGIC_TRACE_INDEX_CALL_BUCKETS_H
#define MAGIC_TRACE_INDEX_CALL_BUCKETS_H

#include "index/file/index_reader.h"

struct call_bucket {
    struct index_range range; /* calls begin in it */
    uint64_t before;          /* calls of the group that begin before it */
};

/* The bucket in which the call with this number begins, from 1, of the group. Without such a call, the last one. */
bool call_bucket_of_ordinal(const struct trace_index *index, uint32_t group, uint64_t ordinal,
                            struct call_bucket *bucket, struct error *error);

/* The bucket that holds the moment. */
bool call_bucket_at(const struct trace_index *index, uint32_t group, uint64_t time,
                    struct call_bucket *bucket, struct error *error);

#endif
