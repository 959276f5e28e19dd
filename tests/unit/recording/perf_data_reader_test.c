/* The reader: everything the writer writes, and what other programs and other versions of perf
 * write. */
#include "recording/perf_data/perf_data_reader.h"

#include "base/file.h"
#include "base/memory.h"
#include "foreign_file.h"
#include "recording/perf_data/perf_file_format.h"
#include "sample_recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static char *write_bytes(void **state, const void *bytes, size_t size)
{
    char *path = memory_format("%s/perf.data", (char *)*state);
    int descriptor = file_create_private(path, NULL);
    assert_true(descriptor >= 0);
    assert_true(file_write_all(descriptor, bytes, size, path, NULL));
    close(descriptor);
    return path;
}

/* Reads a foreign file, which must be whole. */
static void open_foreign(void **state, struct foreign_file *file, struct perf_data *data)
{
    struct array bytes = foreign_file_finish(file);
    char *path = write_bytes(state, bytes.elements, bytes.count);
    struct error error = {0};
    if (!perf_data_open(data, path, &error))
        fail_msg("%s", error.text);
    assert_string_equal(data->damage.text, "");
    array_free(&bytes);
    free(path);
}

static void refuse(void **state, const void *bytes, size_t size, enum error_code code,
                   const char *word)
{
    char *path = write_bytes(state, bytes, size);
    struct perf_data data;
    struct error error = {0};
    assert_false(perf_data_open(&data, path, &error));
    assert_int_equal(error.code, code);
    assert_non_null(strstr(error.text, path));
    if (!strstr(error.text, word))
        fail_msg("\"%s\" does not say \"%s\"", error.text, word);
    free(path);
}

/* ---- ours ---- */

static void assert_same_record(const struct sideband_record *read,
                               const struct sideband_record *written)
{
    assert_int_equal(read->kind, written->kind);
    assert_int_equal(read->time.value, written->time.value);
    assert_int_equal(read->pid, written->pid);
    assert_int_equal(read->tid, written->tid);
    assert_int_equal(read->cpu, written->cpu);
    switch (written->kind) {
    case SIDEBAND_MAPPING:
        assert_int_equal(read->mapping.start, written->mapping.start);
        assert_int_equal(read->mapping.length, written->mapping.length);
        assert_int_equal(read->mapping.file_offset, written->mapping.file_offset);
        assert_int_equal(read->mapping.inode, written->mapping.inode);
        assert_int_equal(read->mapping.device_major, written->mapping.device_major);
        assert_int_equal(read->mapping.device_minor, written->mapping.device_minor);
        assert_int_equal(read->mapping.protection, written->mapping.protection);
        assert_int_equal(read->mapping.flags, written->mapping.flags);
        assert_int_equal(read->mapping.executable, written->mapping.executable);
        assert_int_equal(read->mapping.kernel, written->mapping.kernel);
        assert_string_equal(read->mapping.path, written->mapping.path);
        break;
    case SIDEBAND_NAME:
        assert_string_equal(read->name.name, written->name.name);
        assert_int_equal(read->name.exec, written->name.exec);
        break;
    case SIDEBAND_FORK:
    case SIDEBAND_EXIT:
        assert_int_equal(read->fork.parent_pid, written->fork.parent_pid);
        assert_int_equal(read->fork.parent_tid, written->fork.parent_tid);
        break;
    case SIDEBAND_AUX:
        assert_int_equal(read->aux.offset, written->aux.offset);
        assert_int_equal(read->aux.size, written->aux.size);
        assert_int_equal(read->aux.flags, written->aux.flags);
        break;
    case SIDEBAND_LOST:
        assert_int_equal(read->lost.count, written->lost.count);
        break;
    case SIDEBAND_CONTEXT_SWITCH:
        assert_int_equal(read->context_switch.out, written->context_switch.out);
        assert_int_equal(read->context_switch.other_pid, written->context_switch.other_pid);
        assert_int_equal(read->context_switch.other_tid, written->context_switch.other_tid);
        break;
    case SIDEBAND_TRACE_START:
    case SIDEBAND_SAMPLE:
    case SIDEBAND_KERNEL_SYMBOL:
    case SIDEBAND_CODE_CHANGE:
        break;
    }
}

