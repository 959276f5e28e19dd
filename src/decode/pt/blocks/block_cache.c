#include "decode/pt/blocks/block_cache.h"

#include "base/memory.h"
#include "x86/decode.h"
#include "x86/stack_load.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 1 << 10,
    /* Instructions; longer code without a branch is several blocks. */
    LONGEST_BLOCK = 256,
    PAGE_BITS = 12,
    /* Some hundred MB together with their TNT-cache entries; real programs have some ten thousand.
     */
    BLOCKS_AT_MOST = 1 << 21,
};

/* Id 0 and effect 0 stand for none. */
static void add_nothing(struct block_cache *cache)
{
    array_add(&cache->by_id);
    array_add(&cache->edges);
    array_add(&cache->effects);
}

void block_cache_init(struct block_cache *cache, const struct process *process,
                      struct symbols *symbols)
{
    *cache = (struct block_cache){.epoch = 1};
    code_space_init(&cache->space, process, symbols);
    cache->capacity = cache->page_capacity = FIRST_CAPACITY;
    cache->slots = memory_allocate_zeroed(cache->capacity * sizeof(*cache->slots));
    cache->pages = memory_allocate_zeroed(cache->page_capacity * sizeof(*cache->pages));
    cache->by_id = array_of(sizeof(struct block *));
    cache->edges = array_of(sizeof(struct edge));
    cache->effects = array_of(sizeof(struct edge_effect));
    add_nothing(cache);
}

void block_cache_free(struct block_cache *cache)
{
    code_space_free(&cache->space);
    arena_free(&cache->memory);
    array_free(&cache->by_id);
    array_free(&cache->edges);
    array_free(&cache->effects);
    free(cache->slots);
    free(cache->pages);
}

static void drop_all(struct block_cache *cache)
{
    memset(cache->slots, 0, cache->capacity * sizeof(*cache->slots));
    memset(cache->pages, 0, cache->page_capacity * sizeof(*cache->pages));
    cache->count = cache->page_count = 0;
    cache->by_id.count = cache->edges.count = cache->effects.count = 0;
    add_nothing(cache);
    arena_free(&cache->memory);
    cache->memory = (struct arena){0};
    cache->epoch++;
}

static void announce_drop(const struct block_cache *cache)
{
    if (cache->before_drop)
        cache->before_drop(cache->drop_context);
}

void block_cache_trim(struct block_cache *cache)
{
    if (cache->count <= BLOCKS_AT_MOST)
        return;
    announce_drop(cache);
    drop_all(cache);
}

/* Pages. */

static uint64_t *page_slot(const struct block_cache *cache, uint64_t page)
{
    size_t slot = block_hash(page) & (cache->page_capacity - 1);
    while (cache->pages[slot] && cache->pages[slot] != page + 1)
        slot = (slot + 1) & (cache->page_capacity - 1);
    return &cache->pages[slot];
}

static void grow_pages(struct block_cache *cache)
{
    uint64_t *old = cache->pages;
    size_t old_capacity = cache->page_capacity;
    cache->page_capacity *= 2;
    cache->pages = memory_allocate_cleared(cache->page_capacity * sizeof(*cache->pages));
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i])
            *page_slot(cache, old[i] - 1) = old[i];
    free(old);
}

static void add_page(struct block_cache *cache, uint64_t page)
{
    uint64_t *slot = page_slot(cache, page);
    if (*slot)
        return;
    *slot = page + 1;
    if (++cache->page_count > cache->page_capacity / 2)
        grow_pages(cache);
}

static bool has_pages_between(const struct block_cache *cache, uint64_t first, uint64_t last)
{
    if (last - first < cache->page_count) {
        for (uint64_t page = first; page <= last; page++)
            if (*page_slot(cache, page))
                return true;
        return false;
    }
    for (size_t i = 0; i < cache->page_capacity; i++)
        if (cache->pages[i] && cache->pages[i] - 1 >= first && cache->pages[i] - 1 <= last)
            return true;
    return false;
}

static bool touches_blocks(const struct block_cache *cache,
                           const struct address_space_change *change)
{
    if (change->kind == ADDRESS_SPACE_CLEAR)
        return true;
    const struct mapping *mapping = &change->mapping;
    return mapping->end > mapping->start &&
           has_pages_between(cache, mapping->start >> PAGE_BITS, (mapping->end - 1) >> PAGE_BITS);
}

void block_cache_advance(struct block_cache *cache, size_t count)
{
    const struct process *process = cache->space.process;
    bool touched = false;
    if (!process)
        return;
    for (size_t i = cache->space.cursor.next_change; i < count && !touched; i++)
        touched = touches_blocks(cache, &process->changes[i]);
    if (touched)
        announce_drop(cache);
    code_space_advance(&cache->space, count);
    if (touched)
        drop_all(cache);
}

void block_cache_rewind(struct block_cache *cache, struct ticks time)
{
    const struct process *process = cache->space.process;
    size_t applied = process ? cache->space.cursor.next_change : 0;
    if (!applied || process->changes[applied - 1].time.value <= time.value)
        return;
    struct symbols *symbols = cache->space.symbols;
    announce_drop(cache);
    code_space_free(&cache->space);
    code_space_init(&cache->space, process, symbols);
    drop_all(cache);
}

/* Blocks. */

