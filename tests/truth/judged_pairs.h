/* Which reconstructed stack stood beside which true stack, and how often.
 *
 * A reconstructed stack is a frame of the thread's frame tree, and is known only at the end: it may
 * gain callers until then. So the pairs are collected, and compared afterwards, once each.
 */
#ifndef MAGIC_TRACE_TESTS_JUDGED_PAIRS_H
#define MAGIC_TRACE_TESTS_JUDGED_PAIRS_H

#include "base/array.h"
#include "flow/flow_event.h"
#include "stack/frame_tree.h"
#include "true_stack.h"

struct judged_pair {
    frame_id frame;
    true_node node;
    uint64_t count;           /* events */
    uint64_t first;           /* number of the first one in its thread, from 1 */
    struct flow_event event;  /* that one */
    uint32_t not_returned_to; /* as of truth_walk, at the end of that program; outermost functions
                                 of the true stack that need not be known */
};

struct judged_pairs {
    struct array pairs; /* struct judged_pair, in the order of their first events */
    uint32_t *buckets;  /* owned; index + 1, 0: empty */
    size_t bucket_count;
};

void judged_pairs_init(struct judged_pairs *pairs);
void judged_pairs_free(struct judged_pairs *pairs);

/* After event number `number` of the thread. */
void judged_pairs_add(struct judged_pairs *pairs, frame_id frame, true_node node, uint64_t number,
                      const struct flow_event *event);

static inline struct judged_pair *judged_pair_at(const struct judged_pairs *pairs, size_t index)
{
    return array_at(&pairs->pairs, index);
}

#endif
