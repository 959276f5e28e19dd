/* src/base/: what every other module is built on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/shrunk_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void array_keeps_elements_while_growing(void **state)
{
    struct array numbers = array_of(sizeof(int));
    for (int i = 0; i < 10000; i++)
        *(int *)array_add(&numbers) = i;
    assert_int_equal(numbers.count, 10000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(*(int *)array_at(&numbers, (size_t)i), i);
    int more[] = {7, 8};
    array_add_all(&numbers, more, 2);
    assert_int_equal(*(int *)array_at(&numbers, 10001), 8);
    array_free(&numbers);
    assert_int_equal(numbers.count, 0);
    *(int *)array_add(&numbers) = 1;
    assert_int_equal(numbers.count, 1);
    array_free(&numbers);
}

static void array_keeps_keys_in_order(void **state)
{
    struct array keys = array_of(sizeof(uint32_t));
    const uint32_t added[] = {30, 10, 20, 40, 20};
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        *(uint32_t *)array_insert(&keys, array_find_key(&keys, added[i])) = added[i];
    const uint32_t expected[] = {10, 20, 20, 30, 40};
    assert_memory_equal(keys.elements, expected, sizeof expected);
    assert_int_equal(array_find_key(&keys, 5), 0);
    assert_int_equal(array_find_key(&keys, 20), 1);
    assert_int_equal(array_find_key(&keys, 25), 3);
    assert_int_equal(array_find_key(&keys, 41), 5);
    array_free(&keys);
}

static void array_finds_keys_of_64_bits(void **state)
{
    struct array keys = array_of(2 * sizeof(uint64_t)); /* of which the first is the key */
    const uint64_t expected[] = {7, UINT64_C(1) << 32, UINT64_C(2) << 32};
    for (size_t i = 0; i < 3; i++)
        *(uint64_t *)array_add(&keys) = expected[i];
    assert_int_equal(array_find_key64(&keys, 0), 0);
    assert_int_equal(array_find_key64(&keys, 8), 1);
    assert_int_equal(array_find_key64(&keys, expected[1]), 1);
    assert_int_equal(array_find_key64(&keys, expected[2] + 1), 3);
    array_free(&keys);
}

static void array_adds_zeroed_elements(void **state)
{
    struct array bytes = array_of(1);
    for (int i = 0; i < 100; i++)
        *(char *)array_add(&bytes) = 'x';
    bytes.count = 0;
    assert_int_equal(*(char *)array_add(&bytes), 0);
    array_free(&bytes);
}

static void arena_memory_is_aligned_and_never_moves(void **state)
{
    struct arena arena = {0};
    char *names[5000];
    for (int i = 0; i < 5000; i++) {
        char text[32];
        snprintf(text, sizeof text, "name %d", i);
        names[i] = arena_copy_string(&arena, text);
        assert_int_equal((uintptr_t)names[i] % 16, 0);
        if (i % 1000 == 0) /* larger than a chunk: small allocations stay in theirs */
            memset(arena_allocate(&arena, 300000), i, 300000);
    }
    for (int i = 0; i < 5000; i++) {
        char text[32];
        snprintf(text, sizeof text, "name %d", i);
        assert_string_equal(names[i], text);
    }
    arena_free(&arena);
    assert_null(arena.chunks);
}

static void clock_converts_as_the_kernel_does(void **state)
{
    /* 2.6 GHz: mult = 2^31 / 2.6. */
    struct clock_conversion clock = {.zero = 1000, .mult = 825955249, .shift = 31};
    assert_int_equal(clock_to_nanoseconds(&clock, (struct ticks){0}).value, 1000);
    assert_int_equal(clock_to_nanoseconds(&clock, (struct ticks){2600000000}).value, 1000000999);
    uint64_t last = 0;
    for (uint64_t t = 0; t < 1u << 20; t += 7) {
        uint64_t ns = clock_to_nanoseconds(&clock, (struct ticks){t << 40 | t}).value;
        assert_true(ns >= last);
        last = ns;
    }
}

static void clock_inverts_within_a_tick(void **state)
{
    struct clock_conversion clock = {.zero = 123456789, .mult = 825955249, .shift = 31};
    for (uint64_t ns = 200000000; ns < 1ull << 60; ns = ns * 3 + 1) {
        struct ticks ticks = clock_to_ticks(&clock, (struct nanoseconds){ns});
        uint64_t back = clock_to_nanoseconds(&clock, ticks).value;
        assert_in_range(back, ns - 1, ns);
    }
    clock.mult = 0;
    assert_int_equal(clock_to_ticks(&clock, (struct nanoseconds){5}).value, 0);
}

