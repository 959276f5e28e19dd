/* Fuzz target: any bytes as what traced processes have left in the translator's arena: fragment tables, a thread's
 * slot and its log. Whatever they are, the packets made of them are whole packets, and the same when the log is read
 * in parts.
 *
 * The input: struct translator_log_input (fuzz/translator_log_input.h), then the bytes that it counts. */
#include "base/file.h"
#include "engine/translator/transcode/transcoder.h"
#include "fuzz/translator_log_input.h"
#include "packet/packet_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum {
    TABLE = 32 << 10,
    TABLES = 2,
    RING = 64 << 10,
    SLOT = TR_SLOT_RING + RING + TR_SLOT_GUARD,
    SLOT_OFFSET = TR_PAGE + TABLES * TABLE,
    ARENA = SLOT_OFFSET + SLOT,
};

static _Alignas(TR_PAGE) uint8_t memory[ARENA];

static struct translator_arena make_arena(void)
{
    static _Atomic uint8_t readable[1 + TABLES]; /* is found out */
    return (struct translator_arena){
        .readable = readable,
        .control = (struct tr_control *)memory,
        .bytes = memory,
        .size = ARENA,
        .path = "arena",
        .geometry = {.table_offset = TR_PAGE,
                     .table_size = TABLE,
                     .table_count = TABLES,
                     .slot_offset = SLOT_OFFSET,
                     .slot_size = SLOT,
                     .slot_count = 1},
        .options = {.ring_size = RING, .bus_ratio = 26, .tsc_hz = 2600000000},
    };
}

/* Up to `most` bytes of what is left of the input. */
static void take(uint8_t *to, size_t most, size_t wanted, const uint8_t **bytes, size_t *left)
{
    size_t size = wanted < most ? wanted : most;
    if (size > *left)
        size = *left;
    memcpy(to, *bytes, size);
    *bytes += size;
    *left -= size;
}

static void fill(const struct translator_log_input *input, const uint8_t *bytes, size_t left)
{
    memset(memory, 0, sizeof memory);
    for (uint32_t i = 0; i < TABLES; i++) {
        uint8_t *table = memory + TR_PAGE + i * TABLE;
        *(struct tr_table *)(void *)table = (struct tr_table){.magic = TR_TABLE_MAGIC,
                                                              .serial = i,
                                                              .parent = input->parent[i],
                                                              .first = input->first[i]};
        take(table + TR_PAGE, TABLE - TR_PAGE, input->table_size[i], &bytes, &left);
    }
    struct tr_slot *slot = (struct tr_slot *)(void *)(memory + SLOT_OFFSET);
    *slot = (struct tr_slot){.magic = TR_SLOT_MAGIC, .size = RING, .first_time = 1000000};
    slot->table = input->table;
    slot->head = input->head;
    for (unsigned i = 0; i < TR_CHUNKS; i++)
        slot->chunks[i].position = i < TRANSLATOR_LOG_CHUNKS ? input->chunks[i] : UINT64_MAX;
    take((uint8_t *)slot + TR_SLOT_RING, RING, RING, &bytes, &left);
}

static const char *make_folder(void)
{
    static char folder[] = "/dev/shm/magic-trace-fuzz-XXXXXX";
    static bool made;
    if (!made && !mkdtemp(folder))
        abort();
    made = true;
    return folder;
}

static void check_packets(const struct transcoder *transcoder)
{
    struct file_view view;
    if (!file_map(&view, transcoder->coder.file.path, NULL))
        abort();
    struct pt_packet_walk walk = {.bytes = view.bytes + PACKET_RING_PAGE,
                                  .size = transcoder->coder.encoder->head};
    for (struct pt_walked_packet packet; pt_packet_walk_next(&walk, &packet);)
        if (packet.status != PT_PACKET_OK)
            abort();
    file_unmap(&view);
}

/* Reads the ring at once, or from its beginning in `parts`, as it is drained, every other one in a hurry. How many instructions ran; 0: a record
 * made no sense, and what is read after it depends on the parts. */
static uint64_t transcode(const struct translator_arena *arena, unsigned parts)
{
    struct transcoder_shared shared = {.arena = arena,
                                       .folder = make_folder(),
                                       .fragments = fragments_open(arena),
                                       .ways = ways_open()};
    struct transcoder transcoder;
    if (!transcoder_begin(&transcoder, &shared, translator_arena_slot(arena, 0, NULL), 1000000,
                          NULL))
        abort();
    if (parts == 0)
        transcoder_begin_ring(&transcoder);
    for (unsigned part = 1; part <= parts; part++) {
        log_cursor_extend(&transcoder.cursor);
        if (part < parts)
            transcoder.cursor.end = transcoder.cursor.end / parts * part / 4 * 4;
        transcoder_hurry(&transcoder, part % 2 == 0);
        transcoder_read(&transcoder);
    }
    transcoder_read(&transcoder);
    transcoder_finish(&transcoder);
    check_packets(&transcoder);
    uint64_t instructions =
        transcoder.damage.code ? 0 : pt_encoder_instructions(transcoder.coder.encoder);
    transcoder_close(&transcoder);
    fragments_close(shared.fragments);
    ways_close(shared.ways);
    return instructions;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct translator_log_input input;
    if (size < sizeof input)
        return 0;
    memcpy(&input, bytes, sizeof input);
    fill(&input, bytes + sizeof input, size - sizeof input);
    struct translator_arena arena = make_arena();
    transcode(&arena, 0);
    uint64_t instructions = input.head <= RING ? transcode(&arena, 1) : 0;
    if (instructions > 0 && transcode(&arena, 3) != instructions)
        abort();
    return 0;
}
