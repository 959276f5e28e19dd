#include "stack/stitching.h"

#include "stack/stack_comparison.h"

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
    return segment->start == SEGMENT_UNWIND ||
           (segment->start == SEGMENT_GAP && !stack->no_stitching);
}

/* --- Backwards: a segment learns its callers from the one after it. --- */

static void learn_callers(struct thread_stack *stack, struct segment *segment)
{
    struct comparison comparison = comparison_begin(stack, segment, segment->before);
    struct meeting meeting = {.agreeing = 0};
    if (comparison.before.top != comparison.after.top)
        meeting = comparison_find_meeting(&comparison, segment->start == SEGMENT_UNWIND);
    if (meeting.agreeing > 0 && meeting.after + 1 < comparison.after.frames.count)
        comparison_join(&comparison, &meeting);
    comparison_end(&comparison);
}

/* --- Forwards: the frames that both have in common are one. --- */

static void attach_to_fallback(struct thread_stack *stack, struct segment *segment)
{
    if (segment->fallback == FRAME_NONE)
        return;
    frame_id root = frame_tree_root(&stack->tree, segment->leaf);
    if (root != segment->leaf)
        return; /* its callers are known, and differ */
    frame_id fallback = frame_tree_resolve(&stack->tree, segment->fallback);
    frame_tree_link(&stack->tree, thread_stack_parent(stack, root), fallback);
    if (thread_stack_frame(stack, fallback)->kind != FRAME_PLACEHOLDER)
        segment->kept = segment->kept_as = fallback;
}

static void stitch(struct thread_stack *stack, struct segment *segment)
{
    struct comparison comparison = comparison_begin(stack, segment, segment->before);
    bool unwind_target = segment->start == SEGMENT_UNWIND;
    bool joined = comparison.before.top == comparison.after.top;
    struct meeting meeting = joined ? comparison_find_parting(&comparison)
                                    : comparison_find_meeting(&comparison, unwind_target);
    if (meeting.agreeing == 0 && unwind_target && !joined)
        meeting = comparison_find_meeting(&comparison, false);
    if (meeting.agreeing > 0 && meeting.before < comparison.before.frames.count) {
        if (!joined)
            comparison_join(&comparison, &meeting);
        keep(segment, &comparison, &meeting);
    } else if (!joined && unwind_target) {
        attach_to_fallback(stack, segment);
    }
    comparison_end(&comparison);
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

/* --- Which of several suspended stacks continues. --- */

static void resume_suspended(struct thread_stack *stack, frame_id leaf)
{
    for (size_t i = stack->suspended.count; i-- > 0;)
        if (((const struct suspended_stack *)array_at(&stack->suspended, i))->leaf == leaf)
            thread_stack_forget_suspended(stack, i);
}

/* True if the stack suspended with the leaf `suspended`, which continues in that leaf's parent, is
 * the segment's: innermost frame with innermost frame, and all others as far as both are known. */
static bool join_suspended(struct thread_stack *stack, struct segment *segment, frame_id suspended)
{
    struct comparison comparison =
        comparison_begin(stack, segment, thread_stack_parent(stack, suspended));
    size_t before = comparison.before.frames.count, after = comparison.after.frames.count;
    size_t both = before < after ? before : after;
    struct meeting meeting = {both - 1, both - 1, 0};
    if (both > 0)
        meeting.agreeing = comparison_count_agreeing(&comparison, both - 1, both - 1);
    bool same = both > 0 && meeting.agreeing == both;
    if (same) {
        comparison_join(&comparison, &meeting);
        if (suspended == segment->before)
            keep(segment, &comparison, &meeting);
    }
    comparison_end(&comparison);
    return same;
}

void stitch_switch(struct thread_stack *stack, struct segment *segment)
{
    for (uint32_t i = 0; i < segment->candidate_count; i++) {
        frame_id suspended =
            *(frame_id *)array_at(&stack->candidates, segment->first_candidate + i);
        if (join_suspended(stack, segment, suspended)) {
            resume_suspended(stack, suspended);
            break;
        }
    }
    segment->candidate_count = 0;
}

/* --- Which functions may be active further out. --- */

enum { SEGMENTS_LOOKED_BACK = 16, FRAMES_LOOKED_BACK = 4096 };

bool was_open_before(const struct thread_stack *stack, function_id function)
{
    const struct segment *segments = stack->segments.elements;
    size_t last = stack->segments.count, steps = 0;
    for (size_t i = last; i-- > 0 && last - i <= SEGMENTS_LOOKED_BACK;) {
        const struct segment *segment = &segments[i];
        if (segment->start != SEGMENT_GAP && segment->start != SEGMENT_UNWIND)
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
