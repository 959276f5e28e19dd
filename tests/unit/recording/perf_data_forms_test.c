/* The reader and the forms of perf.data that magic-trace itself does not write: of a pipe,
 * compressed, in a folder, with samples. */
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
#include <unistd.h>

#include <cmocka.h>

static char *write_file(void **state, const char *name, struct array *bytes)
{
    char *path = memory_format("%s/%s", (char *)*state, name);
    int descriptor = file_create_private(path, NULL);
    assert_true(descriptor >= 0);
    assert_true(file_write_all(descriptor, bytes->elements, bytes->count, path, NULL));
    close(descriptor);
    array_free(bytes);
    return path;
}

static void open_bytes(void **state, struct array bytes, struct perf_data *data)
{
    char *path = write_file(state, "perf.data", &bytes);
    struct error error = {0};
    if (!perf_data_open(data, path, &error))
        fail_msg("%s", error.text);
    free(path);
}

/* One event with time, whose id is 101. */
static struct foreign_file timed_file(void)
{
    struct foreign_file file = foreign_file_new();
    file.ids[0] = 101;
    file.events[0].sample_id_all = 1;
    file.events[0].sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
    return file;
}

static void add_start(struct foreign_file *file, uint32_t tid, uint64_t time)
{
    foreign_file_add(file, PERF_RECORD_ITRACE_START, 0, (const uint64_t[]){pair(1, tid), time, 101},
                     3);
}

static void add_chunk(struct foreign_file *file)
{
    const uint64_t chunk[] = {16, 64, 5, pair(0, 7), pair(UINT32_MAX, 0)};
    foreign_file_add(file, USER_RECORD_AUXTRACE, 0, chunk, 5);
    foreign_file_add_bytes(file, "sixteen packets!", 16);
}

static void assert_chunk(const struct perf_data *data)
{
    assert_int_equal(data->chunk_count, 1);
    assert_int_equal(data->chunks[0].tid, 7);
    assert_int_equal(data->chunks[0].offset, 64);
    assert_int_equal(data->chunks[0].size, 16);
    assert_memory_equal(data->chunks[0].bytes, "sixteen packets!", 16);
}

/* ---- pipe ---- */

static void pipe_is_read(void **state)
{
    struct foreign_file file = timed_file();
    file.cpuid = "GenuineIntel,6,78,3";
    add_start(&file, 6, 2000);
    add_chunk(&file);
    add_start(&file, 5, 1000);
    struct perf_data data;
    open_bytes(state, foreign_file_finish_pipe(&file), &data);
    assert_string_equal(data.damage.text, "");
    assert_int_equal(data.record_count, 2);
    assert_int_equal(data.records[0].tid, 5);
    assert_int_equal(data.records[0].time.value, 1000);
    assert_int_equal(data.records[1].tid, 6);
    assert_int_equal(data.cpu.model, 78);
    assert_chunk(&data);
    perf_data_close(&data);
}

static void pipe_that_was_cut_off_is_read_so_far(void **state)
{
    struct foreign_file file = timed_file();
    add_start(&file, 6, 2000);
    add_chunk(&file);
    struct array bytes = foreign_file_finish_pipe(&file);
    bytes.count -= 4;
    struct perf_data data;
    open_bytes(state, bytes, &data);
    assert_non_null(strstr(data.damage.text, "only 12 follow"));
    assert_int_equal(data.record_count, 1);
    assert_int_equal(data.chunks[0].size, 12);
    perf_data_close(&data);
}

static void records_before_any_event_are_damage(void **state)
{
    struct foreign_file file = timed_file();
    file.event_count = 0;
    add_start(&file, 6, 2000);
    struct perf_data data;
    open_bytes(state, foreign_file_finish_pipe(&file), &data);
    assert_int_equal(data.damage.code, ERROR_FORMAT);
    assert_int_equal(data.record_count, 0);
    perf_data_close(&data);
}

static void formats_of_tracepoints_are_passed_over(void **state)
{
    struct foreign_file file = timed_file();
    foreign_file_add(&file, USER_RECORD_TRACING_DATA, 0, (const uint64_t[]){pair(11, 0)}, 1);
    foreign_file_add_bytes(&file, "elevenbytes\0\0\0\0", 16);
    add_start(&file, 6, 2000);
    struct perf_data data;
    open_bytes(state, foreign_file_finish_pipe(&file), &data);
    assert_string_equal(data.damage.text, "");
    assert_int_equal(data.record_count, 1);
    perf_data_close(&data);
}

