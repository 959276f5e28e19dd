/* session.json: what is written is read back, what is missing or foreign does no harm. */
#include "recording/session.h"

#include "sample_recording.h"

#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void write_session_file(const char *folder, const char *text)
{
    char *path = memory_format("%s/session.json", folder);
    int descriptor = file_create_private(path, NULL);
    assert_true(descriptor >= 0);
    assert_true(file_write_all(descriptor, text, strlen(text), path, NULL));
    close(descriptor);
    free(path);
}

static void what_is_written_is_read_back(void **state)
{
    struct session_untraced untraced[] = {{7, 2, "helper \"x\"", "-follow", NULL},
                                          {8, 1, "other", NULL, "it is old"}};
    struct session_death deaths[] = {
        {.time = 99, .address = 0, .has_address = true, .signal = 11, .pid = 7, .tid = 8},
        {.time = 100, .signal = 6, .pid = 9, .tid = 9}};
    const char *command[] = {"./prog", "", "caf\xc3\xa9", "\xff\xfe", NULL};
    const struct session written = {
        .version = "1.2",
        .engine = "soft",
        .clock = "host",
        .callgraph = "lbr-no-stitch",
        .command = command,
        .program = "/tmp/\xe9t\xe9/prog",
        .wall_clock_ns = 1700000000123456789,
        .wall_clock_at = 42,
        .full_execution = true,
        .switches = true,
        .follow = true,
        .snapshot_size = 4 << 20,
        .exit_status = 9,
        .instructions = 123456789012,
        .untraced = untraced,
        .untraced_count = 2,
        .deaths = deaths,
        .death_count = 2,
    };
    struct error error = {0};
    assert_true(session_write(&written, *state, &error));
    struct session read;
    assert_true(session_read(&read, *state, &error));
    assert_string_equal(read.version, "1.2");
    assert_string_equal(read.engine, "soft");
    assert_string_equal(read.clock, "host");
    assert_string_equal(read.callgraph, "lbr-no-stitch");
    for (int i = 0; i < 4; i++)
        assert_string_equal(read.command[i], command[i]);
    assert_null(read.command[4]);
    assert_string_equal(read.program, written.program);
    assert_int_equal(read.wall_clock_ns, written.wall_clock_ns);
    assert_int_equal(read.wall_clock_at, 42);
    assert_true(read.full_execution && read.follow && read.switches && !read.multi_thread);
    assert_int_equal(read.snapshot_size, 4 << 20);
    assert_int_equal(read.exit_status, 9);
    assert_int_equal(read.instructions, 123456789012);
    assert_int_equal(read.untraced_count, 2);
    assert_int_equal(read.untraced[0].pid, 7);
    assert_int_equal(read.untraced[0].threads, 2);
    assert_string_equal(read.untraced[0].name, "helper \"x\"");
    assert_string_equal(read.untraced[0].flag, "-follow");
    assert_null(read.untraced[0].cause);
    assert_null(read.untraced[1].flag);
    assert_string_equal(read.untraced[1].cause, "it is old");
    assert_int_equal(read.death_count, 2);
    assert_true(read.deaths[0].has_address && !read.deaths[1].has_address);
    assert_int_equal(read.deaths[0].address, 0);
    assert_int_equal(read.deaths[0].time, 99);
    assert_int_equal(read.deaths[0].signal, 11);
    assert_int_equal(read.deaths[0].pid, 7);
    assert_int_equal(read.deaths[0].tid, 8);
    session_free(&read);
}

static void assert_same_hit(const struct session_hit *read, const struct session_hit *written)
{
    assert_int_equal(read->time, written->time);
    assert_int_equal(read->passed, written->passed);
    assert_int_equal(read->has_argument, written->has_argument);
    assert_int_equal(read->argument, written->argument);
    assert_int_equal(read->address, written->address);
    assert_int_equal(read->pid, written->pid);
    assert_int_equal(read->tid, written->tid);
}

