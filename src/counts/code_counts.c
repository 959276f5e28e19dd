#include "counts/code_counts.h"

#include "base/memory.h"
#include "x86/decode.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 12 };

/* Counts by two places and kind. */
struct count_table {
    struct array entries; /* struct branch_count */
    uint32_t *slots;      /* index + 1 of an entry; 0: free. Open addressing; owned */
    size_t slot_count;    /* a power of two */
};

/* Where a step was counted, so that the same one is counted at once: nearly all steps repeat. */
struct counted_step {
    uint64_t from, to;
    uint64_t epoch; /* of the code (see struct counter); 0: the slot is free */
    uint32_t entry; /* index in the table of its kind */
    uint8_t kind;
};

enum { COUNTED_STEPS = 1 << 13 };

/* A call that has not returned. */
struct open_call {
    uint64_t instructions; /* executed before it, by its thread */
    uint64_t back;         /* the return address */
    size_t branch;         /* index of its entry; SIZE_MAX: it is not counted */
    bool outermost;        /* of calls by the same branch */
};

struct counted_thread {
    const struct thread *thread;
    uint64_t instructions;
    struct array open;  /* struct open_call */
    uint64_t block_end; /* of the newest block */
    bool in_part;       /* the call of counted_part runs ... */
    size_t part_depth;  /* ... and this many calls were open before it */
};

struct counter {
    struct code_counts *counts;
    const struct counted_part *part;
    struct ticks from, to; /* of the part; from 0 to UINT64_MAX: all times */
    struct count_table blocks, branches;
    struct counted_step *steps; /* COUNTED_STEPS of them, owned */
    /* Whose code, with how many of its changes applied, the newest steps are of: an address is that
     * of the same place as long as both stay. */
    const struct process *process;
    size_t change;
    uint64_t epoch;        /* counts how often either became another one, from 1 */
    struct array threads;  /* struct counted_thread */
    size_t newest;         /* of these */
    uint64_t repeated_end; /* of the newest block that take_repeated was given */
};

int code_place_compare(const struct code_place_key *left, const struct code_place_key *right)
{
    if (left->file != right->file)
        return left->file->id < right->file->id ? -1 : 1;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

struct mapping code_counts_mapping(const struct image_file *file)
{
    return (struct mapping){.start = 0, .end = file->view.size, .file_offset = 0, .file = file};
}

/* ---- Tables ---- */

static uint64_t hash_of(const struct branch_count *key)
{
    uint64_t hash = key->from.offset * UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)key->from.file;
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) ^ key->to.offset;
    hash = (hash ^ hash >> 32) * UINT64_C(0x94d049bb133111eb) ^ (uintptr_t)key->to.file ^ key->kind;
    return hash ^ hash >> 31;
}

static bool is_same(const struct branch_count *left, const struct branch_count *right)
{
    return left->from.offset == right->from.offset && left->to.offset == right->to.offset &&
           left->from.file == right->from.file && left->to.file == right->to.file &&
           left->kind == right->kind;
}

static uint32_t *find_slot(const struct count_table *table, const struct branch_count *key)
{
    uint64_t index = hash_of(key);
    uint32_t *slot;
    do
        slot = &table->slots[index++ & (table->slot_count - 1)];
    while (*slot != 0 && !is_same(array_at(&table->entries, *slot - 1), key));
    return slot;
}

static void grow(struct count_table *table)
{
    free(table->slots);
    table->slot_count = table->slot_count > 0 ? 2 * table->slot_count : FIRST_SLOTS;
    table->slots = memory_allocate_zeroed(table->slot_count * sizeof *table->slots);
    for (size_t i = 0; i < table->entries.count; i++)
        *find_slot(table, array_at(&table->entries, i)) = (uint32_t)(i + 1);
}

