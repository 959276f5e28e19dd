/* What becomes of the file that a trace is written to, and of the one that was there before. */
#include "output/fxt/fxt_reader.h"
#include "output/fxt/fxt_writer.h"
#include "output/output_file.h"
#include "span_script.h"
#include "temporary_folder.h"

#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* A script with `spans` spans; with names of their own, so that they do not compress to nothing. */
static struct span_script *script_of(unsigned spans)
{
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    for (unsigned i = 0; i < spans; i++) {
        char *name = memory_format("f%x", i * 2654435761u);
        span_script_enter(script, track, i, name);
        span_script_leave(script, track, i);
        free(name);
    }
    return script;
}

static void write_script(struct span_script *script, const char *path)
{
    struct error error = {0};
    if (!fxt_write(span_script_source(script), path, NULL, &error))
        fail_msg("%s", error.text);
}

static unsigned count_spans(const char *path)
{
    struct error error = {0};
    struct span_source *source = fxt_read(path, &error);
    if (!source)
        fail_msg("%s", error.text);
    struct span_event event;
    unsigned count = 0;
    while (source->next(source, &event, &error))
        count += event.kind == SPAN_ENTER;
    assert_int_equal(error.code, ERROR_NONE);
    source->close(source);
    return count;
}

static unsigned count_files(const char *folder)
{
    DIR *directory = opendir(folder);
    unsigned count = 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

static char *make_folder(const char *name)
{
    char *path = temporary_folder_path(name);
    assert_int_equal(mkdir(path, 0700), 0);
    return path;
}

static void write_text(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    fputs(text, stream);
    fclose(stream);
}

static void assert_text(const char *path, const char *text)
{
    char *bytes = file_read(path, NULL, NULL);
    assert_non_null(bytes);
    assert_string_equal(bytes, text);
    free(bytes);
}

static void only_the_owner_can_read_a_trace(void **state)
{
    (void)state;
    umask(0);
    char *path = temporary_folder_path("mode.fxt");
    struct span_script *script = script_of(1);
    write_script(script, path);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    span_script_free(script);
    free(path);
}

static void an_existing_file_is_renamed_in_its_own_folder(void **state)
{
    (void)state;
    char *folder = make_folder("existing");
    char *path = memory_format("%s/trace.fxt", folder), *old = memory_format("%s.old", path);
    write_text(path, "first");
    struct span_script *script = script_of(3);
    write_script(script, path);
    assert_text(old, "first");
    assert_int_equal(count_spans(path), 3);
    write_script(script, path);
    assert_int_equal(count_spans(old), 3);
    assert_int_equal(count_files(folder), 2);
    span_script_free(script);
    free(old);
    free(path);
    free(folder);
}

static void a_failing_source_leaves_the_existing_file(void **state)
{
    (void)state;
    char *folder = make_folder("failing");
    char *path = memory_format("%s/trace.fxt.gz", folder);
    write_text(path, "good");
    struct span_script *script = script_of(1000);
    error_set(&script->fails_with, ERROR_FORMAT, "the recording is damaged");
    struct error error = {0};
    assert_false(fxt_write(span_script_source(script), path, NULL, &error));
    assert_int_equal(error.code, ERROR_FORMAT);
    assert_string_equal(error.text, "the recording is damaged");
    assert_text(path, "good");
    assert_int_equal(count_files(folder), 1);
    span_script_free(script);
    free(path);
    free(folder);
}

static void a_full_disk_leaves_the_existing_file(void **state)
{
    (void)state;
    char *folder = make_folder("full");
    if (geteuid() != 0 || mount("tmpfs", folder, "tmpfs", 0, "size=256k") != 0) {
        free(folder);
        skip(); /* only root may mount */
    }
    struct span_script *script = script_of(200000);
    static const char *const NAMES[] = {"trace.fxt", "trace.fxt.gz"};
    for (size_t i = 0; i < 2; i++) {
        char *path = memory_format("%s/%s", folder, NAMES[i]);
        write_text(path, "good");
        struct error error = {0};
        assert_false(fxt_write(span_script_source(script), path, NULL, &error));
        assert_int_equal(error.code, ERROR_IO);
        assert_non_null(strstr(error.text, path));
        assert_non_null(strstr(error.text, "No space left on device"));
        assert_text(path, "good");
        assert_int_equal(count_files(folder), i + 1);
        free(path);
    }
    span_script_free(script);
    umount(folder);
    free(folder);
}

static void a_symbolic_link_is_followed(void **state)
{
    (void)state;
    char *folder = make_folder("link");
    char *path = memory_format("%s/real.fxt", folder),
         *link_path = memory_format("%s/link.fxt", folder);
    char *old = memory_format("%s.old", path);
    write_text(path, "first");
    assert_int_equal(symlink("real.fxt", link_path), 0);
    struct span_script *script = script_of(2);
    write_script(script, link_path);
    assert_int_equal(count_spans(path), 2);
    assert_text(old, "first");
    struct stat status;
    assert_int_equal(lstat(link_path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    span_script_free(script);
    free(old);
    free(link_path);
    free(path);
    free(folder);
}

/* As an attacker would leave it where several users write: realpath(3) follows it even where the
 * kernel does not open it (fs.protected_symlinks). */
static void a_file_is_written_at_once(void **state)
{
    (void)state;
    char *folder = make_folder("at_once");
    char *path = memory_format("%s/counts", folder);
    char *old = memory_format("%s.old", path);
    char *link = memory_format("%s/link", folder);
    struct error error = {0};
    write_text(path, "before");
    assert_int_equal(symlink("counts", link), 0);
    assert_true(output_file_write(link, "after", 5, &error));
    assert_text(path, "after");
    assert_int_equal(access(old, F_OK), -1);
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_false(output_file_write(folder, "after", 5, &error));
    free(link);
    free(old);
    free(path);
    free(folder);
}

static void a_link_of_another_user_is_not_followed(void **state)
{
    (void)state;
    enum { ANOTHER_USER = 65534 };
    char *folder = make_folder("foreign");
    char *path = memory_format("%s/victim", folder);
    char *foreign = memory_format("%s/link.fxt", folder);
    char *own = memory_format("%s/own.fxt", folder); /* leads to the other */
    write_text(path, "precious");
    assert_int_equal(symlink("victim", foreign), 0);
    assert_int_equal(symlink("link.fxt", own), 0);
    if (lchown(foreign, ANOTHER_USER, ANOTHER_USER) == 0) {
        struct output_file file;
        struct error error = {0};
        assert_false(output_file_create(&file, foreign, &error));
        assert_non_null(strstr(error.text, "another user"));
        assert_false(output_file_create(&file, own, &error));
        assert_false(output_file_write(foreign, "x", 1, &error));
        char *within = memory_format("%s/folder/victim", folder);
        char *foreign_folder = memory_format("%s/folder", folder);
        assert_int_equal(symlink(folder, foreign_folder), 0);
        assert_true(output_file_check(within, &error));
        assert_int_equal(lchown(foreign_folder, ANOTHER_USER, ANOTHER_USER), 0);
        assert_false(output_file_create(&file, within, &error));
        assert_non_null(strstr(error.text, foreign_folder));
        free(foreign_folder);
        free(within);
        assert_text(path, "precious");
    } else {
        print_message("not root: no link of another user can be made\n");
    }
    free(own);
    free(foreign);
    free(path);
    free(folder);
}

struct pipe_reader {
    const char *path;
    unsigned spans;
};

static void *read_pipe(void *context)
{
    struct pipe_reader *reader = context;
    struct error error = {0};
    struct span_source *source = fxt_read(reader->path, &error);
    struct span_event event;
    while (source && source->next(source, &event, &error))
        reader->spans += event.kind == SPAN_ENTER;
    if (source)
        source->close(source);
    return NULL;
}

static void a_pipe_carries_a_trace(void **state)
{
    (void)state;
    char *path = temporary_folder_path("pipe.fxt.gz");
    assert_int_equal(mkfifo(path, 0600), 0);
    struct pipe_reader reader = {.path = path};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, &reader), 0);
    struct span_script *script = script_of(100000);
    write_script(script, path);
    pthread_join(thread, NULL);
    assert_int_equal(reader.spans, 100000);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    span_script_free(script);
    free(path);
}

static void devices_are_written_in_place(void **state)
{
    (void)state;
    struct span_script *script = script_of(10);
    write_script(script, "/dev/null");
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));

    char *path = temporary_folder_path("descriptor.fxt");
    int descriptor = open(path, O_RDWR | O_CREAT, 0600);
    char *name = memory_format("/dev/fd/%d", descriptor);
    write_script(script, name);
    close(descriptor);
    assert_int_equal(count_spans(path), 10);
    free(name);
    free(path);
    span_script_free(script);
}

