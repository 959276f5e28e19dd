/* Code that a JIT compiler dumped for perf: what, where and when. */
#include "image/jitdump.h"

#include "base/memory.h"
#include "image/address_space.h"
#include "image_fixture.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BEGUN = 5000000, LOAD = 0, MOVE = 1, CLOSE = 3 };

struct record {
    uint32_t type, size;
    uint64_t time;
};

static struct array new_dump(uint64_t flags)
{
    struct array bytes = array_of(1);
    const uint32_t header[6] = {0x4a695444, 1, 40, EM_X86_64, 0, 7};
    const uint64_t rest[2] = {BEGUN, flags};
    array_add_all(&bytes, header, sizeof header);
    array_add_all(&bytes, rest, sizeof rest);
    return bytes;
}

static void add_load(struct array *dump, uint64_t time, uint64_t address, uint64_t index,
                     const char *name, const char *code)
{
    const uint64_t body[] = {7 | (uint64_t)7 << 32, address, address, strlen(code), index};
    size_t name_size = strlen(name) + 1;
    const struct record record = {
        LOAD, (uint32_t)(sizeof record + sizeof body + name_size + strlen(code)), time};
    array_add_all(dump, &record, sizeof record);
    array_add_all(dump, body, sizeof body);
    array_add_all(dump, name, name_size);
    array_add_all(dump, code, strlen(code));
}

static void add_move(struct array *dump, uint64_t time, uint64_t address, uint64_t index)
{
    const uint64_t body[] = {7 | (uint64_t)7 << 32, address, 0, address, 4, index};
    const struct record record = {MOVE, sizeof record + sizeof body, time};
    array_add_all(dump, &record, sizeof record);
    array_add_all(dump, body, sizeof body);
}

static struct array sample_dump(uint64_t flags)
{
    struct array dump = new_dump(flags);
    add_load(&dump, BEGUN + 1000, 0x1000, 0, "first", "1111");
    add_load(&dump, BEGUN + 2000, 0x2000, 1, "second", "2222");
    add_load(&dump, BEGUN + 3000, 0x1000, 2, "third", "33333333");
    add_move(&dump, BEGUN + 4000, 0x3000, 1);
    const struct record close = {CLOSE, sizeof close, BEGUN + 5000};
    array_add_all(&dump, &close, sizeof close);
    return dump;
}

static void names_are_recognised(void **state)
{
    assert_true(jitdump_is_name("/tmp/jit-123.dump"));
    assert_true(jitdump_is_name("jit-1.dump"));
    assert_false(jitdump_is_name("/tmp/jit-.dump"));
    assert_false(jitdump_is_name("/tmp/jit-12x.dump"));
    assert_false(jitdump_is_name("/tmp/jit-12.dump.old"));
    assert_false(jitdump_is_name("/tmp/xjit-12.dump"));
}

static void loads_and_moves_are_read(void **state)
{
    struct array bytes = sample_dump(0);
    const struct file_view view = {bytes.elements, bytes.count};
    struct jitdump dump;
    assert_true(jitdump_read(&dump, &view));
    assert_false(dump.times_are_ticks);
    assert_int_equal(dump.begun, BEGUN);
    assert_int_equal(dump.codes.count, 4);
    const struct jitdump_code *code = array_at(&dump.codes, 3);
    assert_int_equal(code->time, BEGUN + 4000);
    assert_int_equal(code->address, 0x3000);
    assert_int_equal(code->size, 4);
    assert_string_equal(code->name, "second");
    assert_memory_equal(view.bytes + code->file_offset, "2222", 4);
    jitdump_free(&dump);
    array_free(&bytes);
}

static void what_is_none_is_refused(void **state)
{
    for (size_t word = 0; word < 4; word++) {
        struct array bytes = sample_dump(0);
        ((uint32_t *)bytes.elements)[word] = word == 2 ? 39 : 62 + (word == 3);
        const struct file_view view = {bytes.elements, bytes.count};
        struct jitdump dump;
        assert_false(jitdump_read(&dump, &view));
        array_free(&bytes);
    }
    struct jitdump dump;
    assert_false(jitdump_read(&dump, &(struct file_view){(const uint8_t *)"JiTD", 4}));
}