static void input_that_is_mapped_already_is_read(void **state)
{
    struct foreign_file file = timed_file();
    add_start(&file, 6, 2000);
    struct array bytes = foreign_file_finish_pipe(&file);
    char *path = write_file(state, "perf.data", &bytes);
    struct file_view view;
    assert_true(file_map(&view, path, NULL));
    assert_true(perf_data_recognizes(&view));
    struct perf_data data;
    assert_true(perf_data_open_view(&data, view, "standard input", NULL));
    assert_string_equal(data.path, "standard input");
    assert_int_equal(data.record_count, 1);
    perf_data_close(&data);
    free(path);
}

/* ---- compressed ---- */

#ifdef HAVE_ZSTD
static void compressed_records_are_read(void **state)
{
    static const size_t parts[] = {1, 7, 60000};
    for (size_t i = 0; i < 3; i++) {
        struct foreign_file file = timed_file();
        add_start(&file, 8, 500);
        size_t from = file.records.count;
        for (uint32_t j = 0; j < 1000; j++)
            add_start(&file, 10 + j, 1000 + j);
        add_chunk(&file);
        foreign_file_compress(&file, from, parts[i]);
        struct perf_data data;
        open_bytes(state, i == 0 ? foreign_file_finish_pipe(&file) : foreign_file_finish(&file),
                   &data);
        assert_string_equal(data.damage.text, "");
        assert_int_equal(data.record_count, 1001);
        assert_int_equal(data.records[0].tid, 8);
        assert_int_equal(data.records[1000].tid, 1009);
        assert_chunk(&data);
        perf_data_close(&data);
    }
}

static void damaged_compressed_records_are_reported_and_the_others_read(void **state)
{
    struct foreign_file file = timed_file();
    size_t from = file.records.count;
    for (uint32_t j = 0; j < 1000; j++)
        add_start(&file, 10 + j, 1000 + j);
    foreign_file_compress(&file, from, 100);
    ((uint8_t *)file.records.elements)[8 + 5] ^= 0xff;
    add_start(&file, 8, 500);
    struct perf_data data;
    open_bytes(state, foreign_file_finish(&file), &data);
    assert_int_equal(data.damage.code, ERROR_FORMAT);
    assert_non_null(strstr(data.damage.text, "compressed"));
    assert_int_equal(data.records[0].tid, 8);
    perf_data_close(&data);
}

static void few_bytes_cannot_fill_the_memory(void **state)
{
    struct foreign_file file = timed_file();
    size_t size = 64 << 20;
    char *zeros = calloc(1, size);
    foreign_file_add_bytes(&file, zeros, size);
    free(zeros);
    foreign_file_compress(&file, 0, 60000);
    struct perf_data data;
    open_bytes(state, foreign_file_finish(&file), &data);
    assert_non_null(strstr(data.damage.text, "times their size"));
    perf_data_close(&data);
}
#endif

/* ---- folder ---- */

static void files_of_a_folder_are_read(void **state)
{
    struct foreign_file other = foreign_file_new();
    add_start(&other, 5, 1000);
    add_chunk(&other);
    char *first = write_file(state, "perf.data.0", &other.records);
    struct foreign_file file = timed_file();
    file.folder = true;
    add_start(&file, 6, 2000);
    struct perf_data data;
    open_bytes(state, foreign_file_finish(&file), &data);
    assert_string_equal(data.damage.text, "");
    assert_int_equal(data.record_count, 2);
    assert_int_equal(data.records[0].tid, 5);
    assert_chunk(&data);
    perf_data_close(&data);
    assert_int_equal(unlink(first), 0);
    free(first);
    file = timed_file();
    file.folder = true;
    add_start(&file, 6, 2000);
    open_bytes(state, foreign_file_finish(&file), &data);
    assert_non_null(strstr(data.damage.text, "perf.data.0 is not beside it"));
    perf_data_close(&data);
}

/* ---- samples ---- */