static void assert_refused(const char *path, const char *words)
{
    struct span_script *script = script_of(1);
    struct error error = {0};
    assert_false(fxt_write(span_script_source(script), path, NULL, &error));
    assert_non_null(strstr(error.text, words));
    assert_false(output_file_check(path, &error));
    assert_non_null(strstr(error.text, words));
    span_script_free(script);
}

static void impossible_paths_are_refused_with_a_reason(void **state)
{
    (void)state;
    char *folder = make_folder("impossible");
    char *missing = memory_format("%s/missing/trace.fxt", folder);
    assert_refused(missing, "No such file or directory");
    assert_refused(folder, "it is a folder");
    assert_refused("", "empty");
    assert_refused("/proc/trace.fxt", "/proc/trace.fxt");
    free(missing);
    free(folder);
}

/* A process that is killed while writing leaves no file. */
static void a_file_that_is_not_complete_has_no_name(void **state)
{
    (void)state;
    char *folder = make_folder("incomplete");
    int supported = open(folder, O_TMPFILE | O_RDWR, 0600);
    if (supported < 0) {
        free(folder);
        skip();
    }
    close(supported);
    char *path = memory_format("%s/trace.fxt", folder);
    struct output_file file;
    assert_true(output_file_create(&file, path, NULL));
    assert_true(file_write_all(file.descriptor, "whole", 5, path, NULL));
    assert_int_equal(count_files(folder), 0);
    assert_true(output_file_commit(&file, NULL));
    assert_text(path, "whole");
    assert_int_equal(count_files(folder), 1);
    free(path);
    free(folder);
}

