#include "stack/stitching.h"

#include "stack/landing_sites.h"
#include "stack/protected_calls.h"
#include "stack/told_landings.h"

/* Comparisons of two frames for one segment. */
enum { COMPARISON_LIMIT = 1 << 22 };

/* A call stack as a list, the leaf first. */
struct chain {
    struct array frames; /* frame_id */
    frame_id top;        /* the placeholder above the root */
};

static struct chain chain_of(const struct thread_stack *stack, frame_id leaf)
{
    struct chain chain = {.frames = array_of(sizeof(frame_id))};
    frame_id id = leaf;
    for (; thread_stack_frame(stack, id)->kind != FRAME_PLACEHOLDER;
         id = thread_stack_parent(stack, id))
        *(frame_id *)array_add(&chain.frames) = id;
    chain.top = id;
    return chain;
}

static frame_id chain_at(const struct chain *chain, size_t index)
{
    return *(frame_id *)array_at(&chain->frames, index);
}

/* Where two chains meet: index of a frame in each, and how many frames agree, that one and further
 * in. */
struct meeting {
    size_t before, after;
    size_t agreeing; /* 0: they do not meet */
};

struct comparison {
    struct thread_stack *stack;
    const struct segment *segment;
    struct chain before, after;
    struct landing_range range; /* of `before`: frames that can be landed in */
    uint32_t done;              /* comparisons of frames */
};

/* A caller that was discovered is a function to us, even if it is a signal handler. */
static bool may_be_one_kind(enum frame_kind left, enum frame_kind right)
{
    return left == right || left == FRAME_FUNCTION || right == FRAME_FUNCTION;
}

/* Whether two frames may be one. Where a frame returns to may not be known of the outermost one,
 * nor of one that was that when its stack was joined with another. */
static bool may_be_one(struct comparison *comparison, size_t before, size_t after)
{
    const struct frame_tree *tree = &comparison->stack->tree;
    frame_id left_id = chain_at(&comparison->before, before);
    frame_id right_id = chain_at(&comparison->after, after);
    const struct frame *left = frame_tree_at(tree, left_id);
    const struct frame *right = frame_tree_at(tree, right_id);
    comparison->done++;
    if (left->function != right->function || !may_be_one_kind(left->kind, right->kind))
        return false;
    uint64_t left_return = frame_tree_return_address(tree, left_id);
    uint64_t right_return = frame_tree_return_address(tree, right_id);
    return left_return == right_return || left_return == 0 || right_return == 0;
}

static size_t count_agreeing(struct comparison *comparison, size_t before, size_t after)
{
    if (!may_be_one(comparison, before, after))
        return 0;
    size_t count = 1;
    while (count <= before && count <= after && comparison->done < COMPARISON_LIMIT &&
           may_be_one(comparison, before - count, after - count))
        count++;
    return count;
}

static void try_meeting(struct comparison *comparison, size_t before, size_t after,
                        struct meeting *best)
{
    size_t agreeing = count_agreeing(comparison, before, after);
    if (agreeing > best->agreeing)
        *best = (struct meeting){before, after, agreeing};
}

/* Whether control can have landed in this frame of the stack before. */
static bool can_be_landed_in(struct comparison *comparison, size_t before)
{
    const struct segment *segment = comparison->segment;
    if (!is_in_range(&comparison->range, before))
        return false;
    return !segment->called ||
           landing_sites_may_have_called(comparison->stack, chain_at(&comparison->before, before),
                                         segment->landed.address);
}

/* Both chains are known up to a function that nobody has called: as many callers agree as can. */
static struct meeting find_common_callers(struct comparison *comparison)
{
    size_t before = comparison->before.frames.count, after = comparison->after.frames.count;
    struct meeting meeting = {before - 1, after - 1, 0};
    meeting.agreeing = count_agreeing(comparison, before - 1, after - 1);
    return meeting;
}

static bool are_whole(const struct comparison *comparison)
{
    const struct frame_tree *tree = &comparison->stack->tree;
    return comparison->segment->start == SEGMENT_GAP &&
           frame_tree_is_outermost(tree, comparison->before.top) &&
           frame_tree_is_outermost(tree, comparison->after.top);
}

/* The best place where the root of one chain meets a frame of the other. `whole`: all frames of
 * `after` must agree. */
