#include "made_arena.h"

#include "engine/packets/code_image.h"
#include "x86/decode.h"
#include "x86/stack_load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"

void made_arena_open(struct made_arena *made, const struct tr_options *options)
{
    struct tr_options usual = {
        .clock = RECORD_CLOCK_HOST,
        .ring_size = MADE_RING,
        .tsc_hz = 2600000000,
        .bus_ratio = 26,
    };
    struct error error;
    *made = (struct made_arena){0};
    strcpy(made->directory, "/tmp/magic-trace-arena-XXXXXX");
    assert_non_null(mkdtemp(made->directory));
    if (!translator_arena_create(&made->arena, made->directory, options ? options : &usual, &error))
        fail_msg("%s", error.text);
    made_table(made, UINT32_MAX, 1);
    made_slot(made);
}

void made_slot(struct made_arena *made)
{
    uint32_t serial;
    assert_true(translator_arena_reserve_slot(&made->arena, &serial));
    const struct tr_geometry *geometry = &made->arena.geometry;
    made->slot = (void *)(made->arena.bytes + geometry->slot_offset + serial * geometry->slot_size);
    made->position = 0;
    made->slot->serial = serial;
    made->slot->pid = MADE_PID;
    made->slot->tid = MADE_PID + serial;
    made->slot->size = made->arena.options.ring_size;
    made->slot->first_time = 1000000;
    for (unsigned i = 1; i < TR_CHUNKS; i++)
        atomic_store(&made->slot->chunks[i].position, UINT64_MAX);
    made->slot->magic = TR_SLOT_MAGIC;
}

