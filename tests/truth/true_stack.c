#include "true_stack.h"

#include "base/memory.h"

#include <stdlib.h>

enum {
    /* A block may load RSP with what it is about to be anyway, and then push. */
    PUSHED_AFTER_LOAD = 4096,
    /* The largest array of variable length. */
    LARGEST_ALLOCA = 1 << 20,
    /* What a signal puts on the stack that it interrupts: the red zone, and a frame with all vector
     * registers. */
    LARGEST_SIGNAL_FRAME = 16384,
};

/* --- Several areas --- */

static struct stack_area *suspended_at(const struct true_stack *stack, size_t index)
{
    return *(struct stack_area **)array_at(&stack->suspended, index);
}

static void stack_switch_resume(struct true_stack *stack, size_t index)
{
    struct stack_area **suspended = stack->suspended.elements;
    suspended[index] = suspended[--stack->suspended.count];
}

static void forget(struct true_stack *stack, const struct stack_area *area)
{
    for (size_t i = 0; i < stack->suspended.count; i++)
        if (suspended_at(stack, i) == area)
            stack_switch_resume(stack, i);
}

static void suspend(struct true_stack *stack)
{
    stack->current->suspended = stack->rsp;
    stack->current->left = stack->steps;
    *(struct stack_area **)array_add(&stack->suspended) = stack->current;
}

static bool stands_on(const struct stack_area *area, const struct stack_area *other)
{
    for (; area; area = area->below)
        if (area->below == other)
            return true;
    return false;
}

/* Leaves the current area for `area`, a suspended one. Handlers that stand on it have ended. */
static void go_on_in(struct true_stack *stack, struct stack_area *area)
{
    if (stands_on(stack->current, area)) {
        while (stack->current != area) {
            struct stack_area *ended = stack->current;
            stack->current = ended->below;
            forget(stack, stack->current);
            stack_area_free(ended);
        }
        return;
    }
    suspend(stack);
    forget(stack, area);
    stack->current = area;
}

/* The one that was left last: memory is used again. */
static struct stack_area *find_suspended(const struct true_stack *stack, uint64_t rsp)
{
    struct stack_area *found = NULL;
    for (size_t i = 0; i < stack->suspended.count; i++) {
        struct stack_area *area = suspended_at(stack, i);
        if (stack_area_covers(area, rsp) && (!found || area->left > found->left))
            found = area;
    }
    return found;
}

/* A function that takes its return address off the stack for a while (vfork does, around its system
 * call) still runs. */
static bool tail_calls_stays_in_leaf(const struct true_stack *stack,
                                     const struct truth_record *record, function_id function)
{
    const struct truth_block *previous = &stack->previous;
    const struct true_frame *leaf = stack_area_leaf(stack->current);
    return previous->pc && !previous->loads_rsp &&
           (previous->ends_in == TRUTH_END_OTHER || previous->ends_in == TRUTH_END_SYSTEM_CALL) &&
           !(record->flags & TRUTH_SIGNAL_RETURN) && !leaf->unseen &&
           true_tree_at(&stack->tree, leaf->node)->function == function;
}

/* A function that has taken its return address off the stack calls another one, which overwrites
 * it: the function still runs (OCaml's caml_raise_exn does this). Not so when it was called by
 * itself: that is how code learns where it is. */
static void keep_caller(struct true_stack *stack, uint64_t rsp)
{
    struct true_frame *leaf = stack_area_leaf(stack->current);
    if (leaf->slot != rsp || leaf->unseen)
        return;
    const struct true_tree_node *node = true_tree_at(&stack->tree, leaf->node);
    if (true_tree_at(&stack->tree, node->parent)->function != node->function)
        leaf->slot = rsp + 8;
}

/* A function that has moved its return address down the stack, and what it has made above it is its
 * caller's (V8's functions begin by calling such a one). */
