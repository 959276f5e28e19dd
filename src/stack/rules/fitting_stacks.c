#include "stack/rules/fitting_stacks.h"

#include "stack/stack_moves.h"

/* The greatest number of callers that a stack gains: they are copied for it alone. */
enum { GAINED_LIMIT = 64 };

static bool fits(struct comparison *comparison)
{
    size_t before = comparison->before.frames.count, after = comparison->after.frames.count;
    size_t both = before < after ? before : after;
    return both > 0 && stack_comparison_count_agreeing(comparison, both - 1, both - 1) == both;
}

/* The first `limit` frames of a stack and those of another one: how many of them are the same, though the last of these may
 * return to different places. *alike: they do not, and neither has more frames. */
static size_t count_common(const struct comparison *one, const struct comparison *other,
                           size_t limit, bool *alike)
{
    const struct frame_tree *tree = &one->stack->tree;
    const struct chain *left = &one->before, *right = &other->before;
    size_t count = 0;
    bool same = true;
    while (same && count < limit && count < right->frames.count) {
        const struct frame *first = frame_tree_at(tree, chain_at(left, count));
        const struct frame *second = frame_tree_at(tree, chain_at(right, count));
        if (first->function != second->function || first->kind != second->kind)
            break;
        same = frame_tree_return_address(tree, chain_at(left, count)) ==
               frame_tree_return_address(tree, chain_at(right, count));
        count++;
    }
    *alike = same && count == left->frames.count && count == right->frames.count;
    return count;
}

static bool have_begun(const struct comparison *one, const struct comparison *other)
{
    const struct frame_tree *tree = &one->stack->tree;
    return frame_tree_has_begun(tree, one->before.top) &&
           frame_tree_has_begun(tree, other->before.top);
}

/* The stack with the innermost frame `leaf` has begun with the same frames as the first one that fits: so it fits, and changes
 * nothing. Most do, where hundreds of fibers wait in one place. */
static bool is_like_first(const struct fitting_stacks *fitting, frame_id leaf)
{
    const struct comparison *first = &fitting->first;
    const struct frame_tree *tree = &first->stack->tree;
    for (size_t i = 0; i < first->before.frames.count; i++) {
        frame_id same = chain_at(&first->before, i);
        const struct frame *frame = frame_tree_at(tree, leaf), *other = frame_tree_at(tree, same);
        if (frame->kind != other->kind || frame->function != other->function ||
            frame_tree_return_address(tree, leaf) != frame_tree_return_address(tree, same))
            return false;
        leaf = frame_tree_parent(tree, leaf);
    }
    return frame_tree_has_begun(tree, leaf) && frame_tree_has_begun(tree, first->before.top);
}

void fitting_stacks_consider(struct fitting_stacks *fitting, struct thread_stack *stack,
                             const struct segment *segment, frame_id leaf, bool several)
{
    frame_id innermost = thread_stack_parent(stack, leaf);
    if (fitting->leaf != FRAME_NONE && is_like_first(fitting, innermost))
        return;
    struct comparison comparison = stack_comparison_begin(stack, segment, innermost);
    bool fit = fits(&comparison), alike;
    if (fit && fitting->leaf == FRAME_NONE) {
        *fitting =
            (struct fitting_stacks){comparison, leaf, comparison.before.frames.count, !several};
        return;
    }
    if (fit) {
        fitting->common = count_common(&fitting->first, &comparison, fitting->common, &alike);
        fitting->is_certain =
            fitting->is_certain && alike && have_begun(&fitting->first, &comparison);
    }
    stack_comparison_end(&comparison);
}

bool fitting_stacks_is_open(const struct fitting_stacks *fitting)
{
    return fitting->leaf == FRAME_NONE || fitting->is_certain ||
           fitting->common > fitting->first.after.frames.count;
}

frame_id fitting_stacks_join(const struct fitting_stacks *fitting, struct segment *segment)
{
    const struct comparison *first = &fitting->first;
    size_t before = first->before.frames.count, after = first->after.frames.count;
    size_t both = before < after ? before : after;
    struct meeting meeting = {both - 1, both - 1, both};
    frame_id link = stack_comparison_join(first, &meeting);
    if (fitting->leaf == segment->before)
        stack_comparison_keep(first, &meeting, segment);
    return link;
}

void fitting_stacks_gain_common(const struct fitting_stacks *fitting)
{
    const struct chain *before = &fitting->first.before, *after = &fitting->first.after;
    size_t known = after->frames.count, count = fitting->common;
    if (count <= known)
        return;
    count = count - known < GAINED_LIMIT ? count - known : GAINED_LIMIT;
    stack_moves_copy_callers(fitting->first.stack, chain_at(after, known - 1),
                             array_at(&before->frames, known - 1), count);
}

void fitting_stacks_end(struct fitting_stacks *fitting)
{
    if (fitting->leaf != FRAME_NONE)
        stack_comparison_end(&fitting->first);
}
