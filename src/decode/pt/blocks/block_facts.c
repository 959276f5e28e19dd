#include "decode/pt/blocks/block_facts.h"

#include "base/memory.h"
#include "x86/decode.h"
#include "x86/stack_load.h"

#include <stdlib.h>

void block_facts_clear(struct block_facts *facts, uint64_t first, uint64_t last,
                       uint64_t generation)
{
    block_facts_free(facts);
    *facts = (struct block_facts){.first = first, .last = last, .generation = generation};
}

static void add(struct block_facts *facts, const struct x86_trap *trap, uint64_t bias)
{
    facts->traps = memory_resize(facts->traps, (facts->trap_count + 1) * sizeof(*facts->traps));
    struct x86_trap *added = &facts->traps[facts->trap_count++];
    *added = *trap;
    added->address += bias;
    if (added->handler)
        added->handler += bias;
}

static void scan(struct block_facts *facts, const struct x86_code *code,
                 const struct x86_place *chain, uint64_t bias)
{
    struct x86_trap_scan scan =
        x86_trap_begin(code, chain, facts->first - bias, facts->last - bias);
    struct x86_trap trap;
    while (x86_trap_next(&scan, &trap)) {
        if (trap.kind == X86_TRAP_RAISE)
            facts->loads_stack = true;
        else
            add(facts, &trap, bias);
    }
}

/* Whether the instructions show the trap, too: a pop at the same address, a push a few instructions
 * later, perhaps in the next block. */
static bool is_known(const struct x86_code *code, const struct x86_place *chain,
                     const struct ocaml_note *note)
{
    enum { PUSH_INSTRUCTIONS = 5, REACH = (PUSH_INSTRUCTIONS - 1) * X86_LONGEST_INSTRUCTION };
    uint64_t last = note->address + (note->push ? REACH : 0);
    struct x86_trap_scan scan = x86_trap_begin(code, chain, note->address, last);
    struct x86_trap trap;
    return x86_trap_next(&scan, &trap) && trap.instructions < PUSH_INSTRUCTIONS &&
           trap.kind == (note->push ? X86_TRAP_PUSH : X86_TRAP_POP);
}

/* How many instructions of the block are before `address`; false if none begins there. */
static bool count_instructions(const struct x86_code *code, uint64_t first, uint64_t address,
                               uint32_t *count)
{
    struct x86_instruction instruction;
    *count = 0;
    for (; first < address; first += instruction.length, ++*count) {
        uint64_t offset = first - code->address;
        if (first < code->address || offset >= code->size ||
            !x86_decode(&instruction, code->bytes + offset, code->size - offset, first,
                        X86_MODE_64))
            return false;
    }
    return first == address;
}

static int compare_addresses(const void *left, const void *right)
{
    const struct x86_trap *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static void add_note(struct block_facts *facts, const struct x86_code *code,
                     const struct x86_place *chain, const struct ocaml_note *note, uint64_t bias)
{
    struct x86_trap trap = {.address = note->address,
                            .kind = note->push ? X86_TRAP_PUSH : X86_TRAP_POP};
    if (is_known(code, chain, note) ||
        !count_instructions(code, facts->first - bias, note->address, &trap.instructions) ||
        (note->push && !x86_loads_constant(code, note->address, &trap.handler)))
        return;
    add(facts, &trap, bias);
    qsort(facts->traps, facts->trap_count, sizeof(*facts->traps), compare_addresses);
}

static void add_notes(struct block_facts *facts, const struct x86_code *code,
                      const struct ocaml_code *ocaml, uint64_t bias)
{
    const struct array *notes = &ocaml->notes;
    uint64_t first = facts->first - bias, last = facts->last - bias;
    size_t low = 0, high = notes->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ocaml_note *note = array_at(notes, middle);
        if (note->address < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < notes->count; low++) {
        const struct ocaml_note *note = array_at(notes, low);
        if (note->address > last)
            return;
        add_note(facts, code, &ocaml->chain, note, bias);
    }
}

void block_facts_find(struct block_facts *facts, const struct x86_code *code,
                      const struct ocaml_code *ocaml, uint64_t bias)
{
    facts->loads_stack = x86_loads_stack(code, facts->first, facts->last);
    if (!ocaml)
        return;
    struct x86_code in_object = {code->bytes, code->size, code->address - bias};
    scan(facts, &in_object, &ocaml->chain, bias);
    add_notes(facts, &in_object, ocaml, bias);
}

void block_facts_free(struct block_facts *facts)
{
    free(facts->traps);
    *facts = (struct block_facts){0};
}
