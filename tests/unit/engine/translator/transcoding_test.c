/* A whole recording: an arena becomes perf.data, at the end or while the program runs. */
#include "engine/translator/finish.h"

#include "base/file.h"
#include "packet/packet_decoder.h"
#include "random_walk.h"
#include "recording/perf_data/perf_data_reader.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void add_name(struct made_arena *made, uint64_t time, const char *name)
{
    struct logged_name record = {
        .record = {.kind = LOGGED_NAME, .pid = MADE_PID, .tid = MADE_PID, .time = time}};
    made_record(made, &record, offsetof(struct logged_name, name), name);
}

/* All see our files. */
static struct seen_files seen;

static void finish(struct made_arena *made, struct transcoding *transcoding,
                   struct collection *collection)
{
    static char *const command_line[] = {"magic-trace", NULL};
    struct error error;
    *collection = (struct collection){.command_line = command_line, .clock = {.mult = 1}};
    translator_arena_freeze(&made->arena);
    if (!translator_finish(&made->arena, made->directory, transcoding, true, &seen, collection,
                           &error))
        fail_msg("%s", error.text);
}

static struct transcoding *begin(struct made_arena *made)
{
    struct error error;
    struct transcoding *transcoding =
        transcoding_begin(&made->arena, made->directory, NULL, &error);
    if (!transcoding)
        fail_msg("%s", error.text);
    return transcoding;
}

static void open_recording(struct perf_data *data, const struct made_arena *made)
{
    char path[128];
    struct error error;
    snprintf(path, sizeof path, "%s/perf.data", made->directory);
    if (!perf_data_open(data, path, &error))
        fail_msg("%s", error.text);
    assert_int_equal(data->damage.code, ERROR_NONE);
}

static void log_walk(struct made_arena *made, unsigned seed, unsigned steps,
                     void (*wait)(struct made_arena *made), uint64_t *instructions)
{
    struct walk walk;
    walk_make(&walk, &(struct walk_options){.seed = seed, .steps = steps, .signals = true});
    walk_log(&walk, made, wait);
    struct array all = walk_instructions(&walk);
    *instructions = all.count;
    array_free(&all);
    walk_free(&walk);
}

static void rings_become_chunks(void **state)
{
    struct made_arena made;
    uint64_t first, second;
    made_arena_open(&made, NULL);
    add_name(&made, 900000, "walker");
    log_walk(&made, 1, 500, NULL, &first);
    made_slot(&made);
    log_walk(&made, 2, 700, NULL, &second);
    uint32_t unused;
    assert_true(translator_arena_reserve_slot(&made.arena, &unused));
    struct collection collection;
    finish(&made, begin(&made), &collection);
    assert_true(collection.instructions <= first + second + 40);
    assert_true(collection.instructions + 200 > first + second);
    struct perf_data data;
    open_recording(&data, &made);
    assert_int_equal(data.chunk_count, 2);
    assert_int_equal(data.chunks[0].tid, MADE_PID);
    assert_int_equal(data.chunks[1].tid, MADE_PID + 1);
    assert_string_equal(data.records[0].name.name, "walker");
    perf_data_close(&data);
    collection_free(&collection);
    made_arena_close(&made);
}

