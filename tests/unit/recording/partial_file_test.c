/* What is left of a perf.data whose writing was cut off: whole records are kept, and what was
 * completed is whole. The other ways in which one is cut are the fuzz target's (fuzz/salvage_fuzz.c).
 */
#include "base/memory.h"
#include "recording/perf_data/partial_file.h"
#include "recording/perf_data/perf_file_format.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A file in memory with a header, whose records begin at `data`. */
static int begin_file(uint64_t data)
{
    int file = memfd_create("partial", MFD_CLOEXEC);
    assert_true(file >= 0);
    struct file_header header = {.size = sizeof header, .data.offset = data};
    memcpy(header.magic, PERF_FILE_MAGIC, sizeof header.magic);
    assert_int_equal(write(file, &header, sizeof header), sizeof header);
    assert_int_equal(ftruncate(file, (off_t)data), 0);
    return file;
}

static void append(int file, const void *bytes, size_t size)
{
    off_t end = lseek(file, 0, SEEK_END);
    assert_int_equal(pwrite(file, bytes, size, end), (ssize_t)size);
}

static uint64_t size_of(int file)
{
    struct stat status;
    assert_int_equal(fstat(file, &status), 0);
    return (uint64_t)status.st_size;
}

static const struct perf_event_header PLAIN = {.type = PERF_RECORD_COMM, .size = 8};

static void whole_records_are_kept(void **state)
{
    int file = begin_file(sizeof(struct file_header));
    append(file, &PLAIN, sizeof PLAIN);
    struct {
        struct perf_event_header header;
        struct auxtrace_record auxtrace;
        char packets[16];
    } trace = {
        .header = {.type = USER_RECORD_AUXTRACE,
                   .size = sizeof trace.header + sizeof trace.auxtrace},
        .auxtrace.size = sizeof trace.packets,
    };
    append(file, &trace, sizeof trace);
    const uint64_t whole = size_of(file);
    append(file, &trace, sizeof trace - 1);
    assert_int_equal(partial_file_end(file), whole);
    assert_true(partial_file_complete(file));
    assert_int_equal(size_of(file), whole);
    assert_int_equal(partial_file_end(file), whole);
    close(file);
}

/* Its size of what follows would be read from the record after it. */
static void a_trace_record_shorter_than_its_head_is_none(void **state)
{
    int file = begin_file(sizeof(struct file_header));
    append(file, &PLAIN, sizeof PLAIN);
    const uint64_t whole = size_of(file);
    const struct perf_event_header damaged = {.type = USER_RECORD_AUXTRACE, .size = 36};
    append(file, &damaged, sizeof damaged);
    const char zeros[64] = {0};
    append(file, zeros, sizeof zeros);
    assert_int_equal(partial_file_end(file), whole);
    assert_true(partial_file_complete(file));
    assert_int_equal(partial_file_end(file), size_of(file));
    close(file);
}

static void without_a_record_nothing_is_completed(void **state)
{
    int file = begin_file(sizeof(struct file_header));
    assert_int_equal(partial_file_end(file), 0);
    assert_false(partial_file_complete(file));
    append(file, &PLAIN, sizeof PLAIN - 1);
    assert_false(partial_file_complete(file));
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_records_are_kept),
        cmocka_unit_test(a_trace_record_shorter_than_its_head_is_none),
        cmocka_unit_test(without_a_record_nothing_is_completed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
