#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/qemu_plugin/block_cost.h"

#include <string.h>

/* Of a block of `times` times the one instruction. */
static uint32_t cost_of(const char *instruction, size_t times)
{
    uint8_t bytes[256], length[64];
    size_t size = strlen(instruction);
    assert_true(times <= sizeof length && times * size <= sizeof bytes);
    for (size_t i = 0; i < times; i++) {
        memcpy(bytes + i * size, instruction, size);
        length[i] = (uint8_t)size;
    }
    return block_cost(bytes, length, times);
}

#define ADD "\x48\x01\xd8"        /* add %rbx, %rax */
#define LOAD "\x48\x8b\x06"       /* mov (%rsi), %rax */
#define DIV "\x48\xf7\xf3"        /* div %rbx */
#define PADDD "\x66\x0f\xfe\xc1"  /* paddd %xmm1, %xmm0 */
#define MOVUPS "\x0f\x10\x06"     /* movups (%rsi), %xmm0 */
#define ADDSD "\xf2\x0f\x58\xc1"  /* addsd %xmm1, %xmm0 */
#define ADDPD "\x66\x0f\x58\xc1"  /* addpd %xmm1, %xmm0 */
#define ADDPS "\x0f\x58\xc1"      /* addps %xmm1, %xmm0 */
#define VADDPS "\xc5\xfc\x58\xd1" /* vaddps %ymm1, %ymm0, %ymm2 */
#define SHUFPS "\x0f\xc6\xc1\x1b" /* shufps $0x1b, %xmm1, %xmm0 */
#define JUMP "\xff\xe0"           /* jmp *%rax */
#define BAD "\x06"                /* not in 64-bit mode */

static void an_empty_block_is_not_free(void **state)
{
    assert_true(block_cost(NULL, NULL, 0) > 0);
}

static void instructions_add_up(void **state)
{
    uint32_t none = block_cost(NULL, NULL, 0);
    uint32_t few = cost_of(ADD, 8) - none, many = cost_of(ADD, 32) - none;
    assert_true(few > 0);
    assert_int_equal(many, 4 * few);
}

static void what_qemu_computes_in_functions_costs_more(void **state)
{
    assert_true(cost_of(LOAD, 32) > cost_of(ADD, 32));
    assert_true(cost_of(DIV, 32) > 5 * cost_of(ADD, 32));
    assert_true(cost_of(PADDD, 32) > 2 * cost_of(ADD, 32));
    assert_true(cost_of(ADDSD, 32) > 5 * cost_of(ADD, 32));
    assert_true(cost_of(MOVUPS, 32) > cost_of(PADDD, 32));
    assert_true(cost_of(JUMP, 1) > 4 * cost_of(ADD, 1));
}

static void floating_point_costs_by_the_number(void **state)
{
    assert_true(cost_of(ADDPD, 32) > cost_of(ADDSD, 32));
    assert_true(cost_of(ADDPS, 32) > cost_of(ADDPD, 32));
    assert_true(cost_of(VADDPS, 32) > cost_of(ADDPS, 32));
    assert_true(cost_of(SHUFPS, 32) < cost_of(ADDSD, 32));
}

static void what_is_no_instruction_counts_as_a_simple_one(void **state)
{
    assert_int_equal(cost_of(BAD, 32), cost_of(ADD, 32));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_block_is_not_free),
        cmocka_unit_test(instructions_add_up),
        cmocka_unit_test(what_qemu_computes_in_functions_costs_more),
        cmocka_unit_test(floating_point_costs_by_the_number),
        cmocka_unit_test(what_is_no_instruction_counts_as_a_simple_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
