#include "engine/translator/transcode/fragments.h"

#include "base/arena.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Of one table: fragments by identifier - first. Most of it is never touched, so it is mapped. */
struct known_table {
    uint32_t first, parent;
    struct arena memory; /* of the fragments */
    uint64_t count;      /* of identifiers */
    const struct fragment *by_identifier[];
};

struct fragments {
    const struct translator_arena *arena;
    struct known_table *tables[]; /* by serial */
};

static const uint64_t user_space = UINT64_C(1) << 47;

struct fragments *fragments_open(const struct translator_arena *arena)
{
    size_t size =
        sizeof(struct fragments) + arena->geometry.table_count * sizeof(struct known_table *);
    struct fragments *fragments = memory_allocate_zeroed(size);
    fragments->arena = arena;
    return fragments;
}

static size_t size_of_table(uint64_t count)
{
    return sizeof(struct known_table) + count * sizeof(const struct fragment *);
}

void fragments_close(struct fragments *fragments)
{
    if (!fragments)
        return;
    for (uint32_t serial = 0; serial < fragments->arena->geometry.table_count; serial++)
        fragments_forget(fragments, serial);
    free(fragments);
}

void fragments_forget(struct fragments *fragments, uint32_t serial)
{
    struct known_table *table = fragments->tables[serial];
    if (!table)
        return;
    arena_free(&table->memory);
    munmap(table, size_of_table(table->count));
    fragments->tables[serial] = NULL;
}

/* ---- descriptions ---- */

/* Where a description lies, for messages. */
struct place {
    const struct translator_arena *arena;
    uint32_t table, identifier;
    const struct tr_fragment *fragment;
};

static bool refuse(const struct place *place, struct error *error, const char *why)
{
    unsigned long long offset =
        (unsigned long long)((const uint8_t *)place->fragment - place->arena->bytes);
    return error_set(error, ERROR_FORMAT, "fragment %u of table %u, described at byte %llu, %s",
                     place->identifier, place->table, offset, why);
}

/* The description's size comes first, and is read once: the rest is within it. */
static bool check_size(const struct place *place, const struct tr_fragment *copy, uint64_t room,
                       struct error *error)
{
    if (copy->block_count == 0)
        return refuse(place, error, "has no blocks");
    if (copy->size > room)
        return refuse(place, error, "reaches beyond its table");
    if (copy->size < sizeof *copy + copy->block_count * sizeof(struct tr_block))
        return refuse(place, error, "is too small for its blocks");
    return true;
}

static enum pt_code_block_kind kind_of(unsigned end)
{
    static const enum pt_code_block_kind kinds[] = {
        [TR_END_FALL] = PT_BLOCK_SEQUENTIAL,
        [TR_END_CONDITIONAL] = PT_BLOCK_CONDITIONAL,
        [TR_END_JUMP] = PT_BLOCK_JUMP,
        [TR_END_CALL] = PT_BLOCK_CALL,
        [TR_END_INDIRECT_JUMP] = PT_BLOCK_INDIRECT_JUMP,
        [TR_END_INDIRECT_CALL] = PT_BLOCK_INDIRECT_CALL,
        [TR_END_RETURN] = PT_BLOCK_RETURN,
        [TR_END_FAR] = PT_BLOCK_FAR,
    };
    return end < sizeof kinds / sizeof *kinds ? kinds[end] : PT_BLOCK_NONE;
}

/* Nibbles of the list of lengths, from `at` on. */
static bool read_lengths(struct pt_code_block *code, const uint8_t *lengths, uint32_t at)
{
    uint64_t size = 0;
    for (unsigned i = 0; i < code->instructions; i++, at++) {
        uint8_t length = at % 2 ? lengths[at / 2] >> 4 : lengths[at / 2] & 0xf;
        code->length[i] = length;
        size += length;
        if (length == 0)
            return false;
    }
    return code->pc + size == code->end;
}

