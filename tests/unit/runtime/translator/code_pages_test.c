/* Where code comes from and how it changes, with mappings of the test's own process as the program's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arena_stand_in.h"
#include "engine/packets/code_image.h"
#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/own_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    RWX = PROT_READ | PROT_WRITE | PROT_EXEC,
    RX = PROT_READ | PROT_EXEC,
    RW = PROT_READ | PROT_WRITE
};

static uint8_t *map(unsigned pages, int protection)
{
    uint8_t *bytes = mmap(NULL, pages * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    return bytes;
}

static void unmap(struct tr_thread *thread, uint8_t *bytes, unsigned pages)
{
    tr_code_changed(thread, (uint64_t)bytes, (uint64_t)bytes + pages * PAGE);
    munmap(bytes, pages * PAGE);
}

static int64_t change_protection(struct tr_thread *thread, uint8_t *bytes, unsigned pages,
                                 int protection)
{
    return tr_code_mprotect(thread, SYS_mprotect, (uint64_t)bytes, pages * PAGE,
                            (uint64_t)protection, 0);
}

static enum tr_code kind_at(struct tr_thread *thread, const void *code)
{
    return tr_code_at(thread, (uint64_t)code).kind;
}

/* As the translator does with code that it is about to translate. */
static enum tr_code translate(struct tr_thread *thread, const uint8_t *code)
{
    enum tr_code kind = kind_at(thread, code);
    tr_code_note(thread, (uint64_t)code, (uint64_t)code + 1);
    return kind;
}

/* By the kernel, which does not write to protected pages. */
static bool is_writable(void *page)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], page, 1), 1);
    bool writable = read(ends[0], page, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return writable;
}

static unsigned dumps(void)
{
    return stand_in_count(LOGGED_MAPPING);
}

/* --- What is where --- */

static void test_code_of_a_file(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    char path[4096] = "";
    assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    uint64_t here = (uint64_t)test_code_of_a_file;
    struct tr_code_range range = tr_code_at(thread, here);
    assert_int_equal(range.kind, TR_CODE_FILE);
    assert_false(range.vdso);
    assert_true(range.start <= here && here < range.end);
    const struct logged_mapping *mapping = stand_in_mapping(here);
    assert_non_null(mapping);
    assert_string_equal(mapping->path, path);
    assert_int_equal(mapping->jit, 0);
    assert_int_equal(mapping->start, range.start);
    assert_int_equal(mapping->length, range.end - range.start);
    assert_int_equal(mapping->file_offset, range.file_offset);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(mapping->inode, status.st_ino);
    unsigned records = stand_in_count(LOGGED_MAPPING);
    tr_code_note(thread, here, here + 10);
    tr_code_at(thread, here + 1);
    assert_int_equal(stand_in_count(LOGGED_MAPPING), records);
}

static void test_file_of_a_trigger(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    struct stat status;
    tr_process.control->options.place_count = 1;
    tr_code_changed(thread, (uint64_t)test_file_of_a_trigger, (uint64_t)test_file_of_a_trigger + 1);
    struct tr_code_range range = tr_code_at(thread, (uint64_t)test_file_of_a_trigger);
    assert_int_equal(stat("/proc/self/exe", &status), 0);
    assert_int_equal(range.device, status.st_dev);
    assert_int_equal(range.inode, status.st_ino);
}

static void test_nothing_to_execute(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *data = map(1, RW);
    uint8_t *own = map(1, RWX);
    assert_true(tr_own_add((uint64_t)own, PAGE));
    assert_int_equal(kind_at(thread, NULL), TR_CODE_NONE);
    assert_int_equal(kind_at(thread, data), TR_CODE_NONE);
    assert_int_equal(kind_at(thread, own), TR_CODE_NONE);
    assert_int_equal(tr_code_at(thread, UINT64_C(0xffff800000000000)).kind, TR_CODE_NONE);
    assert_int_equal(change_protection(thread, own, 1, PROT_READ), -ENOMEM);
    unmap(thread, data, 1);
}