static void checking_leaves_nothing(void **state)
{
    (void)state;
    char *folder = make_folder("checked");
    char *path = memory_format("%s/trace.fxt", folder);
    assert_true(output_file_check(path, NULL));
    assert_int_equal(count_files(folder), 0);
    write_text(path, "good");
    assert_true(output_file_check(path, NULL));
    assert_text(path, "good");
    assert_true(output_file_check("/dev/null", NULL));
    free(path);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_owner_can_read_a_trace),
        cmocka_unit_test(an_existing_file_is_renamed_in_its_own_folder),
        cmocka_unit_test(a_failing_source_leaves_the_existing_file),
        cmocka_unit_test(a_full_disk_leaves_the_existing_file),
        cmocka_unit_test(a_symbolic_link_is_followed),
        cmocka_unit_test(a_file_is_written_at_once),
        cmocka_unit_test(a_link_of_another_user_is_not_followed),
        cmocka_unit_test(a_pipe_carries_a_trace),
        cmocka_unit_test(devices_are_written_in_place),
        cmocka_unit_test(impossible_paths_are_refused_with_a_reason),
        cmocka_unit_test(a_file_that_is_not_complete_has_no_name),
        cmocka_unit_test(checking_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, temporary_folder_make, temporary_folder_remove);
}