static bool returns_with_more(const struct true_stack *stack, const struct truth_block *block,
                              uint64_t rsp)
{
    const struct true_frame *leaf = stack_area_leaf(stack->current);
    return stack->previous.pc && stack->previous.ends_in == TRUTH_END_RETURN &&
           stack->current->frames.count > 1 && !leaf->unseen && leaf->slot >= rsp &&
           leaf->returns_to == block->pc;
}

static bool goes_straight_on(const struct truth_block *block)
{
    return block->ends_in == TRUTH_END_OTHER || block->ends_in == TRUTH_END_CALL;
}

static void begin_area(struct true_stack *stack, uint64_t rsp)
{
    suspend(stack);
    stack->current = stack_area_new(0);
    stack->current->begun = stack->current->top = rsp;
}

static function_id function_of(const struct true_stack *stack, true_node node)
{
    return true_tree_at(&stack->tree, node)->function;
}

/* The function with `node` has loaded RSP and goes on. Either it was left there before, or it takes
 * its own stack along. */
static void stand(struct true_stack *stack, const struct truth_record *record, true_node node)
{
    struct stack_area *area = stack->current;
    uint64_t slot = record->flags & TRUTH_CALLED ? record->rsp + 8 : record->rsp;
    stack_area_cut(area, slot);
    stack_area_drop_standing(area, UINT64_MAX);
    if (stack_area_leaf(area)->unseen ||
        function_of(stack, stack_area_leaf(area)->node) != function_of(stack, node))
        stack_area_push_standing(area, slot, node);
}

/* RSP may have been loaded with something new, and is now that of `record`. */
static void change_area(struct true_stack *stack, const struct truth_record *record)
{
    const struct truth_block *loader = &stack->previous;
    uint64_t rsp = record->rsp;
    bool straight_on = goes_straight_on(loader);
    uint64_t slack = straight_on && !loader->from_memory ? LARGEST_ALLOCA : PUSHED_AFTER_LOAD;
    true_node node = stack_area_leaf(stack->current)->node;
    if (rsp >= stack->rsp && rsp <= stack->current->top)
        return;
    if (loader->ends_in == TRUTH_END_RETURN && rsp == stack->current->top + 8)
        return; /* what was called by nobody returns */
    struct stack_area *suspended = find_suspended(stack, rsp);
    if (suspended)
        go_on_in(stack, suspended);
    else if (rsp >= stack->rsp || rsp < stack->rsp - slack)
        begin_area(stack, rsp);
    else
        return;
    if (straight_on && loader->loads_rsp)
        stand(stack, record, node);
    else if (loader->loads_rsp)
        stack_area_drop_standing(stack->current, rsp);
}

/* --- Goroutines --- */

static struct stack_area *find_goroutine(const struct true_stack *stack, uint32_t goroutine)
{
    for (size_t i = 0; i < stack->suspended.count; i++)
        if (suspended_at(stack, i)->goroutine == goroutine)
            return suspended_at(stack, i);
    return NULL;
}

/* What other goroutines had there is gone. */
static void forget_covered(struct true_stack *stack, uint64_t rsp)
{
    for (size_t i = stack->suspended.count; i-- > 0;) {
        struct stack_area *area = suspended_at(stack, i);
        if (area->goroutine && stack_area_covers(area, rsp)) {
            stack_switch_resume(stack, i);
            stack_area_free(area);
        }
    }
}

/* True when the goroutine has waited in `area` and goes on there. Its stack may have moved. */
static bool wakes_up(struct stack_area *area, const struct truth_block *block, uint64_t rsp)
{
    const struct true_frame *leaf = stack_area_leaf(area);
    if (leaf->returns_to == block->pc) {
        stack_area_move(area, rsp - (leaf->slot + 8));
        return true;
    }
    return stack_area_covers(area, rsp);
}

/* The goroutine is new, or was suspended by another thread: its callers are as memory has them. The
 * outermost one, goexit, has not called anything; that is only made to look so. */
