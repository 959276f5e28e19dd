/* A recording is found by the name of its folder or of a file; what is none is refused with advice.
 */
#include "recording/recording.h"

#include "base/file.h"
#include "base/memory.h"
#include "sample_recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void make_file(void **state, const char *name)
{
    char *path = memory_format("%s/%s", (char *)*state, name);
    int descriptor = file_create_private(path, NULL);
    assert_true(descriptor >= 0);
    close(descriptor);
    free(path);
}

static void assert_file(void **state, const char *path, const char *name)
{
    char *expected = memory_format("%s/%s", (char *)*state, name);
    assert_string_equal(path, expected);
    free(expected);
}

static void snapshots_come_in_the_order_of_their_numbers(void **state)
{
    static const char *const names[] = {"perf.data.10",      "perf.data",    "perf.data.2",
                                        "perf.data.partial", "perf.data.1",  "perf.data.old",
                                        "perf.data.3x",      "session.json", "perf.data.",
                                        "perf.database",     "perf.data.-1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        make_file(state, names[i]);
    struct recording recording;
    assert_true(recording_open(&recording, *state, NULL));
    assert_string_equal(recording.directory, *state);
    assert_int_equal(recording.file_count, 4);
    assert_file(state, recording.files[0], "perf.data");
    assert_file(state, recording.files[1], "perf.data.1");
    assert_file(state, recording.files[2], "perf.data.2");
    assert_file(state, recording.files[3], "perf.data.10");
    recording_close(&recording);
}

static void lone_file_has_no_folder(void **state)
{
    make_file(state, "perf.data");
    char *path = memory_format("%s/perf.data", (char *)*state);
    struct recording recording;
    assert_true(recording_open(&recording, path, NULL));
    assert_null(recording.directory);
    assert_int_equal(recording.file_count, 1);
    assert_string_equal(recording.files[0], path);
    recording_close(&recording);
    free(path);
}

static void file_of_a_recording_has_its_folder(void **state)
{
    make_file(state, "perf.data.1");
    make_file(state, "session.json");
    char *path = memory_format("%s/perf.data.1", (char *)*state);
    struct recording recording;
    assert_true(recording_open(&recording, path, NULL));
    assert_string_equal(recording.directory, *state);
    assert_int_equal(recording.file_count, 1);
    recording_close(&recording);
    free(path);
}

static void folder_by_perf_is_looked_into(void **state)
{
    char *folder = memory_format("%s/perf.data", (char *)*state);
    assert_int_equal(mkdir(folder, 0700), 0);
    make_file(state, "perf.data/data");
    make_file(state, "session.json");
    struct recording recording;
    assert_true(recording_open(&recording, *state, NULL));
    assert_string_equal(recording.directory, *state);
    assert_int_equal(recording.file_count, 1);
    assert_string_equal(recording.files[0] + strlen(folder), "/data");
    recording_close(&recording);
    free(folder);
}

static void refuse(const char *path, enum error_code code, const char *words)
{
    struct recording recording;
    struct error error = {0};
    assert_false(recording_open(&recording, path, &error));
    assert_int_equal(error.code, code);
    assert_non_null(strstr(error.text, path));
    assert_non_null(strstr(error.text, words));
}

static void what_is_no_recording_is_refused(void **state)
{
    refuse("/nonexistent/recording", ERROR_NOT_FOUND, "No such file");
    refuse(*state, ERROR_NOT_FOUND, "no file perf.data");
    char *qemu = memory_format("%s/soft", (char *)*state);
    assert_int_equal(mkdir(qemu, 0700), 0);
    refuse(*state, ERROR_FORMAT, "never finished");
    free(qemu);
}

int main(void)
{
#define IN_FOLDER(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, sample_folder_make, sample_folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(snapshots_come_in_the_order_of_their_numbers),
        IN_FOLDER(lone_file_has_no_folder),
        IN_FOLDER(file_of_a_recording_has_its_folder),
        IN_FOLDER(folder_by_perf_is_looked_into),
        IN_FOLDER(what_is_no_recording_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
