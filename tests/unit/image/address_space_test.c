/* Who had what mapped where, at which time. Paths are of anonymous memory, so that no file is
 * needed. */
#include "image/address_space.h"

#include "base/file.h"
#include "base/memory.h"
#include "image_fixture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct address_spaces build(const struct recording *recording)
{
    struct perf_data data = recording_of(recording);
    struct address_spaces spaces;
    struct error error;
    assert_true(address_spaces_build(&spaces, &data, NULL, &error));
    return spaces;
}

/* Path and file offset at `address` of `pid` at `time`. */
static void check(const struct address_spaces *spaces, uint32_t pid, uint64_t time,
                  uint64_t address, const char *path, uint64_t file_offset)
{
    struct address_space_cursor cursor;
    address_space_cursor_init(&cursor, address_spaces_process(spaces, pid));
    address_space_cursor_advance(&cursor, (struct ticks){time});
    const struct mapping *mapping = address_space_find(&cursor, address);
    if (!path) {
        assert_null(mapping);
    } else {
        assert_non_null(mapping);
        assert_string_equal(mapping->file->path, path);
        assert_int_equal(mapping->file_offset + (address - mapping->start), file_offset);
        assert_int_equal(mapping->pid, pid);
    }
    address_space_cursor_free(&cursor);
}

static void mapping_holds_from_its_time_on(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 50, 7, 0x1000, 0x3000, 0x400, "//a");
    struct address_spaces spaces = build(&recording);
    check(&spaces, 7, 49, 0x1000, NULL, 0);
    check(&spaces, 7, 50, 0x1000, "//a", 0x400);
    check(&spaces, 7, 50, 0x2fff, "//a", 0x23ff);
    check(&spaces, 7, 50, 0x0fff, NULL, 0);
    check(&spaces, 7, 50, 0x3000, NULL, 0);
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void overlay_splits_what_lies_below(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, 7, 0x1000, 0x9000, 0, "//below");
    add_mapping(&recording, 10, 7, 0x4000, 0x5000, 0x10000, "//page");
    struct address_spaces spaces = build(&recording);
    check(&spaces, 7, 9, 0x4800, "//below", 0x3800);
    check(&spaces, 7, 10, 0x3fff, "//below", 0x2fff);
    check(&spaces, 7, 10, 0x4800, "//page", 0x10800);
    check(&spaces, 7, 10, 0x5000, "//below", 0x4000);
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void overlay_hides_several_and_cuts_both_ends(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, 7, 0x5000, 0x6000, 0, "//third");
    add_mapping(&recording, 0, 7, 0x1000, 0x3000, 0, "//first");
    add_mapping(&recording, 0, 7, 0x3000, 0x4000, 0, "//second");
    add_mapping(&recording, 5, 7, 0x2000, 0x5800, 0, "//over");
    struct address_spaces spaces = build(&recording);
    check(&spaces, 7, 5, 0x1fff, "//first", 0xfff);
    check(&spaces, 7, 5, 0x2000, "//over", 0);
    check(&spaces, 7, 5, 0x57ff, "//over", 0x37ff);
    check(&spaces, 7, 5, 0x5800, "//third", 0x800);
    address_spaces_free(&spaces);
    recording_free(&recording);
}

