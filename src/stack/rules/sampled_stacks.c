#include "stack/rules/sampled_stacks.h"

#include "stack/stack_moves.h"

void sampled_stacks_init(struct sampled_stacks *stacks)
{
    *stacks = (struct sampled_stacks){
        .frames = array_of(sizeof(struct sampled_frame)),
        .ids = array_of(sizeof(frame_id)),
    };
}

void sampled_stacks_free(struct sampled_stacks *stacks)
{
    array_free(&stacks->frames);
    array_free(&stacks->ids);
}

static struct sampled_frame *open_frame_at(const struct sampled_stacks *stacks, size_t index)
{
    return array_at(&stacks->frames, index);
}

/* ---- the callers of a cut stack ---- */

/* Whether a frame of the sample before is the outermost one of a cut stack. */
static bool is_same_place(const struct sampled_frame *open, const struct sampled_frame *outermost)
{
    if (open->function != outermost->function)
        return false;
    if (open->stack_pointer && outermost->stack_pointer)
        return open->stack_pointer == outermost->stack_pointer;
    return open->address == outermost->address;
}

/* How many of the open frames are the callers of the sample's outermost one: the innermost match.
 */
static size_t find_callers(const struct sampled_stacks *stacks, const struct stack_sample *sample)
{
    if (!sample->cut)
        return 0;
    for (size_t i = stacks->frames.count; i-- > 0;)
        if (is_same_place(open_frame_at(stacks, i), &sample->frames[0]))
            return i;
    return 0;
}

/* ---- from one stack to the next ---- */

/* The stack to show for a sample: its callers, known from before or replaced by one frame, and its
 * own frames. */
struct shown_stack {
    size_t kept;                /* this many of the open frames are its callers */
    struct sampled_frame above; /* if `has_above`: between the kept frames and its own */
    bool has_above;
    const struct stack_sample *sample;
};

static struct shown_stack show(const struct sampled_stacks *stacks,
                               const struct stack_sample *sample)
{
    struct shown_stack shown = {.kept = find_callers(stacks, sample), .sample = sample};
    shown.has_above = shown.kept == 0 && sample->cut && sample->callers != FUNCTION_UNKNOWN;
    shown.above.function = sample->callers;
    return shown;
}

static size_t depth_of(const struct shown_stack *shown)
{
    return shown->kept + shown->has_above + shown->sample->count;
}

/* Frame `index`, which is not one of the kept ones. */
static const struct sampled_frame *frame_at(const struct shown_stack *shown, size_t index)
{
    index -= shown->kept;
    if (shown->has_above && index-- == 0)
        return &shown->above;
    return &shown->sample->frames[index];
}

/* How many frames, from the root on, are still the same activations. */
static size_t count_same(const struct sampled_stacks *stacks, const struct shown_stack *shown)
{
    size_t same = shown->kept, depth = depth_of(shown);
    while (same < stacks->frames.count && same < depth) {
        if (open_frame_at(stacks, same)->function != frame_at(shown, same)->function)
            break;
        same++;
        if (open_frame_at(stacks, same - 1)->address != frame_at(shown, same - 1)->address)
            break; /* it has called another function since */
    }
    return same;
}

static void end_all(struct thread_stack *stack, struct sampled_stacks *stacks,
                    enum history_kind reason)
{
    stack_moves_end(stack, reason);
    stacks->frames.count = stacks->ids.count = 0;
}

/* The frames from `count` on have ended. */
static void close_frames(struct thread_stack *stack, struct sampled_stacks *stacks, size_t count)
{
    if (count == stacks->frames.count)
        return;
    if (count == 0) {
        end_all(stack, stacks, HISTORY_END_GAP);
        return;
    }
    stacks->frames.count = stacks->ids.count = count;
    stack_moves_return(stack, *(frame_id *)array_at(&stacks->ids, count - 1));
}

/* `caller` is the frame below; NULL: none. */
static void open_frame(struct thread_stack *stack, struct sampled_stacks *stacks,
                       const struct sampled_frame *frame, const struct sampled_frame *caller)
{
    const struct activation activation = {
        .function = frame->function,
        .kind = FRAME_FUNCTION,
        .return_address = caller ? caller->address : 0,
    };
    if (caller)
        stack_moves_enter(stack, &activation, frame->address);
    else
        stack_moves_begin(stack, &activation, frame->address, true);
    *(struct sampled_frame *)array_add(&stacks->frames) = *frame;
    *(frame_id *)array_add(&stacks->ids) = stack->leaf;
}

static void change(struct thread_stack *stack, struct sampled_stacks *stacks,
                   const struct shown_stack *shown)
{
    size_t same = count_same(stacks, shown), depth = depth_of(shown);
    close_frames(stack, stacks, same);
    for (size_t i = shown->kept; i < same; i++)
        *open_frame_at(stacks, i) = *frame_at(shown, i);
    for (size_t i = same; i < depth; i++) {
        struct sampled_frame caller;
        if (i > 0)
            caller = *open_frame_at(stacks, i - 1);
        if (frame_tree_full(&stack->tree)) {
            thread_stack_count_ignored(stack);
            return;
        }
        open_frame(stack, stacks, frame_at(shown, i), i > 0 ? &caller : NULL);
    }
}

void sampled_stacks_follow(struct thread_stack *stack, struct sampled_stacks *stacks,
                           const struct stack_sample *sample)
{
    stack_moves_advance(stack, sample->time);
    thread_stack_followed(stack, FLOW_CALL);
    switch (sample->kind) {
    case STACK_SAMPLE: {
        struct shown_stack shown = show(stacks, sample);
        change(stack, stacks, &shown);
        break;
    }
    case STACK_NOT_RUNNING:
        end_all(stack, stacks, HISTORY_END_GAP);
        break;
    case STACK_EXEC:
        end_all(stack, stacks, HISTORY_END_EXEC);
        break;
    }
}
