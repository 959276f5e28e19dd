/* Loads of the stack pointer before a jump, in bytes of real code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "x86/stack_load.h"

enum { PC = 0x3bed0 };

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* The last instruction has `length` bytes. */
static bool loads(size_t length, const uint8_t *bytes, size_t size)
{
    struct x86_code code = {bytes, size, PC};
    return x86_loads_stack(&code, PC, PC + size - length);
}

static void switches_and_unwinders(void **state)
{
    /* glibc's longjmp: mov %r8,%rsp; mov %r9,%rbp; jmp *%rdx */
    assert_true(loads(2, BYTES(0x4c, 0x89, 0xc4, 0x4c, 0x89, 0xcd, 0xff, 0xe2)));
    /* musl's: mov 0x30(%rdi),%rsp; jmp *0x38(%rdi) */
    assert_true(loads(3, BYTES(0x48, 0x8b, 0x67, 0x30, 0xff, 0x67, 0x38)));
    /* Boost.Context: mov %rdi,%rsp; mov 0x38(%rsp),%r8; lea 0x40(%rsp),%rsp; jmp *%r8 */
    assert_true(loads(3, BYTES(0x48, 0x89, 0xfc, 0x4c, 0x8b, 0x44, 0x24, 0x38, 0x48, 0x8d, 0x64,
                               0x24, 0x40, 0x41, 0xff, 0xe0)));
    /* pop %rsp; jmp *%rax, and xchg %rax,%rsp; jmp *%rcx */
    assert_true(loads(2, BYTES(0x5c, 0xff, 0xe0)));
    assert_true(loads(2, BYTES(0x48, 0x94, 0xff, 0xe1)));
    /* OCaml's caml_perform jumps directly: mov (%r10),%rsp; mov 0x8(%r10),%r12; jmp */
    assert_true(
        loads(5, BYTES(0x49, 0x8b, 0x22, 0x4d, 0x8b, 0x62, 0x08, 0xe9, 0x10, 0x20, 0x30, 0x00)));
    /* OCaml's raise: mov 0x10(%r14),%rsp; pop 0x10(%r14); pop %r11; jmp *%r11 */
    assert_true(loads(
        3, BYTES(0x49, 0x8b, 0x66, 0x10, 0x41, 0x8f, 0x46, 0x10, 0x41, 0x5b, 0x41, 0xff, 0xe3)));
}

/* HotSpot's interpreter ends a method so. */
static void returns_by_pop_and_jump(void **state)
{
    /* leave; pop %r13; mov %rbx,%rsp; jmp *%r13 */
    assert_true(loads(3, BYTES(0xc9, 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5)));
    assert_true(loads(2, BYTES(0x58, 0xff, 0xe0))); /* pop %rax; jmp *%rax */
    assert_true(loads(2, BYTES(0x59, 0x48, 0x83, 0xc4, 0x08, 0xff, 0xe1))); /* with add $8,%rsp */
    assert_false(loads(3, BYTES(0x5d, 0x41, 0xff, 0xe5)));             /* pop %rbp; jmp *%r13 */
    assert_false(loads(2, BYTES(0x41, 0x5d, 0xff, 0xe5)));             /* pop %r13; jmp *%rbp */
    assert_false(loads(2, BYTES(0x58, 0x5d, 0xff, 0xe0)));             /* pop %rax; pop %rbp; ... */
    assert_false(loads(2, BYTES(0x58, 0x48, 0x8b, 0x00, 0xff, 0xe0))); /* mov (%rax),%rax between */
    assert_false(loads(2, BYTES(0x58, 0xff, 0x20)));                   /* pop %rax; jmp *(%rax) */
}

static void what_functions_do_with_their_own_frame(void **state)
{
    assert_false(loads(2, BYTES(0xff, 0xe0)));                         /* jmp *%rax */
    assert_false(loads(2, BYTES(0xc9, 0xff, 0xe0)));                   /* leave; jmp */
    assert_false(loads(2, BYTES(0x48, 0x89, 0xec, 0x5d, 0xff, 0xe0))); /* mov %rbp,%rsp; pop %rbp */
    assert_false(loads(2, BYTES(0x48, 0x83, 0xc4, 0x08, 0xff, 0xe0))); /* add $8,%rsp */
    assert_false(loads(2, BYTES(0x48, 0x8d, 0x65, 0xf0, 0xff, 0xe0))); /* lea -0x10(%rbp),%rsp */
    assert_false(loads(2, BYTES(0x49, 0x8d, 0x62, 0xf8, 0xff, 0xe0))); /* lea -8(%r10),%rsp */
    /* The end of an array of variable size: mov -0x38(%rbp),%rsp; jmp *%rax */
    assert_false(loads(2, BYTES(0x48, 0x8b, 0x65, 0xc8, 0xff, 0xe0)));
    /* _dl_runtime_resolve: mov %rbx,%rsp; mov (%rsp),%rbx; jmp *%r11 */
    assert_false(loads(3, BYTES(0x48, 0x89, 0xdc, 0x48, 0x8b, 0x1c, 0x24, 0x41, 0xff, 0xe3)));
}

