/* Which path is recorded for a file of which copies were kept. */
#include "engine/packets/kept_files.h"

#include "base/file.h"
#include "base/memory.h"
#include "engine/packets/file_version.h"
#include "engine/packets/kept_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int make_folder(void **state)
{
    static char folder[64];
    strcpy(folder, "/tmp/magic-trace-kept-XXXXXX");
    *state = mkdtemp(folder);
    return !*state;
}

static int remove_folder(void **state)
{
    return !file_remove_tree(*state, NULL);
}

static uint64_t version_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return file_version(&status);
}

/* Makes the file, written at `seconds`, and its folders; returns its version. */
static uint64_t make_file(char *path, time_t seconds)
{
    char *slash = strrchr(path, '/');
    *slash = 0;
    assert_true(file_make_directories(path, NULL));
    *slash = '/';
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%ld", (long)seconds);
    fflush(file);
    struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(futimens(fileno(file), times), 0);
    fclose(file);
    return version_of(path);
}

static void check(const char *folder, const char *path, uint64_t version, const char *expected)
{
    char *found = kept_files_path(folder, path, version);
    if (expected)
        assert_string_equal(found, expected);
    else
        assert_null(found);
    free(found);
}

static void the_file_itself_is_recorded_while_it_is_the_same(void **state)
{
    char *path = memory_format("%s/file", (char *)*state);
    char *copy = memory_format("%s/images%s", (char *)*state, path);
    uint64_t version = make_file(path, 1000);
    assert_int_equal(make_file(copy, 1000), version);
    check(*state, path, version, NULL);
    check(*state, path, 0, NULL);
    unlink(path);
    check(*state, path, version, copy);
    make_file(path, 2000);
    check(*state, path, version, copy);
    check(*state, path, version + 2, NULL);
    free(copy);
    free(path);
}

static void a_second_version_is_found_by_its_name(void **state)
{
    char *path = memory_format("%s/file", (char *)*state);
    char *first = memory_format("%s/images%s", (char *)*state, path);
    uint64_t old = make_file(first, 1000);
    uint64_t new = make_file(path, 2000);
    char suffix[FILE_VERSION_SUFFIX_SIZE];
    file_version_suffix(suffix, new);
    char *second = memory_format("%s%s", first, suffix);
    assert_int_equal(make_file(second, 2000), new);
    check(*state, path, old, first);
    check(*state, path, new, second);
    free(second);
    free(first);
    free(path);
}

static void check_foreign(const char *folder, const char *path, uint64_t version,
                          const char *expected)
{
    char *found = kept_files_foreign_path(folder, path, version);
    assert_string_equal(found, expected);
    free(found);
}

static void our_file_is_never_taken_for_a_containers(void **state)
{
    char *path = memory_format("%s/file", (char *)*state);
    char *copy = memory_format("%s/images%s", (char *)*state, path);
    uint64_t version = make_file(path, 1000);
    check_foreign(*state, path, 0, copy);
    check_foreign(*state, path, version, copy);
    char *second = memory_format("%s~%016llx", copy, (unsigned long long)version);
    make_file(second, 1000);
    check_foreign(*state, path, version, second);
    free(second);
    free(copy);
    free(path);
}

/* In images/ itself, without a folder, lies dumped memory. */
static void a_copy_is_not_taken_for_dumped_memory(void **state)
{
    char *copy = memory_format("%s/images/./server", (char *)*state);
    check_foreign(*state, "/server", 0, copy);
    free(copy);
}

static void a_path_that_climbs_is_not_kept(void **state)
{
    char *climbing = memory_format("/../../%s.climbed", strrchr(*state, '/') + 1);
    char *outside = memory_format("%s.climbed", (char *)*state);
    char *images = memory_format("%s/images", (char *)*state);
    assert_true(file_make_directories(images, NULL));
    assert_false(kept_file_store(*state, climbing, 1, "x", 1));
    assert_int_not_equal(access(outside, F_OK), 0);
    unlink(outside);
    free(images);
    free(outside);
    free(climbing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_file_itself_is_recorded_while_it_is_the_same,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_second_version_is_found_by_its_name, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(our_file_is_never_taken_for_a_containers, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_copy_is_not_taken_for_dumped_memory, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_path_that_climbs_is_not_kept, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