/* A model with one owner per page, compared after each of many random mappings. */
static void random_overlays_agree_with_a_page_table(void **state)
{
    enum { PAGES = 64, MAPPINGS = 400 };
    static const char *const paths[] = {"//0", "//1", "//2", "//3", "//4"};
    struct {
        const char *path;
        uint64_t offset;
    } model[PAGES] = {0};
    struct recording recording = recording_new();
    uint32_t random = 12345;
    uint32_t starts[MAPPINGS], ends[MAPPINGS];
    for (uint32_t i = 0; i < MAPPINGS; i++) {
        random = random * 1103515245 + 12345;
        starts[i] = (random >> 8) % PAGES;
        ends[i] = starts[i] + 1 + (random >> 16) % 9;
        if (ends[i] > PAGES)
            ends[i] = PAGES;
        add_mapping(&recording, i + 1, 7, starts[i] * 4096, ends[i] * 4096, i * 0x100000,
                    paths[i % 5]);
    }
    struct address_spaces spaces = build(&recording);
    struct address_space_cursor cursor;
    address_space_cursor_init(&cursor, address_spaces_process(&spaces, 7));
    for (uint32_t i = 0; i < MAPPINGS; i++) {
        for (uint32_t page = starts[i]; page < ends[i]; page++) {
            model[page].path = paths[i % 5];
            model[page].offset = i * 0x100000 + (page - starts[i]) * 4096;
        }
        assert_true(address_space_cursor_advance(&cursor, (struct ticks){i + 1}));
        for (uint32_t page = 0; page < PAGES; page++) {
            const struct mapping *mapping = address_space_find(&cursor, page * 4096 + 4095);
            assert_int_equal(mapping != NULL, model[page].path != NULL);
            if (!mapping)
                continue;
            assert_string_equal(mapping->file->path, model[page].path);
            assert_int_equal(mapping->file_offset + page * 4096 - mapping->start,
                             model[page].offset);
        }
        for (size_t j = 1; j < cursor.mapping_count; j++)
            assert_true(cursor.mappings[j - 1].end <= cursor.mappings[j].start);
    }
    assert_false(address_space_cursor_advance(&cursor, (struct ticks){UINT64_MAX}));
    address_space_cursor_free(&cursor);
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void exec_clears_the_address_space(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, 7, 0x1000, 0x2000, 0, "//old");
    add_name(&recording, 20, 7, 7, "new", true);
    add_mapping(&recording, 20, 7, 0x8000, 0x9000, 0, "//new");
    struct address_spaces spaces = build(&recording);
    check(&spaces, 7, 19, 0x1000, "//old", 0);
    check(&spaces, 7, 20, 0x1000, NULL, 0);
    check(&spaces, 7, 20, 0x8000, "//new", 0);
    assert_string_equal(address_spaces_process(&spaces, 7)->name, "new");
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void forked_child_has_what_its_parent_had_then(void **state)
{
    struct recording recording = recording_new();
    add_name(&recording, 0, 7, 7, "parent", false);
    add_mapping(&recording, 0, 7, 0x1000, 0x2000, 0, "//early");
    add_fork(&recording, 30, 7, 7, 8, 8);
    add_mapping(&recording, 40, 7, 0x1000, 0x2000, 0, "//late");
    struct address_spaces spaces = build(&recording);
    check(&spaces, 8, 30, 0x1000, "//early", 0);
    check(&spaces, 8, 50, 0x1000, "//early", 0);
    check(&spaces, 7, 50, 0x1000, "//late", 0);
    const struct process *child = address_spaces_process(&spaces, 8);
    assert_int_equal(child->parent_pid, 7);
    assert_string_equal(child->name, "parent");
    assert_string_equal(address_spaces_thread(&spaces, 8)->name, "parent");
    assert_int_equal(address_spaces_thread(&spaces, 8)->created.value, 30);
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void a_thread_ends_with_its_last_exit(void **state)
{
    struct recording recording = recording_new();
    add_fork(&recording, 10, 7, 7, 7, 8);
    add_exit(&recording, 20, 7, 8);
    add_fork(&recording, 30, 7, 7, 7, 8); /* another thread with the same number */
    add_fork(&recording, 30, 7, 7, 7, 9);
    add_exit(&recording, 40, 7, 9);
    add_exit(&recording, 50, 7, 10); /* of which nothing else is known */
    struct address_spaces spaces = build(&recording);
    assert_int_equal(address_spaces_thread(&spaces, 8)->ended.value, 0);
    assert_int_equal(address_spaces_thread(&spaces, 9)->ended.value, 40);
    assert_null(address_spaces_thread(&spaces, 10));
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void second_fork_takes_what_changed_between(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, 7, 0x1000, 0x2000, 0, "//early");
    add_fork(&recording, 30, 7, 7, 8, 8);
    add_mapping(&recording, 40, 7, 0x5000, 0x6000, 0, "//late");
    add_fork(&recording, 50, 7, 7, 9, 9);
    add_fork(&recording, 60, 9, 9, 10, 10);
    struct address_spaces spaces = build(&recording);
    check(&spaces, 8, 60, 0x5000, NULL, 0);
    check(&spaces, 9, 60, 0x5000, "//late", 0);
    check(&spaces, 10, 60, 0x5000, "//late", 0);
    check(&spaces, 10, 60, 0x1000, "//early", 0);
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void threads_share_their_process(void **state)
{
    struct recording recording = recording_new();
    add_name(&recording, 0, 7, 7, "main", false);
    add_mapping(&recording, 0, 7, 0x1000, 0x2000, 0, "//a");
    add_fork(&recording, 30, 7, 7, 7, 71);
    add_fork(&recording, 31, 7, 7, 7, 72);
    add_name(&recording, 32, 7, 72, "worker", false);
    struct address_spaces spaces = build(&recording);
    assert_int_equal(spaces.process_count, 1);
    assert_int_equal(spaces.thread_count, 3);
    assert_int_equal(address_spaces_thread(&spaces, 71)->pid, 7);
    assert_string_equal(address_spaces_thread(&spaces, 71)->name, "main");
    assert_string_equal(address_spaces_thread(&spaces, 72)->name, "worker");
    assert_string_equal(address_spaces_process(&spaces, 7)->name, "main");
    assert_null(address_spaces_thread(&spaces, 73));
    assert_null(address_spaces_process(&spaces, 71));
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void reused_pid_starts_again(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, 7, 0x1000, 0x2000, 0, "//parent");
    add_fork(&recording, 10, 7, 7, 8, 8);
    add_mapping(&recording, 20, 8, 0x8000, 0x9000, 0, "//first life");
    add_fork(&recording, 30, 7, 7, 8, 8);
    struct address_spaces spaces = build(&recording);
    check(&spaces, 8, 29, 0x8000, "//first life", 0);
    check(&spaces, 8, 30, 0x8000, NULL, 0);
    check(&spaces, 8, 30, 0x1000, "//parent", 0);
    address_spaces_free(&spaces);
    recording_free(&recording);
}

/* As perf writes them for what ran before: a FORK without time, then the child's own mappings. */
static void synthesized_fork_copies_nothing(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, 7, 0x1000, 0x2000, 0, "//parent");
    add_mapping(&recording, 0, 8, 0x8000, 0x9000, 0, "//child");
    add_fork(&recording, 0, 7, 7, 8, 8);
    struct address_spaces spaces = build(&recording);
    check(&spaces, 8, 0, 0x1000, NULL, 0);
    check(&spaces, 8, 0, 0x8000, "//child", 0);
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void data_kernel_and_impossible_mappings_are_left_out(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, 7, 0x1000, 0x2000, 0, "//data");
    ((struct sideband_record *)array_at(&recording.records, 0))->mapping.executable = false;
    add_mapping(&recording, 0, 7, 0x3000, 0x4000, 0, "//kernel");
    ((struct sideband_record *)array_at(&recording.records, 1))->mapping.kernel = true;
    add_mapping(&recording, 0, 7, UINT64_MAX - 1, 0x4000, 0, "//wraps");
    add_mapping(&recording, 0, 7, 0x5000, 0x5000, 0, "//empty");
    add_mapping(&recording, 0, UINT32_MAX, 0x6000, 0x7000, 0, "//nobody");
    add_name(&recording, 0, 7, 7, "program", false);
    struct address_spaces spaces = build(&recording);
    assert_int_equal(address_spaces_process(&spaces, 7)->change_count, 0);
    assert_int_equal(spaces.process_count, 1);
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void ring_without_records_has_a_thread(void **state)
{
    struct recording recording = recording_new();
    struct aux_chunk chunks[] = {{.tid = 55}, {.tid = UINT32_MAX, .cpu = 3}};
    struct perf_data data = recording_of(&recording);
    data.chunks = chunks;
    data.chunk_count = 2;
    struct address_spaces spaces;
    assert_true(address_spaces_build(&spaces, &data, NULL, NULL));
    assert_int_equal(spaces.thread_count, 1);
    assert_int_equal(address_spaces_thread(&spaces, 55)->pid, 55);
    assert_non_null(address_spaces_process(&spaces, 55));
    assert_string_equal(address_spaces_thread(&spaces, 55)->name, "?");
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void scheduled_threads_are_known(void **state)
{
    struct recording recording = recording_new();
    add_name(&recording, 0, 8, 9, "known", false);
    static const uint32_t switches[][4] = {
        {30, 31, 40, 41}, {UINT32_MAX, 9, 0, 0}, {UINT32_MAX, 50, UINT32_MAX, UINT32_MAX}};
    for (size_t i = 0; i < 3; i++) {
        struct sideband_record *record = array_add(&recording.records);
        record->kind = SIDEBAND_CONTEXT_SWITCH;
        record->pid = switches[i][0];
        record->tid = switches[i][1];
        record->context_switch.other_pid = switches[i][2];
        record->context_switch.other_tid = switches[i][3];
    }
    struct address_spaces spaces = build(&recording);
    static const uint32_t expected[][2] = {{8, 9}, {30, 31}, {40, 41}, {50, 50}};
    assert_int_equal(spaces.thread_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(spaces.threads[i].pid, expected[i][0]);
        assert_int_equal(spaces.threads[i].tid, expected[i][1]);
        assert_non_null(address_spaces_process(&spaces, expected[i][0]));
    }
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void damaged_times_do_not_hide_later_mappings(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 10, 7, 0x1000, 0x2000, 0, "//before the clock");
    add_mapping(&recording, 1020, 7, 0x3000, 0x4000, 0, "//good");
    struct perf_data data = recording_of(&recording);
    data.setup.clock.zero = 1000;
    struct address_spaces spaces;
    assert_true(address_spaces_build(&spaces, &data, NULL, NULL));
    check(&spaces, 7, 20, 0x1000, "//before the clock", 0);
    check(&spaces, 7, 20, 0x3000, "//good", 0);
    check(&spaces, 7, 19, 0x3000, NULL, 0);
    address_spaces_free(&spaces);
    recording_free(&recording);
}

static void one_file_for_all_its_mappings(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, 7, 0x1000, 0x2000, 0, "//a");
    add_mapping(&recording, 0, 8, 0x1000, 0x2000, 0, "//a");
    add_mapping(&recording, 0, 8, 0x3000, 0x4000, 0, "//b");
    struct address_spaces spaces = build(&recording);
    assert_int_equal(spaces.file_count, 2);
    assert_int_equal(spaces.files[1]->id, 1);
    address_spaces_free(&spaces);
    recording_free(&recording);
}

/* What `address_spaces_build` writes to stderr; owned by the caller. */
static char *warnings_of_build(const struct perf_data *data)
{
    char path[] = "/tmp/magic-trace-warnings-XXXXXX";
    int file = mkstemp(path), saved = dup(STDERR_FILENO);
    assert_true(file >= 0 && saved >= 0);
    fflush(stderr);
    dup2(file, STDERR_FILENO);
    struct address_spaces spaces;
    bool built = address_spaces_build(&spaces, data, NULL, NULL);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(file);
    assert_true(built);
    address_spaces_free(&spaces);
    char *text = file_read(path, NULL, NULL);
    unlink(path);
    return text;
}

static int occurrences(const char *text, const char *wanted)
{
    int count = 0;
    for (; (text = strstr(text, wanted)) != NULL; text++)
        count++;
    return count;
}

static void missing_and_replaced_files_are_named_once(void **state)
{
    char *folder = make_test_folder();
    char *kept = memory_format("%s/kept", folder), *replaced = memory_format("%s/replaced", folder);
    char *data_path = memory_format("%s/perf.data", folder);
    write_file(kept, "x", 1);
    write_file(replaced, "x", 1);
    write_file(data_path, "x", 1);
    const struct timespec before[2] = {{1000, 0}, {1000, 0}}, at[2] = {{2000, 0}, {2000, 0}},
                          after[2] = {{3000, 0}, {3000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, kept, before, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, data_path, at, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, replaced, after, 0), 0);

    struct recording recording = recording_new();
    for (uint32_t pid = 7; pid < 9; pid++) {
        add_mapping(&recording, 0, pid, 0x1000, 0x2000, 0, kept);
        add_mapping(&recording, 0, pid, 0x3000, 0x4000, 0, replaced);
        add_mapping(&recording, 0, pid, 0x5000, 0x6000, 0, "/no/such/file");
        add_mapping(&recording, 0, pid, 0x7000, 0x8000, 0, "//anon");
    }
    struct perf_data data = recording_of(&recording);
    data.path = data_path;
    char *warnings = warnings_of_build(&data);
    assert_int_equal(occurrences(warnings, "not on this machine: /no/such/file."), 1);
    assert_int_equal(occurrences(warnings, replaced), 1);
    assert_non_null(strstr(warnings, "have changed since the recording"));
    assert_null(strstr(warnings, kept));
    assert_null(strstr(warnings, "anon"));
    free(warnings);
    recording_free(&recording);
    free(data_path);
    free(replaced);
    free(kept);
    remove_test_folder(folder);
}

static void missing_folder_is_an_error_that_names_it(void **state)
{
    struct recording recording = recording_new();
    struct perf_data data = recording_of(&recording);
    struct address_spaces spaces;
    struct error error = {0};
    assert_false(address_spaces_build(&spaces, &data, "/no/such/folder", &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(error.text, "/no/such/folder"));
    address_spaces_free(&spaces);
    recording_free(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mapping_holds_from_its_time_on),
        cmocka_unit_test(overlay_splits_what_lies_below),
        cmocka_unit_test(overlay_hides_several_and_cuts_both_ends),
        cmocka_unit_test(random_overlays_agree_with_a_page_table),
        cmocka_unit_test(exec_clears_the_address_space),
        cmocka_unit_test(forked_child_has_what_its_parent_had_then),
        cmocka_unit_test(a_thread_ends_with_its_last_exit),
        cmocka_unit_test(second_fork_takes_what_changed_between),
        cmocka_unit_test(threads_share_their_process),
        cmocka_unit_test(reused_pid_starts_again),
        cmocka_unit_test(synthesized_fork_copies_nothing),
        cmocka_unit_test(data_kernel_and_impossible_mappings_are_left_out),
        cmocka_unit_test(ring_without_records_has_a_thread),
        cmocka_unit_test(scheduled_threads_are_known),
        cmocka_unit_test(damaged_times_do_not_hide_later_mappings),
        cmocka_unit_test(one_file_for_all_its_mappings),
        cmocka_unit_test(missing_and_replaced_files_are_named_once),
        cmocka_unit_test(missing_folder_is_an_error_that_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
