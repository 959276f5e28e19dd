#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "x86/decode.h"

#include <string.h>

enum { PC = 0x401000 };

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static struct x86_instruction decode(const uint8_t *bytes, size_t size)
{
    struct x86_instruction instruction;
    assert_true(x86_decode(&instruction, bytes, size, PC, X86_MODE_64));
    assert_int_equal(instruction.length, size);
    return instruction;
}

static void expect(enum x86_flow flow, const uint8_t *bytes, size_t size)
{
    assert_int_equal(decode(bytes, size).flow, flow);
}

static void expect_target(enum x86_flow flow, uint64_t target, const uint8_t *bytes, size_t size)
{
    struct x86_instruction instruction = decode(bytes, size);
    assert_int_equal(instruction.flow, flow);
    assert_int_equal(instruction.target, target);
}

static void conditional_jumps_have_a_target(void **state)
{
    expect_target(X86_CONDITIONAL, PC + 2 + 0x10, BYTES(0x74, 0x10)); /* je */
    expect_target(X86_CONDITIONAL, PC, BYTES(0x75, 0xfe));            /* jne self */
    expect_target(X86_CONDITIONAL, PC + 6 - 0x100, BYTES(0x0f, 0x85, 0x00, 0xff, 0xff, 0xff));
    expect_target(X86_CONDITIONAL, PC + 2 - 5, BYTES(0xe2, 0xfb));          /* loop */
    expect_target(X86_CONDITIONAL, PC + 2 + 5, BYTES(0xe1, 0x05));          /* loope */
    expect_target(X86_CONDITIONAL, PC + 2 + 5, BYTES(0xe0, 0x05));          /* loopne */
    expect_target(X86_CONDITIONAL, PC + 2 + 5, BYTES(0xe3, 0x05));          /* jrcxz */
    expect_target(X86_CONDITIONAL, PC + 3 + 5, BYTES(0x67, 0xe3, 0x05));    /* jecxz */
    expect_target(X86_CONDITIONAL, PC + 3 + 0x10, BYTES(0x3e, 0x74, 0x10)); /* hinted */
    expect_target(X86_CONDITIONAL, PC + 3 + 0x10, BYTES(0xf2, 0x74, 0x10)); /* bnd je */
}

static void direct_jumps_and_calls_have_a_target(void **state)
{
    expect_target(X86_JUMP, PC + 2 - 2, BYTES(0xeb, 0xfe));
    expect_target(X86_JUMP, PC + 5 + 0x12345678, BYTES(0xe9, 0x78, 0x56, 0x34, 0x12));
    expect_target(X86_JUMP, PC + 6 + 0x100, BYTES(0xf2, 0xe9, 0x00, 0x01, 0x00, 0x00)); /* bnd */
    expect_target(X86_CALL, PC + 5 - 0x10, BYTES(0xe8, 0xf0, 0xff, 0xff, 0xff));
    expect_target(X86_CALL, PC + 5, BYTES(0xe8, 0x00, 0x00, 0x00, 0x00)); /* call +0 */
    expect_target(X86_CALL, PC + 6 + 0x20, BYTES(0xf2, 0xe8, 0x20, 0x00, 0x00, 0x00));
    expect_target(X86_CALL, PC + 7 + 0x20, BYTES(0x66, 0x48, 0xe8, 0x20, 0x00, 0x00, 0x00));
}

static void indirect_jumps_and_calls(void **state)
{
    expect(X86_INDIRECT_JUMP, BYTES(0xff, 0xe0));                               /* jmp *%rax */
    expect(X86_INDIRECT_JUMP, BYTES(0xff, 0x25, 0x10, 0x00, 0x00, 0x00));       /* jmp *x(%rip) */
    expect(X86_INDIRECT_JUMP, BYTES(0xf2, 0xff, 0x25, 0x10, 0x00, 0x00, 0x00)); /* bnd */
    expect(X86_INDIRECT_JUMP, BYTES(0x3e, 0xff, 0xe0));                         /* notrack */
    expect(X86_INDIRECT_JUMP, BYTES(0x41, 0xff, 0x24, 0xc4)); /* jmp *(%r12,%rax,8) */
    expect(X86_INDIRECT_CALL, BYTES(0xff, 0xd0));
    expect(X86_INDIRECT_CALL, BYTES(0xff, 0x15, 0x10, 0x00, 0x00, 0x00));
    expect(X86_INDIRECT_CALL, BYTES(0x41, 0xff, 0x54, 0x24, 0x18));
    expect(X86_INDIRECT_CALL, BYTES(0x67, 0xff, 0x10));
}

