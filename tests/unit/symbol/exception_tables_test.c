/* Exception tables made by hand, in encodings that compilers here do not choose, and tables of any
 * bytes: nothing reads beyond the file, and every answer is code or nothing.
 */
#include "base/memory.h"
#include "symbol/eh_frame/eh_pointer.h"
#include "symbol/eh_frame/frame_entries.h"
#include "symbol/eh_frame/landing_pads.h"

#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    CODE = 0x10000, /* the object's code; the bytes of the file follow it */
    CODE_SIZE = 0x1000,
    TABLE = 0x20000,
    FUNCTION = CODE + 0x100,
    FUNCTION_SIZE = 0x200,
};

struct made_object {
    struct image_segment segments[2];
    struct image_file file;
    struct landing_pads pads;
};

static void make_object(struct made_object *object, const uint8_t *table, size_t size)
{
    object->segments[0] = (struct image_segment){.address = CODE,
                                                 .file_size = CODE_SIZE,
                                                 .memory_size = CODE_SIZE,
                                                 .file_offset = 0x100000,
                                                 .executable = true};
    object->segments[1] =
        (struct image_segment){.address = TABLE, .file_size = size, .memory_size = size};
    object->file = (struct image_file){.view = {.bytes = table, .size = size},
                                       .elf = true,
                                       .segments = object->segments,
                                       .segment_count = 2};
    struct array entries = array_of(sizeof(struct frame_entry));
    *(struct frame_entry *)array_add(&entries) =
        (struct frame_entry){FUNCTION + FUNCTION_SIZE, CODE + CODE_SIZE, 0};
    *(struct frame_entry *)array_add(&entries) =
        (struct frame_entry){FUNCTION, FUNCTION + FUNCTION_SIZE, TABLE};
    landing_pads_init(&object->pads, &object->file, &entries);
    array_free(&entries);
}

static uint64_t find(const uint8_t *table, size_t size, uint64_t return_address)
{
    struct made_object object;
    /* On the heap, so that sanitizers see reads beyond the end. */
    uint8_t *copy = memory_allocate(size);
    memcpy(copy, table, size);
    make_object(&object, copy, size);
    uint64_t pad = landing_pads_find(&object.pads, return_address);
    landing_pads_free(&object.pads);
    free(copy);
    return pad;
}

#define FIND(return_address, ...)                                                                  \
    find((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), return_address)

/* Two call sites: [0x10, 0x15) goes on at 0x40, [0x20, 0x25) nowhere. */
#define ULEB_SITES 0x10, 5, 0x40, 1, 0x20, 5, 0, 0

static void call_sites_are_ranges(void **state)
{
#define TABLE_BYTES DW_EH_PE_omit, DW_EH_PE_omit, DW_EH_PE_uleb128, 8, ULEB_SITES
    assert_int_equal(FIND(FUNCTION + 0x10, TABLE_BYTES), 0); /* the call is before the range */
    assert_int_equal(FIND(FUNCTION + 0x11, TABLE_BYTES), FUNCTION + 0x40);
    assert_int_equal(FIND(FUNCTION + 0x15, TABLE_BYTES), FUNCTION + 0x40); /* its last bytes */
    assert_int_equal(FIND(FUNCTION + 0x16, TABLE_BYTES), 0);
    assert_int_equal(FIND(FUNCTION + 0x25, TABLE_BYTES), 0);
    assert_int_equal(FIND(FUNCTION, TABLE_BYTES), 0);
    assert_int_equal(FIND(FUNCTION + FUNCTION_SIZE, TABLE_BYTES), 0);
    assert_int_equal(FIND(FUNCTION + FUNCTION_SIZE + 1, TABLE_BYTES), 0);
    assert_int_equal(FIND(0, TABLE_BYTES), 0);
}

static void the_types_are_skipped(void **state)
{
    assert_int_equal(FIND(FUNCTION + 0x15, DW_EH_PE_omit,
                          DW_EH_PE_pcrel | DW_EH_PE_indirect | DW_EH_PE_sdata4, 0x80, 0x01,
                          DW_EH_PE_uleb128, 8, ULEB_SITES),
                     FUNCTION + 0x40);
}

static void call_sites_have_fixed_sizes(void **state)
{
    assert_int_equal(FIND(FUNCTION + 0x111, DW_EH_PE_omit, DW_EH_PE_omit, DW_EH_PE_udata2, 7, 0x10,
                          1, 5, 0, 0x40, 1, 0),
                     FUNCTION + 0x140);
    assert_int_equal(FIND(FUNCTION + 0x111, DW_EH_PE_omit, DW_EH_PE_omit, DW_EH_PE_udata4, 13, 0x10,
                          1, 0, 0, 5, 0, 0, 0, 0x40, 1, 0, 0, 0),
                     FUNCTION + 0x140);
    assert_int_equal(FIND(FUNCTION + 0x111, DW_EH_PE_omit, DW_EH_PE_omit, DW_EH_PE_udata8, 25, 0x10,
                          1, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0, 0, 0, 0, 0,
                          0),
                     FUNCTION + 0x140);
}