static struct meeting find_meeting(struct comparison *comparison, bool whole)
{
    if (are_whole(comparison))
        return find_common_callers(comparison);
    struct meeting best = {.agreeing = 0};
    size_t before_count = comparison->before.frames.count;
    size_t after_count = comparison->after.frames.count;
    for (size_t i = whole ? after_count - 1 : 0;
         i < before_count && comparison->done < COMPARISON_LIMIT; i++) {
        struct meeting here = {.agreeing = 0};
        try_meeting(comparison, i, after_count - 1, &here);
        bool fits = !whole || (here.agreeing == after_count &&
                               can_be_landed_in(comparison, i + 1 - after_count));
        if (fits && here.agreeing > best.agreeing)
            best = here;
    }
    for (size_t i = 0; i + 1 < after_count && comparison->done < COMPARISON_LIMIT; i++) {
        struct meeting here = {.agreeing = 0};
        try_meeting(comparison, before_count - 1, i, &here);
        bool fits = !whole || (here.agreeing == i + 1 && i < before_count &&
                               can_be_landed_in(comparison, before_count - 1 - i));
        if (fits && here.agreeing > best.agreeing)
            best = here;
    }
    return best;
}

/* Both chains are one stack from the meeting on outwards. */
static void join(struct thread_stack *stack, const struct comparison *comparison,
                 const struct meeting *meeting)
{
    frame_id before = chain_at(&comparison->before, meeting->before);
    frame_id after = chain_at(&comparison->after, meeting->after);
    if (meeting->after + 1 == comparison->after.frames.count) {
        frame_tree_learn_return(&stack->tree, after,
                                frame_tree_return_address(&stack->tree, before));
        frame_tree_link(&stack->tree, comparison->after.top, thread_stack_parent(stack, before));
    } else {
        frame_tree_learn_return(&stack->tree, before,
                                frame_tree_return_address(&stack->tree, after));
        frame_tree_link(&stack->tree, comparison->before.top, thread_stack_parent(stack, after));
    }
}

static void free_comparison(struct comparison *comparison)
{
    array_free(&comparison->before.frames);
    array_free(&comparison->after.frames);
}

static struct landing_range find_range(const struct thread_stack *stack,
                                       const struct segment *segment, frame_id before)
{
    struct landing_range range = told_landings_range(stack, before, segment->landed);
    if (segment->start == SEGMENT_LANDING && segment->landed.pointer == 0)
        range.except =
            protected_calls_exception(stack, segment - 1, before, segment->landed.address);
    return range;
}

static struct comparison compare(struct thread_stack *stack, const struct segment *segment,
                                 frame_id before)
{
    return (struct comparison){
        .stack = stack,
        .segment = segment,
        .before = chain_of(stack, before),
        .after = chain_of(stack, segment->leaf),
        .range = find_range(stack, segment, before),
    };
}

static void keep(struct segment *segment, const struct comparison *comparison,
                 const struct meeting *meeting)
{
    size_t inwards = meeting->agreeing - 1;
    segment->kept = chain_at(&comparison->before, meeting->before - inwards);
    segment->kept_as = chain_at(&comparison->after, meeting->after - inwards);
}

static bool is_stitchable(const struct thread_stack *stack, const struct segment *segment)
{
    if (segment->before == FRAME_NONE)
        return false;
    return segment->start == SEGMENT_LANDING ||
           (segment->start == SEGMENT_GAP && !stack->no_stitching);
}

/* --- Backwards: a segment learns its callers from the one behind it. --- */

static void learn_callers(struct thread_stack *stack, struct segment *segment)
{
    struct comparison comparison = compare(stack, segment, segment->before);
    struct meeting meeting = {.agreeing = 0};
    if (comparison.before.top != comparison.after.top)
        meeting = find_meeting(&comparison, segment->start == SEGMENT_LANDING);
    if (meeting.agreeing > 0 && meeting.after + 1 < comparison.after.frames.count)
        join(stack, &comparison, &meeting);
    free_comparison(&comparison);
}

/* --- Forwards: what both have in common is one. --- */

/* Both are known up to the same caller, so they meet where their ancestors part. */
static struct meeting find_parting(struct comparison *comparison)
{
    size_t before = comparison->before.frames.count - 1;
    size_t after = comparison->after.frames.count - 1;
    while (before > 0 && after > 0 &&
           chain_at(&comparison->before, before) == chain_at(&comparison->after, after)) {
        before--;
        after--;
    }
    size_t agreeing = count_agreeing(comparison, before, after);
    if (agreeing > 0)
        return (struct meeting){before, after, agreeing};
    return (struct meeting){before + 1, after + 1, 1};
}

static void attach_to_fallback(struct thread_stack *stack, struct segment *segment)
{
    if (segment->fallback == FRAME_NONE)
        return;
    frame_id root = frame_tree_root(&stack->tree, segment->leaf);
    if (root != segment->leaf)
        return; /* its callers are known, and they are others */
    frame_id fallback = frame_tree_resolve(&stack->tree, segment->fallback);
    frame_tree_link(&stack->tree, thread_stack_parent(stack, root), fallback);
    if (thread_stack_frame(stack, fallback)->kind != FRAME_PLACEHOLDER)
        segment->kept = segment->kept_as = fallback;
}

