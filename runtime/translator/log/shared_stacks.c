#include "runtime/translator/log/shared_stacks.h"

#include "runtime/translator/fault_safe.h"
#include "runtime/translator/log/word_hash.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

enum {
    /* Bytes that code may pop between the loads of the stack pointer by which a stack is left and continues. */
    POPPED = 64,
    COMPARED = 128,         /* bytes of a stack, beyond these */
    WITHIN = 64 << 10,      /* bytes: pointers further apart are those of different memory */
    MOST_HASHED = 64 << 10, /* bytes */
    LEAST_HASHED = 1 << 10, /* of a stack of which it is not known where it began */
    MOST_WATCHED = 512, /* changes of the stack in a chunk, until memory is found to be shared */
};

/* Of as much of [from, to) as can be read. */
static uint64_t hash_memory(uint64_t from, uint64_t to)
{
    uint64_t words[COMPARED / 8], hash = from;
    for (uint64_t size; from < to; from += size) {
        size = to - from < sizeof words ? to - from : sizeof words;
        if (!tr_read_safely(words, from, size))
            break;
        for (uint64_t i = 0; i < size / 8; i++)
            hash = tr_hash_word(hash, words[i]);
    }
    return hash;
}

/* ---- memory that is not known to be shared ---- */

/* Of a hash table whose entries begin with their key: the entry with that key, or else one that may be given it. */
static void *find_entry(void *entries, unsigned count, size_t size, uint64_t key)
{
    enum { SHIFT = 40, TRIES = 8 };
    uint64_t hash = tr_hash_word(0, key) >> SHIFT, *entry = entries;
    for (unsigned i = 0; i < TRIES; i++) {
        entry = (uint64_t *)((uint8_t *)entries + (hash + i) % count * size);
        if (*entry == key || *entry == 0)
            break;
    }
    return entry;
}

static struct tr_stack_region *region_of(struct tr_shared_stacks *stacks, uint64_t pointer)
{
    uint64_t region = pointer / WITHIN;
    struct tr_stack_region *slot =
        find_entry(stacks->regions, TR_STACK_REGIONS, sizeof *slot, region);
    if (slot->region != region)
        *slot = (struct tr_stack_region){.region = region};
    return slot;
}

/* Stacks begin at the highest pointer: what lies further out belongs to others. */
static void see(struct tr_shared_stacks *stacks, uint64_t pointer)
{
    struct tr_stack_region *region = region_of(stacks, pointer);
    if (pointer > region->highest)
        region->highest = pointer;
}

/* Never 0. */
static uint32_t sum_at(const struct tr_thread *thread, uint64_t pointer)
{
    uint64_t end = pointer + POPPED + COMPARED;
    uint64_t highest = region_of(thread->shared, pointer)->highest;
    if (!thread->has_unseen_stacks && end > highest && end / WITHIN == pointer / WITHIN)
        end = highest;
    return (uint32_t)hash_memory(pointer + POPPED, end) | 1;
}

static struct tr_left_pointer *slot_of(struct tr_shared_stacks *stacks, uint64_t pointer)
{
    return find_entry(stacks->left, TR_LEFT_POINTERS, sizeof *stacks->left, pointer);
}

static void note_left(struct tr_thread *thread, uint64_t pointer)
{
    struct tr_left_pointer *left = slot_of(thread->shared, pointer);
    if (left->pointer != pointer)
        *left = (struct tr_left_pointer){.pointer = pointer};
    for (unsigned i = TR_LEFT_AT_ONE - 1; i > 0; i--)
        left->sums[i] = left->sums[i - 1];
    left->sums[0] = sum_at(thread, pointer);
}

/* Which of those that were left there `sum` is, the newest being 0. TR_LEFT_AT_ONE: none. */
static unsigned find_sum(const struct tr_left_pointer *left, uint32_t sum)
{
    unsigned i = 0;
    while (i < TR_LEFT_AT_ONE && left->sums[i] != sum)
        i++;
    return i;
}

/* The newest one continues, or none that is known. */
static void forget_continued(struct tr_left_pointer *left, bool newest)
{
    for (unsigned i = 0; i < TR_LEFT_AT_ONE; i++)
        left->sums[i] = newest && i + 1 < TR_LEFT_AT_ONE ? left->sums[i + 1] : 0;
}

/* Whether the stack that continues at `pointer` was left there before another one was; *popped: so many bytes further in. */
static bool has_been_away(struct tr_thread *thread, uint64_t pointer, uint64_t *popped)
{
    for (*popped = 0; *popped <= POPPED; *popped += 8) {
        struct tr_left_pointer *left = slot_of(thread->shared, pointer - *popped);
        if (left->pointer != pointer - *popped || left->sums[0] == 0)
            continue;
        unsigned found = find_sum(left, sum_at(thread, pointer - *popped));
        if (found > 0 && found < TR_LEFT_AT_ONE)
            return true;
        forget_continued(left, found == 0);
        return false;
    }
    return false;
}

/* ---- memory that is ---- */

/* NULL: it is not known to be shared. */
static struct tr_shared_memory *memory_of(struct tr_shared_stacks *stacks, uint64_t pointer)
{
    for (unsigned i = 0; i < stacks->memory_count; i++) {
        struct tr_shared_memory *memory = &stacks->memory[i];
        if (pointer + WITHIN >= memory->lowest && pointer <= memory->highest + WITHIN)
            return memory;
    }
    return NULL;
}

static void extend(struct tr_shared_memory *memory, uint64_t pointer)
{
    if (pointer < memory->lowest)
        memory->lowest = pointer;
    if (pointer > memory->highest)
        memory->highest = pointer;
}