static void what_is_written_is_read_back(void **state)
{
    char *path = memory_format("%s/perf.data", (char *)*state);
    sample_recording_write(path, "/nonexistent/tiny");
    struct perf_data data;
    assert_true(perf_data_open(&data, path, NULL));
    assert_int_equal(data.damage.code, ERROR_NONE);
    assert_string_equal(data.path, path);
    assert_int_equal(data.record_count, sample_record_count);
    for (size_t i = 0; i < sample_record_count; i++)
        assert_same_record(&data.records[i], &sample_records[i]);
    assert_false(data.cpu.intel);
    perf_data_close(&data);
    free(path);
}

static void packets_are_read_back(void **state)
{
    char *path = memory_format("%s/perf.data", (char *)*state);
    sample_recording_write(path, "/nonexistent/tiny");
    struct perf_data data;
    assert_true(perf_data_open(&data, path, NULL));
    assert_int_equal(data.chunk_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct aux_chunk *chunk = &data.chunks[i];
        assert_int_equal(chunk->index, i / 2);
        assert_int_equal(chunk->tid, SAMPLE_PID + i / 2);
        assert_int_equal(chunk->cpu, UINT32_MAX);
        assert_int_equal(chunk->offset, i % 2 * 64);
        assert_int_equal(chunk->reference.value, 1000016);
        assert_int_equal(chunk->size, (sample_packets_size + 7) / 8 * 8);
        assert_memory_equal(chunk->bytes, sample_packets, sample_packets_size);
        for (size_t pad = sample_packets_size; pad < chunk->size; pad++)
            assert_int_equal(chunk->bytes[pad], 0);
    }
    perf_data_close(&data);
    free(path);
}

/* Writes a recording with this setup and one record, and reads it. */
static void write_and_read(void **state, const struct pt_setup *setup,
                           const struct sideband_record *record, struct perf_data *data)
{
    char *path = memory_format("%s/perf.data", (char *)*state);
    struct perf_data_writer *writer = perf_data_writer_open(path, setup, NULL, NULL);
    assert_non_null(writer);
    assert_true(perf_data_write_record(writer, record, NULL));
    const struct aux_chunk chunk = {.tid = 7, .cpu = 3};
    const struct iovec part = {(void *)sample_packets, sample_packets_size};
    assert_true(perf_data_write_aux(writer, &chunk, &part, 1, NULL));
    assert_true(perf_data_writer_close(writer, NULL));
    assert_true(perf_data_open(data, path, NULL));
    assert_int_equal(data->damage.code, ERROR_NONE);
    free(path);
}

static void setup_is_read_back(void **state)
{
    const struct pt_setup setup = {
        .clock = {.zero = (uint64_t)-5000, .mult = 4000000000u, .shift = 31},
        .has_clock = true,
        .config = 0x300e601,
        .tsc_bit = 1,
        .no_return_compression_bit = 2,
        .mtc_bit = 4,
        .mtc_period_bits = 8,
        .cyc_bit = 16,
        .tsc_ctc_numerator = 100,
        .tsc_ctc_denominator = 2,
        .max_nonturbo_ratio = 12,
        .per_cpu = true,
        .snapshot = true,
        .kernel = true,
    };
    const struct sideband_record record = {.kind = SIDEBAND_CONTEXT_SWITCH,
                                           .time = {5},
                                           .pid = 1,
                                           .tid = 2,
                                           .cpu = 3,
                                           .context_switch = {.other_pid = 8, .other_tid = 9}};
    struct perf_data data;
    write_and_read(state, &setup, &record, &data);
    assert_true(data.has_setup);
    assert_int_equal(data.setup.clock.zero, setup.clock.zero);
    assert_int_equal(data.setup.clock.mult, setup.clock.mult);
    assert_int_equal(data.setup.clock.shift, setup.clock.shift);
    assert_true(data.setup.has_clock);
    assert_int_equal(data.setup.config, setup.config);
    assert_int_equal(data.setup.tsc_bit, 1);
    assert_int_equal(data.setup.no_return_compression_bit, 2);
    assert_int_equal(data.setup.mtc_bit, 4);
    assert_int_equal(data.setup.mtc_period_bits, 8);
    assert_int_equal(data.setup.cyc_bit, 16);
    assert_int_equal(data.setup.tsc_ctc_numerator, 100);
    assert_int_equal(data.setup.tsc_ctc_denominator, 2);
    assert_int_equal(data.setup.max_nonturbo_ratio, 12);
    assert_true(data.setup.per_cpu && data.setup.snapshot && data.setup.kernel);
    assert_same_record(&data.records[0], &record);
    assert_int_equal(data.chunks[0].cpu, 3);
    assert_int_equal(data.chunks[0].tid, UINT32_MAX);    /* the ring belongs to the CPU */
    assert_int_equal(data.chunks[0].reference.value, 1); /* 0 would crash perf */
    perf_data_close(&data);
}

