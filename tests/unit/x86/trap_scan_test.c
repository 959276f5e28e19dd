/* OCaml's exception handlers, in bytes of real programs: of OCaml 4.13.1 unless stated otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "x86/trap_scan.h"

#include <stdlib.h>
#include <string.h>

enum { PC = 0x43fd4 };

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

#define LEA_HANDLER 0x4c, 0x8d, 0x1d, 0x19, 0x00, 0x00, 0x00 /* lea 0x19(%rip),%r11 */
#define PUSH_R11 0x41, 0x53
#define PUSH_CHAIN 0x41, 0xff, 0x76, 0x10  /* push 0x10(%r14) */
#define STORE_CHAIN 0x49, 0x89, 0x66, 0x10 /* mov %rsp,0x10(%r14) */
#define POP_CHAIN 0x41, 0x8f, 0x46, 0x10
#define LOAD_CHAIN 0x49, 0x8b, 0x66, 0x10 /* mov 0x10(%r14),%rsp */
#define DROP 0x48, 0x83, 0xc4, 0x08       /* add $8,%rsp */
#define WHOLE_PUSH LEA_HANDLER, PUSH_R11, PUSH_CHAIN, STORE_CHAIN
enum { HANDLER = PC + 7 + 0x19, STORE_OFFSET = 13, PUSH_SIZE = 17 };

/* The chain of WHOLE_PUSH. */
static struct x86_place usual_chain(void)
{
    static const uint8_t bytes[] = {WHOLE_PUSH};
    struct x86_code code = {bytes, sizeof bytes, PC};
    struct x86_place chain;
    assert_true(x86_trap_learn(&code, &chain));
    return chain;
}

static void expect_in(const struct x86_place *chain, enum x86_trap_kind kind, uint64_t address,
                      uint64_t handler, const uint8_t *bytes, size_t size)
{
    struct x86_code code = {bytes, size, PC};
    struct x86_trap_scan scan = x86_trap_begin(&code, chain, PC, PC + size - 1);
    struct x86_trap trap;
    assert_true(x86_trap_next(&scan, &trap));
    assert_int_equal(trap.kind, kind);
    assert_int_equal(trap.address, address);
    assert_int_equal(trap.handler, handler);
    assert_false(x86_trap_next(&scan, &trap));
}

/* The bytes hold this trap and no other. */
static void expect(enum x86_trap_kind kind, uint64_t address, uint64_t handler,
                   const uint8_t *bytes, size_t size)
{
    struct x86_place chain = usual_chain();
    expect_in(&chain, kind, address, handler, bytes, size);
}

static void expect_nothing(const uint8_t *bytes, size_t size)
{
    struct x86_place chain = usual_chain();
    struct x86_code code = {bytes, size, PC};
    struct x86_trap_scan scan = x86_trap_begin(&code, &chain, PC, PC + size - 1);
    struct x86_trap trap;
    assert_false(x86_trap_next(&scan, &trap));
}

/* The chain is learnt from `push`, which ends with its store; `pop` pops from the same chain. */
static void expect_variant(uint64_t handler, uint64_t store, const uint8_t *push, size_t push_size,
                           const uint8_t *pop, size_t pop_size)
{
    struct x86_code code = {push, push_size, PC};
    struct x86_place chain;
    assert_true(x86_trap_learn(&code, &chain));
    expect_in(&chain, X86_TRAP_PUSH, store, handler, push, push_size);
    expect_in(&chain, X86_TRAP_POP, PC, 0, pop, pop_size);
}

static void a_push_has_a_handler(void **state)
{
    expect(X86_TRAP_PUSH, PC + STORE_OFFSET, HANDLER, BYTES(WHOLE_PUSH));
}