/* Counts it `times` more; returns the index of its entry. */
static size_t count_more(struct count_table *table, const struct branch_count *key, uint64_t times)
{
    if (2 * table->entries.count >= table->slot_count)
        grow(table);
    uint32_t *slot = find_slot(table, key);
    if (*slot == 0) {
        *(struct branch_count *)array_add(&table->entries) = *key;
        *slot = (uint32_t)table->entries.count;
    }
    struct branch_count *entry = array_at(&table->entries, *slot - 1);
    entry->count += times;
    return *slot - 1;
}

/* ---- Steps ---- */

static bool place_of(const struct flow_step *step, uint64_t address, struct code_place_key *place)
{
    const struct mapping *mapping = step->space ? code_space_mapping(step->space, address) : NULL;
    if (!mapping || !mapping->file)
        return false;
    *place =
        (struct code_place_key){mapping->file, address - mapping->start + mapping->file_offset};
    return true;
}

static struct counted_thread *thread_of(struct counter *counter, const struct flow_step *step)
{
    struct counted_thread *newest =
        counter->threads.count > 0 ? array_at(&counter->threads, counter->newest) : NULL;
    if (newest && newest->thread == step->thread)
        return newest;
    for (size_t i = 0; i < counter->threads.count; i++) {
        counter->newest = i;
        newest = array_at(&counter->threads, i);
        if (newest->thread == step->thread)
            return newest;
    }
    counter->newest = counter->threads.count;
    newest = array_add(&counter->threads);
    *newest =
        (struct counted_thread){.thread = step->thread, .open = array_of(sizeof(struct open_call))};
    return newest;
}

static bool is_counted(const struct counter *counter, const struct counted_thread *thread,
                       const struct flow_step *step)
{
    const struct counted_part *part = counter->part;
    if (part->call_of && !thread->in_part)
        return false;
    return step->time.value >= counter->from.value && step->time.value < counter->to.value;
}

bool code_counts_is_called(const struct function *function, const char *name)
{
    size_t length = strlen(name);
    bool plain = strncmp(function->name, name, length) == 0 &&
                 (function->name[length] == 0 || function->name[length] == '(');
    return plain || (function->symbol && strcmp(function->symbol, name) == 0);
}

/* Whether `address` is the beginning of the function that the part is a call of. */
static bool begins_part(const struct counter *counter, const struct flow_step *step,
                        uint64_t address)
{
    if (!counter->part->call_of || !step->space)
        return false;
    struct function_bounds bounds = code_space_function(step->space, address);
    return bounds.start == address &&
           code_counts_is_called(symbols_function(counter->counts->symbols, bounds.function),
                                 counter->part->call_of);
}

static void end_call(struct counter *counter, struct counted_thread *thread)
{
    const struct open_call *call = array_at(&thread->open, thread->open.count - 1);
    if (call->branch != SIZE_MAX && call->outermost) {
        struct branch_count *branch = array_at(&counter->branches.entries, call->branch);
        branch->cost += thread->instructions - call->instructions;
    }
    thread->open.count--;
    if (thread->in_part && thread->open.count <= thread->part_depth)
        thread->in_part = false;
}

/* Ends the calls up to the one that returns to `address`, if there is one. */
static void take_return(struct counter *counter, struct counted_thread *thread, uint64_t address)
{
    enum { SEARCHED = 4096 };
    size_t count = thread->open.count, least = count > SEARCHED ? count - SEARCHED : 0;
    while (count > least &&
           ((struct open_call *)array_at(&thread->open, count - 1))->back != address)
        count--;
    if (count == least)
        return;
    while (thread->open.count >= count)
        end_call(counter, thread);
}

static bool is_outermost(const struct counted_thread *thread, uint64_t back)
{
    enum { SEARCHED = 256 };
    size_t count = thread->open.count;
    for (size_t i = 0; i < SEARCHED && i < count; i++)
        if (((struct open_call *)array_at(&thread->open, count - 1 - i))->back == back)
            return false;
    return true;
}