static void returns(void **state)
{
    expect(X86_RETURN, BYTES(0xc3));
    expect(X86_RETURN, BYTES(0xf3, 0xc3)); /* rep ret */
    expect(X86_RETURN, BYTES(0xf2, 0xc3)); /* bnd ret */
    expect(X86_RETURN, BYTES(0xc2, 0x08, 0x00));
}

static void far_transfers_leave_the_mode(void **state)
{
    expect(X86_FAR_CALL, BYTES(0x0f, 0x05));               /* syscall */
    expect(X86_FAR_CALL, BYTES(0x0f, 0x34));               /* sysenter */
    expect(X86_FAR_RETURN, BYTES(0x0f, 0x07));             /* sysret */
    expect(X86_FAR_RETURN, BYTES(0x0f, 0x35));             /* sysexit */
    expect(X86_FAR_CALL, BYTES(0xcd, 0x80));               /* int 0x80 */
    expect(X86_FAR_CALL, BYTES(0xcc));                     /* int3 */
    expect(X86_FAR_CALL, BYTES(0xf1));                     /* int1 */
    expect(X86_FAR_RETURN, BYTES(0xcf));                   /* iretd */
    expect(X86_FAR_RETURN, BYTES(0x48, 0xcf));             /* iretq */
    expect(X86_FAR_RETURN, BYTES(0xcb));                   /* retf */
    expect(X86_FAR_RETURN, BYTES(0x0f, 0x01, 0xc2));       /* vmlaunch */
    expect(X86_FAR_RETURN, BYTES(0x0f, 0x01, 0xc3));       /* vmresume */
    expect(X86_FAR_CALL, BYTES(0x0f, 0x01, 0xc1));         /* vmcall */
    expect(X86_FAR_RETURN, BYTES(0xf3, 0x0f, 0x01, 0xec)); /* uiret */
    expect(X86_FAR_JUMP, BYTES(0xff, 0x28));               /* jmp far *(%rax) */
    expect(X86_FAR_CALL, BYTES(0x48, 0xff, 0x18));         /* call far *(%rax) */
}

static void string_instructions_repeat_only_with_a_prefix(void **state)
{
    expect(X86_REPEAT, BYTES(0xf3, 0xa4));       /* rep movsb */
    expect(X86_REPEAT, BYTES(0xf3, 0x48, 0xab)); /* rep stosq */
    expect(X86_REPEAT, BYTES(0xf2, 0xae));       /* repne scasb */
    expect(X86_REPEAT, BYTES(0xf3, 0xa6));       /* repe cmpsb */
    expect(X86_REPEAT, BYTES(0xf3, 0xac));       /* rep lodsb */
    expect(X86_SEQUENTIAL, BYTES(0xa4));
    expect(X86_SEQUENTIAL, BYTES(0xf3, 0x90));             /* pause */
    expect(X86_SEQUENTIAL, BYTES(0xf3, 0x0f, 0x1e, 0xfa)); /* endbr64 */
    expect(X86_SEQUENTIAL, BYTES(0xf3, 0x0f, 0xb8, 0xc0)); /* popcnt */
    expect(X86_SEQUENTIAL, BYTES(0xf2, 0x0f, 0x58, 0xc1)); /* addsd */
}

static void what_only_faults_or_aborts_is_sequential(void **state)
{
    expect(X86_SEQUENTIAL, BYTES(0x0f, 0x0b));                         /* ud2 */
    expect(X86_SEQUENTIAL, BYTES(0xf4));                               /* hlt */
    expect(X86_SEQUENTIAL, BYTES(0xc7, 0xf8, 0x10, 0x00, 0x00, 0x00)); /* xbegin */
    expect(X86_SEQUENTIAL, BYTES(0xc6, 0xf8, 0x01));                   /* xabort */
    expect(X86_SEQUENTIAL, BYTES(0x0f, 0x01, 0xd5));                   /* xend */
    expect(X86_SEQUENTIAL, BYTES(0x0f, 0xa2));                         /* cpuid */
}

