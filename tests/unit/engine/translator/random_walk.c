#include "random_walk.h"

#include "packet/callchain_snapshot.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Numbers that repeat with the seed (xorshift). */
static unsigned choose(struct walk *walk, unsigned count)
{
    unsigned x = walk->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    walk->random = x;
    return x % count;
}

/* ---- the way ---- */

enum { DEEPEST = 40, FRAME = 32, STACK_TOP = 0x7fff0000 };

struct frame {
    uint64_t return_address, slot;
    uint64_t interrupted; /* by a signal: where; 0: it was called */
    uint64_t interrupted_pointer;
};

struct walker {
    struct walk *walk;
    const struct walk_options *options;
    uint64_t pc, stack_pointer;
    struct frame frames[4 * DEEPEST];
    unsigned depth, handlers;
};

static uint64_t address_of(const uint8_t *code)
{
    return (uint64_t)(uintptr_t)code;
}

static void push(struct walker *walker, uint64_t return_address)
{
    walker->stack_pointer -= FRAME;
    walker->frames[walker->depth++] =
        (struct frame){.return_address = return_address, .slot = walker->stack_pointer};
}

static uint64_t jump_target(struct walker *walker, uint64_t jump)
{
    /* Three for each function, in the order of the code. */
    unsigned function = 0;
    while (function < 3 && walked_jump_targets[3 * function + 2] < jump)
        function++;
    return walked_jump_targets[3 * function + choose(walker->walk, 3)];
}

static uint64_t call_target(struct walker *walker)
{
    unsigned functions = walker->options->signals && walker->depth > 2 ? 6 : 5;
    return walked_functions[walker->depth > DEEPEST ? 4 : choose(walker->walk, functions)];
}

/* To a caller between here and the newest handler. */
static uint64_t jump_away(struct walker *walker)
{
    unsigned least = 0;
    for (unsigned i = 0; i < walker->depth; i++)
        if (walker->frames[i].interrupted)
            least = i + 1;
    unsigned most = walker->depth - least;
    unsigned popped = 1 + (most > 1 ? choose(walker->walk, most) : 0);
    if (popped > walker->depth)
        return 0;
    walker->depth -= popped;
    walker->stack_pointer = walker->frames[walker->depth].slot + 8;
    return walker->frames[walker->depth].return_address;
}

static void interrupt(struct walker *walker, uint64_t at)
{
    uint64_t before = walker->stack_pointer;
    walker->stack_pointer -= 1024;
    push(walker, address_of(walked_return));
    walker->frames[walker->depth - 1].interrupted = at;
    walker->frames[walker->depth - 1].interrupted_pointer = before;
    walker->pc = address_of(walked_handler);
    walker->handlers++;
}

static void return_from_handler(struct walker *walker)
{
    const struct frame *frame = &walker->frames[walker->depth];
    walker->pc = frame->interrupted;
    walker->stack_pointer = frame->interrupted_pointer;
    walker->handlers--;
}

static bool is_away(uint64_t pc)
{
    return pc >= address_of(walked_away) && pc < address_of(walked_handler);
}

static void follow(struct walker *walker, struct walk_step *step, const struct made_block *block)
{
    switch (block->kind) {
    case TR_END_CONDITIONAL:
        walker->pc = choose(walker->walk, 2) ? block->target : block->end;
        break;
    case TR_END_CALL:
        push(walker, block->end);
        walker->pc = block->target;
        if (block->target == block->end) { /* and popped by what follows */
            walker->depth--;
            walker->stack_pointer += FRAME;
        }
        break;
    case TR_END_JUMP:
        walker->pc = block->target;
        break;
    case TR_END_INDIRECT_JUMP:
        walker->pc = is_away(block->last) ? walker->pc : jump_target(walker, block->last);
        break;
    case TR_END_INDIRECT_CALL:
        walker->pc = call_target(walker);
        push(walker, block->end);
        break;
    case TR_END_RETURN:
        walker->depth--;
        walker->stack_pointer = walker->frames[walker->depth].slot + 8;
        walker->pc = walker->frames[walker->depth].return_address;
        break;
    case TR_END_FAR:
        walker->pc = block->end;
        step->event = WALK_SYSTEM_CALL;
        if (block->end > address_of(walked_return)) {
            step->event = WALK_SIGRETURN;
            return_from_handler(walker);
        } else if (walker->options->signals && walker->handlers < 3 &&
                   choose(walker->walk, 8) == 0) {
            step->event = WALK_SIGNAL;
            interrupt(walker, block->end);
        }
        break;
    case TR_END_FALL:
        walker->pc = block->end;
        break;
    }
}

static void note_callers(struct walker *walker, struct walk_step *step)
{
    struct array *callers = &walker->walk->callers;
    step->first_caller = (uint32_t)callers->count;
    for (unsigned i = 0; i < walker->depth; i++) {
        const struct frame *frame = &walker->frames[i];
        if (frame->interrupted)
            *(uint64_t *)array_add(callers) = frame->interrupted | CALLCHAIN_INTERRUPTED;
        else
            *(uint64_t *)array_add(callers) = frame->return_address;
    }
    step->caller_count = (uint32_t)callers->count - step->first_caller;
}

