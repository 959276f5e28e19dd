/* The reader and damaged files: it never crashes, and what the damage did not touch is returned. */
#include "recording/perf_data/perf_data_reader.h"

#include "base/file.h"
#include "base/memory.h"
#include "recording/perf_data/perf_file_format.h"
#include "sample_recording.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The bytes of the sample recording, and the file that damaged copies are written to. */
struct victim {
    uint8_t *bytes;
    size_t size;
    char *path;
};

static struct victim victim_make(void **state)
{
    struct victim victim = {.path = memory_format("%s/perf.data", (char *)*state)};
    sample_recording_write(victim.path, "/nonexistent/tiny");
    victim.bytes = (uint8_t *)file_read(victim.path, &victim.size, NULL);
    assert_non_null(victim.bytes);
    return victim;
}

static void victim_free(struct victim *victim)
{
    free(victim->bytes);
    free(victim->path);
}

static void write_victim(const struct victim *victim, size_t size)
{
    int descriptor = file_create_private(victim->path, NULL);
    assert_true(descriptor >= 0);
    assert_true(file_write_all(descriptor, victim->bytes, size, victim->path, NULL));
    close(descriptor);
}

/* Reads every byte that the result points to, so that a sanitizer sees what is wrong with it. */
static uint64_t touch(const struct perf_data *data)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < data->record_count; i++) {
        const struct sideband_record *record = &data->records[i];
        if (i > 0)
            assert_true(record[-1].time.value <= record->time.value);
        if (record->kind == SIDEBAND_MAPPING)
            sum += strlen(record->mapping.path);
        if (record->kind == SIDEBAND_NAME)
            sum += strlen(record->name.name);
    }
    for (size_t i = 0; i < data->chunk_count; i++)
        for (size_t j = 0; j < data->chunks[i].size; j++)
            sum += data->chunks[i].bytes[j];
    return sum;
}

/* What a damaged file gives: an error that names it, or a result. */
static bool survives(const struct victim *victim, struct perf_data *data)
{
    struct error error = {0};
    if (!perf_data_open(data, victim->path, &error)) {
        assert_int_not_equal(error.code, ERROR_NONE);
        assert_non_null(strstr(error.text, victim->path));
        return false;
    }
    touch(data);
    if (data->damage.code != ERROR_NONE)
        assert_non_null(strstr(data->damage.text, victim->path));
    return true;
}

static void any_changed_byte_is_survived(void **state)
{
    struct victim victim = victim_make(state);
    static const uint8_t changes[] = {0xff, 0x01, 0x80};
    for (size_t change = 0; change < sizeof changes; change++) {
        /* Every byte of the header and of each 97th of the rest. */
        for (size_t i = 0; i < victim.size; i += i < sizeof(struct file_header) ? 1 : 97) {
            victim.bytes[i] ^= changes[change];
            write_victim(&victim, victim.size);
            struct perf_data data;
            if (survives(&victim, &data))
                perf_data_close(&data);
            victim.bytes[i] ^= changes[change];
        }
    }
    victim_free(&victim);
}

static void any_length_is_survived_and_what_is_there_is_used(void **state)
{
    struct victim victim = victim_make(state);
    struct file_header header;
    memcpy(&header, victim.bytes, sizeof header);
    size_t last_records = 0, last_chunks = 0;
    for (size_t size = 0; size < victim.size; size += size < header.data.offset ? 7 : 97) {
        write_victim(&victim, size);
        struct perf_data data;
        bool ok = survives(&victim, &data);
        assert_int_equal(ok, size >= header.data.offset);
        if (!ok)
            continue;
        assert_int_equal(data.damage.code, ERROR_FORMAT);
        assert_true(data.record_count >= last_records);
        assert_true(data.chunk_count >= last_chunks);
        last_records = data.record_count;
        last_chunks = data.chunk_count;
        perf_data_close(&data);
    }
    assert_int_equal(last_records, sample_record_count);
    assert_int_equal(last_chunks, 4);
    victim_free(&victim);
}