static void lost_records_are_read_back(void **state)
{
    const struct sideband_record record = {
        .kind = SIDEBAND_LOST, .time = {5}, .pid = 1, .tid = 2, .cpu = -1, .lost = {77}};
    struct perf_data data;
    write_and_read(state, &sample_setup, &record, &data);
    assert_int_equal(data.record_count, 1);
    assert_same_record(&data.records[0], &record);
    perf_data_close(&data);
}

static void longest_path_survives_and_long_names_are_cut_like_the_kernels(void **state)
{
    char path[4096];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = 0;
    struct sideband_record record = {.kind = SIDEBAND_MAPPING, .cpu = -1};
    record.mapping.path = path;
    struct perf_data data;
    write_and_read(state, &sample_setup, &record, &data);
    assert_string_equal(data.records[0].mapping.path, path);
    perf_data_close(&data);
    record = (struct sideband_record){.kind = SIDEBAND_NAME, .cpu = -1};
    record.name.name = "a name of more than fifteen bytes";
    write_and_read(state, &sample_setup, &record, &data);
    assert_string_equal(data.records[0].name.name, "a name of more ");
    perf_data_close(&data);
}

/* ---- other people's ---- */

static void add_itrace_start(struct foreign_file *file, uint32_t tid, uint64_t time)
{
    const uint64_t body[] = {pair(1, tid), time};
    foreign_file_add(file, PERF_RECORD_ITRACE_START, 0, body, 2);
}

static void records_are_sorted_by_time_and_stay_in_order_where_equal(void **state)
{
    struct foreign_file file = foreign_file_new();
    file.events[0].sample_id_all = 1;
    file.events[0].sample_type = PERF_SAMPLE_TIME;
    static const uint64_t times[] = {50, 10, 50, 0, 10, 50, 7};
    static const uint32_t sorted[] = {3, 6, 1, 4, 0, 2, 5};
    for (uint32_t i = 0; i < 7; i++)
        add_itrace_start(&file, i, times[i]);
    struct perf_data data;
    open_foreign(state, &file, &data);
    assert_int_equal(data.record_count, 7);
    for (int i = 0; i < 7; i++)
        assert_int_equal(data.records[i].tid, sorted[i]);
    assert_false(data.has_setup);
    perf_data_close(&data);
}

static void events_of_different_trailers_are_distinguished_by_identifier(void **state)
{
    struct foreign_file file = foreign_file_new();
    file.event_count = 2;
    file.ids[0] = 101;
    file.ids[1] = 102;
    file.events[0].sample_id_all = file.events[1].sample_id_all = 1;
    file.events[0].sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
    file.events[1].sample_type =
        PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
    const uint64_t of_first[] = {1000, 101};
    const uint64_t of_second[] = {pair(6, 7), 2000, pair(3, 0), 102};
    foreign_file_add(&file, PERF_RECORD_SWITCH,
                     PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, of_first,
                     2);
    foreign_file_add(&file, PERF_RECORD_SWITCH, 0, of_second, 4);
    struct perf_data data;
    open_foreign(state, &file, &data);
    assert_int_equal(data.record_count, 2);
    assert_int_equal(data.records[0].time.value, 1000);
    assert_int_equal(data.records[0].cpu, UINT32_MAX);
    assert_true(data.records[0].context_switch.out);
    assert_true(data.records[0].context_switch.preempted);
    assert_int_equal(data.records[1].time.value, 2000);
    assert_int_equal(data.records[1].pid, 6);
    assert_int_equal(data.records[1].tid, 7);
    assert_int_equal(data.records[1].cpu, 3);
    assert_false(data.records[1].context_switch.out);
    perf_data_close(&data);
}