static void begin_with_callers(struct true_stack *stack, function_id function)
{
    struct stack_area *area = stack->current;
    const struct true_caller *callers = stack->callers.elements;
    if (stack->callers.count == 0)
        return;
    size_t outermost = stack->callers.count - 1;
    area->begun = callers[outermost].slot;
    area->top = area->begun + 8;
    for (size_t i = outermost; i-- > 0;) {
        true_stack_become(stack, callers[i].function);
        stack_area_push(area, callers[i].slot, stack_area_leaf(area)->node);
    }
    true_stack_become(stack, function);
    struct true_tree_node *root = array_at(&stack->tree.nodes, stack_area_frame(area, 0)->node);
    if (root->parent == 0)
        root->caller = callers[outermost].function;
}

/* Whether the innermost frame of `area`, of those that frame pointers lead to, is of `function`. */
static bool runs_last(const struct true_stack *stack, const struct stack_area *area,
                      function_id function)
{
    const struct true_caller *callers = stack->callers.elements;
    size_t frame = area->frames.count - 1;
    if (stack->callers.count == 0)
        return true;
    while (frame > 0 && stack_area_frame(area, frame)->slot != callers[0].slot)
        frame--;
    return function_of(stack, stack_area_frame(area, frame)->node) == function;
}

/* Whether `function`, which goes on, and the callers that memory has are those of `area`: else another thread has run the
 * goroutine. Functions without a frame are not among them. */
static bool has_callers(const struct true_stack *stack, const struct stack_area *area,
                        function_id function)
{
    const struct true_caller *callers = stack->callers.elements;
    size_t frame = area->frames.count;
    if (!runs_last(stack, area, function))
        return false;
    for (size_t i = 0; i + 1 < stack->callers.count; i++) {
        do {
            if (--frame == 0)
                return false;
        } while (stack_area_frame(area, frame)->slot != callers[i].slot);
        if (function_of(stack, stack_area_frame(area, frame - 1)->node) != callers[i].function)
            return false;
    }
    return true;
}

static void change_goroutine(struct true_stack *stack, const struct truth_block *block,
                             const struct truth_record *record, function_id function)
{
    struct stack_area *area = find_goroutine(stack, record->g);
    bool waits = area && wakes_up(area, block, record->rsp) && has_callers(stack, area, function);
    if (waits) {
        go_on_in(stack, area);
        return;
    }
    if (area) {
        forget(stack, area);
        stack_area_free(area);
    }
    forget_covered(stack, record->rsp);
    change_area(stack, record);
    stack->current->goroutine = record->g;
    if (stack->current->frames.count == 1)
        begin_with_callers(stack, function);
}

/* --- Signals --- */

static bool is_stood_on(const struct true_stack *stack, const struct stack_area *area)
{
    bool stood_on = stands_on(stack->current, area);
    for (size_t i = 0; i < stack->suspended.count; i++)
        stood_on = stood_on || stands_on(suspended_at(stack, i), area);
    return stood_on;
}

/* The handler stands on the restorer, to which it will return. */
static void push_handler(struct true_stack *stack, uint64_t rsp)
{
    struct stack_area *interrupted = stack->current;
    true_node below = stack_area_leaf(interrupted)->node;
    if (rsp > stack->rsp || rsp < stack->rsp - LARGEST_SIGNAL_FRAME) {
        struct stack_area *used_before = find_suspended(stack, rsp);
        if (used_before && !is_stood_on(stack, used_before)) {
            forget(stack, used_before);
            stack_area_free(used_before);
        }
        suspend(stack);
        stack->current = stack_area_new(below);
        stack->current->below = interrupted;
        stack->current->top = rsp + 8;
    } else {
        stack_area_push(interrupted, rsp + 8, below);
    }
    stack_area_push(stack->current, rsp, below);
}

/* --- Steps --- */

/* A stack was begun in the middle of nowhere, with a return address already on it, which has been
 * returned to. Who wants may have called that the caller. */