void made_record(struct made_arena *made, const void *record, size_t size, const char *text)
{
    enum { ALIGNMENT = 16 };
    size_t text_size = text ? strlen(text) + 1 : 0;
    size_t whole = (size + text_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    uint64_t offset = atomic_fetch_add(&made->arena.control->log_tail, whole);
    uint8_t *place = made->arena.bytes + made->arena.geometry.log_offset + offset;
    memcpy(place, record, size);
    if (text)
        memcpy(place + size, text, text_size);
    struct logged_record *head = (void *)place;
    head->magic = LOGGED_MAGIC;
    head->size = (uint32_t)whole;
    atomic_store(&head->ready, 1);
}

uint8_t *made_dump(struct made_arena *made, uint64_t time, unsigned number, uint64_t page,
                   uint32_t next_fragment)
{
    uint64_t offset = (uint64_t)number * (TR_PAGE + CODE_IMAGE_TAIL);
    char path[64];
    snprintf(path, sizeof path, "images/dump.%x", (unsigned)(offset / TR_DUMP_SPAN));
    struct logged_mapping mapping = {
        .record = {.kind = LOGGED_MAPPING, .pid = MADE_PID, .tid = MADE_PID, .time = time},
        .start = page,
        .length = TR_PAGE,
        .file_offset = CODE_IMAGE_OFFSET + offset % TR_DUMP_SPAN,
        .jit = 1,
        .next_fragment = next_fragment,
        .table = made->table->serial,
    };
    made_record(made, &mapping, offsetof(struct logged_mapping, path), path);
    return made->arena.bytes + made->arena.geometry.dump_offset + offset;
}

void made_arena_close(struct made_arena *made)
{
    translator_arena_close(&made->arena);
    assert_true(file_remove_tree(made->directory, NULL));
}

uint32_t made_table(struct made_arena *made, uint32_t parent, uint32_t first)
{
    uint32_t serial;
    assert_true(translator_arena_reserve_table(&made->arena, &serial));
    const struct tr_geometry *geometry = &made->arena.geometry;
    made->table =
        (void *)(made->arena.bytes + geometry->table_offset + serial * geometry->table_size);
    made->table->serial = serial;
    made->table->parent = parent;
    made->table->first = first;
    atomic_store(&made->table->tail, TR_PAGE);
    made->table->magic = TR_TABLE_MAGIC;
    return serial;
}

static enum tr_block_end end_of(enum x86_flow flow)
{
    switch (flow) {
    case X86_CONDITIONAL:
        return TR_END_CONDITIONAL;
    case X86_JUMP:
        return TR_END_JUMP;
    case X86_CALL:
        return TR_END_CALL;
    case X86_INDIRECT_JUMP:
        return TR_END_INDIRECT_JUMP;
    case X86_INDIRECT_CALL:
        return TR_END_INDIRECT_CALL;
    case X86_RETURN:
        return TR_END_RETURN;
    case X86_FAR_CALL:
        return TR_END_FAR;
    default:
        return TR_END_FALL;
    }
}

struct made_block made_block_at(uint64_t pc, unsigned longest)
{
    struct made_block block = {.end = pc};
    if (longest == 0)
        longest = sizeof block.lengths;
    while (block.kind == TR_END_FALL && !block.loads_stack && block.instructions < longest) {
        const uint8_t *bytes = (const uint8_t *)(uintptr_t)block.end;
        struct x86_instruction instruction;
        assert_true(
            x86_decode(&instruction, bytes, X86_LONGEST_INSTRUCTION, block.end, X86_MODE_64));
        block.last = block.end;
        block.lengths[block.instructions++] = (uint8_t)instruction.length;
        block.end += instruction.length;
        block.kind = end_of(instruction.flow);
        block.target = instruction.target;
        block.loads_stack = x86_is_stack_load(bytes, instruction.length);
    }
    return block;
}

static void put_length(uint8_t *lengths, unsigned index, uint8_t length)
{
    lengths[index / 2] |= (uint8_t)(length << (index % 2 ? 4 : 0));
}

uint32_t made_fragment(struct made_arena *made, const uint64_t *starts, unsigned count,
                       unsigned longest)
{
    uint64_t offset = atomic_load(&made->table->tail);
    struct tr_fragment *fragment = (void *)((uint8_t *)made->table + offset);
    uint8_t *lengths = (uint8_t *)&fragment->blocks[count];
    unsigned instructions = 0;
    fragment->pc = starts[0];
    fragment->block_count = (uint16_t)count;
    for (unsigned i = 0; i < count; i++) {
        struct made_block block = made_block_at(starts[i], longest);
        fragment->blocks[i] = (struct tr_block){
            .start = (int32_t)(starts[i] - starts[0]),
            .target = block.target ? (int32_t)(block.target - starts[0]) : 0,
            .size = (uint16_t)(block.end - starts[i]),
            .instructions = (uint8_t)block.instructions,
            .end = (uint8_t)(block.kind | (block.loads_stack ? TR_BLOCK_LOADS_STACK : 0)),
        };
        for (unsigned k = 0; k < block.instructions; k++)
            put_length(lengths, instructions++, block.lengths[k]);
    }
    size_t size = (size_t)(lengths - (uint8_t *)fragment) + (instructions + 1) / 2;
    size = (size + 7) / 8 * 8;
    fragment->size = (uint16_t)size;
    atomic_store(&made->table->tail, offset + size);
    return made->table->first + (uint32_t)((offset - TR_PAGE) / 8);
}

/* ---- the log ---- */

static uint32_t *place(struct made_arena *made)
{
    uint8_t *ring = (uint8_t *)made->slot + TR_SLOT_RING;
    return (uint32_t *)(ring + made->position % made->slot->size);
}

/* As the runtime: chunks are noted, what is ahead is cleared, records do not cross the ring's end. */
static void make_room(struct made_arena *made, uint64_t size)
{
    uint64_t ring = made->slot->size, chunk = ring / TR_CHUNKS;
    uint64_t left = ring - made->position % ring;
    if (size + sizeof(uint32_t) > left) {
        *place(made) = TR_EVENT_WORD(TR_PAD, 0);
        made->position += left;
    }
    uint64_t index = made->position % ring / chunk;
    uint64_t begun = atomic_load(&made->slot->chunks[index].position);
    if (begun == UINT64_MAX || made->position - begun > chunk)
        atomic_store(&made->slot->chunks[index].position, made->position);
    uint64_t end = made->position % ring + size + TR_CLEARED;
    if (end > ring)
        end = ring;
    memset(place(made), 0, end - made->position % ring);
}

void made_word(struct made_arena *made, uint32_t word)
{
    make_room(made, sizeof word);
    *place(made) = word;
    made->position += sizeof word;
    atomic_store(&made->slot->head, made->position);
}

void made_entry(struct made_arena *made, uint32_t identifier, bool indirect)
{
    made_word(made, identifier << 1 | (indirect ? TR_INDIRECT : 0));
}

void made_event(struct made_arena *made, enum tr_event kind, uint32_t payload,
                const uint64_t *values, unsigned count)
{
    uint64_t size = sizeof(uint32_t) + count * sizeof *values;
    make_room(made, size);
    uint32_t *words = place(made);
    words[0] = TR_EVENT_WORD(kind, payload);
    if (count > 0)
        memcpy(words + 1, values, count * sizeof *values);
    made->position += size;
    atomic_store(&made->slot->head, made->position);
}