static void walk_block(struct walker *walker)
{
    struct walk_step *step = array_add(&walker->walk->steps);
    note_callers(walker, step);
    struct made_block block = made_block_at(walker->pc, 0);
    step->pc = walker->pc;
    step->stack_pointer = walker->stack_pointer;
    if (walker->options->signals && walker->handlers < 3 && !is_away(walker->pc) &&
        choose(walker->walk, 40) == 0) {
        unsigned executed = choose(walker->walk, block.instructions);
        step->cut = step->pc;
        for (unsigned i = 0; i < executed; i++)
            step->cut += block.lengths[i];
        step->event = WALK_SIGNAL;
        interrupt(walker, step->cut);
        return;
    }
    if (block.loads_stack) {
        uint64_t target = jump_away(walker);
        step->stack_pointer_after = walker->stack_pointer;
        /* The jump that follows goes there. */
        struct walk_step *jump = array_add(&walker->walk->steps);
        jump->pc = block.end;
        jump->stack_pointer = walker->stack_pointer;
        jump->first_caller = step->first_caller;
        jump->caller_count = step->caller_count;
        walker->pc = target;
        return;
    }
    follow(walker, step, &block);
}

void walk_make(struct walk *walk, const struct walk_options *options)
{
    *walk = (struct walk){.steps = array_of(sizeof(struct walk_step)),
                          .callers = array_of(sizeof(uint64_t)),
                          .random = options->seed * 2654435761u + 1};
    struct walker *walker = calloc(1, sizeof *walker);
    *walker = (struct walker){.walk = walk,
                              .options = options,
                              .pc = address_of(walked_code),
                              .stack_pointer = STACK_TOP};
    while (walk->steps.count < options->steps)
        walk_block(walker);
    free(walker);
}

void walk_free(struct walk *walk)
{
    array_free(&walk->steps);
    array_free(&walk->callers);
}

static const struct walk_step *step_at(const struct walk *walk, size_t index)
{
    return array_at(&walk->steps, index);
}

static unsigned executed_in(const struct walk_step *step)
{
    struct made_block block = made_block_at(step->pc, 0);
    unsigned executed = 0;
    for (uint64_t at = step->pc; at < (step->cut ? step->cut : block.end); executed++)
        at += block.lengths[executed];
    return executed;
}

const struct walk_step *walk_step_of(const struct walk *walk, size_t index)
{
    for (size_t i = 0; i < walk->steps.count; i++) {
        unsigned executed = executed_in(step_at(walk, i));
        if (index < executed)
            return step_at(walk, i);
        index -= executed;
    }
    return NULL;
}

struct array walk_instructions(const struct walk *walk)
{
    struct array instructions = array_of(sizeof(uint64_t));
    for (size_t i = 0; i < walk->steps.count; i++) {
        const struct walk_step *step = step_at(walk, i);
        struct made_block block = made_block_at(step->pc, 0);
        uint64_t at = step->pc;
        for (unsigned k = 0; k < executed_in(step); k++) {
            *(uint64_t *)array_add(&instructions) = at;
            at += block.lengths[k];
        }
    }
    return instructions;
}

/* ---- the runtime ---- */

enum { MOST_BLOCKS = 8, VARIANTS = 3 };

struct made_superblock {
    uint64_t starts[MOST_BLOCKS];
    unsigned count;
    uint32_t identifier;
};

struct runtime {
    struct walk *walk;
    struct made_arena *made;
    struct array superblocks; /* of struct made_superblock */
    uint64_t executed;
    bool indirect; /* the branch to what runs next is */
};

static uint64_t time_of(const struct runtime *runtime)
{
    return WALK_START_TIME + WALK_TICKS * runtime->executed;
}

static bool is_indirect(enum tr_block_end kind)
{
    return kind == TR_END_INDIRECT_JUMP || kind == TR_END_INDIRECT_CALL || kind == TR_END_RETURN;
}

static bool contains(const struct made_superblock *superblock, uint64_t pc)
{
    for (unsigned i = 0; i < superblock->count; i++)
        if (superblock->starts[i] == pc)
            return true;
    return false;
}

/* Along the way that is taken now. */
static struct made_superblock build(struct runtime *runtime, size_t from)
{
    struct made_superblock superblock = {.count = 0};
    unsigned most = 1 + choose(runtime->walk, MOST_BLOCKS);
    for (size_t i = from; i < runtime->walk->steps.count && superblock.count < most; i++) {
        const struct walk_step *step = step_at(runtime->walk, i);
        if (contains(&superblock, step->pc))
            break;
        superblock.starts[superblock.count++] = step->pc;
        if (step->event != WALK_NOTHING || made_block_at(step->pc, 0).kind == TR_END_FAR)
            break;
    }
    superblock.identifier = made_fragment(runtime->made, superblock.starts, superblock.count, 0);
    return superblock;
}