/* The offset of the first record of `type`, which lies before all packets or begins the first of
 * them. */
static size_t find_record(const struct victim *victim, uint32_t type)
{
    struct file_header file;
    memcpy(&file, victim->bytes, sizeof file);
    for (size_t offset = file.data.offset; offset < file.data.offset + file.data.size;) {
        struct perf_event_header header;
        memcpy(&header, victim->bytes + offset, sizeof header);
        if (header.type == type)
            return offset;
        offset += header.size;
    }
    fail_msg("no record of type %u", type);
    return 0;
}

static void packets_after_a_broken_record_are_found_again(void **state)
{
    struct victim victim = victim_make(state);
    enum { SIZE_OFFSET = offsetof(struct perf_event_header, size) };
    static const uint8_t sizes[] = {0, 7, 9, 0xff};
    for (size_t i = 0; i < sizeof sizes; i++) {
        size_t offset = find_record(&victim, PERF_RECORD_FORK);
        uint8_t whole = victim.bytes[offset + SIZE_OFFSET];
        victim.bytes[offset + SIZE_OFFSET] = sizes[i];
        write_victim(&victim, victim.size);
        struct perf_data data;
        assert_true(survives(&victim, &data));
        assert_int_equal(data.chunk_count, 4);
        assert_int_equal(data.damage.code, ERROR_FORMAT);
        perf_data_close(&data);
        victim.bytes[offset + SIZE_OFFSET] = whole;
    }
    victim_free(&victim);
}

static void chunk_that_claims_too_much_leaves_the_next_one_alone(void **state)
{
    struct victim victim = victim_make(state);
    size_t offset = find_record(&victim, USER_RECORD_AUXTRACE) + 8;
    victim.bytes[offset + 5] = 1; /* a terabyte */
    write_victim(&victim, victim.size);
    struct perf_data data;
    assert_true(survives(&victim, &data));
    assert_int_equal(data.chunk_count, 4);
    assert_int_equal(data.record_count, sample_record_count);
    assert_int_equal(data.chunks[0].size, data.chunks[1].size);
    assert_non_null(strstr(data.damage.text, "AUXTRACE"));
    perf_data_close(&data);
    victim_free(&victim);
}

static void unfinished_file_is_used(void **state)
{
    struct victim victim = victim_make(state);
    struct file_header header;
    memcpy(&header, victim.bytes, sizeof header);
    size_t end = header.data.offset + header.data.size;
    header.data.size = 0;
    memcpy(victim.bytes, &header, sizeof header);
    write_victim(&victim, end);
    struct perf_data data;
    assert_true(survives(&victim, &data));
    assert_int_equal(data.record_count, sample_record_count);
    assert_int_equal(data.chunk_count, 4);
    assert_non_null(strstr(data.damage.text, "not finished"));
    perf_data_close(&data);
    victim_free(&victim);
}

static void string_without_end_is_left_out(void **state)
{
    struct victim victim = victim_make(state);
    size_t offset = find_record(&victim, PERF_RECORD_COMM);
    memset(victim.bytes + offset + 16, 'x', 8);
    write_victim(&victim, victim.size);
    struct perf_data data;
    assert_true(survives(&victim, &data));
    assert_int_equal(data.record_count, sample_record_count - 1);
    assert_int_equal(data.damage.code, ERROR_FORMAT);
    perf_data_close(&data);
    victim_free(&victim);
}

int main(void)
{
#define IN_FOLDER(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, sample_folder_make, sample_folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(any_changed_byte_is_survived),
        IN_FOLDER(any_length_is_survived_and_what_is_there_is_used),
        IN_FOLDER(packets_after_a_broken_record_are_found_again),
        IN_FOLDER(chunk_that_claims_too_much_leaves_the_next_one_alone),
        IN_FOLDER(unfinished_file_is_used),
        IN_FOLDER(string_without_end_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
