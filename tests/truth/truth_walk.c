#include "truth_walk.h"

#include "base/memory.h"
#include "stack/go_runtime.h"

#include <stdlib.h>
#include <string.h>

/* Looked up when a block runs first. */
struct block_functions {
    function_id first;
    bool known;
    bool several; /* it runs on into another function */
    bool gogo;    /* Go's */
};

void truth_walk_init(struct truth_walk *walk, const char *directory, const struct thread *thread,
                     const struct process *process, struct symbols *symbols)
{
    *walk = (struct truth_walk){.directory = directory,
                                .pid = thread->pid,
                                .tid = thread->tid,
                                .symbols = symbols,
                                .not_returned_to = array_of(sizeof(uint32_t))};
    if (process)
        address_space_cursor_init(&walk->code, process);
    true_stack_init(&walk->stack);
}

static void close_log(struct truth_walk *walk)
{
    truth_log_close(&walk->log);
    free(walk->functions);
    walk->functions = NULL;
}

void truth_walk_free(struct truth_walk *walk)
{
    close_log(walk);
    array_free(&walk->not_returned_to);
    true_stack_free(&walk->stack);
    if (walk->code.process)
        address_space_cursor_free(&walk->code);
}

void truth_walk_advance(struct truth_walk *walk, struct ticks time)
{
    if (walk->code.process)
        address_space_cursor_advance(&walk->code, time);
}

struct function_bounds truth_walk_function(struct truth_walk *walk, uint64_t address)
{
    const struct mapping *mapping =
        walk->code.process ? address_space_find(&walk->code, address) : NULL;
    return symbols_find(walk->symbols, mapping, address);
}

/* --- Logs --- */

static bool open_log(struct truth_walk *walk, uint32_t pid, uint32_t tid, uint32_t generation)
{
    struct truth_log log;
    if (!truth_log_open(&log, walk->directory, pid, tid, generation))
        return false;
    close_log(walk);
    walk->log = log;
    walk->functions = memory_allocate_zeroed(log.block_count * sizeof *walk->functions);
    walk->next = 0;
    walk->border = 0;
    walk->block = NULL;
    return true;
}

static bool step_in_log(struct truth_walk *walk);

/* What the parents of `header`'s program had done before it was forked. */
static void inherit(struct truth_walk *walk, const struct truth_header *header)
{
    if (header->parent_records == 0 ||
        !open_log(walk, header->parent_pid, header->parent_tid, header->parent_generation))
        return;
    struct truth_header parent = *walk->log.record_file.header;
    inherit(walk, &parent);
    if (parent.parent_records > 0)
        open_log(walk, header->parent_pid, header->parent_tid, header->parent_generation);
    if (walk->log.record_count > header->parent_records)
        walk->log.record_count = header->parent_records;
    while (step_in_log(walk))
        ;
}

static bool open_next_log(struct truth_walk *walk)
{
    uint32_t generation = walk->generation;
    if (!open_log(walk, walk->pid, walk->tid, generation))
        return false;
    true_stack_restart(&walk->stack);
    struct truth_header header = *walk->log.record_file.header;
    bool forked = header.parent_records > 0;
    *(uint32_t *)array_add(&walk->not_returned_to) = forked ? UINT32_MAX : 0;
    if (forked) {
        inherit(walk, &header);
        open_log(walk, walk->pid, walk->tid, generation);
        walk->stack.forked = true;
    }
    walk->generation = generation + 1;
    return true;
}

/* --- Steps --- */

/* Where the code from `from` on comes into another function, up to the block's last instruction; 0:
 * nowhere. */
static uint64_t next_border(struct truth_walk *walk, uint64_t from)
{
    struct function_bounds bounds = truth_walk_function(walk, from);
    while (bounds.end <= walk->block->last) {
        struct function_bounds next = truth_walk_function(walk, bounds.end);
        if (next.function != bounds.function)
            return bounds.end;
        if (next.end <= bounds.end)
            return 0;
        bounds = next;
    }
    return 0;
}

static bool is_gogo(const struct truth_walk *walk, function_id function)
{
    const char *name = symbols_function(walk->symbols, function)->name;
    return strcmp(name, "gogo") == 0 || go_role_of(name) == GO_ROLE_GOGO;
}

static function_id block_function(struct truth_walk *walk)
{
    struct block_functions *functions = &walk->functions[walk->block - walk->log.blocks];
    if (!functions->known) {
        functions->first = truth_walk_function(walk, walk->block->pc).function;
        functions->gogo = is_gogo(walk, functions->first);
        functions->several = next_border(walk, walk->block->pc) != 0;
        functions->known = true;
    }
    walk->border = functions->several ? next_border(walk, walk->block->pc) : 0;
    return functions->first;
}

static void note_depth(struct truth_walk *walk)
{
    const struct true_tree_node *leaf =
        true_tree_at(&walk->stack.tree, true_stack_leaf(&walk->stack));
    uint32_t *not_returned_to = array_at(&walk->not_returned_to, truth_walk_program(walk));
    if (leaf->depth - 1 < *not_returned_to)
        *not_returned_to = leaf->depth - 1;
}