static void nothing_recorded_is_no_recording(void **state)
{
    struct made_arena made;
    struct error error;
    made_arena_open(&made, NULL);
    struct collection collection = {.clock = {.mult = 1}};
    assert_false(translator_finish(&made.arena, made.directory, begin(&made), true, &seen,
                                   &collection, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    collection_free(&collection);
    made_arena_close(&made);
}

static uint8_t byte_of_file(const struct made_arena *made, const char *name, size_t offset)
{
    char path[128];
    struct file_view view;
    snprintf(path, sizeof path, "%s/images/%s", made->directory, name);
    if (!file_map(&view, path, NULL))
        return 0;
    uint8_t byte = offset < view.size ? view.bytes[offset] : 0;
    file_unmap(&view);
    return byte;
}

static void code_dumps_become_files(void **state)
{
    enum { DUMPS = 70, SIZE = TR_PAGE + 16, IN_FIRST = (TR_DUMP_SPAN + SIZE - 1) / SIZE };
    struct made_arena made;
    uint64_t instructions;
    made_arena_open(&made, NULL);
    log_walk(&made, 1, 100, NULL, &instructions);
    for (unsigned i = 0; i < DUMPS; i++)
        memset(made_dump(&made, 900000 + i, i, 0x10000 + i * TR_PAGE, 0), (int)i + 1, SIZE);
    struct logged_mapping mapping = {
        .record = {.kind = LOGGED_MAPPING, .pid = 77, .tid = 77, .time = 900000},
        .start = 0x10000,
        .length = TR_PAGE,
        .file_offset = 4096,
        .jit = 1};
    const size_t size = offsetof(struct logged_mapping, path);
    made_record(&made, &mapping, size, "images/dump.0"); /* again */
    made_record(&made, &mapping, size, "images/../dump.7");
    made_record(&made, &mapping, size, "images/dump.ffffffffffffffff");
    mapping.file_offset = 4095;
    made_record(&made, &mapping, size, "images/dump.8");
    mapping.file_offset = 4096;
    mapping.length = UINT64_MAX - 4;
    made_record(&made, &mapping, size, "images/dump.9");
    struct collection collection;
    finish(&made, begin(&made), &collection);
    for (unsigned i = 0; i < DUMPS; i++) {
        const char *name = i < IN_FIRST ? "dump.0" : "dump.1";
        size_t begin = 4096 + i * SIZE - (i < IN_FIRST ? 0 : TR_DUMP_SPAN);
        assert_int_equal(byte_of_file(&made, name, begin), i + 1);
        assert_int_equal(byte_of_file(&made, name, begin + SIZE - 1), i + 1);
    }
    assert_int_equal(byte_of_file(&made, "dump.0", 1), 'E');
    assert_int_equal(byte_of_file(&made, "dump.8", 1), 0);
    assert_int_equal(byte_of_file(&made, "dump.9", 1), 0);
    collection_free(&collection);
    made_arena_close(&made);
}

enum { VERSIONS = 200, VERSION_SIZE = TR_PAGE + 16, RAN = 100 };

/* A page shows them one after the other, and fragments are made of all, of which one runs. */
static void log_versions(struct made_arena *made)
{
    const uint64_t start = (uintptr_t)walked_return; /* mov, syscall */
    atomic_store(&made->table->pid, MADE_PID);
    add_name(made, 900000, "changing");
    for (unsigned i = 0; i < VERSIONS; i++) {
        uint64_t used = atomic_load(&made->table->tail) - TR_PAGE;
        uint8_t *dump = made_dump(made, 1000000 + i, i, start - start % TR_PAGE,
                                  made->table->first + (uint32_t)(used / 8));
        memset(dump, (int)i + 1, VERSION_SIZE);
        uint32_t fragment = made_fragment(made, &start, 1, 0);
        if (i != RAN)
            continue;
        made_entry(made, fragment, true);
        MADE_EVENT(made, TR_SYSCALL, 60, 2000000);
    }
}

static unsigned count_mappings(const struct made_arena *made)
{
    struct perf_data data;
    unsigned count = 0;
    open_recording(&data, made);
    for (size_t i = 0; i < data.record_count; i++)
        count += data.records[i].kind == SIDEBAND_MAPPING;
    perf_data_close(&data);
    return count;
}

/* Of what a page has shown, recordings keep what ran, and what it showed first and last. */
static void dumps_of_what_did_not_run_are_dropped(void **state)
{
    struct made_arena made;
    struct collection collection;
    made_arena_open(&made, NULL);
    log_versions(&made);
    finish(&made, begin(&made), &collection);
    assert_int_equal(count_mappings(&made), 3);
    const uint64_t ran = (uint64_t)RAN * VERSION_SIZE, last = (VERSIONS - 1) * VERSION_SIZE;
    assert_int_equal(byte_of_file(&made, "dump.0", 4096), 1);
    assert_int_equal(byte_of_file(&made, "dump.0", 4096 + VERSION_SIZE), 0);
    assert_int_equal(byte_of_file(&made, "dump.1", 4096 + ran - TR_DUMP_SPAN), RAN + 1);
    assert_int_equal(byte_of_file(&made, "dump.2", 1), 0);
    assert_int_equal(byte_of_file(&made, "dump.3", 4096 + last - 3 * TR_DUMP_SPAN), VERSIONS);
    collection_free(&collection);
    made_arena_close(&made);
}

/* What ran in the logs that it had transcoded is unknown. */
static void a_killed_recorder_may_have_needed_all_dumps(void **state)
{
    struct made_arena made;
    struct collection collection;
    made_arena_open(&made, NULL);
    log_versions(&made);
    made_slot(&made);
    made.slot->magic = 0;
    atomic_store(&made.slot->generation, 1);
    finish(&made, begin(&made), &collection);
    assert_int_equal(count_mappings(&made), VERSIONS);
    collection_free(&collection);
    made_arena_close(&made);
}

/* --- The instruction clock --- */

static void add_fork(struct made_arena *made, uint64_t time)
{
    struct logged_fork record = {.record = {.kind = LOGGED_FORK,
                                            .pid = MADE_PID,
                                            .tid = made->slot->tid,
                                            .serial = made->slot->serial,
                                            .time = time},
                                 .parent_pid = MADE_PID,
                                 .parent_tid = MADE_PID};
    made_record(made, &record, sizeof record, NULL);
}

/* A thread that runs one block of two instructions, makes a system call, and creates another one in it. */
static void log_parent_and_child(struct made_arena *made)
{
    const uint64_t start = (uintptr_t)walked_return; /* mov, syscall */
    uint32_t fragment = made_fragment(made, &start, 1, 0);
    add_name(made, 1000000, "parent");
    made_entry(made, fragment, true);
    MADE_EVENT(made, TR_SYSCALL, 56, 2000000);
    MADE_EVENT(made, TR_RESUME, 0, 3000000);
    made_entry(made, fragment, false);
    MADE_EVENT(made, TR_SYSCALL, 60, 4000000);
    made_slot(made);
    made->slot->first_time = 2500000;
    add_fork(made, 2500000);
    made_entry(made, fragment, true);
    MADE_EVENT(made, TR_SYSCALL, 60, 9000000);
}

static void records_are_placed_by_instructions(void **state)
{
    struct made_arena made;
    struct collection collection;
    struct tr_options options = {.clock = RECORD_CLOCK_INSTRUCTIONS,
                                 .ring_size = MADE_RING,
                                 .tsc_hz = 1000000000,
                                 .bus_ratio = 10};
    for (uint32_t full = 0; full <= 1; full++) {
        options.full_execution = full;
        made_arena_open(&made, &options);
        log_parent_and_child(&made);
        finish(&made, begin(&made), &collection);
        assert_int_equal(collection.instructions, 6);
        struct perf_data data;
        open_recording(&data, &made);
        uint64_t named = 0, created = 0, started = 0;
        for (size_t i = 0; i < data.record_count; i++) {
            const struct sideband_record *record = &data.records[i];
            if (record->kind == SIDEBAND_NAME)
                named = record->time.value;
            else if (record->kind == SIDEBAND_FORK)
                created = record->time.value;
            else if (record->kind == SIDEBAND_TRACE_START && record->tid == 2)
                started = record->time.value;
        }
        assert_int_not_equal(named, 0);
        assert_int_equal(created, named + 2 + 1000); /* instructions, and a system call */
        assert_int_equal(started, created);
        assert_int_equal(data.chunk_count, 2);
        perf_data_close(&data);
        collection_free(&collection);
        made_arena_close(&made);
    }
}

/* --- While the program runs --- */

/* As the runtime: what it clears and writes next has been read. */
static void wait_for_reader(struct made_arena *made)
{
    uint64_t next = made->position + TR_CLEARED + 4 * (made->slot->size / TR_CHUNKS);
    while (next > atomic_load(&made->slot->read_to) + made->slot->size)
        sched_yield();
}

/* The packets of one thread, from a recording or its packet file. */
static struct array packets_of(const struct made_arena *made)
{
    struct perf_data data;
    struct array bytes = array_of(1);
    open_recording(&data, made);
    for (size_t i = 0; i < data.chunk_count; i++)
        array_add_all(&bytes, data.chunks[i].bytes, data.chunks[i].size);
    perf_data_close(&data);
    return bytes;
}

/* By the count of instructions: how time is spread between two stamps depends on what was read before. */
static void full_execution_reads_what_a_larger_ring_would_hold(void **state)
{
    struct tr_options options = {.clock = RECORD_CLOCK_INSTRUCTIONS,
                                 .ring_size = 64 << 20,
                                 .tsc_hz = 2600000000,
                                 .bus_ratio = 26};
    for (unsigned seed = 1; seed <= 3; seed++) {
        struct made_arena large, small;
        struct collection collection;
        uint64_t instructions;
        options.ring_size = 64 << 20;
        options.full_execution = 0;
        made_arena_open(&large, &options);
        log_walk(&large, seed, 30000, NULL, &instructions);
        finish(&large, begin(&large), &collection);
        collection_free(&collection);

        options.ring_size = MADE_RING;
        options.full_execution = 1;
        made_arena_open(&small, &options);
        struct transcoding *transcoding = begin(&small);
        log_walk(&small, seed, 30000, wait_for_reader, &instructions);
        assert_true(small.position > 4 * MADE_RING);
        finish(&small, transcoding, &collection);
        collection_free(&collection);

        struct array expected = packets_of(&large), found = packets_of(&small);
        assert_int_equal(found.count, expected.count);
        assert_memory_equal(found.elements, expected.elements, expected.count);
        array_free(&expected);
        array_free(&found);
        made_arena_close(&large);
        made_arena_close(&small);
    }
}

static void a_thread_that_has_ended_is_done_with(void **state)
{
    struct made_arena made;
    struct collection collection;
    uint64_t instructions;
    struct tr_options options = {.clock = RECORD_CLOCK_HOST,
                                 .ring_size = MADE_RING,
                                 .tsc_hz = 2600000000,
                                 .bus_ratio = 26,
                                 .full_execution = 1};
    made_arena_open(&made, &options);
    struct transcoding *transcoding = begin(&made);
    log_walk(&made, 1, 300, NULL, &instructions);
    atomic_store(&made.slot->ended, TR_SLOT_ENDED);
    while (atomic_load(&made.slot->read_to) < made.position / 2)
        sched_yield();
    made_slot(&made);
    log_walk(&made, 2, 300, NULL, &instructions);
    finish(&made, transcoding, &collection);
    assert_int_equal(collection.rings.count, 2);
    collection_free(&collection);
    made_arena_close(&made);
}

/* Nobody waits for packets that cannot be written. */
static void without_a_packet_file_logs_are_read_on(void **state)
{
    struct made_arena made;
    uint64_t instructions;
    char folder[128];
    struct tr_options options = {.clock = RECORD_CLOCK_HOST,
                                 .ring_size = MADE_RING,
                                 .tsc_hz = 2600000000,
                                 .bus_ratio = 26,
                                 .full_execution = 1};
    made_arena_open(&made, &options);
    snprintf(folder, sizeof folder, "%s/translator/ring.0", made.directory);
    assert_int_equal(mkdir(folder, 0700), 0);
    struct transcoding *transcoding = begin(&made);
    log_walk(&made, 1, 9000, wait_for_reader, &instructions);
    struct collection collection = {.clock = {.mult = 1}};
    struct error error;
    assert_false(translator_finish(&made.arena, made.directory, transcoding, true, &seen,
                                   &collection, &error));
    assert_non_null(strstr(error.text, "ring.0"));
    collection_free(&collection);
    made_arena_close(&made);
}

/* A recorder that was killed had read a part: another one goes on. */
static void what_was_read_before_is_not_read_again(void **state)
{
    struct made_arena made;
    struct collection collection;
    uint64_t instructions;
    struct tr_options options = {.clock = RECORD_CLOCK_HOST,
                                 .ring_size = MADE_RING,
                                 .tsc_hz = 2600000000,
                                 .bus_ratio = 26,
                                 .full_execution = 1};
    made_arena_open(&made, &options);
    struct transcoding *killed = begin(&made);
    log_walk(&made, 1, 20000, wait_for_reader, &instructions);
    uint64_t head = made.position;
    while (atomic_load(&made.slot->read_to) + 8192 < head)
        sched_yield();
    transcoding_close(killed);
    made.slot->magic = TR_SLOT_MAGIC;
    atomic_store(&made.slot->read_to, head - 12000); /* as if it had not come further */
    finish(&made, begin(&made), &collection);
    struct perf_data data;
    open_recording(&data, &made);
    assert_int_equal(data.chunk_count, 1);
    assert_true(collection.instructions > instructions);
    assert_true(collection.instructions < instructions + 12000);
    perf_data_close(&data);
    collection_free(&collection);
    made_arena_close(&made);
}

/* --- Several snapshots --- */

static void add_hit(struct made_arena *made, uint64_t time)
{
    struct logged_hit hit = {
        .record = {.kind = LOGGED_HIT, .pid = MADE_PID, .tid = MADE_PID, .time = time}, .ip = 1};
    made_record(made, &hit, sizeof hit, NULL);
    atomic_fetch_add(&made->arena.control->snapshots, 1);
}

/* Of what belongs to a snapshot, what lies before the first PSB is left out. */
enum { PARTS = 16, SNAPSHOT = 16 << 10, LEAST = SNAPSHOT - 4096, STEP = 64 << 10 };

/* How much of the packets is kept with a snapshot after `hit` of so many parts of a walk; PARTS: none. */
static uint64_t kept_with_hit(unsigned hit, size_t *chunks)
{
    struct made_arena made;
    struct collection collection;
    struct tr_options options = {.clock = RECORD_CLOCK_HOST,
                                 .ring_size = MADE_RING,
                                 .snapshot_size = SNAPSHOT,
                                 .tsc_hz = 2600000000,
                                 .bus_ratio = 26,
                                 .multi_snapshot = 1};
    made_arena_open(&made, &options);
    struct transcoding *transcoding = begin(&made);
    struct walk walk;
    walk_make(&walk, &(struct walk_options){.seed = 3, .steps = 15000});
    uint64_t time = made.slot->first_time;
    for (unsigned part = 0; part < PARTS; part++) {
        /* The same way again and again: its times go on. */
        walk_log(&walk, &made, wait_for_reader);
        time += 1000000;
        MADE_EVENT(&made, TR_LOST, 0, time);
        if (part == hit)
            add_hit(&made, time);
    }
    finish(&made, transcoding, &collection);
    struct perf_data data;
    open_recording(&data, &made);
    *chunks = data.chunk_count;
    uint64_t kept = 0;
    for (size_t i = 0; i < data.chunk_count; i++)
        kept += data.chunks[i].size;
    perf_data_close(&data);
    collection_free(&collection);
    walk_free(&walk);
    made_arena_close(&made);
    return kept;
}

static void packets_around_snapshots_are_kept(void **state)
{
    size_t chunks;
    uint64_t end_alone = kept_with_hit(PARTS, &chunks);
    assert_in_range(end_alone, LEAST, SNAPSHOT + STEP);
    uint64_t kept = kept_with_hit(5, &chunks);
    assert_in_range(kept, LEAST, 4 * STEP + SNAPSHOT);
    /* Whether the recorder's thread or the end of the recording decides over it. */
    assert_in_range(kept_with_hit(PARTS - 1, &chunks), LEAST, 4 * STEP + SNAPSHOT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_become_chunks),
        cmocka_unit_test(nothing_recorded_is_no_recording),
        cmocka_unit_test(code_dumps_become_files),
        cmocka_unit_test(dumps_of_what_did_not_run_are_dropped),
        cmocka_unit_test(a_killed_recorder_may_have_needed_all_dumps),
        cmocka_unit_test(records_are_placed_by_instructions),
        cmocka_unit_test(full_execution_reads_what_a_larger_ring_would_hold),
        cmocka_unit_test(a_thread_that_has_ended_is_done_with),
        cmocka_unit_test(without_a_packet_file_logs_are_read_on),
        cmocka_unit_test(what_was_read_before_is_not_read_again),
        cmocka_unit_test(packets_around_snapshots_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