/* The places of a step; those of a block are in one file. */
static bool places_of(const struct flow_step *step, struct branch_count *key)
{
    if (!place_of(step, step->from, &key->from))
        return false;
    if (step->kind != STEP_BLOCK)
        return place_of(step, step->to, &key->to);
    key->to = (struct code_place_key){key->from.file, key->from.offset + (step->to - step->from)};
    return true;
}

static void note_code(struct counter *counter, const struct code_space *space)
{
    if (counter->epoch > 0 && counter->process == space->process &&
        counter->change == space->cursor.next_change)
        return;
    counter->process = space->process;
    counter->change = space->cursor.next_change;
    counter->epoch++;
}

static struct counted_step *slot_of_step(const struct counter *counter,
                                         const struct flow_step *step)
{
    uint64_t hash = (step->from ^ step->to << 7 ^ step->kind) * UINT64_C(0x9e3779b97f4a7c15);
    return &counter->steps[hash >> 32 & (COUNTED_STEPS - 1)];
}

static bool is_same_step(const struct counted_step *known, const struct flow_step *step,
                         uint64_t epoch)
{
    return known->from == step->from && known->to == step->to && known->kind == step->kind &&
           known->epoch == epoch;
}

/* Counts the step, of which kind all of `table` are; *entry is the index of its entry. False: it is
 * unknown which code that is. */
static bool count_step(struct counter *counter, struct count_table *table,
                       const struct flow_step *step, size_t *entry)
{
    struct branch_count key = {.kind = step->kind};
    if (!step->space)
        return false;
    note_code(counter, step->space);
    struct counted_step *known = slot_of_step(counter, step);
    if (is_same_step(known, step, counter->epoch)) {
        ((struct branch_count *)array_at(&table->entries, known->entry))->count++;
    } else {
        if (!places_of(step, &key))
            return false;
        uint32_t counted = (uint32_t)count_more(table, &key, 1);
        *known = (struct counted_step){step->from, step->to, counter->epoch, counted, step->kind};
    }
    *entry = known->entry;
    return true;
}

static void take_call(struct counter *counter, struct counted_thread *thread,
                      const struct flow_step *step)
{
    uint64_t back = thread->block_end;
    if (step->to == back)
        return; /* position-independent code reads its own address */
    bool begins = !thread->in_part && begins_part(counter, step, step->to) &&
                  ++counter->counts->calls_met == counter->part->call;
    struct open_call call = {
        .instructions = thread->instructions,
        .back = back,
        .branch = SIZE_MAX,
        .outermost = is_outermost(thread, back),
    };
    size_t entry;
    if (is_counted(counter, thread, step) && count_step(counter, &counter->branches, step, &entry))
        call.branch = entry;
    *(struct open_call *)array_add(&thread->open) = call;
    if (begins) {
        thread->in_part = true;
        thread->part_depth = thread->open.count - 1;
    }
}

static void take_block(struct counter *counter, struct counted_thread *thread,
                       const struct flow_step *step, uint32_t instructions)
{
    size_t entry;
    thread->block_end = step->to;
    if (!is_counted(counter, thread, step) || !count_step(counter, &counter->blocks, step, &entry))
        return;
    thread->instructions += instructions;
    counter->counts->executed += instructions;
}

static void take_branch(struct counter *counter, const struct counted_thread *thread,
                        const struct flow_step *step)
{
    size_t entry;
    if (is_counted(counter, thread, step))
        count_step(counter, &counter->branches, step, &entry);
}

static bool is_of_part(const struct counted_part *part, const struct thread *thread)
{
    return (part->pid == 0 && part->tid == 0) ||
           (thread && thread->pid == part->pid && thread->tid == part->tid);
}

static void take_step(void *context, const struct flow_step *step)
{
    struct counter *counter = context;
    if (!is_of_part(counter->part, step->thread))
        return;
    struct counted_thread *thread = thread_of(counter, step);
    switch ((enum flow_step_kind)step->kind) {
    case STEP_BLOCK:
        take_block(counter, thread, step, step->instructions);
        break;
    case STEP_CALL:
        take_call(counter, thread, step);
        break;
    case STEP_RETURN:
        take_branch(counter, thread, step);
        take_return(counter, thread, step->to);
        break;
    case STEP_TAKEN:
    case STEP_NOT_TAKEN:
    case STEP_JUMP:
        take_branch(counter, thread, step);
        break;
    default:
        break;
    }
}

