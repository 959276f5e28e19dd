/* What is opened below another root directory. A folder stands for it: that needs no rights. */
#include "process/process_files.h"

#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int make_root(void **state)
{
    static char folder[64];
    strcpy(folder, "/tmp/process_files_test.XXXXXX");
    *state = mkdtemp(folder);
    return !*state || chdir(folder) != 0;
}

static int remove_root(void **state)
{
    return chdir("/") != 0 || !file_remove_tree(*state, NULL);
}

static bool opens(const char *root, const char *path)
{
    const struct process_files files = {.root = open(root, O_PATH | O_CLOEXEC), .mounts = -1};
    assert_true(files.root >= 0);
    int file = process_files_open(&files, path);
    close(files.root);
    if (file >= 0)
        close(file);
    return file >= 0;
}

static void regular_files_are_opened(void **state)
{
    assert_int_equal(mkdir("lib", 0700), 0);
    close(open("lib/object", O_CREAT | O_WRONLY, 0600));
    assert_true(opens(*state, "/lib/object"));
    assert_false(opens(*state, "/lib/other"));
    assert_false(opens(*state, "/lib"));
}

static void nothing_leads_out_of_the_root(void **state)
{
    close(open("object", O_CREAT | O_WRONLY, 0600));
    assert_int_equal(mkdir("root", 0700), 0);
    assert_int_equal(symlink("/etc/passwd", "root/absolute"), 0);
    assert_int_equal(symlink("../object", "root/relative"), 0);
    char *root = memory_format("%s/root", (char *)*state);
    assert_false(opens(root, "/absolute"));
    assert_false(opens(root, "/relative"));
    assert_false(opens(root, "/../object"));
    free(root);
}

/* It would block. */
static void a_fifo_is_not_opened(void **state)
{
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_false(opens(*state, "/fifo"));
}

static void our_own_files_are_ours(void **state)
{
    (void)state;
    struct process_files files = process_files_hold(getpid());
    assert_true(process_files_are_ours(getpid()));
    assert_int_equal(files.root, -1);
    assert_int_equal(process_files_open(&files, "/proc/self/status"), -1);
    process_files_release(&files);
}

static void a_path_through_proc_is_recognized(void **state)
{
    (void)state;
    assert_string_equal(process_file_path_within("/proc/12/root/usr/bin/xz"), "/usr/bin/xz");
    assert_string_equal(process_file_path_within("/proc/12/rooted"), "/proc/12/rooted");
    assert_string_equal(process_file_path_within("/proc/self/root/x"), "/proc/self/root/x");
    assert_string_equal(process_file_path_within("/usr/bin/xz"), "/usr/bin/xz");
    char *path = process_file_real_path("/proc/12/root/usr/bin/xz");
    assert_string_equal(path, "/proc/12/root/usr/bin/xz");
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(regular_files_are_opened, make_root, remove_root),
        cmocka_unit_test_setup_teardown(nothing_leads_out_of_the_root, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_fifo_is_not_opened, make_root, remove_root),
        cmocka_unit_test(our_own_files_are_ours),
        cmocka_unit_test(a_path_through_proc_is_recognized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