static void stitch(struct thread_stack *stack, struct segment *segment)
{
    struct comparison comparison = compare(stack, segment, segment->before);
    bool landing = segment->start == SEGMENT_LANDING;
    bool joined = comparison.before.top == comparison.after.top;
    struct meeting meeting =
        joined ? find_parting(&comparison) : find_meeting(&comparison, landing);
    if (meeting.agreeing == 0 && landing && !joined)
        meeting = find_meeting(&comparison, false);
    if (meeting.agreeing > 0 && meeting.before < comparison.before.frames.count) {
        if (!joined)
            join(stack, &comparison, &meeting);
        keep(segment, &comparison, &meeting);
    } else if (!joined && landing) {
        attach_to_fallback(stack, segment);
    }
    free_comparison(&comparison);
}

void stitch_segments(struct thread_stack *stack)
{
    struct segment *segments = stack->segments.elements;
    for (size_t i = stack->segments.count; i-- > 0;)
        if (is_stitchable(stack, &segments[i]))
            learn_callers(stack, &segments[i]);
    for (size_t i = 0; i < stack->segments.count; i++)
        if (is_stitchable(stack, &segments[i]))
            stitch(stack, &segments[i]);
}

/* --- Which of several stacks goes on. --- */

static void unpark(struct thread_stack *stack, frame_id leaf)
{
    for (size_t i = stack->parked.count; i-- > 0;)
        if (((const struct parked_stack *)array_at(&stack->parked, i))->leaf == leaf)
            thread_stack_forget_parked(stack, i);
}

/* True when the stack that is parked with `parked`, and goes on in its parent, is the segment's:
 * innermost frame with innermost frame, and all others as far as both are known. */
static bool join_parked(struct thread_stack *stack, struct segment *segment, frame_id parked)
{
    struct comparison comparison = compare(stack, segment, thread_stack_parent(stack, parked));
    size_t before = comparison.before.frames.count, after = comparison.after.frames.count;
    size_t both = before < after ? before : after;
    struct meeting meeting = {both - 1, both - 1, 0};
    if (both > 0)
        meeting.agreeing = count_agreeing(&comparison, both - 1, both - 1);
    bool same = both > 0 && meeting.agreeing == both;
    if (same) {
        join(stack, &comparison, &meeting);
        if (parked == segment->before)
            keep(segment, &comparison, &meeting);
    }
    free_comparison(&comparison);
    return same;
}

void stitch_switch(struct thread_stack *stack, struct segment *segment)
{
    for (uint32_t i = 0; i < segment->candidate_count; i++) {
        frame_id parked = *(frame_id *)array_at(&stack->candidates, segment->first_candidate + i);
        if (join_parked(stack, segment, parked)) {
            unpark(stack, parked);
            break;
        }
    }
    segment->candidate_count = 0;
}

/* --- What may be open further out. --- */

enum { SEGMENTS_LOOKED_BACK = 16, FRAMES_LOOKED_BACK = 4096 };

bool was_open_before(const struct thread_stack *stack, function_id function)
{
    const struct segment *segments = stack->segments.elements;
    size_t last = stack->segments.count, steps = 0;
    for (size_t i = last; i-- > 0 && last - i <= SEGMENTS_LOOKED_BACK;) {
        const struct segment *segment = &segments[i];
        if (segment->start != SEGMENT_GAP && segment->start != SEGMENT_LANDING)
            return false;
        for (frame_id id = segment->before;
             id != FRAME_NONE && thread_stack_frame(stack, id)->kind != FRAME_PLACEHOLDER &&
             steps < FRAMES_LOOKED_BACK;
             id = thread_stack_parent(stack, id), steps++)
            if (thread_stack_frame(stack, id)->function == function)
                return true;
    }
    return false;
}

/* --- Counting. --- */

static uint64_t depth_of(const struct thread_stack *stack, frame_id leaf)
{
    uint64_t depth = 0;
    if (leaf == FRAME_NONE)
        return 0;
    for (; thread_stack_frame(stack, leaf)->kind != FRAME_PLACEHOLDER;
         leaf = thread_stack_parent(stack, leaf))
        depth++;
    return depth;
}

uint64_t spans_open_at_beginnings(const struct thread_stack *stack)
{
    const struct segment *segments = stack->segments.elements;
    uint64_t spans = 0;
    for (size_t i = 0; i < stack->segments.count; i++)
        spans += depth_of(stack, segments[i].leaf) - depth_of(stack, segments[i].kept_as);
    for (size_t i = 0; i < stack->resumed.count; i++)
        spans += depth_of(stack, *(frame_id *)array_at(&stack->resumed, i));
    return spans;
}

void count_spans_of_segments(struct thread_stack *stack)
{
    const struct segment *segments = stack->segments.elements;
    stack->statistics.spans += spans_open_at_beginnings(stack);
    for (size_t i = 0; i < stack->segments.count; i++)
        if (segments[i].start == SEGMENT_GAP)
            stack->statistics.stitched += depth_of(stack, segments[i].kept_as);
}