/* The kernel shows adjacent anonymous mappings as one. */
static void test_own_memory_next_to_code(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *bytes = map(3, RWX);
    assert_true(tr_own_add((uint64_t)bytes + PAGE, PAGE));
    assert_int_equal(kind_at(thread, bytes), TR_CODE_PROTECTED);
    assert_int_equal(kind_at(thread, bytes + PAGE), TR_CODE_NONE);
    assert_int_equal(kind_at(thread, bytes + 2 * PAGE), TR_CODE_PROTECTED);
    assert_true(is_writable(bytes + PAGE));
}

static void test_vdso(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    if (!vdso)
        skip();
    struct tr_code_range range = tr_code_at(thread, vdso + 64);
    assert_int_equal(range.kind, TR_CODE_FILE);
    assert_true(range.vdso);
    assert_string_equal(stand_in_mapping(vdso)->path, "[vdso]");
}

/* --- Code in no file --- */

static void test_dump(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(2, RW);
    memset(code, 0x11, PAGE);
    memset(code + PAGE, 0x22, PAGE);
    mprotect(code, 2 * PAGE, RX);
    assert_int_equal(translate(thread, code + 100), TR_CODE_PROTECTED);
    const struct logged_mapping *mapping = stand_in_mapping((uint64_t)code);
    assert_non_null(mapping);
    assert_int_equal(mapping->start, (uint64_t)code);
    assert_int_equal(mapping->length, PAGE);
    assert_int_equal(mapping->file_offset, CODE_IMAGE_OFFSET);
    const uint8_t *dump = stand_in_dump(mapping);
    assert_non_null(dump);
    assert_memory_equal(dump, code, PAGE + CODE_IMAGE_TAIL);
    translate(thread, code + 200);
    assert_int_equal(dumps(), 1);
    /* An instruction that crosses the end. */
    kind_at(thread, code + PAGE);
    tr_code_note(thread, (uint64_t)code + PAGE - 2, (uint64_t)code + PAGE + 3);
    assert_int_equal(dumps(), 2);
    dump = stand_in_dump(stand_in_mapping((uint64_t)code + PAGE));
    assert_memory_equal(dump, code + PAGE, PAGE);
    unmap(thread, code, 2);
}

static void test_no_space_for_dumps(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(1, RX);
    tr_process.control->dump_size = 100;
    translate(thread, code);
    assert_int_equal(tr_process.control->lost_dumps, 1);
    assert_null(stand_in_mapping((uint64_t)code));
    unmap(thread, code, 1);
}

static void test_deleted_file(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    char path[] = "/tmp/magic-trace-code-XXXXXX";
    int file = mkstemp(path);
    assert_int_equal(ftruncate(file, PAGE), 0);
    uint8_t *code = mmap(NULL, PAGE, RX, MAP_PRIVATE, file, 0);
    unlink(path);
    close(file);
    assert_int_equal(translate(thread, code), TR_CODE_PROTECTED);
    assert_non_null(stand_in_dump(stand_in_mapping((uint64_t)code)));
    unmap(thread, code, 1);
}

/* --- Writable code --- */

static void test_write_is_noticed(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(3, RWX);
    assert_int_equal(translate(thread, code + PAGE), TR_CODE_PROTECTED);
    assert_false(is_writable(code + PAGE));
    assert_true(is_writable(code));
    assert_true(is_writable(code + 2 * PAGE));
    code[PAGE + 7] = 0x77;
    assert_int_equal(code[PAGE + 7], 0x77);
    assert_true(stand_in_invalidated((uint64_t)code + PAGE, (uint64_t)code + 2 * PAGE));
    assert_int_equal(dumps(), 1);
    assert_int_equal(translate(thread, code + PAGE), TR_CODE_PROTECTED);
    assert_int_equal(dumps(), 2);
    assert_int_equal(stand_in_dump(stand_in_mapping((uint64_t)code + PAGE))[7], 0x77);
    assert_false(is_writable(code + PAGE));
    unmap(thread, code, 3);
}