/* Decodes the instruction at `ip`. If that fails, `*end` says why. */
static bool read_instruction(struct block_cache *cache, uint64_t ip, enum x86_mode mode,
                             struct x86_instruction *instruction, uint8_t *end)
{
    size_t known;
    const uint8_t *bytes = code_space_bytes(&cache->space, ip, &known);
    if (known && x86_decode(instruction, bytes, known, ip, mode))
        return true;
    uint8_t copy[X86_LONGEST_INSTRUCTION];
    if (known < sizeof(copy))
        known = code_space_read(&cache->space, ip, copy, sizeof(copy));
    else
        memcpy(copy, bytes, sizeof(copy));
    if (known && x86_decode(instruction, copy, known, ip, mode))
        return true;
    *end = known < sizeof(copy) ? BLOCK_WITHOUT_IMAGE : BLOCK_OF_NO_CODE;
    return false;
}

static void end_in(struct block *block, const struct x86_instruction *instruction)
{
    block->kind = (uint8_t)branch_kind_of(instruction->flow);
    block->direct = instruction->flow == X86_JUMP || instruction->flow == X86_CALL;
    block->target = instruction->target;
    block->reads_own_address = instruction->flow == X86_CALL && instruction->target == block->next;
    block->is_ptwrite = instruction->is_ptwrite;
}

static bool adds_to_stack_pointer(struct block_cache *cache, uint64_t ip)
{
    enum { LENGTH = 3 };
    size_t known;
    const uint8_t *bytes = code_space_bytes(&cache->space, ip, &known);
    return bytes && known >= LENGTH && x86_adds_to_stack_pointer(bytes, known);
}

/* Whether memory is copied before control goes anywhere else: by a string instruction, or by a function that is called. A
 * function that adds to the stack pointer for its own frame has nothing to call before it returns. */
static bool copies_before_branch(struct block_cache *cache, uint64_t ip)
{
    enum { MOST_INSTRUCTIONS = 16 };
    struct x86_instruction instruction = {.flow = X86_SEQUENTIAL};
    uint8_t end;
    for (unsigned i = 0; i < MOST_INSTRUCTIONS && instruction.flow == X86_SEQUENTIAL; i++) {
        if (!read_instruction(cache, ip, X86_MODE_64, &instruction, &end))
            return false;
        ip += instruction.length;
    }
    return instruction.flow == X86_CALL || instruction.flow == X86_INDIRECT_CALL ||
           instruction.flow == X86_REPEAT;
}

static bool copies_stack(struct block_cache *cache, const struct block *block, unsigned length)
{
    enum { LENGTH = 3 };
    return length == LENGTH && block->mode == X86_MODE_64 &&
           adds_to_stack_pointer(cache, block->last) && copies_before_branch(cache, block->next);
}

static void read_instructions(struct block_cache *cache, struct block *block)
{
    struct x86_instruction instruction;
    block->next = block->ip;
    do {
        if (!read_instruction(cache, block->next, block->mode, &instruction, &block->end))
            return;
        block->last = block->next;
        block->next += instruction.length;
        block->instructions++;
        block->copies_stack = copies_stack(cache, block, instruction.length);
    } while (branch_kind_of(instruction.flow) == BRANCH_NONE && !instruction.is_ptwrite &&
             !block->copies_stack && block->instructions < LONGEST_BLOCK);
    end_in(block, &instruction);
}

static void grow(struct block_cache *cache)
{
    struct block_slot *old = cache->slots;
    size_t old_capacity = cache->capacity;
    cache->capacity *= 2;
    cache->slots = memory_allocate_cleared(cache->capacity * sizeof(*cache->slots));
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].id)
            *block_cache_slot(cache, old[i].ip, old[i].mode) = old[i];
    free(old);
}

/* At the beginning of a cache line. */
static void *allocate_lines(struct arena *arena, size_t size)
{
    enum { LINE = 64 };
    return memory_align(arena_allocate(arena, size + LINE), LINE);
}

static struct block *new_block(struct block_cache *cache, uint64_t ip, enum x86_mode mode)
{
    struct block *block = allocate_lines(&cache->memory, sizeof(*block));
    *block = (struct block){.ip = ip, .mode = (uint8_t)mode, .id = (uint32_t)cache->by_id.count};
    read_instructions(cache, block);
    block->bounds = code_space_function(&cache->space, ip);
    if (block->bounds.inlined) {
        struct inlined_place place = code_space_inlined(&cache->space, ip);
        block->inlined = place.inlined;
        block->announces_inlined = inlined_place_is_announced(&place, ip, &block->bounds);
    }
    block->superblock.kind = SUPERBLOCK_UNKNOWN;
    *(struct block **)array_add(&cache->by_id) = block;
    array_add(&cache->edges);
    /* An instruction that could not be read may become readable with the next change. */
    uint64_t end = block->next + X86_LONGEST_INSTRUCTION;
    for (uint64_t page = ip >> PAGE_BITS; page <= end >> PAGE_BITS; page++)
        add_page(cache, page);
    return block;
}

struct block *block_cache_find(struct block_cache *cache, uint64_t ip, enum x86_mode mode)
{
    struct block_slot *slot = block_cache_slot(cache, ip, mode);
    if (slot->id)
        return block_of_id(cache, slot->id);
    struct block *block = new_block(cache, ip, mode);
    *slot = (struct block_slot){.ip = ip,
                                .id = block->id,
                                .inlined = block->bounds.inlined,
                                .mode = mode,
                                .function = block->bounds.function};
    if (++cache->count > cache->capacity / 2)
        grow(cache);
    return block;
}
