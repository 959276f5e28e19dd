#include "stack/stitching.h"

#include "stack/stack_comparison.h"

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
    struct comparison comparison = stack_comparison_begin(stack, segment, segment->before);
    struct meeting meeting = {.agreeing = 0};
    if (comparison.before.top != comparison.after.top)
        meeting = stack_comparison_find_meeting(&comparison, segment->start == SEGMENT_UNWIND);
    if (meeting.agreeing > 0 && meeting.after + 1 < comparison.after.frames.count)
        stack_comparison_join(&comparison, &meeting);
    stack_comparison_end(&comparison);
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
    struct comparison comparison = stack_comparison_begin(stack, segment, segment->before);
    bool unwind_target = segment->start == SEGMENT_UNWIND;
    bool joined = comparison.before.top == comparison.after.top;
    struct meeting meeting = joined ? stack_comparison_find_parting(&comparison)
                                    : stack_comparison_find_meeting(&comparison, unwind_target);
    if (meeting.agreeing == 0 && unwind_target && !joined)
        meeting = stack_comparison_find_meeting(&comparison, false);
    if (meeting.agreeing > 0 && meeting.before < comparison.before.frames.count) {
        if (!joined)
            stack_comparison_join(&comparison, &meeting);
        stack_comparison_keep(&comparison, &meeting, segment);
    } else if (!joined && unwind_target) {
        attach_to_fallback(stack, segment);
    }
    stack_comparison_end(&comparison);
}

void stitching_join_segments(struct thread_stack *stack)
{
    struct segment *segments = stack->segments.elements;
    for (size_t i = stack->segments.count; i-- > 0;)
        if (is_stitchable(stack, &segments[i]))
            learn_callers(stack, &segments[i]);
    for (size_t i = 0; i < stack->segments.count; i++)
        if (is_stitchable(stack, &segments[i]))
            stitch(stack, &segments[i]);
}

static bool is_joined(struct thread_stack *stack, const struct segment *segment)
{
    struct comparison comparison = stack_comparison_begin(stack, segment, segment->before);
    bool joined = comparison.before.top == comparison.after.top;
    stack_comparison_end(&comparison);
    return joined;
}

bool stitching_join_unwound(struct thread_stack *stack)
{
    struct segment *segments = stack->segments.elements;
    bool joined = false;
    for (size_t i = 0; i < stack->segments.count; i++) {
        if (segments[i].start != SEGMENT_UNWIND || segments[i].before == FRAME_NONE ||
            is_joined(stack, &segments[i]))
            continue;
        stitch(stack, &segments[i]);
        joined |= is_joined(stack, &segments[i]);
    }
    return joined;
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

uint64_t stitching_count_open(const struct thread_stack *stack)
{
    const struct segment *segments = stack->segments.elements;
    uint64_t spans = 0;
    for (size_t i = 0; i < stack->segments.count; i++)
        spans += depth_of(stack, segments[i].leaf) - depth_of(stack, segments[i].kept_as);
    for (size_t i = 0; i < stack->resumed.count; i++)
        spans += depth_of(stack, *(frame_id *)array_at(&stack->resumed, i));
    return spans;
}

void stitching_add_spans(struct thread_stack *stack)
{
    const struct segment *segments = stack->segments.elements;
    stack->statistics.spans += stitching_count_open(stack);
    for (size_t i = 0; i < stack->segments.count; i++)
        if (segments[i].start == SEGMENT_GAP)
            stack->statistics.stitched += depth_of(stack, segments[i].kept_as);
}
