/* Where control goes in a function's code: jumps by their targets, and ends of code with the NOPs that follow. */
#include "symbol/code_flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { START = 0x1000 };

static const uint8_t code[] = {
    0x74, 0x0a,                   /* 1000: je 100c */
    0xeb, 0x0b,                   /* 1002: jmp 100f */
    0x66, 0x90,                   /* 1004: nop */
    0x0f, 0x1f, 0x40, 0x00,       /* 1006: nop */
    0x31, 0xc0,                   /* 100a: xor */
    0xe8, 0x00, 0x00, 0x00, 0x00, /* 100c: call */
    0xc3,                         /* 1011: ret */
    0x90,                         /* 1012: nop */
    0x75, 0xf7,                   /* 1013: jne 100c */
};

static struct code_flow read_code(uint64_t end)
{
    struct image_segment segment = {
        .address = START, .file_size = sizeof code, .memory_size = sizeof code, .executable = true};
    struct image_file file = {
        .view = {.bytes = code, .size = sizeof code}, .segments = &segment, .segment_count = 1};
    return code_flow_read(&file, START, end);
}

static void jumps_are_found_by_their_targets(void **state)
{
    (void)state;
    struct code_flow flow = read_code(START + sizeof code);
    size_t count;
    const struct code_jump *jumps = code_flow_jumps(&flow, 0x100c, 0x100d, &count);
    assert_int_equal(count, 2);
    assert_int_equal(jumps[0].from, 0x1000);
    assert_int_equal(jumps[1].from, 0x1013);
    code_flow_jumps(&flow, 0x1000, 0x100c, &count);
    assert_int_equal(count, 0);
    code_flow_jumps(&flow, 0x1000, UINT64_MAX, &count);
    assert_int_equal(count, 3);
    code_flow_free(&flow);
}

static void code_ends_after_jumps_and_returns(void **state)
{
    (void)state;
    struct code_flow flow = read_code(START + sizeof code);
    assert_null(code_flow_end(&flow, 0x1002));
    const struct code_end *end = code_flow_end(&flow, 0x1004);
    assert_int_equal(end->target, 0x100f);
    assert_ptr_equal(code_flow_end(&flow, 0x1006), end);
    assert_ptr_equal(code_flow_end(&flow, 0x100a), end);
    assert_null(code_flow_end(&flow, 0x100c));
    assert_null(code_flow_end(&flow, 0x1011));
    assert_int_equal(code_flow_end(&flow, 0x1012)->target, 0);
    assert_non_null(code_flow_end(&flow, 0x1013));
    assert_null(code_flow_end(&flow, 0x1015));
    code_flow_free(&flow);
}

static void what_is_missing_has_no_jumps(void **state)
{
    (void)state;
    struct code_flow flow = read_code(START + 1);
    size_t count;
    assert_null(code_flow_jumps(&flow, 0, UINT64_MAX, &count));
    assert_int_equal(count, 0);
    assert_null(code_flow_end(&flow, START));
    code_flow_free(&flow);
    struct image_file missing = {.path = "missing"};
    flow = code_flow_read(&missing, START, START + 100);
    assert_null(code_flow_end(&flow, START + 2));
    code_flow_free(&flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps_are_found_by_their_targets),
        cmocka_unit_test(code_ends_after_jumps_and_returns),
        cmocka_unit_test(what_is_missing_has_no_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
