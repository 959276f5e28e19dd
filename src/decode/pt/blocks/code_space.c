#include "decode/pt/blocks/code_space.h"

#include "base/memory.h"
#include "x86/decode.h"
#include "x86/instruction.h"

#include <stdlib.h>
#include <string.h>

/* Direct-mapped: a slot holds the latest address that maps to it. */
enum { CACHE_SLOTS = 4096 };

struct code_space_function {
    uint64_t address;
    uint64_t generation; /* 0: empty */
    struct function_bounds bounds;
};

struct code_space_branch {
    uint64_t address;
    uint64_t generation;
    enum x86_mode mode; /* in which the bytes were decoded */
    struct branch branch;
};

static size_t slot_of(uint64_t address)
{
    /* Branch targets are often aligned to 16: mix the upper bits in, else most slots stay empty. */
    return (address ^ address >> 4 ^ address >> 16) % CACHE_SLOTS;
}

void code_space_init(struct code_space *space, const struct process *process,
                     struct symbols *symbols)
{
    *space = (struct code_space){.process = process, .symbols = symbols, .generation = 1};
    if (process)
        address_space_cursor_init(&space->cursor, process);
    space->functions = memory_allocate_zeroed(CACHE_SLOTS * sizeof(*space->functions));
    space->branches = memory_allocate_zeroed(CACHE_SLOTS * sizeof(*space->branches));
}

void code_space_free(struct code_space *space)
{
    if (space->process)
        address_space_cursor_free(&space->cursor);
    free(space->functions);
    free(space->branches);
    for (size_t i = 0; space->blocks && i < CACHE_SLOTS; i++)
        block_facts_free(&space->blocks[i]);
    free(space->blocks);
}

size_t code_space_changes(const struct code_space *space, struct ticks time,
                          struct ticks exec_until)
{
    const struct process *process = space->process;
    size_t count = space->cursor.next_change;
    while (process && count < process->change_count &&
           process->changes[count].time.value <= time.value) {
        if (process->changes[count].kind == ADDRESS_SPACE_CLEAR &&
            process->changes[count].time.value > exec_until.value)
            break;
        count++;
    }
    return count;
}

void code_space_advance(struct code_space *space, size_t count)
{
    if (!space->process || count == space->cursor.next_change)
        return;
    /* The cursor advances by time, but an execve can have the same time as changes before it. */
    struct process until_there = *space->process;
    until_there.change_count = count;
    space->cursor.process = &until_there;
    address_space_cursor_advance(&space->cursor, (struct ticks){UINT64_MAX});
    space->cursor.process = space->process;
    space->recent = NULL;
    space->inlined = (struct inlined_place){0};
    space->generation++;
}

const struct mapping *code_space_mapping(struct code_space *space, uint64_t address)
{
    const struct mapping *recent = space->recent;
    if (recent && address >= recent->start && address < recent->end)
        return recent;
    if (!space->process)
        return NULL;
    const struct mapping *mapping = address_space_find(&space->cursor, address);
    if (mapping)
        space->recent = mapping;
    return mapping;
}

const uint8_t *code_space_bytes(struct code_space *space, uint64_t address, size_t *known)
{
    const struct mapping *mapping = code_space_mapping(space, address);
    *known = 0;
    if (!mapping || !mapping->file)
        return NULL;
    const struct file_view *view = &mapping->file->view;
    uint64_t distance = address - mapping->start;
    if (mapping->file_offset > view->size || distance >= view->size - mapping->file_offset)
        return NULL;
    uint64_t offset = mapping->file_offset + distance;
    uint64_t left = view->size - offset;
    *known = left < mapping->end - address ? left : mapping->end - address;
    return view->bytes + offset;
}

size_t code_space_read(struct code_space *space, uint64_t address, uint8_t *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        size_t known;
        const uint8_t *code = code_space_bytes(space, address + done, &known);
        if (!known)
            break;
        size_t step = known < size - done ? known : size - done;
        memcpy(bytes + done, code, step);
        done += step;
    }
    return done;
}