static void landing_pads_can_have_a_start_of_their_own(void **state)
{
    /* 0x10800, absolute */
    assert_int_equal(FIND(FUNCTION + 0x15, DW_EH_PE_udata4, 0x00, 0x08, 0x01, 0x00, DW_EH_PE_omit,
                          DW_EH_PE_uleb128, 8, ULEB_SITES),
                     CODE + 0x840);
    /* relative to the byte after the encoding: 0x20001 - 0xf801 */
    assert_int_equal(FIND(FUNCTION + 0x15, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 0xff, 0x07, 0xff, 0xff,
                          DW_EH_PE_omit, DW_EH_PE_uleb128, 8, ULEB_SITES),
                     CODE + 0x840);
    /* relative to the function */
    assert_int_equal(FIND(FUNCTION + 0x15, DW_EH_PE_funcrel | DW_EH_PE_uleb128, 0x80, 0x01,
                          DW_EH_PE_omit, DW_EH_PE_uleb128, 8, ULEB_SITES),
                     FUNCTION + 0x80 + 0x40);
}

static void a_landing_pad_outside_of_the_code_is_none(void **state)
{
    assert_int_equal(FIND(FUNCTION + 0x15, DW_EH_PE_udata4, 0x00, 0x00, 0x02, 0x00, DW_EH_PE_omit,
                          DW_EH_PE_uleb128, 8, ULEB_SITES),
                     0);
}

static void a_table_that_is_cut_has_no_landing_pads(void **state)
{
    static const uint8_t table[] = {
        DW_EH_PE_omit, DW_EH_PE_omit, DW_EH_PE_uleb128, 4, 0x10, 5, 0x40, 1};
    assert_int_equal(find(table, sizeof table, FUNCTION + 0x15), FUNCTION + 0x40);
    for (size_t size = 1; size < sizeof table; size++)
        assert_int_equal(find(table, size, FUNCTION + 0x15), 0);
}

/* The same numbers on every machine. */
static uint8_t next_byte(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return (uint8_t)(*state >> 56);
}

static void any_bytes_do_no_harm(void **state)
{
    uint64_t random = 1;
    unsigned found = 0;
    for (int round = 0; round < 20000; round++) {
        uint8_t table[64];
        size_t size = 1 + next_byte(&random) % sizeof table;
        for (size_t i = 0; i < size; i++)
            table[i] = next_byte(&random);
        /* Half of them have a header that compilers write. */
        static const uint8_t header[] = {DW_EH_PE_omit, DW_EH_PE_omit, DW_EH_PE_uleb128};
        if (round % 2)
            memcpy(table, header, size < sizeof header ? size : sizeof header);
        uint64_t pad = find(table, size, FUNCTION + next_byte(&random));
        assert_true(pad == 0 || (pad >= CODE && pad < CODE + CODE_SIZE));
        found += pad != 0;
    }
    assert_int_not_equal(found, 0);
}

static uint64_t read_pointer(uint8_t encoding, const uint8_t *bytes, size_t size)
{
    struct eh_reader reader = {bytes, bytes, bytes + size, 0x1001, false};
    struct eh_bases bases = {.text = 0x100000, .data = 0x200000, .function = 0x300000};
    uint64_t value = eh_read_pointer(&reader, encoding, &bases);
    return reader.failed ? UINT64_MAX : value;
}

#define READ_POINTER(encoding, ...)                                                                \
    read_pointer(encoding, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void pointers_have_a_format_and_a_base(void **state)
{
    assert_int_equal(READ_POINTER(DW_EH_PE_udata2, 0xfe, 0xff), 0xfffe);
    assert_int_equal(READ_POINTER(DW_EH_PE_pcrel | DW_EH_PE_sdata2, 0xfe, 0xff), 0xfff);
    assert_int_equal(READ_POINTER(DW_EH_PE_textrel | DW_EH_PE_udata4, 1, 0, 0, 0), 0x100001);
    assert_int_equal(READ_POINTER(DW_EH_PE_datarel | DW_EH_PE_sdata4, 0xff, 0xff, 0xff, 0xff),
                     0x1fffff);
    assert_int_equal(READ_POINTER(DW_EH_PE_funcrel | DW_EH_PE_sleb128, 0x7f), 0x2fffff);
    assert_int_equal(READ_POINTER(DW_EH_PE_funcrel | DW_EH_PE_uleb128, 0xff, 0x01), 0x3000ff);
    assert_int_equal(READ_POINTER(DW_EH_PE_absptr, 8, 7, 6, 5, 4, 3, 2, 1), 0x0102030405060708);
    assert_int_equal(READ_POINTER(DW_EH_PE_pcrel | DW_EH_PE_sdata4, 0, 0, 0, 0), 0); /* null */
    assert_int_equal(READ_POINTER(DW_EH_PE_omit, 1), 0);
    /* at 0x1008, the next multiple of 8 */
    assert_int_equal(
        READ_POINTER(DW_EH_PE_aligned, 9, 9, 9, 9, 9, 9, 9, 0x34, 0x12, 0, 0, 0, 0, 0, 0), 0x1234);
    assert_true(READ_POINTER(DW_EH_PE_udata4, 1, 2, 3) == UINT64_MAX);
    assert_true(READ_POINTER(DW_EH_PE_aligned, 1, 2, 3) == UINT64_MAX);
    assert_true(READ_POINTER(0x05, 1, 2, 3, 4, 5, 6, 7, 8) == UINT64_MAX);
    assert_true(READ_POINTER(0x63, 1, 2, 3, 4) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_sites_are_ranges),
        cmocka_unit_test(the_types_are_skipped),
        cmocka_unit_test(call_sites_have_fixed_sizes),
        cmocka_unit_test(landing_pads_can_have_a_start_of_their_own),
        cmocka_unit_test(a_landing_pad_outside_of_the_code_is_none),
        cmocka_unit_test(a_table_that_is_cut_has_no_landing_pads),
        cmocka_unit_test(any_bytes_do_no_harm),
        cmocka_unit_test(pointers_have_a_format_and_a_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
