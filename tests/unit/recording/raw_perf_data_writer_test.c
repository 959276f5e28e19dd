/* The writer of records as the kernel made them: what our reader and stock perf make of its files.
 */
#include "recording/perf_data/raw_perf_data_writer.h"

#include "base/memory.h"
#include "recording/perf_data/perf_data_reader.h"
#include "sample_recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { SAMPLE_FIELDS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD };

static const struct raw_perf_data_event events[] = {
    {
        .attribute = {.type = PERF_TYPE_SOFTWARE,
                      .config = PERF_COUNT_SW_CPU_CLOCK,
                      .size = sizeof(struct perf_event_attr),
                      .sample_period = 1000,
                      .sample_type = SAMPLE_FIELDS | PERF_SAMPLE_IDENTIFIER,
                      .sample_id_all = 1},
        .name = "cpu-clock:u",
    },
    {
        .attribute = {.type = PERF_TYPE_SOFTWARE,
                      .config = PERF_COUNT_SW_PAGE_FAULTS,
                      .size = sizeof(struct perf_event_attr),
                      .sample_period = 1,
                      .sample_type = SAMPLE_FIELDS | PERF_SAMPLE_IDENTIFIER,
                      .sample_id_all = 1},
        .name = "page-faults:u",
    },
};

struct sample_record {
    struct perf_event_header header;
    uint64_t id, ip;
    uint32_t pid, tid;
    uint64_t time, period;
};

static struct sample_record sample_at(uint64_t id, uint64_t time, uint64_t ip)
{
    return (struct sample_record){
        .header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(struct sample_record)},
        .id = id,
        .ip = ip,
        .pid = 500,
        .tid = 501,
        .time = time,
        .period = 1000,
    };
}

static const struct sideband_record mapping = {
    .kind = SIDEBAND_MAPPING,
    .time = {1},
    .pid = 500,
    .tid = 500,
    .cpu = UINT32_MAX,
    .mapping = {.start = 0x400000,
                .length = 0x1000,
                .protection = PROT_READ | PROT_EXEC,
                .flags = MAP_PRIVATE,
                .executable = true,
                .path = "/nonexistent/program"},
};

/* Two events, the second of which gets an id more when records have been written already. */
static char *write_recording(void **state)
{
    char *path = memory_format("%s/perf.data", (char *)*state);
    struct raw_perf_data_writer *writer = raw_perf_data_writer_open(path, events, 2, NULL, NULL);
    assert_non_null(writer);
    raw_perf_data_add_id(writer, 0, 70);
    raw_perf_data_add_id(writer, 1, 71);
    assert_true(raw_perf_data_write_sideband(writer, &mapping, NULL));
    const struct sample_record first[] = {sample_at(70, 1000, 0x400010),
                                          sample_at(71, 2000, 0x400020)};
    assert_true(raw_perf_data_write_records(writer, first, sizeof first, NULL));
    raw_perf_data_add_id(writer, 1, 72);
    const struct sample_record later = sample_at(72, 3000, 0x400030);
    assert_true(raw_perf_data_write_records(writer, &later, sizeof later, NULL));
    assert_true(raw_perf_data_size(writer) > sizeof first + sizeof later);
    assert_true(raw_perf_data_writer_close(writer, NULL));
    return path;
}

static void our_reader_knows_which_event_a_record_is_of(void **state)
{
    char *path = write_recording(state);
    struct perf_data data;
    struct error error = {0};
    if (!perf_data_open(&data, path, &error))
        fail_msg("%s", error.text);
    assert_string_equal(data.damage.text, "");
    assert_int_equal(data.event_count, 2);
    assert_string_equal(data.events[1].name, "page-faults:u");
    assert_int_equal(data.record_count, 4);
    assert_int_equal(data.records[0].kind, SIDEBAND_MAPPING);
    assert_string_equal(data.records[0].mapping.path, "/nonexistent/program");
    static const uint32_t expected[] = {0, 1, 1};
    for (size_t i = 0; i < 3; i++) {
        const struct sideband_record *record = &data.records[1 + i];
        assert_int_equal(record->kind, SIDEBAND_SAMPLE);
        assert_int_equal(record->sample.event, expected[i]);
        assert_int_equal(record->sample.ip, 0x400010 + 0x10 * i);
        assert_int_equal(record->time.value, 1000 + 1000 * i);
        assert_int_equal(record->tid, 501);
    }
    perf_data_close(&data);
    free(path);
}

static void perf_reads_it(void **state)
{
    char *path = write_recording(state);
    char *command =
        memory_format("command -v perf >/dev/null || exit 99; HOME=/nonexistent perf script "
                      "-F tid,time,event,ip -i %s 2>&1",
                      path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char text[4096];
    text[fread(text, 1, sizeof text - 1, pipe)] = 0;
    int status = pclose(pipe);
    free(command);
    free(path);
    if (WEXITSTATUS(status) == 99)
        skip();
    assert_int_equal(status, 0);
    static const char *const lines[] = {"cpu-clock:u:            400010",
                                        "page-faults:u:            400020",
                                        "page-faults:u:            400030"};
    for (size_t i = 0; i < 3; i++)
        if (!strstr(text, lines[i]))
            fail_msg("perf does not print \"%s\" but:\n%s", lines[i], text);
}

int main(void)
{
#define IN_FOLDER(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, sample_folder_make, sample_folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(our_reader_knows_which_event_a_record_is_of),
        IN_FOLDER(perf_reads_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