static bool is_alone(const struct tr_thread *thread)
{
    return __atomic_load_n(&thread->process->running, __ATOMIC_RELAXED) <= 1;
}

static void look_whether_shared(struct tr_thread *thread, uint64_t pointer)
{
    struct tr_shared_stacks *stacks = thread->shared;
    uint64_t popped;
    if (has_been_away(thread, pointer, &popped) && stacks->memory_count < TR_SHARED_MEMORY)
        stacks->memory[stacks->memory_count++] =
            (struct tr_shared_memory){pointer, region_of(stacks, pointer)->highest, popped};
}

/* Of the stack whose innermost part that is not popped is at `pointer`. Other numbers are those of copied_stacks.h. */
static uint32_t number_of(const struct tr_thread *thread, const struct tr_shared_memory *memory,
                          uint64_t pointer)
{
    enum { SHIFT = 32, NUMBERS = (1 << 24) - 1 - TR_COPIED_STACKS };
    uint64_t end = memory->highest;
    if (thread->has_unseen_stacks && end < pointer + LEAST_HASHED)
        end = pointer + LEAST_HASHED;
    if (end > pointer + MOST_HASHED)
        end = pointer + MOST_HASHED;
    return TR_COPIED_STACKS + 1 + (uint32_t)((hash_memory(pointer, end) >> SHIFT) % NUMBERS);
}

/* ---- what readers know ---- */

static void note_known(struct tr_shared_stacks *stacks, uint32_t number)
{
    stacks->known[number % TR_KNOWN_NUMBERS] = (struct tr_known_number){number, stacks->chunk};
}

static bool is_known(const struct tr_shared_stacks *stacks, uint32_t number)
{
    const struct tr_known_number *known = &stacks->known[number % TR_KNOWN_NUMBERS];
    return known->number == number && known->chunk == stacks->chunk;
}

static void ask_for_copy(struct tr_thread *thread)
{
    if (!thread->hot.reports_switches)
        return;
    thread->hot.switched_at = thread->hot.log;
    thread->hot.limit = 0;
}

/* Those stacks are left and continue. */
static void follow_numbers(struct tr_thread *thread, struct tr_copied_numbers numbers)
{
    struct tr_shared_stacks *stacks = thread->shared;
    if (numbers.left != 0 && stacks->runs_known)
        note_known(stacks, numbers.left);
    stacks->runs_known = numbers.continues != 0 && is_known(stacks, numbers.continues);
    if (numbers.continues != 0 && !stacks->runs_known)
        ask_for_copy(thread);
}

static void watch(struct tr_thread *thread, uint64_t from, uint64_t to)
{
    see(thread->shared, from);
    see(thread->shared, to);
    if (!memory_of(thread->shared, to))
        look_whether_shared(thread, to);
    note_left(thread, from);
}

static void watch_less(struct tr_thread *thread)
{
    struct tr_shared_stacks *stacks = thread->shared;
    stacks->watched++;
    if (stacks->memory_count > 0 || (!stacks->had_threads && stacks->watched < MOST_WATCHED))
        return;
    thread->hot.watches_stacks = 0;
    thread->has_unseen_stacks = true;
}

static struct tr_copied_numbers change(struct tr_thread *thread, uint64_t from, uint64_t to)
{
    struct tr_shared_stacks *stacks = thread->shared;
    stacks->had_threads = stacks->had_threads || !is_alone(thread);
    if (!stacks->had_threads)
        watch(thread, from, to);
    struct tr_shared_memory *left = memory_of(stacks, from), *continues = memory_of(stacks, to);
    struct tr_copied_numbers numbers = {0, 0};
    if (left == continues)
        return numbers;
    if (left) {
        extend(left, from);
        numbers.left = number_of(thread, left, from + left->popped);
    }
    if (continues) {
        extend(continues, to);
        numbers.continues = number_of(thread, continues, to);
    }
    follow_numbers(thread, numbers);
    return numbers;
}

struct tr_copied_numbers tr_shared_stack_change(struct tr_thread *thread)
{
    if (!thread->shared && is_alone(thread))
        thread->shared = tr_own_map(sizeof *thread->shared);
    if (!thread->shared) {
        thread->hot.watches_stacks = 0;
        return (struct tr_copied_numbers){0, 0};
    }
    struct tr_copied_numbers numbers =
        change(thread, thread->hot.stack_before, thread->app.r[TR_RSP]);
    watch_less(thread);
    return numbers;
}

void tr_shared_stacks_begin(struct tr_thread *thread)
{
    thread->has_unseen_stacks = false;
    thread->hot.watches_stacks =
        thread->reports_switches && thread->process->control->options.selected_count == 0;
    if (thread->shared)
        memset(thread->shared, 0, sizeof *thread->shared);
}

/* Stacks that were left before may have run since. */
static void watch_again(struct tr_thread *thread)
{
    struct tr_shared_stacks *stacks = thread->shared;
    if (thread->hot.watches_stacks || stacks->had_threads)
        return;
    stacks->watched = 0;
    memset(stacks->left, 0, sizeof stacks->left);
    thread->hot.watches_stacks = 1;
}

void tr_shared_stack_reported(struct tr_thread *thread)
{
    if (thread->shared)
        thread->shared->runs_known = true;
}

void tr_shared_stacks_begin_chunk(struct tr_thread *thread, bool again)
{
    if (!thread->shared)
        return;
    thread->shared->chunk += again;
    tr_shared_stack_reported(thread);
    watch_again(thread);
}
