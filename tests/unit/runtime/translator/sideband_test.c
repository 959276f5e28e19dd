/* The sideband log, written as the runtime does and read as the recorder does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arena_stand_in.h"
#include "engine/packets/log_reader.h"
#include "runtime/translator/log/sideband.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    RECORD = (sizeof(struct logged_fork) + 15) / 16 * 16
}; /* bytes of one of the smallest kind */

static struct log_reader begin_reading(void)
{
    return (struct log_reader){.log = tr_process.arena + STAND_IN_LOG_OFFSET,
                               .size = STAND_IN_LOG_SIZE};
}

static const void *next(struct log_reader *reader, enum logged_kind kind, uint64_t time,
                        uint32_t pid, uint32_t tid)
{
    const struct logged_record *record = log_reader_next(reader);
    assert_non_null(record);
    assert_int_equal(record->kind, kind);
    assert_int_equal(record->time, time);
    assert_int_equal(record->pid, pid);
    assert_int_equal(record->tid, tid);
    assert_int_equal(record->serial, 7);
    return record;
}

static void test_every_kind(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    const struct tr_mapping mapping = {.start = 0x1000,
                                       .length = 0x2000,
                                       .file_offset = 0x3000,
                                       .inode = 5,
                                       .device_major = 8,
                                       .device_minor = 1,
                                       .protection = 5,
                                       .dumped = true};
    tr_sideband_mapping(thread, 10, &mapping, "images/dump.1");
    tr_sideband_name(thread, 11, true, "name");
    tr_sideband_fork(thread, 12, 100, 101);
    tr_sideband_exit(thread, 13);
    tr_sideband_reaped(thread, 14, 77);
    tr_sideband_death(thread, 15, 11, 0xdead);
    tr_sideband_hit(thread, 16, 0x4000, 9, -3, true);
    tr_sideband_untraced(thread, 17, 1234, UNTRACED_THREAD, "worker", "");
    tr_sideband_untraced(thread, 18, 99, UNTRACED_PROCESS, "", "it is a test");

    struct log_reader reader = begin_reading();
    const struct logged_mapping *mapped = next(&reader, LOGGED_MAPPING, 10, 1234, 1235);
    assert_int_equal(mapped->start, 0x1000);
    assert_int_equal(mapped->length, 0x2000);
    assert_int_equal(mapped->file_offset, 0x3000);
    assert_int_equal(mapped->inode, 5);
    assert_int_equal(mapped->device_major, 8);
    assert_int_equal(mapped->device_minor, 1);
    assert_int_equal(mapped->protection, 5);
    assert_int_equal(mapped->jit, 1);
    assert_int_equal(mapped->version, 0);
    assert_string_equal(mapped->path, "images/dump.1");
    const struct logged_name *name = next(&reader, LOGGED_NAME, 11, 1234, 1235);
    assert_int_equal(name->exec, 1);
    assert_string_equal(name->name, "name");
    const struct logged_fork *fork = next(&reader, LOGGED_FORK, 12, 1234, 1235);
    assert_int_equal(fork->parent_pid, 100);
    assert_int_equal(fork->parent_tid, 101);
    next(&reader, LOGGED_EXIT, 13, 1234, 1235);
    next(&reader, LOGGED_REAPED, 14, 77, 77);
    const struct logged_death *death = next(&reader, LOGGED_DEATH, 15, 1234, 1235);
    assert_int_equal(death->ip, 0xdead);
    assert_int_equal(death->has_ip, 1);
    assert_int_equal(death->signal, 11);
    const struct logged_hit *hit = next(&reader, LOGGED_HIT, 16, 1234, 1235);
    assert_int_equal(hit->ip, 0x4000);
    assert_int_equal(hit->passed, 9);
    assert_int_equal(hit->argument, -3);
    assert_int_equal(hit->has_argument, 1);
    const struct logged_untraced *untraced = next(&reader, LOGGED_UNTRACED, 17, 1234, 1235);
    assert_int_equal(untraced->reason, UNTRACED_THREAD);
    assert_string_equal(untraced->name, "worker");
    untraced = next(&reader, LOGGED_UNTRACED, 18, 99, 99);
    assert_int_equal(untraced->reason, UNTRACED_PROCESS);
    assert_string_equal(untraced->name, "");
    assert_string_equal(untraced->name + 1, "it is a test");
    assert_null(log_reader_next(&reader));
}

/* The clock stands for both threads: each replacement is later than that of the other thread before it, and those of one
 * thread, between which it runs no code, may have one time. */
static void test_replaced_code_has_times_in_its_order(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    thread->hot.last_time = 1000;
    struct tr_thread other = *thread;
    other.serial++;
    other.hot.last_time = 500;
    const struct tr_mapping mapping = {.start = 0x1000, .length = 0x1000};
    tr_sideband_mapping(thread, 0, &mapping, "one");
    tr_sideband_mapping(&other, 0, &mapping, "two");
    tr_sideband_mapping(&other, 0, &mapping, "three");
    tr_sideband_mapping(thread, 0, &mapping, "four");

    struct log_reader reader = begin_reading();
    uint64_t times[4];
    for (unsigned i = 0; i < 4; i++)
        times[i] = log_reader_next(&reader)->time;
    assert_true(times[0] < times[1]);
    assert_true(times[1] <= times[2]);
    assert_true(times[2] < times[3]);
    assert_int_equal(tr_process.newest_code, times[3]);
}

static void test_full_log(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    const uint64_t most = STAND_IN_LOG_SIZE / RECORD;
    for (uint64_t i = 0; i < most + 100; i++)
        tr_sideband_exit(thread, i);
    assert_int_equal(stand_in_count(LOGGED_EXIT), most);
    assert_int_equal(tr_process.control->lost_records, 100);
}

static void test_nothing_after_the_end(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    tr_process.control->frozen = 1;
    tr_sideband_exit(thread, 1);
    assert_int_equal(stand_in_count(LOGGED_EXIT), 0);
    assert_int_equal(tr_process.control->lost_records, 0);
}

/* On a full disk the first write to a page of the file is answered with SIGBUS, as after a file's end. */
static void test_full_disk(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    struct tr_control *control = tr_process.control;
    uint8_t *second_page = tr_process.arena + STAND_IN_LOG_OFFSET + TR_PAGE;
    mprotect(second_page, TR_PAGE, PROT_NONE);
    unsigned fits = TR_PAGE / RECORD;
    for (unsigned i = 0; i < fits + 3; i++)
        tr_sideband_exit(thread, i);
    mprotect(second_page, TR_PAGE, PROT_READ | PROT_WRITE);
    assert_int_equal(stand_in_count(LOGGED_EXIT), fits);
    assert_int_equal(control->lost_records, 3);
}

static int end(void **state)
{
    stand_in_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_every_kind, end),
        cmocka_unit_test_teardown(test_replaced_code_has_times_in_its_order, end),
        cmocka_unit_test_teardown(test_full_log, end),
        cmocka_unit_test_teardown(test_nothing_after_the_end, end),
        cmocka_unit_test_teardown(test_full_disk, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