static void samples_have_their_event_and_its_name(void **state)
{
    struct foreign_file file = foreign_file_new();
    file.event_count = 3;
    for (size_t i = 0; i < 3; i++) {
        file.ids[i] = 101 + i;
        file.events[i].sample_id_all = 1;
    }
    file.events[0].sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
    file.events[1].config = PERF_COUNT_HW_BRANCH_MISSES;
    file.events[1].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
    file.events[2].type = 77;
    file.events[2].sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ID;
    const uint64_t of_second[] = {102, 0x401000, pair(6, 7), 2000, pair(3, 0), 4000};
    const uint64_t of_third[] = {0x402000, 103};
    const uint64_t of_nobody[] = {0x402000, 104};
    foreign_file_add(&file, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, of_second, 6);
    foreign_file_add(&file, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, of_third, 2);
    foreign_file_add(&file, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, of_nobody, 2);
    foreign_file_add(&file, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_GUEST_USER, of_second, 6);
    struct perf_data data;
    open_bytes(state, foreign_file_finish(&file), &data);
    assert_string_equal(data.damage.text, "");
    assert_int_equal(data.event_count, 3);
    assert_string_equal(data.events[0].name, "cycles");
    assert_string_equal(data.events[1].name, "branch-misses");
    assert_string_equal(data.events[2].name, "event 77:0");
    assert_int_equal(data.record_count, 2);
    assert_int_equal(data.guest_records, 1);
    assert_int_equal(data.records[0].sample.event, 2);
    assert_int_equal(data.records[0].sample.ip, 0x402000);
    const struct sideband_record *record = &data.records[1];
    assert_int_equal(record->kind, SIDEBAND_SAMPLE);
    assert_int_equal(record->sample.event, 1);
    assert_int_equal(record->sample.ip, 0x401000);
    assert_int_equal(record->sample.period, 4000);
    assert_int_equal(record->time.value, 2000);
    assert_int_equal(record->pid, 6);
    assert_int_equal(record->tid, 7);
    assert_int_equal(record->cpu, 3);
    perf_data_close(&data);
}

static void sample_that_is_too_short_is_damage(void **state)
{
    struct foreign_file file = foreign_file_new();
    file.events[0].sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
    foreign_file_add(&file, PERF_RECORD_SAMPLE, 0, (const uint64_t[]){1, 3, 5}, 3);
    struct perf_data data;
    open_bytes(state, foreign_file_finish(&file), &data);
    assert_int_equal(data.damage.code, ERROR_FORMAT);
    assert_int_equal(data.record_count, 0);
    perf_data_close(&data);
}

static void packets_in_samples_are_refused_by_name(void **state)
{
    struct foreign_file file = foreign_file_new();
    file.events[0].sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_AUX;
    foreign_file_add(&file, PERF_RECORD_SAMPLE, 0, (const uint64_t[]){1, 8, 0}, 3);
    struct array bytes = foreign_file_finish(&file);
    char *path = write_file(state, "perf.data", &bytes);
    struct perf_data data;
    struct error error = {0};
    assert_false(perf_data_open(&data, path, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "--aux-sample"));
    free(path);
}

static void add_event_name(struct foreign_file *file, uint64_t id, const char *name)
{
    uint64_t body[5] = {EVENT_UPDATE_NAME, id};
    strncpy((char *)&body[2], name, 23);
    foreign_file_add(file, USER_RECORD_EVENT_UPDATE, 0, body, 5);
}

