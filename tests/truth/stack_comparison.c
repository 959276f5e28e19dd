#include "stack_comparison.h"

#include "stack/rules/kernel_frames.h"

#include <string.h>

void collect_reconstructed(const struct thread_stack *stack, frame_id id, struct array *functions)
{
    functions->count = 0;
    while (id != FRAME_NONE) {
        const struct frame *frame = thread_stack_frame(stack, id);
        if (frame->kind != FRAME_PLACEHOLDER && !kernel_frames_is_outside(frame))
            *(function_id *)array_add(functions) = frame->function;
        id = frame_tree_parent(&stack->tree, id);
    }
}

void collect_true(const struct true_tree *tree, true_node node, struct array *functions)
{
    functions->count = 0;
    while (node) {
        const struct true_tree_node *at = true_tree_at(tree, node);
        *(function_id *)array_add(functions) = at->function;
        node = at->parent;
    }
}

/* The functions from the leaf on are those of `truth`, all of them but the outermost `but`. */
static bool is_same(const struct array *reconstructed, const struct array *truth, size_t but)
{
    return reconstructed->count == truth->count - but &&
           (reconstructed->count == 0 || memcmp(reconstructed->elements, truth->elements,
                                                reconstructed->count * sizeof(function_id)) == 0);
}

/* A new stack's first function may be shown alone, or called by the one that it will return to. */
static void add_later_caller(const struct true_tree *tree, true_node node, struct array *truth)
{
    while (node && true_tree_at(tree, node)->parent)
        node = true_tree_at(tree, node)->parent;
    if (node && true_tree_at(tree, node)->caller)
        *(function_id *)array_add(truth) = true_tree_at(tree, node)->caller;
}

bool is_right(const struct truth_walk *walk, const struct judged_pair *pair,
              const struct array *reconstructed, struct array *truth)
{
    uint32_t unknown = truth_walk_not_returned_to(walk, pair->program);
    if (is_same(reconstructed, truth, 0) || is_same(reconstructed, truth, unknown))
        return true;
    size_t count = truth->count;
    add_later_caller(&walk->stack.tree, pair->node, truth);
    bool same = truth->count > count && is_same(reconstructed, truth, 0);
    truth->count = count;
    return same;
}

size_t count_same_callers(const struct array *left, const struct array *right)
{
    size_t same = 0;
    while (same < left->count && same < right->count &&
           *(function_id *)array_at(left, left->count - 1 - same) ==
               *(function_id *)array_at(right, right->count - 1 - same))
        same++;
    return same;
}