static void events_of_different_trailers_are_distinguished_by_the_place_of_the_id(void **state)
{
    struct foreign_file file = foreign_file_new();
    file.event_count = 3;
    file.ids[0] = 101;
    file.ids[1] = 102;
    file.events[0].sample_id_all = file.events[1].sample_id_all = 1;
    file.events[0].sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID;
    file.events[1].sample_type =
        PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
    /* The third appends nothing at all. */
    const uint64_t of_first[] = {pair(6, 7), pair(8, 9), 1000, 101};
    const uint64_t of_second[] = {pair(6, 7), 2000, 102, 5, pair(3, 0)};
    const uint64_t of_third[] = {pair(6, 77)};
    foreign_file_add(&file, PERF_RECORD_ITRACE_START, 0, of_first, 4);
    foreign_file_add(&file, PERF_RECORD_ITRACE_START, 0, of_second, 5);
    foreign_file_add(&file, PERF_RECORD_ITRACE_START, 0, of_third, 1);
    struct perf_data data;
    open_foreign(state, &file, &data);
    assert_int_equal(data.record_count, 3);
    assert_int_equal(data.records[0].tid, 77);
    assert_int_equal(data.records[0].time.value, 0);
    assert_int_equal(data.records[1].time.value, 1000);
    assert_int_equal(data.records[1].tid, 7); /* what the record says goes before who ran */
    assert_int_equal(data.records[2].time.value, 2000);
    assert_int_equal(data.records[2].cpu, 3);
    perf_data_close(&data);
}

static void oldest_and_future_events_are_read(void **state)
{
    static const size_t sizes[] = {ATTRIBUTE_SIZE_MINIMUM, sizeof(struct perf_event_attr) + 64};
    for (size_t i = 0; i < 2; i++) {
        struct foreign_file file = foreign_file_new();
        file.attribute_size = sizes[i];
        file.events[0].sample_id_all = 1;
        file.events[0].sample_type = PERF_SAMPLE_TIME;
        add_itrace_start(&file, 7, 123);
        struct perf_data data;
        open_foreign(state, &file, &data);
        assert_int_equal(data.records[0].time.value, 123);
        perf_data_close(&data);
    }
}

static void older_mmap_record_is_read(void **state)
{
    struct foreign_file file = foreign_file_new();
    uint64_t body[] = {pair(UINT32_MAX, 0), 0xffffffff81000000, 0x1000, 0x2000, 0};
    memcpy(&body[4], "[kern]", 7);
    foreign_file_add(&file, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, body, 5);
    foreign_file_add(&file, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA,
                     body, 5);
    struct perf_data data;
    open_foreign(state, &file, &data);
    assert_int_equal(data.record_count, 2);
    const struct sideband_record *record = &data.records[0];
    assert_int_equal(record->kind, SIDEBAND_MAPPING);
    assert_int_equal(record->pid, UINT32_MAX);
    assert_int_equal(record->mapping.start, 0xffffffff81000000);
    assert_int_equal(record->mapping.length, 0x1000);
    assert_int_equal(record->mapping.file_offset, 0x2000);
    assert_string_equal(record->mapping.path, "[kern]");
    assert_true(record->mapping.kernel && record->mapping.executable);
    assert_true(record->mapping.protection & PROT_EXEC);
    assert_false(data.records[1].mapping.kernel || data.records[1].mapping.executable);
    perf_data_close(&data);
}