/* /proc/self/maps shows a protected page as one that is not writable. */
static void test_write_after_the_maps_were_read_again(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(3, RWX);
    translate(thread, code + PAGE);
    tr_code_unknown(thread);
    for (unsigned i = 0; i < 3; i++) {
        code[PAGE + 7]++;
        assert_true(stand_in_invalidated((uint64_t)code + PAGE, (uint64_t)code + 2 * PAGE));
        stand_in_forget();
        assert_int_equal(translate(thread, code + PAGE), TR_CODE_PROTECTED);
        assert_false(is_writable(code + PAGE));
    }
    unmap(thread, code, 3);
}

/* Until protecting it does not pay any more. Returns the writes. */
static unsigned write_often(struct tr_thread *thread, uint8_t *code)
{
    enum tr_code kind = TR_CODE_PROTECTED;
    unsigned writes = 0;
    while (kind == TR_CODE_PROTECTED && writes < 100) {
        kind = translate(thread, code);
        code[writes % PAGE]++;
        writes++;
    }
    assert_int_equal(kind, TR_CODE_CHANGING);
    return writes;
}

static void test_page_that_is_written_often(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(1, RWX);
    unsigned writes = write_often(thread, code);
    assert_true(writes > 4 && writes < 20);
    unsigned before = dumps();
    code[5]++;
    assert_int_equal(translate(thread, code), TR_CODE_CHANGING);
    assert_int_equal(dumps(), before + 1);
    assert_int_equal(translate(thread, code), TR_CODE_CHANGING);
    assert_int_equal(dumps(), before + 1);
    assert_true(is_writable(code));
    unmap(thread, code, 1);
}

/* Of a call whose displacement lies in the next page. */
static void test_instruction_across_pages(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(2, RWX);
    uint64_t across = (uint64_t)code + PAGE - 1;
    for (uint8_t i = 1; i <= 3; i++) {
        code[PAGE] = i;
        kind_at(thread, code);
        kind_at(thread, code + PAGE);
        tr_code_note(thread, across, across + 5);
        assert_int_equal(stand_in_dump(stand_in_mapping((uint64_t)code))[PAGE], i);
        assert_int_equal(stand_in_dump(stand_in_mapping((uint64_t)code + PAGE))[0], i);
    }
    unsigned before = dumps();
    code[PAGE] = 4;
    kind_at(thread, code + PAGE);
    translate(thread, code + 100); /* no instruction of it lies there */
    assert_int_equal(dumps(), before);
    unmap(thread, code, 2);
}

/* They are dumped because of others in their page: what is compared with the bytes that were there before must not run again. */
static void test_bytes_that_are_put_back(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(1, RWX);
    write_often(thread, code);
    translate(thread, code + 100);
    stand_in_forget();
    code[100]++;
    translate(thread, code + 200);
    assert_true(stand_in_invalidated((uint64_t)code + 100, (uint64_t)code + 101));
    assert_false(stand_in_invalidated((uint64_t)code + 200, (uint64_t)code + 201));
    assert_false(stand_in_invalidated((uint64_t)code + 50, (uint64_t)code + 51));
    unmap(thread, code, 1);
}

/* How often the code is compared until it is translated again. */
static unsigned pass_until_invalidated(struct tr_thread *thread, const uint8_t *code)
{
    enum { MOST = 1 << 20 };
    unsigned passes = 0;
    stand_in_forget();
    while (passes < MOST && !stand_in_invalidated((uint64_t)code, (uint64_t)code + PAGE)) {
        tr_code_passed(thread, (uint64_t)code, (uint64_t)code + 1);
        passes++;
    }
    assert_true(passes < MOST);
    return passes;
}

/* A just-in-time compiler has filled the page, and runs what it wrote. */
static void test_page_that_is_not_written_any_more(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(1, RWX);
    write_often(thread, code);
    translate(thread, code);
    unsigned first = pass_until_invalidated(thread, code);
    unsigned before = dumps();
    code[5]++; /* noticed by nobody: the page is writable */
    assert_int_equal(translate(thread, code), TR_CODE_PROTECTED);
    assert_int_equal(dumps(), before + 1);
    assert_false(is_writable(code));
    /* It was not for good. The next time that takes longer. */
    code[6]++;
    assert_int_equal(translate(thread, code), TR_CODE_CHANGING);
    assert_in_range(pass_until_invalidated(thread, code), 2 * first - 1, 2 * first + 1);
    assert_int_equal(translate(thread, code), TR_CODE_PROTECTED);
    unmap(thread, code, 1);
}