static const struct made_superblock *get(struct runtime *runtime, size_t from)
{
    uint64_t pc = step_at(runtime->walk, from)->pc;
    const struct made_superblock *found[VARIANTS];
    unsigned count = 0;
    for (size_t i = 0; i < runtime->superblocks.count && count < VARIANTS; i++) {
        const struct made_superblock *superblock = array_at(&runtime->superblocks, i);
        if (superblock->starts[0] == pc)
            found[count++] = superblock;
    }
    if (count > 0 && (count == VARIANTS || choose(runtime->walk, 50) > 0))
        return found[choose(runtime->walk, count)];
    struct made_superblock *added = array_add(&runtime->superblocks);
    *added = build(runtime, from);
    return added;
}

static bool leads_to(const struct made_block *block, uint64_t pc)
{
    switch (block->kind) {
    case TR_END_CONDITIONAL:
        return pc == block->target || pc == block->end;
    case TR_END_JUMP:
    case TR_END_CALL:
        return pc == block->target;
    case TR_END_FALL:
        return pc == block->end;
    default:
        return false;
    }
}

/* The exit that the log's reader takes without TR_EXIT, as layout.h has it. */
static unsigned usual_exit(const struct made_superblock *superblock, uint64_t pc)
{
    unsigned last = superblock->count - 1;
    struct made_block block = made_block_at(superblock->starts[last], 0);
    if (leads_to(&block, pc))
        return last;
    for (unsigned i = 0; i < last; i++) {
        block = made_block_at(superblock->starts[i], 0);
        if (block.kind == TR_END_CONDITIONAL && leads_to(&block, pc) &&
            superblock->starts[i + 1] != pc)
            return i;
    }
    return UINT_MAX;
}

static void log_exit(struct runtime *runtime, const struct made_superblock *superblock,
                     unsigned block, uint64_t next)
{
    bool indirect = is_indirect(made_block_at(superblock->starts[block], 0).kind);
    unsigned usual = indirect ? superblock->count - 1 : usual_exit(superblock, next);
    runtime->indirect = indirect;
    if (usual != block || choose(runtime->walk, 10) == 0)
        MADE_EVENT(runtime->made, TR_EXIT, block);
}

static void log_signal(struct runtime *runtime, const struct walk_step *step,
                       const struct walk_step *handler)
{
    uint64_t ip = step->cut ? step->cut : made_block_at(step->pc, 0).end;
    MADE_EVENT(runtime->made, TR_HANDLER, 10, time_of(runtime), ip, step->stack_pointer,
               handler->stack_pointer, handler->pc);
}

/* What happened after the last block that ran of a fragment. */
static void log_event(struct runtime *runtime, const struct walk_step *step,
                      const struct walk_step *next, unsigned block)
{
    runtime->indirect = false;
    if (step->cut)
        MADE_EVENT(runtime->made, TR_PARTIAL, 1 + block, step->cut);
    else
        MADE_EVENT(runtime->made, TR_SYSCALL, 39, time_of(runtime));
    if (step->event == WALK_SIGNAL)
        log_signal(runtime, step, next);
    if (step->event == WALK_SIGRETURN)
        MADE_EVENT(runtime->made, TR_SIGRETURN, 0, time_of(runtime));
    if (!step->cut)
        MADE_EVENT(runtime->made, TR_RESUME, 0, time_of(runtime));
}

/* Returns how many steps were made. */
static size_t run(struct runtime *runtime, size_t from)
{
    const struct made_superblock superblock = *get(runtime, from);
    made_entry(runtime->made, superblock.identifier, runtime->indirect);
    if (choose(runtime->walk, 10) == 0)
        MADE_EVENT(runtime->made, TR_STAMP, 0, time_of(runtime));
    for (unsigned k = 0;; k++) {
        const struct walk_step *step = step_at(runtime->walk, from + k);
        struct made_block block = made_block_at(step->pc, 0);
        runtime->executed += executed_in(step);
        if (from + k + 1 == runtime->walk->steps.count)
            return k + 1;
        if (block.loads_stack && !step->cut)
            MADE_EVENT(runtime->made, TR_STACK, 0, step->stack_pointer, step->stack_pointer_after);
        const struct walk_step *next = step_at(runtime->walk, from + k + 1);
        if (step->event != WALK_NOTHING) {
            log_event(runtime, step, next, k);
            return k + 1;
        }
        if (k + 1 < superblock.count && superblock.starts[k + 1] == next->pc)
            continue;
        log_exit(runtime, &superblock, k, next->pc);
        if (choose(runtime->walk, 30) == 0)
            MADE_EVENT(runtime->made, TR_STAMP, 1, time_of(runtime));
        return k + 1;
    }
}

void walk_log(struct walk *walk, struct made_arena *made, void (*wait)(struct made_arena *made))
{
    struct runtime runtime = {
        .walk = walk, .made = made, .superblocks = array_of(sizeof(struct made_superblock))};
    for (size_t i = 0; i < walk->steps.count; i += run(&runtime, i))
        if (wait)
            wait(made);
    array_free(&runtime.superblocks);
}