static void damage_ends_the_reading(void **state)
{
    struct array bytes = sample_dump(0);
    for (size_t size = 40; size < bytes.count; size++) {
        struct array copy = array_of(1);
        array_add_all(&copy, bytes.elements, size);
        const struct file_view view = {copy.elements, copy.count};
        struct jitdump dump;
        assert_true(jitdump_read(&dump, &view));
        for (size_t i = 0; i < dump.codes.count; i++) {
            const struct jitdump_code *code = array_at(&dump.codes, i);
            assert_true(code->file_offset + code->size <= size);
        }
        jitdump_free(&dump);
        array_free(&copy);
    }
    array_free(&bytes);
}

/* ---- in a recording ---- */

struct expectation {
    uint64_t time, address;
    const char *name; /* NULL: no such code */
    const char *code;
};

static void check(const struct address_spaces *spaces, const struct expectation *expected)
{
    struct address_space_cursor cursor;
    address_space_cursor_init(&cursor, address_spaces_process(spaces, 7));
    address_space_cursor_advance(&cursor, (struct ticks){expected->time});
    const struct mapping *mapping = address_space_find(&cursor, expected->address);
    if (expected->name) {
        assert_non_null(mapping);
        assert_string_equal(mapping->file->code_name, expected->name);
        assert_memory_equal(mapping->file->view.bytes + mapping->file_offset +
                                (expected->address - mapping->start),
                            expected->code, strlen(expected->code));
    } else {
        assert_true(!mapping || !mapping->file->code_name);
    }
    address_space_cursor_free(&cursor);
}

static void check_all(uint64_t flags, uint64_t mapped, const struct expectation *expected,
                      size_t count)
{
    char *folder = make_test_folder();
    char *path = memory_format("%s/jit-7.dump", folder);
    struct array bytes = sample_dump(flags);
    write_file(path, bytes.elements, bytes.count);
    array_free(&bytes);
    struct recording recording = recording_new();
    add_mapping(&recording, mapped, 7, 0x100000, 0x101000, 0, path);
    /* The compiler makes its memory executable once more. */
    add_mapping(&recording, 10002500, 7, 0x1000, 0x4000, 0, "//anon");
    struct perf_data data = recording_of(&recording);
    struct address_spaces spaces;
    assert_true(address_spaces_build(&spaces, &data, NULL, NULL));
    for (size_t i = 0; i < count; i++)
        check(&spaces, &expected[i]);
    address_spaces_free(&spaces);
    recording_free(&recording);
    free(path);
    remove_test_folder(folder);
}

/* The dump was begun when it was mapped, at 10,000,000 ns; code counts from 100 us before. */
static void times_are_reported_by_the_mapping_of_the_dump(void **state)
{
    const struct expectation expected[] = {
        {9900999, 0x1000, NULL, ""},        {9901000, 0x1000, "first", "1111"},
        {9902999, 0x1000, "first", "1111"}, {9903000, 0x1004, "third", "3333"},
        {9902000, 0x2002, "second", "22"},  {9903999, 0x3000, NULL, ""},
        {9904000, 0x3000, "second", "2"},   {99999999, 0x1000, "third", "3"},
    };
    check_all(0, 10000000, expected, 8);
}

static void ticks_need_no_mapping_time(void **state)
{
    const struct expectation expected[] = {
        {BEGUN + 999, 0x1000, NULL, ""},
        {BEGUN + 1000, 0x1000, "first", "1111"},
        {BEGUN + 3000, 0x1000, "third", "3333"},
    };
    check_all(1, 10000000, expected, 3);
}

static void without_times_code_is_there_from_the_beginning(void **state)
{
    const struct expectation expected[] = {
        {1, 0x1000, "third", "3333"}, {1, 0x2000, "second", "2"}, {1, 0x3000, "second", "2"}};
    check_all(0, 0, expected, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_recognised),
        cmocka_unit_test(loads_and_moves_are_read),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(damage_ends_the_reading),
        cmocka_unit_test(times_are_reported_by_the_mapping_of_the_dump),
        cmocka_unit_test(ticks_need_no_mapping_time),
        cmocka_unit_test(without_times_code_is_there_from_the_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
