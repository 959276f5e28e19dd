/* A folder of rings and a log -> a recording that can be read back. */
#include "engine/packets/collect.h"

#include "base/file.h"
#include "engine/engine.h"
#include "engine/qemu/control.h"
#include "packet/encoder.h"
#include "recording/perf_data/perf_data_reader.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PID = 4321, RING_SIZE = 4096, PSB_SIZE = 16, HEAD = 200, INSTRUCTIONS = 1000 };

static char *path_in(const char *folder, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    static char folder[64];
    strcpy(folder, "/tmp/magic-trace-collect-XXXXXX");
    *state = mkdtemp(folder);
    return !*state;
}

static int remove_folder(void **state)
{
    return !file_remove_tree(*state, NULL);
}

static struct qemu_control *create(const char *folder, enum record_clock clock)
{
    struct error error;
    struct qemu_options options = {
        .clock = clock, .bus_ratio = 26, .tsc_hz = 2600000000, .snapshot_size = RING_SIZE};
    struct qemu_control *control = control_create(folder, &options, &error);
    if (!control)
        fail_msg("%s", error.text);
    return control;
}

static void add_ring(const char *folder, struct qemu_control *control, uint32_t tid)
{
    static unsigned char file[QEMU_PAGE + RING_SIZE];
    memset(file, 0, sizeof file);
    for (size_t i = 0; i < PSB_SIZE; i++)
        file[QEMU_PAGE + i] = i % 2 ? 0x82 : 0x02;
    uint32_t serial = atomic_fetch_add(&control->next_ring, 1);
    struct packet_ring header = {.magic = PACKET_RING_MAGIC,
                                 .version = PACKET_RING_VERSION,
                                 .serial = serial,
                                 .pid = PID,
                                 .tid = tid,
                                 .size = RING_SIZE,
                                 .ended = 1,
                                 .first_time = 50};
    struct pt_encoder encoder = {
        .head = HEAD, .tnt = 1, .instructions = INSTRUCTIONS, .last_time = 60 + serial};
    memcpy(header.encoder, &encoder, sizeof encoder);
    memcpy(file, &header, sizeof header);
    char name[32];
    snprintf(name, sizeof name, "soft/ring.%u", serial);
    int descriptor = open(path_in(folder, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file_write_all(descriptor, file, sizeof file, name, NULL));
    close(descriptor);
}

/* A thread's name, at `time`. */
static void add_name(const char *folder, struct qemu_control *control, uint32_t tid, uint64_t time,
                     const char *name)
{
    enum { SIZE = 64 };
    union {
        struct logged_name name;
        unsigned char bytes[SIZE];
    } record = {.name = {.record = {.magic = LOGGED_MAGIC,
                                    .kind = LOGGED_NAME,
                                    .ready = 1,
                                    .size = SIZE,
                                    .pid = PID,
                                    .tid = tid,
                                    .time = time}}};
    strcpy(record.name.name, name);
    uint64_t offset = QEMU_LOG_OFFSET + atomic_fetch_add(&control->log_tail, SIZE);
    int descriptor = open(path_in(folder, "soft/control"), O_WRONLY);
    assert_int_equal(pwrite(descriptor, &record, SIZE, (off_t)offset), SIZE);
    close(descriptor);
}

static bool gather(struct collection *collection, const char *folder,
                   const struct qemu_control *control, struct error *error)
{
    static char *const command_line[] = {"magic-trace", NULL};
    char rings[128];
    struct file_view view;
    snprintf(rings, sizeof rings, "%s/soft", folder);
    assert_true(file_map(&view, path_in(folder, "soft/control"), error));
    *collection = (struct collection){.command_line = command_line, .clock = {.mult = 1}};
    collection->recorded = control_recorded(control, &view);
    collection->recorded.directory = folder;
    collection->recorded.folder = rings;
    bool ok = collect(collection, error);
    file_unmap(&view);
    return ok;
}

static void collect_all(struct collection *collection, const char *folder,
                        const struct qemu_control *control)
{
    struct error error;
    if (!gather(collection, folder, control, &error))
        fail_msg("%s", error.text);
}

static void open_recording(struct perf_data *data, const char *folder)
{
    struct error error;
    if (!perf_data_open(data, path_in(folder, "perf.data"), &error))
        fail_msg("%s", error.text);
    assert_int_equal(data->damage.code, ERROR_NONE);
}

static void records_are_sorted_and_rings_become_chunks(void **state)
{
    struct qemu_control *control = create(*state, RECORD_CLOCK_HOST);
    add_ring(*state, control, PID);
    atomic_fetch_add(&control->next_ring, 1); /* a thread that got no ring */
    add_ring(*state, control, PID + 1);
    add_name(*state, control, PID + 1, 40, "later");
    add_name(*state, control, PID, 30, "first");
    atomic_fetch_add(&control->log_tail, 32); /* a record that was never written */
    /* Damaged: the rings that exist count, not the number in the header. */
    atomic_store(&control->next_ring, UINT32_MAX);
    rings_settle(path_in(*state, "soft"));

    struct collection collection;
    collect_all(&collection, *state, control);
    assert_int_equal(collection.rings.count, 2);
    assert_int_equal(collection.instructions, 2 * INSTRUCTIONS);
    assert_int_equal(collection.bytes, 2 * HEAD);
    collection_free(&collection);
    control_close(control);

    struct perf_data data;
    open_recording(&data, *state);
    assert_int_equal(data.chunk_count, 2);
    assert_int_equal(data.chunks[0].tid, PID);
    assert_int_equal(data.chunks[0].size, HEAD);
    assert_int_equal(data.chunks[0].reference.value, 60);
    assert_int_equal(data.chunks[1].tid, PID + 1);
    assert_string_equal(data.records[0].name.name, "first");
    assert_string_equal(data.records[1].name.name, "later");
    for (size_t i = 1; i < data.record_count; i++)
        assert_true(data.records[i].time.value >= data.records[i - 1].time.value);
    perf_data_close(&data);
}

static void the_instruction_clock_renumbers_threads(void **state)
{
    struct qemu_control *control = create(*state, RECORD_CLOCK_INSTRUCTIONS);
    add_ring(*state, control, PID);
    add_ring(*state, control, PID + 1);
    add_name(*state, control, PID, 30, "first");
    struct collection collection;
    collect_all(&collection, *state, control);
    collection_free(&collection);
    control_close(control);

    struct perf_data data;
    open_recording(&data, *state);
    assert_int_equal(data.chunks[0].tid, 1);
    assert_int_equal(data.chunks[1].tid, 2);
    assert_int_equal(data.records[0].pid, 1);
    perf_data_close(&data);
}

static void nothing_recorded_is_not_a_recording(void **state)
{
    struct qemu_control *control = create(*state, RECORD_CLOCK_HOST);
    struct collection collection;
    struct error error;
    assert_false(gather(&collection, *state, control, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    collection_free(&collection);
    control_close(control);
    assert_int_not_equal(access(path_in(*state, "perf.data"), F_OK), 0);
}

static void a_folder_is_not_recorded_into_twice(void **state)
{
    struct qemu_control *control = create(*state, RECORD_CLOCK_HOST);
    struct qemu_options options = {0};
    struct error error;
    assert_null(control_create(*state, &options, &error));
    assert_non_null(strstr(error.text, "not finished"));
    assert_int_equal(access(path_in(*state, "images"), F_OK), 0); /* it is the other's */
    control_close(control);

    control = control_open(*state, &error);
    assert_non_null(control);
    assert_int_equal(control->options.bus_ratio, 26);
    control->version++;
    control_close(control);
    assert_null(control_open(*state, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
}

static void a_clock_that_stands_still_is_refused(void **state)
{
    struct qemu_control *control = create(*state, RECORD_CLOCK_HOST);
    control->options.tsc_hz = 0;
    control_close(control);
    struct error error;
    assert_null(control_open(*state, &error));
    assert_int_equal(error.code, ERROR_FORMAT);
    assert_non_null(strstr(error.text, "soft/control"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_are_sorted_and_rings_become_chunks, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(the_instruction_clock_renumbers_threads, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(nothing_recorded_is_not_a_recording, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_folder_is_not_recorded_into_twice, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_clock_that_stands_still_is_refused, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