static void test_write_by_another_thread(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    struct tr_thread other = {.process = thread->process};
    /* Two threads fault at the same time: the second one finds the page writable. Its next fault is its own. */
    uint8_t *code = map(1, RWX);
    translate(thread, code);
    assert_true(tr_code_written(thread, (uint64_t)code + 8, 0));
    assert_true(tr_code_written(&other, (uint64_t)code + 9, 0));
    assert_false(tr_code_written(&other, (uint64_t)code + 9, 0));
    unmap(thread, code, 1);
}

/* Whatever gives protection back while a fault is on its way: it is the program's own when it comes again. */
static void test_fault_that_comes_late(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(1, RWX), *data = map(1, PROT_READ);
    tr_code_written(thread, (uint64_t)data, 0);
    assert_false(tr_code_written(thread, (uint64_t)data, 0));
    translate(thread, code);
    tr_code_changed(thread, (uint64_t)code, (uint64_t)code + PAGE); /* as madvise does */
    assert_true(tr_code_written(thread, (uint64_t)code, 0));
    assert_false(tr_code_written(thread, (uint64_t)code, 0));
    translate(thread, code);
    tr_code_unprotect(thread, 0, UINT64_MAX);
    assert_true(tr_code_written(thread, (uint64_t)code, 0));
    assert_false(tr_code_written(thread, (uint64_t)code, 0));
    unmap(thread, code, 1);
    munmap(data, PAGE);
}

static void test_write_by_the_kernel(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(2, RWX);
    translate(thread, code);
    translate(thread, code + PAGE);
    assert_false(is_writable(code));
    assert_true(tr_code_unprotect(thread, (uint64_t)code, (uint64_t)code + PAGE));
    assert_true(is_writable(code));
    assert_false(is_writable(code + PAGE));
    assert_true(stand_in_invalidated((uint64_t)code, (uint64_t)code + PAGE));
    assert_true(tr_code_unprotect(thread, 0, UINT64_MAX));
    assert_true(is_writable(code + PAGE));
    unmap(thread, code, 2);
}

static void test_stack_is_not_protected(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *stack = map(64, RWX);
    thread->app.r[TR_RSP] = (uint64_t)stack + 32 * PAGE;
    assert_int_equal(translate(thread, stack + 32 * PAGE + 64), TR_CODE_CHANGING);
    assert_true(is_writable(stack + 32 * PAGE));
    thread->app.r[TR_RSP] = 0;
    unmap(thread, stack, 64);
}

static void test_protection_goes_when_tracing_ends(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(4, RWX);
    for (unsigned i = 0; i < 4; i++)
        translate(thread, code + i * PAGE);
    change_protection(thread, code + 2 * PAGE, 1, PROT_WRITE | PROT_EXEC);
    tr_code_let_go(thread, true);
    for (unsigned i = 0; i < 4; i++)
        code[i * PAGE] = 1;
    assert_true(stand_in_invalidated((uint64_t)code, (uint64_t)code + 4 * PAGE));
    assert_int_equal(translate(thread, code), TR_CODE_CHANGING);
    code[0] = 2;
    unmap(thread, code, 4);
}

/* --- Changed mappings --- */

static void test_translations_stay_while_code_is_written_elsewhere(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(4, RX);
    translate(thread, code);
    translate(thread, code + 2 * PAGE);
    for (unsigned round = 0; round < 3; round++) {
        assert_int_equal(change_protection(thread, code, 4, RW), 0);
        code[PAGE] = (uint8_t)round;     /* holds no code */
        code[3 * PAGE] = (uint8_t)round; /* nor does this */
        assert_int_equal(change_protection(thread, code, 4, RX), 0);
    }
    assert_false(stand_in_invalidated((uint64_t)code, (uint64_t)code + 1));
    assert_int_equal(change_protection(thread, code, 4, RW), 0);
    code[2 * PAGE] = 9;
    assert_true(stand_in_invalidated((uint64_t)code + 2 * PAGE, (uint64_t)code + 3 * PAGE));
    assert_false(stand_in_invalidated((uint64_t)code, (uint64_t)code + 1));
    assert_int_equal(change_protection(thread, code, 4, RX), 0);
    assert_false(is_writable(code));
    assert_int_equal(translate(thread, code + 2 * PAGE), TR_CODE_PROTECTED);
    assert_int_equal(stand_in_dump(stand_in_mapping((uint64_t)code + 2 * PAGE))[0], 9);
    unmap(thread, code, 4);
}