static void code_at_fixed_addresses(void **state)
{
    /* mov $0x427fe4,%r11 */
    expect_variant(
        0x427fe4, PC + STORE_OFFSET,
        BYTES(0x49, 0xc7, 0xc3, 0xe4, 0x7f, 0x42, 0x00, PUSH_R11, PUSH_CHAIN, STORE_CHAIN),
        BYTES(POP_CHAIN, DROP));
    /* mov $0x427fe4,%r11d */
    expect_variant(0x427fe4, PC + STORE_OFFSET - 1,
                   BYTES(0x41, 0xbb, 0xe4, 0x7f, 0x42, 0x00, PUSH_R11, PUSH_CHAIN, STORE_CHAIN),
                   BYTES(POP_CHAIN, DROP));
    /* push $0x427fe4 */
    expect_variant(0x427fe4, PC + 9, BYTES(0x68, 0xe4, 0x7f, 0x42, 0x00, PUSH_CHAIN, STORE_CHAIN),
                   BYTES(POP_CHAIN, DROP));
}

static void any_chain_and_any_register(void **state)
{
    /* OCaml 5.1: lea 0x20(%rip),%r11; push %r11; push 0x28(%r14); mov %rsp,0x28(%r14) */
    expect_variant(PC + 7 + 0x20, PC + 13,
                   BYTES(0x4c, 0x8d, 0x1d, 0x20, 0, 0, 0, PUSH_R11, 0x41, 0xff, 0x76, 0x28, 0x49,
                         0x89, 0x66, 0x28),
                   BYTES(0x41, 0x8f, 0x46, 0x28, DROP));
    /* lea 0x20(%rip),%rax; push %rax; push 0x1234(%r15); mov %rsp,0x1234(%r15) */
    expect_variant(PC + 7 + 0x20, PC + 15,
                   BYTES(0x48, 0x8d, 0x05, 0x20, 0, 0, 0, 0x50, 0x41, 0xff, 0xb7, 0x34, 0x12, 0, 0,
                         0x49, 0x89, 0xa7, 0x34, 0x12, 0, 0),
                   BYTES(0x41, 0x8f, 0x87, 0x34, 0x12, 0, 0, DROP));
    /* Before OCaml 4.10: lea 0x20(%rip),%r11; push %r11; push %r14; mov %rsp,%r14 */
    expect_variant(PC + 7 + 0x20, PC + 11,
                   BYTES(0x4c, 0x8d, 0x1d, 0x20, 0, 0, 0, PUSH_R11, 0x41, 0x56, 0x49, 0x89, 0xe6),
                   BYTES(0x41, 0x5e, DROP));
    /* ...; push 0x1000(%rip); mov %rsp,0x1000 - 7(%rip): a global variable */
    expect_variant(PC + 7 + 0x20, PC + 15,
                   BYTES(0x4c, 0x8d, 0x1d, 0x20, 0, 0, 0, PUSH_R11, 0xff, 0x35, 0xf1, 0x0f, 0, 0,
                         0x48, 0x89, 0x25, 0xea, 0x0f, 0, 0),
                   BYTES(0x8f, 0x05, 0xfa, 0x0f, 0, 0, DROP));
}

static void a_pop_drops_the_handler(void **state)
{
    expect(X86_TRAP_POP, PC, 0, BYTES(POP_CHAIN, DROP));
    expect(X86_TRAP_POP, PC, 0, BYTES(POP_CHAIN, 0x48, 0x8d, 0x64, 0x24, 0x08)); /* lea */
    expect(X86_TRAP_POP, PC, 0, BYTES(POP_CHAIN, 0x41, 0x5c)); /* caml_start_program: pop %r12 */
}

static void raises(void **state)
{
    /* raise_notrace: jmp *%r11 */
    expect(X86_TRAP_RAISE, PC + 10, 0, BYTES(LOAD_CHAIN, POP_CHAIN, 0x41, 0x5b, 0x41, 0xff, 0xe3));
    /* jmp *%rbx */
    expect(X86_TRAP_RAISE, PC + 9, 0, BYTES(LOAD_CHAIN, POP_CHAIN, 0x5b, 0xff, 0xe3));
    /* caml_raise_exn */
    expect(X86_TRAP_RAISE, PC + 8, 0, BYTES(LOAD_CHAIN, POP_CHAIN, 0xc3));
    /* caml_raise_exception: mov 0x8(%r14),%r15; ret */
    expect(X86_TRAP_RAISE, PC + 12, 0, BYTES(LOAD_CHAIN, POP_CHAIN, 0x4d, 0x8b, 0x7e, 0x08, 0xc3));
}