static struct pt_code_block *make_code(struct arena *memory, uint64_t pc,
                                       const struct tr_block *block)
{
    size_t size = sizeof(struct pt_code_block) + block->instructions;
    struct pt_code_block *code = memset(arena_allocate(memory, size), 0, size);
    code->pc = pc + (uint64_t)(int64_t)block->start;
    code->end = code->pc + block->size;
    code->kind = (uint8_t)kind_of(block->end & TR_BLOCK_END);
    code->target = pc + (uint64_t)(int64_t)block->target;
    code->instructions = block->instructions;
    code->loads_stack = (block->end & TR_BLOCK_LOADS_STACK) != 0;
    code->copies_stack = (block->end & TR_BLOCK_COPIES_STACK) != 0;
    return code;
}

static bool is_direct(const struct pt_code_block *code)
{
    return code->kind == PT_BLOCK_SEQUENTIAL || code->kind == PT_BLOCK_CONDITIONAL ||
           code->kind == PT_BLOCK_JUMP || code->kind == PT_BLOCK_CALL || code->kind == PT_BLOCK_FAR;
}

/* Whether control can go from `block` to `next`; sets where else it can go. */
static bool connect(struct fragment_block *block, const struct pt_code_block *next)
{
    const struct pt_code_block *code = block->code;
    block->side = PT_NOWHERE;
    if (!is_direct(code))
        return true;
    if (code->kind == PT_BLOCK_CONDITIONAL)
        block->side = next->pc == code->target ? code->fall : code->target;
    return next->pc == code->target || next->pc == code->fall ||
           (code->kind == PT_BLOCK_FAR && next->pc == code->end);
}

static bool has_packets(const struct pt_code_block *code)
{
    return !is_direct(code) || code->kind == PT_BLOCK_CONDITIONAL || code->kind == PT_BLOCK_FAR;
}

/* Whether a direct call leads to where control has been since the last branch that has a packet. */
static bool is_silent_recursion(const struct fragment *fragment)
{
    unsigned silent = 0; /* the first block after that branch */
    for (unsigned i = 0; i < fragment->block_count; i++) {
        const struct pt_code_block *code = fragment->blocks[i].code;
        if (has_packets(code))
            silent = i + 1;
        for (unsigned j = silent; code->push && j <= i; j++)
            if (fragment->blocks[j].code->pc == code->target)
                return true;
    }
    return false;
}

static void mark_recursion(struct fragment *fragment)
{
    for (unsigned i = 0; i < fragment->block_count; i++)
        fragment->blocks[i].code->in_recursion = true;
}

static bool fill(struct fragment *fragment, struct arena *memory, const struct place *place,
                 const struct tr_fragment *copy, struct error *error)
{
    const struct tr_fragment *source = place->fragment;
    const uint8_t *lengths = (const uint8_t *)&source->blocks[copy->block_count];
    uint32_t most = 2 * (copy->size - (uint32_t)(lengths - (const uint8_t *)source));
    for (unsigned i = 0; i < copy->block_count; i++) {
        struct tr_block block = source->blocks[i];
        if (block.instructions == 0 || block.instructions > most - fragment->instructions)
            return refuse(place, error, "has too few instruction lengths");
        struct pt_code_block *code = make_code(memory, copy->pc, &block);
        fragment->blocks[i] = (struct fragment_block){
            .code = code, .side = PT_NOWHERE, .before = fragment->instructions};
        if (code->kind == PT_BLOCK_NONE)
            return refuse(place, error, "has a block that ends in no known way");
        if (code->pc >= user_space || code->end > user_space)
            return refuse(place, error, "has a block that is not in user space");
        if (!read_lengths(code, lengths, fragment->instructions))
            return refuse(place, error, "has instructions that do not fill their block");
        pt_code_block_describe(code);
        fragment->instructions += code->instructions;
        fragment->loads_stack |= code->loads_stack != 0;
        if (i > 0 && !connect(&fragment->blocks[i - 1], code))
            return refuse(place, error, "has a block that does not lead to the next one");
    }
    if (is_silent_recursion(fragment))
        mark_recursion(fragment);
    return fragment->blocks[0].code->pc == copy->pc ||
           refuse(place, error, "does not begin with its first block");
}