/* As perf before Linux 4.3 recorded them. */
static void sampled_context_switches_report_who_comes(void **state)
{
    struct foreign_file file = foreign_file_new();
    file.ids[0] = 101;
    file.events[0].type = PERF_TYPE_TRACEPOINT;
    file.events[0].sample_id_all = 1;
    file.events[0].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                 PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
    const uint64_t info[] = {AUXTRACE_INFO_INTEL_PT, 6, 0, 1, 0, 1, 0x400, 0x800, 1, 0, 1};
    uint64_t sample[14] = {101, pair(5, 6), 2000, pair(2, 0)};
    uint8_t *raw = (uint8_t *)&sample[4];
    const uint32_t raw_size = 68, next_tid = 9;
    memcpy(raw, &raw_size, 4);
    memcpy(raw + 4 + 56, &next_tid, 4);
    add_event_name(&file, 101, "sched:sched_switch");
    foreign_file_add(&file, USER_RECORD_AUXTRACE_INFO, 0, info, 11);
    foreign_file_add(&file, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, sample, 14);
    struct perf_data data;
    open_bytes(state, foreign_file_finish_pipe(&file), &data);
    assert_string_equal(data.damage.text, "");
    assert_string_equal(data.events[0].name, "sched:sched_switch");
    assert_int_equal(data.record_count, 1);
    const struct sideband_record *record = &data.records[0];
    assert_int_equal(record->kind, SIDEBAND_CONTEXT_SWITCH);
    assert_false(record->context_switch.out);
    assert_int_equal(record->tid, 9);
    assert_int_equal(record->pid, UINT32_MAX);
    assert_int_equal(record->cpu, 2);
    assert_int_equal(record->time.value, 2000);
    perf_data_close(&data);
}

/* AUXTRACE_INFO with 17 words as of Linux 6.1, the last the length of the filters after them. */
static const char *filters_in_file(void **state, struct perf_data *data, const char *filters,
                                   size_t words)
{
    struct foreign_file file = foreign_file_new();
    uint64_t info[1 + PT_WORD_COUNT + 8] = {AUXTRACE_INFO_INTEL_PT};
    info[1 + PT_WORD_FILTER_LENGTH] = strlen(filters);
    memcpy(&info[1 + PT_WORD_COUNT], filters, strlen(filters));
    foreign_file_add(&file, USER_RECORD_AUXTRACE_INFO, 0, info, 1 + PT_WORD_COUNT + words);
    open_bytes(state, foreign_file_finish(&file), data);
    assert_true(data->has_setup);
    return data->setup.filters;
}

static void address_filters_are_reported_as_perf_wrote_them(void **state)
{
    static const char text[] = "filter 0x1130/0x40@/usr/bin/program";
    struct perf_data data;
    assert_string_equal(filters_in_file(state, &data, text, sizeof text / 8 + 1), text);
    perf_data_close(&data);
    assert_null(filters_in_file(state, &data, "", 0));
    perf_data_close(&data);
    assert_string_equal(filters_in_file(state, &data, "filter 0x1130/0x40@/usr", 1), "");
    perf_data_close(&data);
}

static void format_of_context_switches_is_found(void **state)
{
    struct foreign_file file = foreign_file_new();
    file.ids[0] = 101;
    file.events[0].type = PERF_TYPE_TRACEPOINT;
    file.events[0].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_RAW;
    static const char format[] = "name: sched_wakeup\n\tfield:pid_t next_pid;\toffset:12;\n"
                                 "name: sched_switch\nID: 3\nformat:\n"
                                 "\tfield:pid_t prev_pid;\toffset:4;\tsize:4;\n"
                                 "\tfield:pid_t next_pid;\toffset:8;\tsize:4;\n      ";
    const uint64_t info[] = {AUXTRACE_INFO_INTEL_PT, 6, 0, 1, 0, 1, 0x400, 0x800, 1, 0, 1};
    add_event_name(&file, 101, "sched:sched_switch");
    foreign_file_add(&file, USER_RECORD_AUXTRACE_INFO, 0, info, 11);
    foreign_file_add(&file, USER_RECORD_TRACING_DATA, 0,
                     (const uint64_t[]){pair(sizeof format & ~7u, 0)}, 1);
    foreign_file_add_bytes(&file, format, sizeof format & ~7u);
    foreign_file_add(&file, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL,
                     (const uint64_t[]){101, pair(12, 1), pair(2, 9)}, 3);
    struct perf_data data;
    open_bytes(state, foreign_file_finish_pipe(&file), &data);
    assert_string_equal(data.damage.text, "");
    assert_int_equal(data.records[0].tid, 9);
    perf_data_close(&data);
}

/* ---- the kernel's code ---- */