static void cross_border(struct truth_walk *walk)
{
    uint64_t border = walk->border;
    walk->border = next_border(walk, border);
    walk->step = (struct truth_step){.to = border};
    true_stack_become(&walk->stack, truth_walk_function(walk, border).function);
}

static const struct truth_block *block_of(const struct truth_walk *walk, uint64_t record)
{
    return &walk->log.blocks[walk->log.records[record].block - 1];
}

/* A handler has returned to the block at `place`, and no other signal has come meanwhile. */
static bool returns_to(const struct truth_walk *walk, uint64_t record, uint64_t place)
{
    return walk->log.records[record].flags & TRUTH_SIGNAL_RETURN && block_of(walk, record)->last &&
           walk->log.records[record].rsp == walk->log.records[place].rsp &&
           block_of(walk, record)->pc == block_of(walk, place)->pc;
}

/* The record of the block at `place`, when the handlers of signals that have come before it have returned. */
static uint64_t skip_handler(const struct truth_walk *walk, uint64_t place)
{
    uint64_t record = place;
    if (block_of(walk, place)->last == 0)
        while (record < walk->log.record_count && !returns_to(walk, record, place))
            record++;
    return record;
}

/* Whether the code that runs next has made its frame. A function that begins has not, nor one that
 * goes back to its beginning when its stack has grown, after a block or two. */
static bool runs_in_frame(struct truth_walk *walk)
{
    enum { BLOCKS = 4 };
    uint64_t pc = block_of(walk, walk->next)->pc, start = truth_walk_function(walk, pc).start;
    uint64_t first = skip_handler(walk, walk->next), end = walk->log.record_count;
    if (pc == start)
        return false;
    for (uint64_t next = first; next < end && next < first + BLOCKS; next++) {
        if (walk->log.records[next].rsp != walk->log.records[walk->next].rsp)
            return true;
        if (block_of(walk, next)->pc == start)
            return false;
    }
    return true;
}

/* A call that never returns may be the last instruction of its function. But a function that was
 * made to call before it began (asyncPreempt) is returned to at its start. */
static function_id function_returned_to(struct truth_walk *walk, uint64_t address)
{
    struct function_bounds bounds = truth_walk_function(walk, address);
    return bounds.start == address ? bounds.function
                                   : truth_walk_function(walk, address - 1).function;
}

static void take_callers(struct truth_walk *walk)
{
    struct array *callers = &walk->stack.callers;
    for (; walk->next < walk->log.record_count; walk->next++) {
        const struct truth_record *record = &walk->log.records[walk->next];
        if (!(record->flags & TRUTH_CALLER))
            break;
        *(struct true_caller *)array_add(callers) = (struct true_caller){
            record->rsp, function_returned_to(walk, block_of(walk, walk->next)->pc)};
    }
    if (callers->count == 0 || walk->next == walk->log.record_count || !runs_in_frame(walk))
        return;
    callers->count--;
    memmove(callers->elements, (struct true_caller *)callers->elements + 1,
            callers->count * sizeof(struct true_caller));
}

static bool step_in_log(struct truth_walk *walk)
{
    take_callers(walk);
    if (walk->border) {
        cross_border(walk);
        return true;
    }
    if (walk->next == walk->log.record_count)
        return false;
    const struct truth_record *record = &walk->log.records[walk->next++];
    uint64_t from = walk->block ? walk->block->last : 0;
    bool gogo = walk->block && walk->block->loads_rsp &&
                walk->functions[walk->block - walk->log.blocks].gogo;
    walk->block = &walk->log.blocks[record->block - 1];
    true_stack_step(&walk->stack, walk->block, record, block_function(walk), gogo);
    bool place = walk->block->last == 0, waiting = place && record->flags & TRUTH_SIGNAL;
    walk->step = (struct truth_step){
        .from = from, .to = walk->block->pc, .place = place && !waiting, .waiting = waiting};
    return true;
}

bool truth_walk_next(struct truth_walk *walk)
{
    if (!walk->log.records && !open_next_log(walk))
        return false;
    while (!step_in_log(walk))
        if (!open_next_log(walk))
            return false;
    note_depth(walk);
    return true;
}

size_t truth_walk_program(const struct truth_walk *walk)
{
    return walk->not_returned_to.count - 1;
}

uint32_t truth_walk_not_returned_to(const struct truth_walk *walk, size_t program)
{
    return *(uint32_t *)array_at(&walk->not_returned_to, program);
}

bool truth_walk_will_be_interrupted(const struct truth_walk *walk, uint64_t address)
{
    for (uint64_t i = walk->next; i < walk->log.record_count; i++) {
        const struct truth_block *block = &walk->log.blocks[walk->log.records[i].block - 1];
        if (block->last == 0 && block->pc == address)
            return true;
    }
    return false;
}

bool truth_walk_goes_to(const struct truth_walk *walk, uint64_t address)
{
    return walk->next < walk->log.record_count && block_of(walk, walk->next)->pc == address;
}

bool truth_walk_will_pause(const struct truth_walk *walk, uint64_t address)
{
    for (uint64_t i = walk->next; i < walk->log.record_count; i++)
        if (block_of(walk, i)->pc == address)
            return block_of(walk, i)->last != 0;
    return false;
}