static void error_text_is_clamped_and_returns_false(void **state)
{
    struct error error = {0};
    char *longer = memory_allocate(5000);
    memset(longer, 'a', 4999);
    longer[4999] = 0;
    assert_false(error_set(&error, ERROR_FORMAT, "%s", longer));
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_false(error_set_errno(&error, ERROR_IO, 2, "%s", longer));
    assert_false(error_set_errno(&error, ERROR_IO, 2, "cannot open %s", "x"));
    assert_string_equal(error.text, "cannot open x: No such file or directory");
    assert_false(error_set_errno(&error, ERROR_IO, EMFILE, "cannot open %s", "x"));
    assert_non_null(strstr(
        error.text, "cannot open x: Too many open files. magic-trace may have no more than "));
    assert_non_null(strstr(error.text, "ulimit -n"));
    assert_false(error_set(NULL, ERROR_IO, "nobody listens"));
    free(longer);
}

struct folder {
    char path[64];
};

static int make_folder(void **state)
{
    struct folder *folder = memory_allocate_zeroed(sizeof *folder);
    strcpy(folder->path, "/tmp/magic_trace_base.XXXXXX");
    *state = folder;
    return mkdtemp(folder->path) ? 0 : -1;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    bool ok = file_remove_tree(folder->path, NULL);
    free(folder);
    return ok ? 0 : -1;
}

static void file_is_replaced_whole_or_not_at_all(void **state)
{
    struct folder *folder = *state;
    char *path = memory_format("%s/replaced", folder->path);
    char *partial = memory_format("%s.partial", path);
    struct error error;
    assert_true(file_replace(path, "first", 5, &error));
    assert_true(file_replace(path, "second", 6, &error));
    assert_int_equal(access(partial, F_OK), -1);
    assert_int_equal(mkdir(partial, 0700), 0);
    assert_false(file_replace(path, "third", 5, &error));
    assert_non_null(strstr(error.text, partial));
    char *bytes = file_read(path, NULL, &error);
    assert_string_equal(bytes, "second");
    struct stat one, other;
    assert_int_equal(stat(path, &one), 0);
    assert_int_equal(stat(partial, &other), 0);
    assert_true(file_is_same(&one, &one));
    assert_false(file_is_same(&one, &other));
    free(bytes);
    free(partial);
    free(path);
}

static void file_is_private_whatever_stood_there(void **state)
{
    struct folder *folder = *state;
    char *path = memory_format("%s/secret", folder->path);
    close(open(path, O_CREAT | O_WRONLY, 0666));
    chmod(path, 0666);
    struct error error;
    int descriptor = file_create_private(path, &error);
    assert_true(descriptor >= 0);
    assert_true(file_write_all(descriptor, "abc", 3, path, &error));
    close(descriptor);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);

    size_t size;
    char *bytes = file_read(path, &size, &error);
    assert_string_equal(bytes, "abc");
    assert_int_equal(size, 3);
    free(bytes);
    struct file_view view;
    assert_true(file_map(&view, path, &error));
    assert_int_equal(view.size, 3);
    assert_memory_equal(view.bytes, "abc", 3);
    file_unmap(&view);

    /* What another user owns is replaced: the descriptor that he may hold shows nothing of it. */
    int foreign = open(path, O_RDONLY);
    if (chown(path, 65534, 65534) == 0) {
        chmod(path, 0666);
        descriptor = file_create_private(path, &error);
        assert_true(file_write_all(descriptor, "def", 3, path, &error));
        close(descriptor);
        char old[4] = {0};
        assert_int_equal(read(foreign, old, 3), 3);
        assert_string_equal(old, "abc");
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_uid, geteuid());
        descriptor = file_create_private(path, &error);
        assert_true(file_write_all(descriptor, "abc", 3, path, &error));
        close(descriptor);
    }
    close(foreign);

    char *link = memory_format("%s/link", folder->path);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(file_create_private(link, &error), -1);
    assert_non_null(strstr(error.text, link));
    bytes = file_read(path, NULL, &error);
    assert_string_equal(bytes, "abc");
    free(bytes);
    free(link);
    free(path);
}

