#include "stack/rules/suspended_stacks.h"

#include "stack/rules/kernel_frames.h"
#include "stack/stack_moves.h"

#include <string.h>

/* The greatest number of suspended stacks, and of lower parts among them; beyond it the oldest is dropped. All are examined when a
 * return fits nothing, the lower parts whenever a stack is handed over.
 */
enum { SUSPENDED_LIMIT = 1024, LOWER_LIMIT = 64, COVERED_LIMIT = 64 };

/* Bytes that code pops between the loads of the stack pointer by which a stack is left and continues. */
enum { POPPED = 16 };

static struct suspended_stacks *state_of(const struct thread_stack *stack)
{
    return stack->rules.suspended_stacks;
}

static frame_id suspended_at(const struct thread_stack *stack, size_t index)
{
    return ((const struct suspended_stack *)array_at(&state_of(stack)->list, index))->leaf;
}

bool suspended_stacks_leaf_was_interrupted_at(const struct thread_stack *stack, frame_id leaf,
                                              uint64_t address)
{
    const struct frame *frame = thread_stack_frame(stack, leaf);
    return frame->kind == FRAME_SIGNAL_RETURN &&
           kernel_frames_continues_at(frame->return_address, address);
}

bool suspended_stacks_leaf_returns_to(const struct thread_stack *stack, frame_id leaf,
                                      uint64_t address)
{
    const struct frame *frame = thread_stack_frame(stack, leaf);
    return frame->kind == FRAME_FUNCTION && frame->return_address == address;
}

/* Where a stack with that leaf continues. */
static uint64_t address_of(const struct thread_stack *stack, frame_id leaf)
{
    return thread_stack_frame(stack, leaf)->return_address;
}

void suspended_stacks_put(struct thread_stack *stack, struct suspended_stack suspended)
{
    struct suspended_stacks *state = state_of(stack);
    uint64_t address = address_of(stack, suspended.leaf);
    *(struct suspended_stack *)array_add(&state->list) = suspended;
    ++*suspended_addresses_slot(&state->addresses, address);
}

void suspended_stacks_forget(struct thread_stack *stack, size_t index)
{
    struct suspended_stacks *state = state_of(stack);
    struct suspended_stack *suspended = state->list.elements;
    uint64_t address = address_of(stack, suspended[index].leaf);
    --*suspended_addresses_slot(&state->addresses, address);
    state->list.count--;
    memmove(suspended + index, suspended + index + 1,
            (state->list.count - index) * sizeof(*suspended));
}

/* It still waits, but there are too many. */
static void drop(struct thread_stack *stack, size_t index)
{
    uint64_t address = thread_stack_frame(stack, suspended_at(stack, index))->return_address;
    ++*suspended_addresses_slot(&state_of(stack)->dropped, address);
    suspended_stacks_forget(stack, index);
}

void suspended_stacks_limit(struct thread_stack *stack)
{
    if (state_of(stack)->list.count > SUSPENDED_LIMIT)
        drop(stack, 0);
}

void suspended_stacks_add(struct thread_stack *stack, frame_id leaf)
{
    suspended_stacks_put(stack, (struct suspended_stack){.leaf = leaf});
    suspended_stacks_limit(stack);
}

static void drop_oldest_lower(struct thread_stack *stack)
{
    const struct array *list = &state_of(stack)->list;
    size_t count = 0, oldest = 0;
    for (size_t i = list->count; i-- > 0;)
        if (((const struct suspended_stack *)array_at(list, i))->lower) {
            oldest = i;
            count++;
        }
    if (count > LOWER_LIMIT)
        drop(stack, oldest);
}

void suspended_stacks_add_lower(struct thread_stack *stack, frame_id leaf)
{
    suspended_stacks_put(stack, (struct suspended_stack){.leaf = leaf, .lower = true});
    drop_oldest_lower(stack);
    suspended_stacks_limit(stack);
}

static void remove_covered(struct array *covered, size_t index)
{
    struct suspended_stack *first = covered->elements;
    covered->count--;
    memmove(first + index, first + index + 1, (covered->count - index) * sizeof *first);
}

void suspended_stacks_cover(struct thread_stack *stack, uint64_t pointer)
{
    struct array *covered = &state_of(stack)->covered;
    for (size_t i = state_of(stack)->list.count; i-- > 0;) {
        const struct suspended_stack *suspended = array_at(&state_of(stack)->list, i);
        if (suspended->number != 0 || suspended->pointer == 0 || suspended->pointer > pointer ||
            pointer > suspended->top)
            continue;
        if (covered->count == COVERED_LIMIT)
            remove_covered(covered, 0);
        array_add_all(covered, suspended, 1);
        suspended_stacks_forget(stack, i);
    }
}

static bool was_left_at(const struct thread_stack *stack, const struct suspended_stack *suspended,
                        uint64_t pointer, uint64_t address)
{
    return suspended->pointer <= pointer && pointer - suspended->pointer <= POPPED &&
           suspended_stacks_leaf_returns_to(stack, suspended->leaf, address);
}

bool suspended_stacks_has_left_at(const struct thread_stack *stack, uint64_t pointer,
                                  uint64_t address)
{
    const struct array *list = &state_of(stack)->list;
    size_t i = 0;
    while (i < list->count && !was_left_at(stack, array_at(list, i), pointer, address))
        i++;
    return i < list->count;
}