/* ---- Steps of which only the number is known ---- */

/* Where one call begins and ends, and what each cost, follows from the order of steps. */
static bool needs_order(const struct counted_part *part)
{
    return part->call_of || part->calls_cost;
}

/* See flow_observer.counts. */
static bool counts_thread(void *context, const struct thread *thread, struct ticks time,
                          struct ticks *until)
{
    const struct counter *counter = context;
    bool has_begun = time.value >= counter->from.value, has_ended = time.value >= counter->to.value;
    until->value = UINT64_MAX;
    if (!is_of_part(counter->part, thread) || has_ended)
        return false;
    *until = has_begun ? counter->to : counter->from;
    return has_begun;
}

static void take_repeated(void *context, const struct flow_step *step, uint64_t times)
{
    struct counter *counter = context;
    struct branch_count key = {.kind = step->kind};
    bool is_block = step->kind == STEP_BLOCK;
    if (is_block)
        counter->repeated_end = step->to;
    bool reads_own_address = step->kind == STEP_CALL && step->to == counter->repeated_end;
    if (step->kind > STEP_RETURN && !is_block)
        return;
    if (reads_own_address || !places_of(step, &key))
        return;
    count_more(is_block ? &counter->blocks : &counter->branches, &key, times);
    if (is_block)
        counter->counts->executed += times * step->instructions;
}

/* ---- The whole ---- */

static int compare_branches(const void *left, const void *right)
{
    const struct branch_count *a = left, *b = right;
    int order = code_place_compare(&a->from, &b->from);
    if (order == 0)
        order = code_place_compare(&a->to, &b->to);
    return order != 0 ? order : a->kind - b->kind;
}

/* The entries, sorted. Frees the table. */
static struct array take_entries(struct count_table *table)
{
    if (table->entries.count > 1)
        qsort(table->entries.elements, table->entries.count, table->entries.element_size,
              compare_branches);
    free(table->slots);
    return table->entries;
}

static int compare_instructions(const void *left, const void *right)
{
    const struct instruction_count *a = left, *b = right;
    return code_place_compare(&a->at, &b->at);
}

static void add_instructions(struct array *instructions, const struct branch_count *block)
{
    const struct file_view *view = &block->from.file->view;
    uint64_t at = block->from.offset;
    while (at < block->to.offset && at < view->size) {
        struct x86_instruction decoded;
        if (!x86_decode(&decoded, view->bytes + at, view->size - at, at, X86_MODE_64))
            return;
        *(struct instruction_count *)array_add(instructions) =
            (struct instruction_count){{block->from.file, at}, decoded.length, block->count};
        at += decoded.length;
    }
}

/* Blocks may overlap: packets point into the middle of some. */
static void count_instructions(struct code_counts *counts)
{
    struct array *all = &counts->instructions;
    size_t kept = 0;
    for (size_t i = 0; i < counts->blocks.count; i++)
        add_instructions(all, array_at(&counts->blocks, i));
    if (all->count > 1)
        qsort(all->elements, all->count, all->element_size, compare_instructions);
    for (size_t i = 0; i < all->count; i++) {
        const struct instruction_count *next = array_at(all, i);
        struct instruction_count *last = kept > 0 ? array_at(all, kept - 1) : NULL;
        if (last && code_place_compare(&last->at, &next->at) == 0)
            last->count += next->count;
        else
            *(struct instruction_count *)array_at(all, kept++) = *next;
    }
    all->count = kept;
}

/* The first tick that the clock shows as `time` or later, which clock_to_ticks, rounding as perf does, need not give.
 * Differences from tick 0, which may lie before time 0, only grow. */
