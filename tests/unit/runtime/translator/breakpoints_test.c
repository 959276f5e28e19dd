#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arena_stand_in.h"
#include "runtime/translator/code/breakpoints.h"
#include "runtime/translator/code/code_pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGES = 3, SIZE = PAGES * TR_PAGE, EXECUTABLE = PROT_READ | PROT_EXEC };

static const uint64_t places[] = {0, 16, TR_PAGE - 1, 2 * TR_PAGE + 100};
enum { COUNT = sizeof places / sizeof *places };

struct file {
    int descriptor;
    uint64_t inode;
    uint8_t bytes[SIZE];
};

static struct file make_file(void)
{
    struct file file;
    struct stat status;
    char path[] = "/tmp/magic-trace-code-XXXXXX";
    file.descriptor = mkstemp(path);
    assert_true(file.descriptor >= 0);
    for (unsigned i = 0; i < SIZE; i++)
        file.bytes[i] = (uint8_t)(i * 7 + i / 256);
    assert_int_equal(write(file.descriptor, file.bytes, SIZE), SIZE);
    assert_int_equal(fstat(file.descriptor, &status), 0);
    file.inode = status.st_ino;
    assert_int_equal(unlink(path), 0);
    return file;
}

static uint8_t *map(const struct file *file)
{
    uint8_t *code = mmap(NULL, SIZE, EXECUTABLE, MAP_PRIVATE, file->descriptor, 0);
    assert_ptr_not_equal(code, MAP_FAILED);
    return code;
}

/* Places of `inode`, and of files before and after it. */
static void select_places(uint64_t inode)
{
    static struct tr_trigger_place selected[COUNT + 2];
    selected[0] = (struct tr_trigger_place){.inode = inode - 1, .file_offset = 32};
    selected[COUNT + 1] = (struct tr_trigger_place){.inode = inode + 1, .file_offset = 48};
    for (unsigned i = 0; i < COUNT; i++)
        selected[i + 1] = (struct tr_trigger_place){.inode = inode, .file_offset = places[i]};
    tr_process.control->selected_offset = (uint64_t)((uint8_t *)selected - tr_process.arena);
    tr_process.control->options.selected_count = COUNT + 2;
}

static void insert(const struct file *file, uint8_t *code, uint64_t from)
{
    tr_breakpoints_insert(&(struct tr_breakable){.start = (uint64_t)code + from,
                                                 .end = (uint64_t)code + SIZE,
                                                 .inode = file->inode,
                                                 .file_offset = from,
                                                 .protection = EXECUTABLE});
}

static void they_stand_for_what_was_there(void **state)
{
    stand_in_begin();
    struct file file = make_file();
    uint8_t *code = map(&file), *other = map(&file), copy[SIZE];
    select_places(file.inode);
    insert(&file, code, 0);
    insert(&file, other, TR_PAGE);
    insert(&file, code, 0); /* once more changes nothing */
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(code[places[i]], TR_BREAKPOINT);
        assert_true(tr_breakpoint_at((uint64_t)code + places[i]));
        assert_int_equal(tr_breakpoint_at((uint64_t)other + places[i]), places[i] >= TR_PAGE);
    }
    assert_false(tr_breakpoint_at((uint64_t)code + 1));
    memcpy(copy, code, SIZE);
    assert_memory_not_equal(copy, file.bytes, SIZE);
    tr_breakpoints_hide(copy, (uint64_t)code, SIZE);
    assert_memory_equal(copy, file.bytes, SIZE);
    tr_breakpoints_remove((uint64_t)code, (uint64_t)code + TR_PAGE);
    assert_memory_equal(code, file.bytes, TR_PAGE);
    assert_false(tr_breakpoint_at((uint64_t)code + 16));
    assert_true(tr_breakpoint_at((uint64_t)code + places[COUNT - 1]));
    tr_breakpoints_remove(0, UINT64_MAX);
    assert_memory_equal(code, file.bytes, SIZE);
    assert_memory_equal(other, file.bytes, SIZE);
    /* The pages can be written to by nobody, as before. */
    assert_int_equal(munmap(code, SIZE) | munmap(other, SIZE) | close(file.descriptor), 0);
    stand_in_end();
}

static void code_that_has_gone_is_left_alone(void **state)
{
    stand_in_begin();
    struct file file = make_file();
    uint8_t *code = map(&file);
    select_places(file.inode);
    insert(&file, code, 0);
    assert_int_equal(munmap(code + TR_PAGE, 2 * TR_PAGE), 0);
    tr_breakpoints_remove(0, UINT64_MAX);
    assert_memory_equal(code, file.bytes, TR_PAGE);
    assert_int_equal(munmap(code, TR_PAGE) | close(file.descriptor), 0);
    stand_in_end();
}

static void those_that_were_added_go_together(void **state)
{
    enum { ADDED = 20 };
    stand_in_begin();
    struct file file = make_file();
    uint8_t *code = map(&file), copy[SIZE];
    select_places(file.inode);
    insert(&file, code, 0);
    memcpy(copy, code, SIZE);
    uint64_t address = (uint64_t)code + ADDED;
    tr_breakpoint_add(address, EXECUTABLE);
    tr_breakpoint_add((uint64_t)code + places[1], EXECUTABLE); /* is one already */
    assert_true(tr_breakpoint_at(address));
    assert_false(tr_breakpoint_is_selected(address));
    assert_true(tr_breakpoint_is_selected((uint64_t)code + places[1]));
    assert_int_equal(code[ADDED], TR_BREAKPOINT);
    assert_int_equal(tr_breakpoint_from(address), (uint64_t)code + places[2]);
    tr_breakpoints_remove_added();
    assert_memory_equal(code, copy, SIZE);
    assert_false(tr_breakpoint_at(address));
    tr_breakpoints_remove(0, UINT64_MAX);
    assert_int_equal(tr_breakpoint_from(0), 0);
    assert_memory_equal(code, file.bytes, SIZE);
    assert_int_equal(munmap(code, SIZE) | close(file.descriptor), 0);
    stand_in_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_stand_for_what_was_there),
        cmocka_unit_test(code_that_has_gone_is_left_alone),
        cmocka_unit_test(those_that_were_added_go_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