/* OCaml 5: caml_start_program has its trap on the stack of the fiber. */
static void a_trap_on_another_stack(void **state)
{
    static const uint8_t push[] = {
        0x49, 0x83, 0xea, 0x10,                   /* sub $0x10,%r10 */
        0x4c, 0x8d, 0x1d, 0x4c, 0x00, 0x00, 0x00, /* lea 0x4c(%rip),%r11 */
        0x4d, 0x89, 0x5a, 0x08,                   /* mov %r11,0x8(%r10) */
        0x4d, 0x8b, 0x5e, 0x10,                   /* mov 0x10(%r14),%r11 */
        0x4d, 0x89, 0x1a,                         /* mov %r11,(%r10) */
        0x4d, 0x89, 0x56, 0x10,                   /* mov %r10,0x10(%r14) */
        0x4c, 0x89, 0xd4,                         /* mov %r10,%rsp */
        0x41, 0xff, 0xd4,                         /* call *%r12 */
    };
    expect(X86_TRAP_PUSH, PC + 22, PC + 11 + 0x4c, push, sizeof push);
    static const uint8_t pop[] = {
        0x4c, 0x8b, 0x1c, 0x24,       /* mov (%rsp),%r11 */
        0x4d, 0x89, 0x5e, 0x10,       /* mov %r11,0x10(%r14) */
        0x4c, 0x8d, 0x54, 0x24, 0x10, /* lea 0x10(%rsp),%r10 */
    };
    expect(X86_TRAP_POP, PC + 4, 0, pop, sizeof pop);
}

static void what_only_looks_like_it(void **state)
{
    /* caml_start_program: pop 0xe0(%r14); add $8,%rsp: another field */
    expect_nothing(BYTES(0x41, 0x8f, 0x86, 0xe0, 0x00, 0x00, 0x00, DROP));
    /* caml_call_gc: pop 0xd8(%r14); mov %rsp,0xd0(%r14) */
    expect_nothing(
        BYTES(0x41, 0x8f, 0x86, 0xd8, 0, 0, 0, 0x49, 0x89, 0xa6, 0xd0, 0x00, 0x00, 0x00));
    expect_nothing(BYTES(PUSH_CHAIN, STORE_CHAIN));
    expect_nothing(BYTES(PUSH_R11, PUSH_CHAIN, STORE_CHAIN));
    expect_nothing(BYTES(LEA_HANDLER, PUSH_R11, PUSH_CHAIN));
    expect_nothing(BYTES(LEA_HANDLER, 0x53, PUSH_CHAIN, STORE_CHAIN)); /* push %rbx */
    expect_nothing(BYTES(LEA_HANDLER, PUSH_R11, PUSH_CHAIN, 0x49, 0x89, 0x66, 0x18));
    expect_nothing(BYTES(POP_CHAIN));
    expect_nothing(BYTES(POP_CHAIN, 0xc3));
    expect_nothing(BYTES(LOAD_CHAIN, 0xc3));
    /* push $0x10; push %rbp; mov %rsp,%rbp */
    struct x86_place chain;
    static const uint8_t prologue[] = {0x68, 0x10, 0, 0, 0, 0x55, 0x48, 0x89, 0xe5};
    assert_false(x86_trap_learn(&(struct x86_code){prologue, sizeof prologue, PC}, &chain));
}