static void additions_of_a_register(void **state)
{
    assert_true(x86_adds_to_stack_pointer(BYTES(0x48, 0x01, 0xc4))); /* add %rax,%rsp: greenlet */
    assert_true(x86_adds_to_stack_pointer(BYTES(0x4c, 0x01, 0xfc))); /* add %r15,%rsp */
    assert_true(
        x86_adds_to_stack_pointer(BYTES(0x49, 0x03, 0xe7))); /* the same, its other encoding */
    assert_false(x86_adds_to_stack_pointer(BYTES(0x49, 0x01, 0xc4)));       /* add %rax,%r12 */
    assert_false(x86_adds_to_stack_pointer(BYTES(0x4c, 0x03, 0xe0)));       /* add %rax,%r12 */
    assert_false(x86_adds_to_stack_pointer(BYTES(0x48, 0x01, 0x04, 0x24))); /* add %rax,(%rsp) */
    assert_false(x86_adds_to_stack_pointer(BYTES(0x48, 0x83, 0xc4, 8)));    /* add $8,%rsp */
    assert_false(x86_adds_to_stack_pointer(BYTES(0x48, 0x29, 0xc4)));       /* sub %rax,%rsp */
    assert_false(x86_adds_to_stack_pointer(BYTES(0x48, 0x01)));
    assert_true(x86_is_stack_load(BYTES(0x48, 0x01, 0xc4)));
}

static void saves_of_the_stack_pointer(void **state)
{
    assert_true(x86_is_stack_save(BYTES(0x48, 0x89, 0x27)));        /* mov %rsp,(%rdi): Coro */
    assert_true(x86_is_stack_save(BYTES(0x48, 0x89, 0x67, 8)));     /* mov %rsp,8(%rdi): minicoro */
    assert_true(x86_is_stack_save(BYTES(0x48, 0x89, 0xe0)));        /* mov %rsp,%rax: Boost */
    assert_false(x86_is_stack_save(BYTES(0x48, 0x89, 0xe5)));       /* mov %rsp,%rbp */
    assert_false(x86_is_stack_save(BYTES(0x48, 0x89, 0x65, 0xf8))); /* mov %rsp,-8(%rbp) */
    assert_false(x86_is_stack_save(BYTES(0x48, 0x89, 0x64, 0x24, 8))); /* mov %rsp,8(%rsp) */
    assert_false(x86_is_stack_save(BYTES(0x48, 0x89, 0x07)));          /* mov %rax,(%rdi) */
    assert_false(x86_is_stack_save(BYTES(0x48, 0x8b, 0x27)));          /* mov (%rdi),%rsp */
    assert_false(x86_is_stack_save(BYTES(0x48, 0x89)));
}

static void only_before_a_jump(void **state)
{
    assert_false(loads(1, BYTES(0x4c, 0x89, 0xc4, 0xc3)));             /* ret */
    assert_false(loads(2, BYTES(0x4c, 0x89, 0xc4, 0xff, 0xd0)));       /* call *%rax */
    assert_false(loads(2, BYTES(0x4c, 0x89, 0xc4, 0x74, 0x10)));       /* je */
    assert_false(loads(3, BYTES(0x4c, 0x89, 0xc4, 0x48, 0xff, 0x28))); /* jmp far */
}

static void cut_code_does_no_harm(void **state)
{
    static const uint8_t bytes[] = {0x4c, 0x89, 0xc4, 0x4c, 0x89, 0xcd, 0xff, 0xe2};
    for (size_t size = 0; size < sizeof bytes; size++) {
        struct x86_code code = {bytes, size, PC};
        assert_false(x86_loads_stack(&code, PC, PC + 6));
        assert_false(x86_loads_stack(&code, PC - 1, PC + 6));
        assert_false(x86_loads_stack(&code, PC + 6, PC));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switches_and_unwinders),
        cmocka_unit_test(returns_by_pop_and_jump),
        cmocka_unit_test(what_functions_do_with_their_own_frame),
        cmocka_unit_test(additions_of_a_register),
        cmocka_unit_test(saves_of_the_stack_pointer),
        cmocka_unit_test(only_before_a_jump),
        cmocka_unit_test(cut_code_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
