/* Where the bytes of a recorded file are looked for. */
#include "image/image_search.h"

#include "base/memory.h"
#include "image_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static int set_up(void **state)
{
    *state = make_test_folder();
    return 0;
}

static int tear_down(void **state)
{
    remove_test_folder(*state);
    return 0;
}

static char *make_file(const char *folder, const char *name)
{
    char *path = memory_format("%s/%s", folder, name);
    write_file(path, "x", 1);
    return path;
}

/* `expected` is below `folder`; NULL: nothing is found. */
static void check(const char *folder, const char *directory, const char *recorded,
                  const char *expected, bool jit)
{
    struct image_location location = image_search(directory, recorded, 0);
    if (expected) {
        char *path = memory_format("%s/%s", folder, expected);
        assert_non_null(location.path);
        assert_string_equal(location.path, path);
        free(path);
    } else {
        assert_null(location.path);
    }
    assert_int_equal(location.jit, jit);
    free(location.path);
}

static void recorded_path_is_the_last_resort(void **state)
{
    char *program = make_file(*state, "bin/program");
    check(*state, NULL, program, "bin/program", false);
    char *bundled = memory_format("%s/DIR/images%s", (char *)*state, program);
    write_file(bundled, "y", 1);
    char *directory = memory_format("%s/DIR", (char *)*state);
    check("", directory, program, bundled + 1, false);
    free(directory);
    free(bundled);
    free(program);
}

static void jit_dumps_are_found_after_the_recording_moved(void **state)
{
    char *directory = memory_format("%s/new", (char *)*state);
    free(make_file(directory, "images/jit-7-0"));
    check(*state, directory, "/old/place/images/jit-7-0", "new/images/jit-7-0", true);
    check(*state, directory, "images/jit-7-0", "new/images/jit-7-0", true);
    check(*state, directory, "/old/notimages/jit-7-0", NULL, false);
    check(*state, directory, "/old/place/images/", NULL, false);
    free(directory);
}

static void copies_are_found_after_the_recording_moved(void **state)
{
    char *directory = memory_format("%s/new", (char *)*state);
    free(make_file(directory, "images/home/images/library.so~01"));
    check(*state, directory, "/old/images/home/images/library.so~01",
          "new/images/home/images/library.so~01", false);
    check(*state, directory, "/my/images/place/images/home/images/library.so~01",
          "new/images/home/images/library.so~01", false);
    check(*state, directory, "/old/images/home/images/library.so", NULL, false);
    free(directory);
}

static void memory_without_a_file_is_looked_for_in_the_recording_only(void **state)
{
    char *directory = memory_format("%s/DIR", (char *)*state);
    free(make_file(directory, "images/[vdso]"));
    free(make_file(directory, "images/memfd:code"));
    check(*state, directory, "[vdso]", "DIR/images/[vdso]", false);
    check(*state, directory, "/memfd:code (deleted)", "DIR/images/memfd:code", false);
    check(*state, directory, "//anon", NULL, false);
    check(*state, NULL, "[vdso]", NULL, false);
    free(directory);
}

static void successor_of_a_deleted_file_is_not_taken(void **state)
{
    char *program = make_file(*state, "program");
    char *deleted = memory_format("%s (deleted)", program);
    struct stat status;
    assert_int_equal(stat(program, &status), 0);
    struct image_location location = image_search(NULL, deleted, status.st_ino + 1);
    assert_null(location.path);
    location = image_search(NULL, deleted, status.st_ino);
    assert_string_equal(location.path, program);
    free(location.path);
    free(deleted);
    free(program);
}

static void only_regular_files_are_opened(void **state)
{
    char *pipe = memory_format("%s/pipe", (char *)*state);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    check(*state, NULL, pipe, NULL, false);
    check(*state, NULL, *state, NULL, false);
    check(*state, NULL, "/dev/null", NULL, false);
    check(*state, *state, "", NULL, false);
    free(pipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(recorded_path_is_the_last_resort, set_up, tear_down),
        cmocka_unit_test_setup_teardown(jit_dumps_are_found_after_the_recording_moved, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(copies_are_found_after_the_recording_moved, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(memory_without_a_file_is_looked_for_in_the_recording_only,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(successor_of_a_deleted_file_is_not_taken, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(only_regular_files_are_opened, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