static void mmap2_with_build_id_is_read(void **state)
{
    struct foreign_file file = foreign_file_new();
    uint64_t body[] = {pair(5, 6), 0x400000, 0x1000, 0, 0, 0, 0, pair(5, 2), 0};
    uint8_t *identity = (uint8_t *)&body[4];
    identity[0] = 20;
    for (uint8_t i = 0; i < 20; i++)
        identity[4 + i] = i + 1;
    memcpy(&body[8], "/bin/x", 7);
    foreign_file_add(&file, PERF_RECORD_MMAP2,
                     PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID, body, 9);
    struct perf_data data;
    open_foreign(state, &file, &data);
    const struct sideband_record *record = &data.records[0];
    assert_int_equal(record->mapping.build_id_size, 20);
    assert_memory_equal(record->mapping.build_id, identity + 4, 20);
    assert_int_equal(record->mapping.inode, 0);
    assert_int_equal(record->mapping.protection, 5);
    assert_int_equal(record->mapping.flags, 2);
    assert_string_equal(record->mapping.path, "/bin/x");
    perf_data_close(&data);
}

/* The words of an AUXTRACE_INFO record before perf 4.3, after type and reserved. */
static const uint64_t old_info[] = {
    AUXTRACE_INFO_INTEL_PT, 6, 31, 1789569706, 12345, 1, 0x400, 0x800, 3, 1, 0};

static void older_shorter_setup_is_read(void **state)
{
    struct foreign_file file = foreign_file_new();
    file.events[0].type = 6;
    file.events[0].config = 0x400;
    foreign_file_add(&file, USER_RECORD_AUXTRACE_INFO, 0, old_info, 11);
    struct perf_data data;
    open_foreign(state, &file, &data);
    assert_true(data.has_setup);
    assert_true(data.setup.has_clock);
    assert_int_equal(data.setup.clock.zero, 12345);
    assert_int_equal(data.setup.clock.mult, 1789569706);
    assert_int_equal(data.setup.clock.shift, 31);
    assert_int_equal(data.setup.tsc_bit, 0x400);
    assert_true(data.setup.snapshot);
    assert_false(data.setup.per_cpu);
    assert_true(data.setup.kernel);
    assert_int_equal(data.setup.config, 0x400);
    assert_int_equal(data.setup.mtc_bit, 0);
    perf_data_close(&data);
}