static struct ticks first_tick(const struct clock_conversion *clock, struct nanoseconds time)
{
    if (!clock)
        return (struct ticks){time.value};
    uint64_t low = 0, high = (int64_t)(time.value - clock->zero) > 0 ? INT64_MAX : 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        uint64_t shown = clock_to_nanoseconds(clock, (struct ticks){middle}).value;
        if (shown - clock->zero < time.value - clock->zero)
            low = middle + 1;
        else
            high = middle;
    }
    return (struct ticks){low};
}

static void note_times(struct counter *counter, const struct counted_part *part)
{
    bool is_all = part->from.value == 0 && part->to.value == 0;
    bool has_end = !is_all && part->to.value != UINT64_MAX;
    counter->from = is_all ? (struct ticks){0} : first_tick(part->clock, part->from);
    counter->to = has_end ? first_tick(part->clock, part->to) : (struct ticks){UINT64_MAX};
}

void code_counts_collect(struct code_counts *counts, const struct flow *flow,
                         const struct counted_part *part)
{
    struct counter counter = {
        .counts = counts,
        .part = part,
        .blocks.entries = array_of(sizeof(struct branch_count)),
        .branches.entries = array_of(sizeof(struct branch_count)),
        .steps = memory_allocate_zeroed(COUNTED_STEPS * sizeof *counter.steps),
        .threads = array_of(sizeof(struct counted_thread)),
    };
    const struct flow_observer observer = {
        .context = &counter,
        .blocks = true,
        .step = take_step,
        .repeated = needs_order(part) ? NULL : take_repeated,
        .counts = counts_thread,
    };
    note_times(&counter, part);
    *counts = (struct code_counts){.symbols = flow_symbols(flow)};
    flow_steps(flow, &observer);
    for (size_t i = 0; i < counter.threads.count; i++) {
        struct counted_thread *thread = array_at(&counter.threads, i);
        while (thread->open.count > 0)
            end_call(&counter, thread);
        array_free(&thread->open);
    }
    array_free(&counter.threads);
    free(counter.steps);
    counts->blocks = take_entries(&counter.blocks);
    counts->branches = take_entries(&counter.branches);
    counts->instructions = array_of(sizeof(struct instruction_count));
    count_instructions(counts);
}

void code_counts_free(struct code_counts *counts)
{
    array_free(&counts->blocks);
    array_free(&counts->branches);
    array_free(&counts->instructions);
}

size_t code_counts_first(const struct array *entries, const struct code_place_key *place)
{
    size_t low = 0, high = entries->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        /* Elements of all kinds begin with their place. */
        if (code_place_compare(array_at(entries, middle), place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t code_counts_at(const struct code_counts *counts, const struct code_place_key *place)
{
    size_t index = code_counts_first(&counts->instructions, place);
    const struct instruction_count *found =
        index < counts->instructions.count ? array_at(&counts->instructions, index) : NULL;
    return found && code_place_compare(&found->at, place) == 0 ? found->count : 0;
}

struct function_bounds code_counts_function(const struct code_counts *counts,
                                            const struct code_place_key *place)
{
    struct mapping mapping = code_counts_mapping(place->file);
    return symbols_find(counts->symbols, &mapping, place->offset);
}

struct array code_counts_by_target(const struct code_counts *counts)
{
    struct array exchanged = array_of(sizeof(struct branch_count));
    for (size_t i = 0; i < counts->branches.count; i++) {
        struct branch_count branch = *(struct branch_count *)array_at(&counts->branches, i);
        struct code_place_key from = branch.from;
        if (branch.kind == STEP_NOT_TAKEN)
            continue;
        branch.from = branch.to;
        branch.to = from;
        *(struct branch_count *)array_add(&exchanged) = branch;
    }
    if (exchanged.count > 1)
        qsort(exchanged.elements, exchanged.count, exchanged.element_size, compare_branches);
    return exchanged;
}