/* Each instruction of a push and a raise can be a block of its own, and still counts once. */
static void blocks_can_be_cut_anywhere(void **state)
{
    static const uint8_t bytes[] = {WHOLE_PUSH, LOAD_CHAIN, POP_CHAIN, 0x41,
                                    0x5b,       0x41,       0xff,      0xe3};
    static const uint8_t starts[] = {0, 7, 9, 13, 17, 21, 25, 27};
    struct x86_place chain = usual_chain();
    struct x86_code code = {bytes, sizeof bytes, PC};
    for (size_t i = 0; i < sizeof starts; i++) {
        struct x86_trap_scan scan = x86_trap_begin(&code, &chain, PC + starts[i], PC + starts[i]);
        struct x86_trap trap;
        bool found = x86_trap_next(&scan, &trap);
        assert_int_equal(found, starts[i] == 13 || starts[i] == 27);
        assert_true(!found || trap.instructions == 0);
    }
}

static void several_in_one_block(void **state)
{
    static const uint8_t bytes[] = {0x90, WHOLE_PUSH, WHOLE_PUSH, POP_CHAIN, DROP};
    struct x86_place chain = usual_chain();
    struct x86_code code = {bytes, sizeof bytes, PC};
    struct x86_trap_scan scan = x86_trap_begin(&code, &chain, PC, PC + sizeof bytes - 4);
    struct x86_trap trap;
    assert_true(x86_trap_next(&scan, &trap));
    assert_int_equal(trap.instructions, 4);
    assert_true(x86_trap_next(&scan, &trap));
    assert_int_equal(trap.instructions, 8);
    assert_int_equal(trap.handler, HANDLER + 1 + PUSH_SIZE);
    assert_true(x86_trap_next(&scan, &trap));
    assert_int_equal(trap.kind, X86_TRAP_POP);
    assert_int_equal(trap.instructions, 9);
    assert_false(x86_trap_next(&scan, &trap));
}

static void the_chain_is_found_among_other_code(void **state)
{
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = i % 3 == 1 ? 0x89 : 0x48;
    static const uint8_t push[] = {WHOLE_PUSH};
    memcpy(bytes + 100, push, sizeof push);
    struct x86_place chain, usual = usual_chain();
    assert_true(x86_trap_learn(&(struct x86_code){bytes, sizeof bytes, PC}, &chain));
    assert_memory_equal(&chain, &usual, sizeof chain);
    for (size_t size = 0; size < 100 + sizeof push; size++)
        assert_false(x86_trap_learn(&(struct x86_code){bytes, size, PC}, &chain));
}

/* The same numbers on every machine. */
static uint8_t next_byte(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return (uint8_t)(*state >> 56);
}

static void any_bytes_do_no_harm(void **state)
{
    static const uint8_t fragments[] = {WHOLE_PUSH, POP_CHAIN, DROP, LOAD_CHAIN, 0xc3};
    struct x86_place chain = usual_chain();
    uint64_t random = 1;
    for (int round = 0; round < 20000; round++) {
        size_t size = next_byte(&random) % 64;
        /* On the heap, so that sanitizers see reads beyond the end. */
        uint8_t *bytes = malloc(size + 1);
        for (size_t i = 0; i < size; i++)
            bytes[i] = round % 2 ? next_byte(&random) : fragments[(i + 7) % sizeof fragments];
        if (size)
            bytes[next_byte(&random) % size] = next_byte(&random);
        struct x86_code code = {realloc(bytes, size + !size), size, PC};
        struct x86_place learnt;
        x86_trap_learn(&code, &learnt);
        struct x86_trap_scan scan =
            x86_trap_begin(&code, &chain, PC + next_byte(&random) % 4, PC + 80);
        struct x86_trap trap;
        while (x86_trap_next(&scan, &trap))
            assert_true(trap.address >= PC && trap.address < PC + size);
        free((void *)code.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_has_a_handler),
        cmocka_unit_test(code_at_fixed_addresses),
        cmocka_unit_test(any_chain_and_any_register),
        cmocka_unit_test(a_pop_drops_the_handler),
        cmocka_unit_test(raises),
        cmocka_unit_test(a_trap_on_another_stack),
        cmocka_unit_test(what_only_looks_like_it),
        cmocka_unit_test(blocks_can_be_cut_anywhere),
        cmocka_unit_test(several_in_one_block),
        cmocka_unit_test(the_chain_is_found_among_other_code),
        cmocka_unit_test(any_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