static void hits_are_read_back_to_the_last_bit(void **state)
{
    enum { HITS = 12000 };
    static const int64_t arguments[] = {0, 1, -1, INT64_MIN, INT64_MAX, (1LL << 53) + 1};
    struct session_hit *hits = memory_allocate_zeroed(HITS * sizeof *hits);
    for (uint64_t i = 0; i < HITS; i++)
        hits[i] = (struct session_hit){
            .time = (UINT64_C(1) << 53) + 1 + i * 1000003,
            .passed = i % 3 ? (UINT64_C(1) << 53) + i : 0,
            .has_argument = i % 2,
            .argument = i % 2 ? arguments[i / 2 % 6] : 0,
            .address = UINT64_C(0xffffffffff600000) + i,
            .pid = UINT32_MAX,
            .tid = (uint32_t)i,
        };
    const struct session written = {.trigger = "f(int)", .hits = hits, .hit_count = HITS};
    assert_true(session_write(&written, *state, NULL));
    struct session read;
    assert_true(session_read(&read, *state, NULL));
    assert_string_equal(read.trigger, "f(int)");
    assert_int_equal(read.hit_count, HITS);
    for (size_t i = 0; i < HITS; i++)
        assert_same_hit(&read.hits[i], &hits[i]);
    session_free(&read);
    free(hits);
}

static void hits_of_another_type_count_as_missing(void **state)
{
    write_session_file(*state,
                       "{\"trigger\": 5, \"hits\": [3, {\"time\": \"x\", \"argument\": 1.5}]}");
    struct session read;
    assert_true(session_read(&read, *state, NULL));
    assert_null(read.trigger);
    assert_int_equal(read.hit_count, 2);
    assert_int_equal(read.hits[1].time, 0);
    assert_false(read.hits[1].has_argument);
    session_free(&read);
    write_session_file(*state, "{\"hits\": {\"time\": 1}}");
    assert_true(session_read(&read, *state, NULL));
    assert_int_equal(read.hit_count, 0);
    session_free(&read);
}

static void only_the_owner_may_read_it(void **state)
{
    assert_true(session_write(&(struct session){0}, *state, NULL));
    char *path = memory_format("%s/session.json", (char *)*state);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    free(path);
}

static void missing_file_is_not_found(void **state)
{
    struct session read;
    struct error error = {0};
    assert_false(session_read(&read, *state, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    session_free(&read);
}

static void missing_and_unknown_keys_do_no_harm(void **state)
{
    write_session_file(*state, "{\"later\": {\"x\": [1]}, \"engine\": \"pt\"}");
    struct session read;
    assert_true(session_read(&read, *state, NULL));
    assert_string_equal(read.engine, "pt");
    assert_null(read.program);
    assert_null(read.command);
    assert_int_equal(read.untraced_count, 0);
    assert_int_equal(read.exit_status, -1);
    session_free(&read);
}

static void values_of_another_type_count_as_missing(void **state)
{
    write_session_file(*state,
                       "{\"command\": [3, null, \"a\"], \"untraced\": [1, {\"pid\": \"x\"}], "
                       "\"snapshot_size\": \"big\", \"engine\": 5}");
    struct session read;
    assert_true(session_read(&read, *state, NULL));
    assert_string_equal(read.command[0], "");
    assert_string_equal(read.command[2], "a");
    assert_int_equal(read.untraced_count, 2);
    assert_int_equal(read.untraced[1].pid, 0);
    assert_int_equal(read.snapshot_size, 0);
    assert_null(read.engine);
    session_free(&read);
}

static void damage_is_an_error_that_names_the_file(void **state)
{
    static const char *const damaged[] = {"", "{\"engine\": ", "[1, 2]", "\"text\"", "{\"a\":1}}"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        write_session_file(*state, damaged[i]);
        struct session read;
        struct error error = {0};
        assert_false(session_read(&read, *state, &error));
        assert_int_equal(error.code, ERROR_FORMAT);
        assert_non_null(strstr(error.text, *state));
        session_free(&read);
    }
}

static void writing_into_a_missing_folder_fails(void **state)
{
    struct error error = {0};
    assert_false(session_write(&(struct session){0}, "/nonexistent/folder", &error));
    assert_int_equal(error.code, ERROR_IO);
}

int main(void)
{
#define IN_FOLDER(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, sample_folder_make, sample_folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_is_written_is_read_back),
        IN_FOLDER(hits_are_read_back_to_the_last_bit),
        IN_FOLDER(hits_of_another_type_count_as_missing),
        IN_FOLDER(only_the_owner_may_read_it),
        IN_FOLDER(missing_file_is_not_found),
        IN_FOLDER(missing_and_unknown_keys_do_no_harm),
        IN_FOLDER(values_of_another_type_count_as_missing),
        IN_FOLDER(damage_is_an_error_that_names_the_file),
        cmocka_unit_test(writing_into_a_missing_folder_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
