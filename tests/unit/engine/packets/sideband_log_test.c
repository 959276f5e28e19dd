/* The log's records, translated for the recording. */
#include "engine/packets/sideband_log.h"

#include "recording/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct clock_conversion nanoseconds = {.mult = 1};

static void add_life(struct sideband_log *log, uint32_t pid, uint32_t tid, uint32_t parent)
{
    struct logged_fork life = {
        .record = {.kind = LOGGED_FORK, .pid = pid, .tid = tid, .time = 7},
        .parent_pid = parent,
        .parent_tid = parent,
    };
    sideband_log_add(log, &life.record);
}

static void add_untraced_because(struct sideband_log *log, uint32_t pid, uint32_t tid,
                                 uint32_t reason, const char *name, const char *cause)
{
    union {
        struct logged_untraced untraced;
        unsigned char bytes[sizeof(struct logged_untraced) + 64];
    } added = {.untraced = {.record = {.kind = LOGGED_UNTRACED, .pid = pid, .tid = tid},
                            .reason = reason}};
    strcpy(added.untraced.name, name);
    strcpy(added.untraced.name + strlen(name) + 1, cause);
    added.untraced.record.size =
        (uint32_t)(offsetof(struct logged_untraced, name) + strlen(name) + strlen(cause) + 2);
    sideband_log_add(log, &added.untraced.record);
}

static void add_untraced(struct sideband_log *log, uint32_t pid, uint32_t tid, uint32_t reason,
                         const char *name)
{
    add_untraced_because(log, pid, tid, reason, name, "");
}

static void add_mapping(struct sideband_log *log, const char *path, bool jit)
{
    struct logged_mapping *mapping = calloc(1, sizeof *mapping + strlen(path) + 1);
    mapping->record = (struct logged_record){.kind = LOGGED_MAPPING, .pid = 1, .tid = 1};
    mapping->start = 0x4000;
    mapping->jit = jit;
    strcpy(mapping->path, path);
    sideband_log_add(log, &mapping->record);
    free(mapping);
}

static void finish(struct sideband_log *log)
{
    arena_free(&log->memory);
    sideband_log_free(log);
}

static const struct sideband_record *record(const struct sideband_log *log, size_t index)
{
    return array_at(&log->records, index);
}

static void numbers_stay_unless_renumbered(void **state)
{
    struct sideband_log log;
    sideband_log_begin(&log, "/dir", &nanoseconds, false);
    add_life(&log, 5000, 5001, 4000);
    assert_int_equal(record(&log, 0)->pid, 5000);
    assert_int_equal(record(&log, 0)->tid, 5001);
    assert_int_equal(record(&log, 0)->fork.parent_pid, 4000);
    assert_int_equal(record(&log, 0)->time.value, 7);
    finish(&log);
}

static void renumbering_counts_in_order_of_birth(void **state)
{
    struct sideband_log log;
    sideband_log_begin(&log, "/dir", &nanoseconds, true);
    add_life(&log, 5000, 5000, 4000); /* the program; its parent is not recorded */
    add_life(&log, 5000, 5007, 5000); /* its thread */
    add_life(&log, 5003, 5003, 5007); /* that thread's child */
    static const uint32_t expected[][3] = {{1, 1, 0}, {1, 2, 1}, {3, 3, 2}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(record(&log, i)->pid, expected[i][0]);
        assert_int_equal(record(&log, i)->tid, expected[i][1]);
        assert_int_equal(record(&log, i)->fork.parent_pid, expected[i][2]);
    }
    assert_int_equal(sideband_log_number(&log, 5007), 2);
    finish(&log);
}

static void code_dumps_get_absolute_paths(void **state)
{
    struct sideband_log log;
    sideband_log_begin(&log, "/some/dir", &nanoseconds, false);
    add_mapping(&log, "images/code.1", true);
    add_mapping(&log, "/usr/bin/true", false);
    assert_string_equal(record(&log, 0)->mapping.path, "/some/dir/images/code.1");
    assert_string_equal(record(&log, 1)->mapping.path, "/usr/bin/true");
    assert_true(record(&log, 0)->mapping.executable);
    finish(&log);
}

static void what_ran_untraced_is_counted_with_the_flag_that_shows_it(void **state)
{
    struct sideband_log log;
    sideband_log_begin(&log, "/dir", &nanoseconds, false);
    add_untraced(&log, 1, 2, UNTRACED_THREAD, "worker");
    add_untraced(&log, 1, 3, UNTRACED_THREAD, "worker 2");
    add_untraced(&log, 9, 9, UNTRACED_PROCESS, "bash");
    add_untraced(&log, 9, 9, UNTRACED_PROCESS, "/usr/bin/ls");
    add_untraced(&log, 10, 10, UNTRACED_PROCESS, "bash");
    add_untraced_because(&log, 9, 9, UNTRACED_FOREIGN, "/usr/bin/su", "it is privileged");
    static const struct session_untraced expected[] = {
        {.pid = 1, .threads = 2, .name = "worker", .flag = "-multi-thread"},
        {.pid = 9, .threads = 1, .name = "/usr/bin/ls", .flag = "-follow"},
        {.pid = 10, .threads = 1, .name = "bash", .flag = "-follow"},
        {.pid = 9, .threads = 1, .name = "/usr/bin/su", .cause = "it is privileged"},
    };
    assert_int_equal(log.untraced.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < log.untraced.count; i++) {
        const struct session_untraced *entry = array_at(&log.untraced, i);
        assert_int_equal(entry->pid, expected[i].pid);
        assert_int_equal(entry->threads, expected[i].threads);
        assert_string_equal(entry->name, expected[i].name);
        if (expected[i].flag)
            assert_string_equal(entry->flag, expected[i].flag);
        else
            assert_null(entry->flag);
        if (expected[i].cause)
            assert_string_equal(entry->cause, expected[i].cause);
        else
            assert_null(entry->cause);
    }
    assert_int_equal(log.records.count, 0);
    finish(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_stay_unless_renumbered),
        cmocka_unit_test(renumbering_counts_in_order_of_birth),
        cmocka_unit_test(code_dumps_get_absolute_paths),
        cmocka_unit_test(what_ran_untraced_is_counted_with_the_flag_that_shows_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