static void test_code_that_must_not_run(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(1, RX);
    translate(thread, code);
    assert_int_equal(change_protection(thread, code, 1, PROT_READ), 0);
    assert_true(stand_in_invalidated((uint64_t)code, (uint64_t)code + PAGE));
    assert_int_equal(kind_at(thread, code), TR_CODE_NONE);
    assert_int_equal(change_protection(thread, code, 1, RX), 0);
    assert_int_equal(kind_at(thread, code), TR_CODE_PROTECTED);
    assert_int_equal(change_protection(thread, code, 1, PROT_NONE), 0);
    unmap(thread, code, 1);
}

static void test_moved_code(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(1, RWX);
    translate(thread, code);
    assert_true(tr_code_changed(thread, (uint64_t)code, (uint64_t)code + PAGE));
    assert_true(stand_in_invalidated((uint64_t)code, (uint64_t)code + PAGE));
    uint8_t *moved = mremap(code, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
    moved[0] = 1; /* its protection was not moved with it */
    assert_int_equal(translate(thread, moved), TR_CODE_PROTECTED);
    unmap(thread, moved, 2);
}

static void test_another_mapping_in_the_place(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(1, RWX);
    memset(code, 1, PAGE);
    translate(thread, code);
    tr_code_changed(thread, (uint64_t)code, (uint64_t)code + PAGE);
    assert_ptr_equal(mmap(code, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), code);
    tr_code_mapped(thread, (uint64_t)code, (uint64_t)code + PAGE);
    assert_int_equal(kind_at(thread, code), TR_CODE_NONE);
    code[0] = 2;
    unmap(thread, code, 1);
}

/* Nobody reported the change: a process that shares the memory made it, or an unknown system call. */
static void test_unknown_change(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *code = map(2, RX), *stays = map(1, RX);
    translate(thread, code);
    translate(thread, stays);
    munmap(code, PAGE);
    tr_code_unknown(thread);
    assert_true(stand_in_invalidated((uint64_t)code, (uint64_t)code + PAGE));
    assert_false(stand_in_invalidated((uint64_t)stays, (uint64_t)stays + 1));
    assert_int_equal(kind_at(thread, code), TR_CODE_NONE);
    unmap(thread, code + PAGE, 1);
    unmap(thread, stays, 1);
}

static void test_file_that_is_written_in_memory(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    char path[] = "/tmp/magic-trace-code-XXXXXX";
    int file = mkstemp(path);
    assert_int_equal(ftruncate(file, 3 * PAGE), 0);
    uint8_t *code = mmap(NULL, 3 * PAGE, RX, MAP_PRIVATE, file, 0);
    close(file);
    assert_int_equal(translate(thread, code), TR_CODE_FILE);
    assert_string_equal(stand_in_mapping((uint64_t)code)->path, path);
    assert_int_equal(change_protection(thread, code, 3, RWX), 0);
    assert_true(stand_in_invalidated((uint64_t)code, (uint64_t)code + 3 * PAGE));
    code[PAGE + 1] = 5;
    assert_int_equal(translate(thread, code + PAGE), TR_CODE_PROTECTED);
    assert_int_equal(translate(thread, code), TR_CODE_PROTECTED);
    assert_int_equal(change_protection(thread, code, 3, RX), 0);
    assert_int_equal(translate(thread, code + 2 * PAGE), TR_CODE_PROTECTED);
    const struct logged_mapping *mapping = stand_in_mapping((uint64_t)code + PAGE);
    assert_int_equal(mapping->jit, 1);
    assert_int_equal(stand_in_dump(mapping)[1], 5);
    assert_int_equal(stand_in_mapping((uint64_t)code)->jit, 0);
    assert_int_equal(stand_in_mapping((uint64_t)code + 2 * PAGE)->jit, 0);
    unlink(path);
    unmap(thread, code, 3);
}

/* --- The same memory, mapped twice --- */

static void test_two_mappings(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    int file = memfd_create("code", 0);
    assert_int_equal(ftruncate(file, 2 * PAGE), 0);
    uint8_t *code = mmap(NULL, 2 * PAGE, RX, MAP_SHARED, file, 0);
    assert_int_equal(translate(thread, code), TR_CODE_PROTECTED);
    uint8_t *view = mmap(NULL, PAGE, RW, MAP_SHARED, file, 0);
    tr_code_mapped_shared(thread, (uint64_t)view, (uint64_t)view + PAGE, file, 0);
    assert_true(stand_in_invalidated((uint64_t)code, (uint64_t)code + PAGE));
    assert_int_equal(translate(thread, code), TR_CODE_CHANGING);
    unsigned before = dumps();
    view[3] = 3;
    assert_int_equal(translate(thread, code), TR_CODE_CHANGING);
    assert_int_equal(dumps(), before + 1);
    unmap(thread, view, 1);
    assert_int_equal(translate(thread, code), TR_CODE_PROTECTED);
    unmap(thread, code, 2);
    close(file);
}

/* --- The end of /proc; last, for it holds from then on --- */

static void test_sealed(void **state)
{
    struct tr_thread *thread = stand_in_begin();
    uint8_t *known = map(1, RX);
    tr_code_seal(thread);
    uint8_t *later = map(1, RX);
    assert_int_equal(translate(thread, known), TR_CODE_PROTECTED);
    assert_int_equal(translate(thread, later), TR_CODE_CHANGING);
    assert_non_null(stand_in_dump(stand_in_mapping((uint64_t)later)));
    assert_int_equal(kind_at(thread, (void *)test_sealed), TR_CODE_FILE);
}

static int end(void **state)
{
    stand_in_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_code_of_a_file, end),
        cmocka_unit_test_teardown(test_file_of_a_trigger, end),
        cmocka_unit_test_teardown(test_nothing_to_execute, end),
        cmocka_unit_test_teardown(test_own_memory_next_to_code, end),
        cmocka_unit_test_teardown(test_vdso, end),
        cmocka_unit_test_teardown(test_dump, end),
        cmocka_unit_test_teardown(test_no_space_for_dumps, end),
        cmocka_unit_test_teardown(test_deleted_file, end),
        cmocka_unit_test_teardown(test_write_is_noticed, end),
        cmocka_unit_test_teardown(test_write_after_the_maps_were_read_again, end),
        cmocka_unit_test_teardown(test_page_that_is_written_often, end),
        cmocka_unit_test_teardown(test_instruction_across_pages, end),
        cmocka_unit_test_teardown(test_bytes_that_are_put_back, end),
        cmocka_unit_test_teardown(test_page_that_is_not_written_any_more, end),
        cmocka_unit_test_teardown(test_write_by_another_thread, end),
        cmocka_unit_test_teardown(test_fault_that_comes_late, end),
        cmocka_unit_test_teardown(test_write_by_the_kernel, end),
        cmocka_unit_test_teardown(test_stack_is_not_protected, end),
        cmocka_unit_test_teardown(test_protection_goes_when_tracing_ends, end),
        cmocka_unit_test_teardown(test_translations_stay_while_code_is_written_elsewhere, end),
        cmocka_unit_test_teardown(test_code_that_must_not_run, end),
        cmocka_unit_test_teardown(test_moved_code, end),
        cmocka_unit_test_teardown(test_another_mapping_in_the_place, end),
        cmocka_unit_test_teardown(test_unknown_change, end),
        cmocka_unit_test_teardown(test_file_that_is_written_in_memory, end),
        cmocka_unit_test_teardown(test_two_mappings, end),
        cmocka_unit_test_teardown(test_sealed, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