static void names_and_changes_of_the_kernels_code_are_read(void **state)
{
    struct foreign_file file = timed_file();
    uint64_t symbol[6] = {0xffffffffc0001000, pair(0x80, 1 | 1 << 16)};
    memcpy(&symbol[2], "bpf_prog_1", 11);
    symbol[4] = 1000, symbol[5] = 101;
    uint64_t change[5] = {0xffffffff81000010};
    memcpy(&change[1], "\5\0\5\0oldolNEWNE", 14);
    change[3] = 2000, change[4] = 101;
    foreign_file_add(&file, PERF_RECORD_KSYMBOL, 0, symbol, 6);
    foreign_file_add(&file, PERF_RECORD_TEXT_POKE, 0, change, 5);
    struct perf_data data;
    open_bytes(state, foreign_file_finish(&file), &data);
    assert_string_equal(data.damage.text, "");
    assert_int_equal(data.record_count, 2);
    assert_int_equal(data.records[0].kind, SIDEBAND_KERNEL_SYMBOL);
    assert_int_equal(data.records[0].kernel_symbol.start, 0xffffffffc0001000);
    assert_int_equal(data.records[0].kernel_symbol.length, 0x80);
    assert_true(data.records[0].kernel_symbol.gone);
    assert_string_equal(data.records[0].kernel_symbol.name, "bpf_prog_1");
    assert_int_equal(data.records[1].kind, SIDEBAND_CODE_CHANGE);
    assert_int_equal(data.records[1].code_change.address, 0xffffffff81000010);
    assert_int_equal(data.records[1].code_change.size, 5);
    assert_memory_equal(data.records[1].code_change.bytes, "NEWNE", 5);
    assert_int_equal(data.records[1].code_change.old_size, 5);
    assert_memory_equal(data.records[1].code_change.old_bytes, "oldol", 5);
    perf_data_close(&data);
}

static void build_ids_are_read(void **state)
{
    struct foreign_file file = timed_file();
    uint64_t body[5] = {0};
    uint8_t *bytes = (uint8_t *)body;
    memset(bytes, 0xff, 4);
    for (uint8_t i = 0; i < 20; i++)
        bytes[4 + i] = i + 1;
    bytes[24] = 16; /* the size, when misc says so */
    memcpy(bytes + 28, "/bin/x", 7);
    foreign_file_add(&file, USER_RECORD_BUILD_ID, PERF_RECORD_MISC_USER, body, 5);
    foreign_file_add(&file, USER_RECORD_BUILD_ID, PERF_RECORD_MISC_KERNEL | 1 << 15, body, 5);
    struct perf_data data;
    open_bytes(state, foreign_file_finish_pipe(&file), &data);
    assert_string_equal(data.damage.text, "");
    assert_int_equal(data.build_id_count, 2);
    assert_string_equal(data.build_ids[0].path, "/bin/x");
    assert_int_equal(data.build_ids[0].size, 20);
    assert_memory_equal(data.build_ids[0].id, bytes + 4, 20);
    assert_false(data.build_ids[0].kernel);
    assert_int_equal(data.build_ids[1].size, 16);
    assert_true(data.build_ids[1].kernel);
    perf_data_close(&data);
}

int main(void)
{
#define IN_FOLDER(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, sample_folder_make, sample_folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(pipe_is_read),
        IN_FOLDER(pipe_that_was_cut_off_is_read_so_far),
        IN_FOLDER(records_before_any_event_are_damage),
        IN_FOLDER(formats_of_tracepoints_are_passed_over),
        IN_FOLDER(input_that_is_mapped_already_is_read),
#ifdef HAVE_ZSTD
        IN_FOLDER(compressed_records_are_read),
        IN_FOLDER(damaged_compressed_records_are_reported_and_the_others_read),
        IN_FOLDER(few_bytes_cannot_fill_the_memory),
#endif
        IN_FOLDER(files_of_a_folder_are_read),
        IN_FOLDER(samples_have_their_event_and_its_name),
        IN_FOLDER(sample_that_is_too_short_is_damage),
        IN_FOLDER(packets_in_samples_are_refused_by_name),
        IN_FOLDER(sampled_context_switches_report_who_comes),
        IN_FOLDER(address_filters_are_reported_as_perf_wrote_them),
        IN_FOLDER(format_of_context_switches_is_found),
        IN_FOLDER(names_and_changes_of_the_kernels_code_are_read),
        IN_FOLDER(build_ids_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
