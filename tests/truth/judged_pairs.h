/* Which reconstructed stack stood beside which true stack, and how often.
 *
 * A reconstructed stack is a frame of the thread's frame tree, and is known only at the end: it may
 * gain callers until then. So the pairs are collected, and compared afterwards, once each.
 */
#ifndef MAGIC_TRACE_TESTS_JUDGED_PAIRS_H
#define MAGIC_TRACE_TESTS_JUDGED_PAIRS_H

#include "base/array.h"
#include "decode/flow_event.h"
#include "stack/frame_tree.h"
#include "true_stack.h"

struct judged_pair {
    frame_id frame;
    true_node node;
    size_t program;          /* of the first event: truth_walk_program */
    uint64_t count;          /* events */
    uint64_t first;          /* number of the first one in its thread, from 1 */
    struct flow_event event; /* that one */
};

struct judged_pairs {
    struct array pairs; /* struct judged_pair, in the order of their first events */
    uint32_t *buckets;  /* owned; index + 1, 0: empty */
    size_t bucket_count;
};

void judged_pairs_init(struct judged_pairs *pairs);
void judged_pairs_free(struct judged_pairs *pairs);

/* One more event with `frame` and `node`; the first one's facts are kept. */
void judged_pairs_add(struct judged_pairs *pairs, const struct judged_pair *pair);

static inline struct judged_pair *judged_pair_at(const struct judged_pairs *pairs, size_t index)
{
    return array_at(&pairs->pairs, index);
}

#endif
