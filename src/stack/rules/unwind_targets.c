#include "stack/rules/unwind_targets.h"

#include <stdlib.h>

/* Programs have few calls of setjmp. Unwind targets anywhere (in code that a JIT compiler made, of
 * exceptions after gaps) would fill the memory: then all are dropped, and searched for again, but
 * each frame is examined only so often. */
enum { SITES_LIMIT = 64, LOOKS_PER_FRAME = 16 };

static struct unwind_target *find_known_site(const struct array *sites, uint64_t return_address)
{
    for (size_t i = 0; i < sites->count; i++) {
        struct unwind_target *site = array_at(sites, i);
        if (site->return_address == return_address)
            return site;
    }
    return NULL;
}

static void drop_all(struct array *sites)
{
    for (size_t i = 0; i < sites->count; i++) {
        struct unwind_target *site = array_at(sites, i);
        array_free(&site->calls);
        array_free(&site->callers);
    }
    array_free(sites);
}

/* False if too many frames have been examined. */
static bool make_room(struct thread_stack *stack)
{
    struct unwind_targets *targets = stack->rules.unwind_targets;
    struct array *sites = &targets->sites;
    if (sites->count < SITES_LIMIT)
        return true;
    if (targets->looks > (uint64_t)LOOKS_PER_FRAME * stack->tree.frames.count)
        return false;
    for (size_t i = 0; i < sites->count; i++)
        targets->looks += ((const struct unwind_target *)array_at(sites, i))->looked_at;
    drop_all(sites);
    return true;
}

/* NULL if it is unknown, and too many frames have been examined. */
static struct unwind_target *find_site(struct thread_stack *stack, uint64_t return_address)
{
    struct unwind_target *site =
        find_known_site(&stack->rules.unwind_targets->sites, return_address);
    if (site == NULL && make_room(stack)) {
        site = array_add(&stack->rules.unwind_targets->sites);
        *site = (struct unwind_target){.return_address = return_address,
                                       .looked_at = 1,
                                       .calls = array_of(sizeof(frame_id)),
                                       .callers = array_of(sizeof(frame_id))};
    }
    return site;
}

static int compare_ids(const void *left_pointer, const void *right_pointer)
{
    frame_id left = *(const frame_id *)left_pointer, right = *(const frame_id *)right_pointer;
    return left < right ? -1 : left > right;
}

static void look_at_new_frames(struct unwind_target *site, const struct frame_tree *tree)
{
    size_t known = site->callers.count;
    for (; site->looked_at < tree->frames.count; site->looked_at++) {
        const struct frame *frame = frame_tree_at(tree, site->looked_at);
        if (frame->kind != FRAME_FUNCTION || frame->return_address != site->return_address)
            continue;
        *(frame_id *)array_add(&site->calls) = site->looked_at;
        *(frame_id *)array_add(&site->callers) = frame_tree_parent(tree, site->looked_at);
    }
    if (site->callers.count > known)
        qsort(site->callers.elements, site->callers.count, sizeof(frame_id), compare_ids);
}

bool unwind_targets_may_have_called(struct thread_stack *stack, frame_id frame,
                                    uint64_t return_address)
{
    struct unwind_target *site = find_site(stack, return_address);
    if (site == NULL)
        return false;
    look_at_new_frames(site, &stack->tree);
    if (site->callers.count == 0)
        return false;
    return thread_stack_frame(stack, frame)->return_address == 0 ||
           bsearch(&frame, site->callers.elements, site->callers.count, sizeof(frame_id),
                   compare_ids) != NULL;
}

const struct array *unwind_targets_calls(struct thread_stack *stack, uint64_t return_address)
{
    struct unwind_target *site = find_site(stack, return_address);
    if (site == NULL)
        return NULL;
    look_at_new_frames(site, &stack->tree);
    return &site->calls;
}

static void begin(struct thread_stack *stack)
{
    stack->rules.unwind_targets->sites = array_of(sizeof(struct unwind_target));
}

static void end(struct thread_stack *stack)
{
    drop_all(&stack->rules.unwind_targets->sites);
}

const struct stack_rule unwind_targets_rule = {
    .state_size = sizeof(struct unwind_targets),
    .begin = begin,
    .end = end,
};