static void note_return_from_first(struct true_stack *stack, uint64_t rsp, function_id function)
{
    struct stack_area *area = stack->current;
    const struct true_frame *leaf = stack_area_leaf(area);
    if (area->frames.count > 1 || stack->previous.ends_in != TRUTH_END_RETURN || area->begun == 0 ||
        rsp != area->begun + 8)
        return;
    area->begun = rsp; /* it may be the return that the switch ends in */
    if (leaf->unseen)
        return;
    struct true_tree_node *node = array_at(&stack->tree.nodes, leaf->node);
    if (node->parent == 0 && node->function != function)
        node->caller = function;
}

void true_stack_init(struct true_stack *stack)
{
    *stack = (struct true_stack){
        .suspended = array_of(sizeof(struct stack_area *)),
        .callers = array_of(sizeof(struct true_caller)),
    };
    true_tree_init(&stack->tree);
    stack->current = stack_area_new(0);
}

static void free_areas(struct true_stack *stack)
{
    for (size_t i = 0; i < stack->suspended.count; i++)
        stack_area_free(suspended_at(stack, i));
    stack->suspended.count = 0;
    stack_area_free(stack->current);
    stack->current = NULL;
}

void true_stack_free(struct true_stack *stack)
{
    free_areas(stack);
    array_free(&stack->suspended);
    array_free(&stack->callers);
    true_tree_free(&stack->tree);
}

void true_stack_restart(struct true_stack *stack)
{
    free_areas(stack);
    stack->current = stack_area_new(0);
    stack->previous = (struct truth_block){0};
    stack->rsp = 0;
}

/* The node below the leaf's: a frame that is unseen has that itself. */
static true_node below_leaf(const struct true_stack *stack)
{
    const struct true_frame *leaf = stack_area_leaf(stack->current);
    return leaf->unseen ? leaf->node : true_tree_at(&stack->tree, leaf->node)->parent;
}

void true_stack_become(struct true_stack *stack, function_id function)
{
    true_node below = below_leaf(stack);
    struct true_frame *leaf = stack_area_leaf(stack->current);
    if (!leaf->unseen && true_tree_at(&stack->tree, leaf->node)->function == function)
        return;
    leaf->node = true_tree_child(&stack->tree, below, function);
    leaf->unseen = false;
}

/* A handler that waits for another one, at its first instruction, has not run. */
static bool is_waiting(const struct truth_block *block, const struct truth_record *record)
{
    return block->last == 0 && record->flags & TRUTH_SIGNAL;
}

void true_stack_step(struct true_stack *stack, const struct truth_block *block,
                     const struct truth_record *record, function_id function, bool gogo)
{
    uint64_t rsp = record->rsp;
    if (record->flags & TRUTH_SIGNAL) {
        push_handler(stack, rsp);
    } else {
        if (gogo)
            change_goroutine(stack, block, record, function);
        else if (stack->previous.loads_rsp || stack->forked || record->flags & TRUTH_SIGNAL_RETURN)
            change_area(stack, record);
        if (record->flags & TRUTH_CALLED) {
            keep_caller(stack, rsp);
            /* What was pushed there before is overwritten. */
            stack_area_cut(stack->current, rsp + 1);
            stack_area_push(stack->current, rsp, stack_area_leaf(stack->current)->node);
            stack_area_leaf(stack->current)->returns_to = stack->previous.end;
        } else if (!tail_calls_stays_in_leaf(stack, record, function)) {
            if (returns_with_more(stack, block, rsp))
                stack->current->frames.count--;
            stack_area_cut(stack->current, rsp);
            note_return_from_first(stack, rsp, function);
        }
    }
    if (stack->current->frames.count == 1 && rsp > stack->current->top)
        stack->current->top = rsp;
    if (!is_waiting(block, record))
        true_stack_become(stack, function);
    stack->previous = *block;
    stack->rsp = rsp;
    stack->steps++;
    stack->callers.count = 0;
    stack->forked = false;
}

true_node true_stack_leaf(const struct true_stack *stack)
{
    return stack_area_leaf(stack->current)->node;
}

bool true_stack_in_first_frame(const struct true_stack *stack)
{
    return stack->current->frames.count == 1;
}