static const struct fragment *read_fragment(struct arena *memory, const struct place *place,
                                            uint64_t room, struct error *error)
{
    struct tr_fragment copy = *place->fragment;
    if (!check_size(place, &copy, room, error))
        return NULL;
    size_t size = sizeof(struct fragment) + copy.block_count * sizeof(struct fragment_block);
    struct fragment *fragment = memset(arena_allocate(memory, size), 0, size);
    fragment->pc = copy.pc;
    fragment->identifier = place->identifier;
    fragment->block_count = copy.block_count;
    return fill(fragment, memory, place, &copy, error) ? fragment : NULL;
}

/* ---- tables ---- */

static struct known_table *add_table(struct fragments *fragments, uint32_t serial,
                                     struct error *error)
{
    const struct tr_table *header = translator_arena_table(fragments->arena, serial, error);
    if (!header)
        return NULL;
    uint64_t count = (fragments->arena->geometry.table_size - TR_PAGE) / 8;
    struct known_table *table = mmap(NULL, size_of_table(count), PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) {
        error_set_errno(error, ERROR_IO, errno, "cannot make room for fragments");
        return NULL;
    }
    table->first = header->first;
    table->parent = header->parent;
    table->count = count;
    fragments->tables[serial] = table;
    return table;
}

static struct known_table *get_table(struct fragments *fragments, uint32_t serial,
                                     struct error *error)
{
    if (serial >= fragments->arena->geometry.table_count) {
        error_set(error, ERROR_FORMAT, "there is no fragment table %u", serial);
        return NULL;
    }
    struct known_table *table = fragments->tables[serial];
    return table ? table : add_table(fragments, serial, error);
}

static const struct fragment *add_fragment(struct fragments *fragments, struct known_table *table,
                                           uint32_t serial, uint32_t identifier,
                                           struct error *error)
{
    const struct tr_geometry *geometry = &fragments->arena->geometry;
    uint64_t offset = TR_PAGE + (uint64_t)8 * (identifier - table->first);
    uint64_t room = geometry->table_size - offset;
    struct place place = {
        .arena = fragments->arena,
        .table = serial,
        .identifier = identifier,
        .fragment = (const void *)(fragments->arena->bytes + geometry->table_offset +
                                   serial * geometry->table_size + offset),
    };
    if (room < sizeof(struct tr_fragment)) {
        refuse(&place, error, "reaches beyond its table");
        return NULL;
    }
    const struct fragment *fragment = read_fragment(&table->memory, &place, room, error);
    table->by_identifier[identifier - table->first] = fragment;
    return fragment;
}

const struct fragment *fragments_get(struct fragments *fragments, uint32_t serial,
                                     uint32_t identifier, struct error *error)
{
    struct known_table *table = get_table(fragments, serial, error);
    uint32_t count = fragments->arena->geometry.table_count;
    for (uint32_t steps = 0; table && identifier < table->first; steps++) {
        /* Those of a damaged arena may lead in a circle. */
        if (table->parent >= count || steps == count) {
            error_set(error, ERROR_FORMAT, "fragment %u is in no table from %u on to its parents",
                      identifier, serial);
            return NULL;
        }
        serial = table->parent;
        table = get_table(fragments, serial, error);
    }
    if (!table)
        return NULL;
    if (identifier - table->first >= table->count) {
        error_set(error, ERROR_FORMAT, "fragment %u is not in table %u", identifier, serial);
        return NULL;
    }
    const struct fragment *fragment = table->by_identifier[identifier - table->first];
    return fragment ? fragment : add_fragment(fragments, table, serial, identifier, error);
}

bool fragments_walk(const struct fragments *fragments, uint32_t serial,
                    void (*handle)(void *context, const struct fragment *fragment), void *context)
{
    const struct tr_table *header = translator_arena_table(fragments->arena, serial, NULL);
    const struct known_table *table = header ? fragments->tables[serial] : NULL;
    if (!table)
        return false;
    uint64_t tail = atomic_load(&header->tail);
    uint64_t written = tail > TR_PAGE ? (tail - TR_PAGE) / 8 : 0;
    for (uint64_t i = 0; i < written && i < table->count; i++)
        if (table->by_identifier[i])
            handle(context, table->by_identifier[i]);
    return true;
}