bool suspended_stacks_uncover(struct thread_stack *stack, uint64_t pointer, uint64_t address)
{
    struct array *covered = &state_of(stack)->covered;
    bool found = false;
    for (size_t i = covered->count; i-- > 0;) {
        if (!was_left_at(stack, array_at(covered, i), pointer, address))
            continue;
        suspended_stacks_put(stack, *(const struct suspended_stack *)array_at(covered, i));
        remove_covered(covered, i);
        found = true;
    }
    return found;
}

/* `lower`: a lower part, or a whole stack. */
static bool waits_at(const struct thread_stack *stack, size_t index, uint64_t address, bool lower)
{
    const struct suspended_stack *suspended = array_at(&state_of(stack)->list, index);
    return suspended->lower == lower &&
           suspended_stacks_leaf_returns_to(stack, suspended->leaf, address);
}

/* Index of the first suspended stack from `first` on that continues at `address`; their number if
 * none does. */
size_t suspended_stacks_find(const struct thread_stack *stack, size_t first, uint64_t address)
{
    size_t index = first;
    if (!suspended_stacks_may_continue_at(stack, address))
        return state_of(stack)->list.count;
    while (index < state_of(stack)->list.count && !waits_at(stack, index, address, false))
        index++;
    return index;
}

/* Removes it from the suspended stacks. */
struct suspended_stack suspended_stacks_take(struct thread_stack *stack, size_t index)
{
    struct suspended_stack suspended =
        *(const struct suspended_stack *)array_at(&state_of(stack)->list, index);
    suspended_stacks_forget(stack, index);
    return suspended;
}

/* How many suspended stacks continue at `address`, as far as it matters: 2 are several. *index: of the first one. */
unsigned suspended_stacks_count(const struct thread_stack *stack, uint64_t address, size_t *index)
{
    size_t count = state_of(stack)->list.count;
    *index = suspended_stacks_find(stack, 0, address);
    if (*index == count)
        return 0;
    return 1 + (suspended_stacks_find(stack, *index + 1, address) < count);
}

/* The number of lower parts. *index: of the last one. */
unsigned suspended_stacks_count_lower(const struct thread_stack *stack, uint64_t address,
                                      size_t *index)
{
    unsigned count = 0;
    if (!suspended_stacks_may_continue_at(stack, address))
        return 0;
    for (size_t i = 0; i < state_of(stack)->list.count; i++)
        if (waits_at(stack, i, address, true)) {
            *index = i;
            count++;
        }
    return count;
}

void suspended_stacks_forget_leaf(struct thread_stack *stack, frame_id leaf)
{
    for (size_t i = state_of(stack)->list.count; i-- > 0;)
        if (((const struct suspended_stack *)array_at(&state_of(stack)->list, i))->leaf == leaf)
            suspended_stacks_forget(stack, i);
}

void suspended_stacks_part(struct thread_stack *stack, frame_id leaf, frame_id end)
{
    struct array *list = &state_of(stack)->list;
    for (size_t i = 0; i < list->count; i++) {
        struct suspended_stack *suspended = array_at(list, i);
        if (suspended->leaf != leaf)
            continue;
        --*suspended_addresses_slot(&state_of(stack)->addresses, address_of(stack, leaf));
        suspended->leaf = stack_moves_copy_frames(stack, leaf, end);
        ++*suspended_addresses_slot(&state_of(stack)->addresses,
                                    address_of(stack, suspended->leaf));
    }
}

/* Two stacks have the same known frames, and may have other callers further out. */
static bool are_unknown_alike(const struct thread_stack *stack, frame_id left, frame_id right)
{
    const struct frame_tree *tree = &stack->tree;
    const struct frame *one = frame_tree_at(tree, left), *other = frame_tree_at(tree, right);
    while (left != right && one->kind == other->kind && one->function == other->function &&
           one->kind != FRAME_PLACEHOLDER &&
           frame_tree_return_address(tree, left) == frame_tree_return_address(tree, right)) {
        left = frame_tree_parent(tree, left);
        right = frame_tree_parent(tree, right);
        one = frame_tree_at(tree, left);
        other = frame_tree_at(tree, right);
    }
    return left != right && one->kind == FRAME_PLACEHOLDER && other->kind == FRAME_PLACEHOLDER &&
           !frame_tree_has_begun(tree, left) && !frame_tree_has_begun(tree, right);
}

/* The list keeps one of many stacks that cannot be distinguished, and of which it is unknown whether they still wait. */
void suspended_stacks_merge_last(struct thread_stack *stack)
{
    struct array *list = &state_of(stack)->list;
    const struct suspended_stack *last = array_at(list, list->count - 1);
    uint64_t address = thread_stack_frame(stack, last->leaf)->return_address;
    frame_id root = frame_tree_root(&stack->tree, last->leaf);
    if (last->pointer != 0 || frame_tree_has_begun(&stack->tree, thread_stack_parent(stack, root)))
        return;
    for (size_t i = 0; (i = suspended_stacks_find(stack, i, address)) + 1 < list->count; i++) {
        struct suspended_stack *same = array_at(list, i);
        if (are_unknown_alike(stack, same->leaf, last->leaf)) {
            same->several = true;
            suspended_stacks_forget(stack, list->count - 1);
            return;
        }
    }
}

static void begin(struct thread_stack *stack)
{
    state_of(stack)->list = array_of(sizeof(struct suspended_stack));
    state_of(stack)->covered = array_of(sizeof(struct suspended_stack));
}

static void end(struct thread_stack *stack)
{
    array_free(&state_of(stack)->list);
    array_free(&state_of(stack)->covered);
}

const struct stack_rule suspended_stacks_rule = {
    .state_size = sizeof(struct suspended_stacks), .begin = begin, .end = end};