struct function_bounds code_space_function(struct code_space *space, uint64_t address)
{
    struct code_space_function *slot = &space->functions[slot_of(address)];
    if (slot->address != address || slot->generation != space->generation) {
        slot->bounds = symbols_find(space->symbols, code_space_mapping(space, address), address);
        slot->address = address;
        slot->generation = space->generation;
    }
    return slot->bounds;
}

struct inlined_place code_space_inlined(struct code_space *space, uint64_t address)
{
    if (address < space->inlined.start || address >= space->inlined.end)
        space->inlined =
            symbols_inlined_at(space->symbols, code_space_mapping(space, address), address);
    return space->inlined;
}

struct branch code_space_branch(struct code_space *space, uint64_t address, enum x86_mode mode)
{
    struct code_space_branch *slot = &space->branches[slot_of(address)];
    if (slot->address != address || slot->mode != mode || slot->generation != space->generation) {
        uint8_t bytes[X86_LONGEST_INSTRUCTION];
        size_t size = code_space_read(space, address, bytes, sizeof(bytes));
        slot->branch = branch_classify(bytes, size, mode);
        slot->address = address;
        slot->mode = mode;
        slot->generation = space->generation;
    }
    return slot->branch;
}

/* The code around a block, within the same mapping. */
static struct x86_code code_around(const struct mapping *mapping, uint64_t first, uint64_t last)
{
    /* A push is at most five instructions, the scan recognizes the last one, a note names the first
     * one. */
    enum { BEFORE = 5 * X86_LONGEST_INSTRUCTION, AFTER = 6 * X86_LONGEST_INSTRUCTION };
    uint64_t start = first - mapping->start < BEFORE ? mapping->start : first - BEFORE;
    uint64_t end = mapping->end - last < AFTER ? mapping->end : last + AFTER;
    const struct file_view *view = &mapping->file->view;
    uint64_t offset = mapping->file_offset + (start - mapping->start);
    if (mapping->file_offset > view->size || offset >= view->size)
        return (struct x86_code){.address = start};
    uint64_t size = view->size - offset < end - start ? view->size - offset : end - start;
    return (struct x86_code){view->bytes + offset, size, start};
}

static void learn_block(struct code_space *space, struct block_facts *facts, uint64_t first,
                        uint64_t last)
{
    const struct mapping *mapping = code_space_mapping(space, first);
    block_facts_clear(facts, first, last, space->generation);
    if (!mapping || !mapping->file)
        return;
    uint64_t bias = 0;
    const struct ocaml_code *ocaml = symbols_ocaml_code(space->symbols, mapping, first, &bias);
    /* If a block continues in the next mapping, a page that was patched, this is its first part. */
    struct x86_code code =
        code_around(mapping, first, last < mapping->end ? last : mapping->end - 1);
    block_facts_find(facts, &code, ocaml, bias);
}

const struct block_facts *code_space_block(struct code_space *space, uint64_t first, uint64_t last)
{
    if (!space->blocks)
        space->blocks = memory_allocate_zeroed(CACHE_SLOTS * sizeof(*space->blocks));
    struct block_facts *facts = &space->blocks[slot_of(first)];
    if (facts->first != first || facts->last != last || facts->generation != space->generation)
        learn_block(space, facts, first, last);
    return facts;
}

struct straight_way code_space_way_to(struct code_space *space, uint64_t address)
{
    /* Bytes from the function's beginning: code that changes stacks is short. */
    enum { FARTHEST = 1024 };
    struct straight_way none = {0}, way = none;
    struct x86_instruction instruction;
    uint64_t at = code_space_function(space, address).start;
    size_t known;
    if (at == 0 || address - at > FARTHEST)
        return none;
    const uint8_t *code = code_space_bytes(space, at, &known);
    for (; at < address; at += instruction.length) {
        if (!x86_decode(&instruction, code, known, at, X86_MODE_64) || instruction.length > known)
            return none;
        code += instruction.length;
        known -= instruction.length;
        if (way.instructions++ == 0)
            way.first = at;
        way.last = at;
        if (instruction.flow != X86_SEQUENTIAL)
            way = none;
    }
    return at == address ? way : none;
}
