#include "index/call_buckets.h"

#include "index/file/bucket_codec.h"

static uint64_t bucket_count(const struct trace_index *index)
{
    return index->header->sections[SECTION_BUCKETS].count;
}

/* An index without buckets, of a trace without calls, has one: the whole trace. */
static struct index_range range_of(const struct trace_index *index, uint64_t number)
{
    bool is_last = number + 1 >= bucket_count(index);
    return (struct index_range){
        number == 0 ? 0 : index->buckets[number].from,
        is_last ? index->facts.duration + 1 : index->buckets[number + 1].from,
    };
}

/* The calls of the group that begin in the bucket. */
static bool count_calls(const struct trace_index *index, uint64_t number, uint32_t group,
                        uint64_t *calls, struct error *error)
{
    bool is_last = number + 1 == bucket_count(index);
    uint64_t end = is_last ? index->header->sections[SECTION_BUCKET_BYTES].count
                           : index->buckets[number + 1].first_byte;
    const uint8_t *bytes = index->bucket_bytes + index->buckets[number].first_byte;
    const uint8_t *limit = index->bucket_bytes + end;
    struct bucket_count count = BUCKET_COUNT_BEFORE_FIRST;
    *calls = 0;
    while (bytes < limit) {
        bytes = bucket_count_decode(bytes, limit, index->facts.functions, &count);
        if (!bytes)
            return index_damaged(index, error);
        if (index_group_of(index, count.function) == group)
            *calls += count.calls;
    }
    return true;
}

/* A bucket is looked for by its number of calls or by its range. */
struct bucket_search {
    uint64_t ordinal; /* UINT64_MAX: any */
    uint64_t time;    /* likewise */
};

static bool find_bucket(const struct trace_index *index, uint32_t group,
                        const struct bucket_search *search, struct call_bucket *bucket,
                        struct error *error)
{
    uint64_t calls;
    *bucket = (struct call_bucket){range_of(index, 0), 0};
    for (uint64_t i = 0; i + 1 < bucket_count(index) && search->time >= bucket->range.to; i++) {
        if (!count_calls(index, i, group, &calls, error))
            return false;
        if (search->ordinal <= bucket->before + calls)
            break;
        bucket->before += calls;
        bucket->range = range_of(index, i + 1);
    }
    return true;
}

bool call_bucket_of_ordinal(const struct trace_index *index, uint32_t group, uint64_t ordinal,
                            struct call_bucket *bucket, struct error *error)
{
    const struct bucket_search search = {.ordinal = ordinal, .time = UINT64_MAX};
    return find_bucket(index, group, &search, bucket, error);
}

bool call_bucket_at(const struct trace_index *index, uint32_t group, uint64_t time,
                    struct call_bucket *bucket, struct error *error)
{
    const struct bucket_search search = {.ordinal = UINT64_MAX, .time = time};
    return find_bucket(index, group, &search, bucket, error);
}
