#include "judged_pairs.h"

#include "base/memory.h"

#include <stdlib.h>

enum { FIRST_BUCKET_COUNT = 1024 };

void judged_pairs_init(struct judged_pairs *pairs)
{
    *pairs = (struct judged_pairs){
        .pairs = array_of(sizeof(struct judged_pair)),
        .buckets = memory_allocate_zeroed(FIRST_BUCKET_COUNT * sizeof(uint32_t)),
        .bucket_count = FIRST_BUCKET_COUNT,
    };
}

void judged_pairs_free(struct judged_pairs *pairs)
{
    array_free(&pairs->pairs);
    free(pairs->buckets);
}

/* The bucket of the pair, or the empty one where it belongs. */
static uint32_t *find_bucket(const struct judged_pairs *pairs, frame_id frame, true_node node)
{
    uint64_t hash = ((uint64_t)frame << 32 | node) * UINT64_C(0x9e3779b97f4a7c15);
    size_t bucket = (size_t)(hash >> 24) & (pairs->bucket_count - 1);
    for (;; bucket = (bucket + 1) & (pairs->bucket_count - 1)) {
        uint32_t *index = &pairs->buckets[bucket];
        if (*index == 0)
            return index;
        const struct judged_pair *pair = judged_pair_at(pairs, *index - 1);
        if (pair->frame == frame && pair->node == node)
            return index;
    }
}

static void grow_buckets(struct judged_pairs *pairs)
{
    free(pairs->buckets);
    pairs->bucket_count *= 2;
    pairs->buckets = memory_allocate_zeroed(pairs->bucket_count * sizeof(uint32_t));
    for (size_t i = 0; i < pairs->pairs.count; i++) {
        const struct judged_pair *pair = judged_pair_at(pairs, i);
        *find_bucket(pairs, pair->frame, pair->node) = (uint32_t)i + 1;
    }
}

void judged_pairs_add(struct judged_pairs *pairs, const struct judged_pair *pair)
{
    uint32_t *index = find_bucket(pairs, pair->frame, pair->node);
    if (*index) {
        judged_pair_at(pairs, *index - 1)->count++;
        return;
    }
    struct judged_pair *added = array_add(&pairs->pairs);
    *added = *pair;
    added->count = 1;
    *index = (uint32_t)pairs->pairs.count;
    if (pairs->pairs.count > pairs->bucket_count / 2)
        grow_buckets(pairs);
}