static void missing_files_and_folders_are_named(void **state)
{
    struct folder *folder = *state;
    char *path = memory_format("%s/none/such", folder->path);
    struct error error;
    struct file_view view;
    assert_false(file_map(&view, path, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(error.text, path));
    assert_null(file_read(path, NULL, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_int_equal(file_create_private(path, &error), -1);
    assert_non_null(strstr(error.text, path));
    assert_false(file_map(&view, folder->path, &error));
    assert_int_equal(error.code, ERROR_FORMAT);
    free(path);
}

static void folders_are_made_with_parents_and_removed_with_contents(void **state)
{
    struct folder *folder = *state;
    char *path = memory_format("%s/a/b/c", folder->path);
    char *file = memory_format("%s/file", path);
    struct error error;
    assert_true(file_make_directories(path, &error));
    assert_true(file_make_directories(path, &error));
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    close(file_create_private(file, &error));
    assert_false(file_make_directories(file, &error));
    assert_false(file_make_directories("", &error));
    assert_int_equal(error.code, ERROR_USAGE);
    char *top = memory_format("%s/a", folder->path);
    assert_true(file_remove_tree(top, &error));
    assert_int_not_equal(stat(top, &status), 0);
    assert_true(file_remove_tree(top, &error));
    free(top);
    free(file);
    free(path);
}

/* Files that may not be executed and directories do not end the search. */
static void programs_are_found_along_the_path(void **state)
{
    struct folder *folder = *state;
    static const char *const names[] = {"a", "b", "c"};
    char *paths[3];
    for (size_t i = 0; i < 3; i++) {
        paths[i] = memory_format("%s/%s/tool", folder->path, names[i]);
        char *parent = memory_format("%s/%s", folder->path, names[i]);
        assert_true(file_make_directories(i == 0 ? paths[i] : parent, NULL));
        free(parent);
    }
    close(open(paths[1], O_CREAT | O_WRONLY, 0600));
    close(open(paths[2], O_CREAT | O_WRONLY, 0700));
    char *before = memory_copy_string(getenv("PATH"));
    char *path =
        memory_format("/nonexistent:%s/a:%s/b:%s/c", folder->path, folder->path, folder->path);
    setenv("PATH", path, 1);
    char *found = file_find_program("tool"), *missing = file_find_program("no such tool");
    setenv("PATH", before, 1);
    assert_string_equal(found, paths[2]);
    assert_null(missing);
    for (size_t i = 0; i < 3; i++)
        free(paths[i]);
    free(found);
    free(path);
    free(before);
}

static void a_file_that_shrinks_reads_as_zeros(void **state)
{
    struct folder *folder = *state;
    char *path = memory_format("%s/shrinks", folder->path);
    long page = sysconf(_SC_PAGESIZE);
    int descriptor = open(path, O_CREAT | O_RDWR, 0600);
    assert_int_equal(ftruncate(descriptor, 2 * page), 0);
    assert_int_equal(pwrite(descriptor, "ab", 2, page - 1), 2);
    struct file_view view;
    struct error error;
    assert_true(file_map(&view, path, &error));
    shrunk_files_handle();
    assert_int_equal(view.bytes[page], 'b');
    assert_false(shrunk_files_seen());
    assert_int_equal(ftruncate(descriptor, page), 0);
    assert_int_equal(((volatile const uint8_t *)view.bytes)[page], 0);
    assert_int_equal(view.bytes[page - 1], 'a');
    assert_true(shrunk_files_seen());
    file_unmap(&view);
    close(descriptor);
    free(path);
}

static void check_printable(const char *text, enum printable_kind kind, const char *expected)
{
    char *copy = printable_copy(text, kind);
    if (expected)
        assert_string_equal(copy, expected);
    else
        assert_null(copy);
    free(copy);
}

static void control_characters_are_escaped(void **state)
{
    check_printable("std::map<int, \xc3\xa9>", PRINTABLE_NAME, NULL);
    check_printable("a\xff\xe6\xbc", PRINTABLE_NAME, NULL); /* no UTF-8, and no control either */
    check_printable("a\x1b[31m\x7f", PRINTABLE_NAME, "a\\x1b[31m\\x7f");
    check_printable("a\n\tb", PRINTABLE_NAME,
                    "a\\x0a\\x09"
                    "b");
    check_printable("a\n\tb", PRINTABLE_TEXT, NULL);
    check_printable("\xc2\x9b"
                    "31m",
                    PRINTABLE_TEXT, "\\u009b31m"); /* CSI */
    check_printable("\x9b"
                    "31m",
                    PRINTABLE_TEXT, "\\x9b31m");                /* of 8-bit terminals */
    check_printable("\xe2\x80\xae", PRINTABLE_NAME, "\\u202e"); /* right to left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test_setup_teardown(a_file_that_shrinks_reads_as_zeros, make_folder,
                                        remove_folder),
        cmocka_unit_test(array_keeps_elements_while_growing),
        cmocka_unit_test(array_keeps_keys_in_order),
        cmocka_unit_test(array_finds_keys_of_64_bits),
        cmocka_unit_test(array_adds_zeroed_elements),
        cmocka_unit_test(arena_memory_is_aligned_and_never_moves),
        cmocka_unit_test(clock_converts_as_the_kernel_does),
        cmocka_unit_test(clock_inverts_within_a_tick),
        cmocka_unit_test(error_text_is_clamped_and_returns_false),
        cmocka_unit_test_setup_teardown(file_is_replaced_whole_or_not_at_all, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(file_is_private_whatever_stood_there, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(missing_files_and_folders_are_named, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(folders_are_made_with_parents_and_removed_with_contents,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(programs_are_found_along_the_path, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