static void a_truncated_instruction_is_refused(void **state)
{
    static const uint8_t whole[][7] = {
        {6, 0xff, 0x15, 0x10, 0x00, 0x00, 0x00},
        {5, 0xe8, 0x10, 0x00, 0x00, 0x00},
        {6, 0x0f, 0x85, 0x00, 0x01, 0x00, 0x00},
        {2, 0xf3, 0xc3},
        {2, 0x0f, 0x05},
    };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        struct x86_instruction instruction;
        for (size_t size = 0; size < whole[i][0]; size++)
            assert_false(x86_decode(&instruction, whole[i] + 1, size, PC, X86_MODE_64));
        assert_true(x86_decode(&instruction, whole[i] + 1, whole[i][0], PC, X86_MODE_64));
    }
}

static void bytes_that_are_no_instruction_are_refused(void **state)
{
    struct x86_instruction instruction;
    assert_false(
        x86_decode(&instruction, BYTES(0x06), PC, X86_MODE_64)); /* push %es: not in 64-bit mode */
    assert_true(x86_decode(&instruction, BYTES(0x06), PC, X86_MODE_32));
    uint8_t prefixes[X86_LONGEST_INSTRUCTION + 1];
    memset(prefixes, 0x66, sizeof prefixes);
    prefixes[sizeof prefixes - 1] = 0x90;
    assert_false(x86_decode(&instruction, prefixes, sizeof prefixes, PC, X86_MODE_64));
}

static void atomic_instructions_synchronise(void **state)
{
    assert_true(x86_synchronises(BYTES(0xf0, 0xff, 0x07)));             /* lock incl (%rdi) */
    assert_true(x86_synchronises(BYTES(0xf0, 0x48, 0x0f, 0xb1, 0x17))); /* lock cmpxchg */
    assert_true(x86_synchronises(BYTES(0x66, 0xf0, 0x0f, 0xc1, 0x07))); /* lock xadd, 16 bits */
    assert_true(x86_synchronises(BYTES(0x87, 0x07)));                   /* xchg %eax,(%rdi) */
    assert_true(x86_synchronises(BYTES(0x86, 0x07)));                   /* xchg %al,(%rdi) */
    assert_true(x86_synchronises(BYTES(0xf2, 0x65, 0x67, 0x66, 0x4c, 0x87, 0x07)));
    assert_true(x86_synchronises(BYTES(0x0f, 0xae, 0xf0))); /* mfence */
}

static void other_instructions_do_not(void **state)
{
    assert_false(x86_synchronises(BYTES(0xff, 0x07)));       /* incl (%rdi) */
    assert_false(x86_synchronises(BYTES(0x0f, 0xb1, 0x17))); /* cmpxchg */
    assert_false(x86_synchronises(BYTES(0x87, 0xc3)));       /* xchg %eax,%ebx */
    assert_false(x86_synchronises(BYTES(0x90)));             /* nop, or xchg %eax,%eax */
    assert_false(x86_synchronises(BYTES(0x0f, 0xae, 0xe8))); /* lfence */
    assert_false(x86_synchronises(BYTES(0x0f, 0xae, 0xf8))); /* sfence */
    assert_false(x86_synchronises(BYTES(0xb8, 0xf0, 0x86, 0x87, 0xae))); /* mov of a number */
    assert_false(x86_synchronises(BYTES(0xf0, 0x0f, 0xb1)));             /* cut off */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditional_jumps_have_a_target),
        cmocka_unit_test(direct_jumps_and_calls_have_a_target),
        cmocka_unit_test(indirect_jumps_and_calls),
        cmocka_unit_test(returns),
        cmocka_unit_test(far_transfers_leave_the_mode),
        cmocka_unit_test(string_instructions_repeat_only_with_a_prefix),
        cmocka_unit_test(what_only_faults_or_aborts_is_sequential),
        cmocka_unit_test(a_truncated_instruction_is_refused),
        cmocka_unit_test(bytes_that_are_no_instruction_are_refused),
        cmocka_unit_test(atomic_instructions_synchronise),
        cmocka_unit_test(other_instructions_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