static void clock_that_cannot_be_is_none(void **state)
{
    static const struct {
        size_t word;
        uint64_t value;
    } wrong[] = {{2, 64}, {3, 0}, {3, (uint64_t)1 << 32}, {5, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t info[11];
        memcpy(info, old_info, sizeof info);
        info[wrong[i].word] = wrong[i].value;
        struct foreign_file file = foreign_file_new();
        foreign_file_add(&file, USER_RECORD_AUXTRACE_INFO, 0, info, 11);
        struct perf_data data;
        open_foreign(state, &file, &data);
        assert_true(data.has_setup);
        assert_false(data.setup.has_clock);
        assert_int_equal(data.setup.clock.shift, 0);
        perf_data_close(&data);
    }
}

static void processor_is_read(void **state)
{
    static const struct {
        const char *text;
        struct cpu_identity cpu;
    } cases[] = {
        {"GenuineIntel,6,78,3", {6, 78, 3, true}},
        {"GenuineIntel,6,151,2$", {6, 151, 2, true}},
        {"AuthenticAMD,25,1,1", {0}},
        {"GenuineIntel,6", {0}},
        {"", {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct foreign_file file = foreign_file_new();
        file.cpuid = cases[i].text;
        add_itrace_start(&file, 1, 1);
        struct perf_data data;
        open_foreign(state, &file, &data);
        assert_int_equal(data.cpu.intel, cases[i].cpu.intel);
        assert_int_equal(data.cpu.family, cases[i].cpu.family);
        assert_int_equal(data.cpu.model, cases[i].cpu.model);
        assert_int_equal(data.cpu.stepping, cases[i].cpu.stepping);
        perf_data_close(&data);
    }
}

static void unknown_records_are_skipped(void **state)
{
    struct foreign_file file = foreign_file_new();
    file.events[0].sample_id_all = 1;
    file.events[0].sample_type = PERF_SAMPLE_TIME;
    const uint64_t body[] = {1, 2, 3};
    static const uint32_t types[] = {
        PERF_RECORD_AUX_OUTPUT_HW_ID, PERF_RECORD_THROTTLE, 63, 68, 79, 4242};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        foreign_file_add(&file, types[i], 0, body, i % 4);
    add_itrace_start(&file, 7, 123);
    struct perf_data data;
    open_foreign(state, &file, &data);
    assert_int_equal(data.record_count, 1);
    assert_int_equal(data.records[0].tid, 7);
    perf_data_close(&data);
}

/* ---- what cannot be read ---- */

static void missing_file_is_not_found(void **state)
{
    struct perf_data data;
    struct error error = {0};
    assert_false(perf_data_open(&data, "/nonexistent/perf.data", &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
}

static void what_is_not_perf_data_is_refused(void **state)
{
    char text[200];
    memset(text, 'x', sizeof text);
    refuse(state, "", 0, ERROR_FORMAT, "not a perf.data file");
    refuse(state, text, 50, ERROR_FORMAT, "not a perf.data file");
    refuse(state, text, sizeof text, ERROR_FORMAT, "not a perf.data file");
}

static void other_forms_of_perf_data_are_refused_by_name(void **state)
{
    struct file_header header = {.magic = PERF_FILE_MAGIC_SWAPPED};
    refuse(state, &header, sizeof header, ERROR_UNSUPPORTED, "other byte order");
    memcpy(header.magic, PERF_FILE_MAGIC_OLD, 8);
    refuse(state, &header, sizeof header, ERROR_UNSUPPORTED, "before Linux 2.6.38");
    memcpy(header.magic, PERF_FILE_MAGIC, 8);
    header.size = 17;
    refuse(state, &header, sizeof header, ERROR_FORMAT, "offset 8");
    header.size = sizeof header;
    refuse(state, &header, sizeof header, ERROR_FORMAT, "list of events");
}

static void other_aux_data_is_named(void **state)
{
    struct foreign_file file = foreign_file_new();
    uint64_t info[11] = {2};
    foreign_file_add(&file, USER_RECORD_AUXTRACE_INFO, 0, info, 11);
    struct array bytes = foreign_file_finish(&file);
    char *path = write_bytes(state, bytes.elements, bytes.count);
    struct perf_data data;
    assert_true(perf_data_open(&data, path, NULL));
    assert_false(data.has_setup);
    assert_int_equal(data.damage.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(data.damage.text, "Intel BTS"));
    perf_data_close(&data);
    array_free(&bytes);
    free(path);
}

int main(void)
{
#define IN_FOLDER(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, sample_folder_make, sample_folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_is_written_is_read_back),
        IN_FOLDER(packets_are_read_back),
        IN_FOLDER(setup_is_read_back),
        IN_FOLDER(lost_records_are_read_back),
        IN_FOLDER(longest_path_survives_and_long_names_are_cut_like_the_kernels),
        IN_FOLDER(records_are_sorted_by_time_and_stay_in_order_where_equal),
        IN_FOLDER(events_of_different_trailers_are_distinguished_by_identifier),
        IN_FOLDER(events_of_different_trailers_are_distinguished_by_the_place_of_the_id),
        IN_FOLDER(oldest_and_future_events_are_read),
        IN_FOLDER(older_mmap_record_is_read),
        IN_FOLDER(mmap2_with_build_id_is_read),
        IN_FOLDER(older_shorter_setup_is_read),
        IN_FOLDER(clock_that_cannot_be_is_none),
        IN_FOLDER(processor_is_read),
        IN_FOLDER(unknown_records_are_skipped),
        cmocka_unit_test(missing_file_is_not_found),
        IN_FOLDER(what_is_not_perf_data_is_refused),
        IN_FOLDER(other_forms_of_perf_data_are_refused_by_name),
        IN_FOLDER(other_aux_data_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
