#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "x86/decode.h"
#include "x86/usual_instruction.h"

#include <string.h>

enum {
    PC = 0x401000,
    TWO_BYTES = 0x0f,
    OPCODES = 512,
    MODRMS = 256,
};

struct counts {
    unsigned instructions, usual;
};

/* Compares what the tables and Zydis say of these bytes: x86_decode asks Zydis when it has fewer
 * than the longest instruction. */
static void compare(struct counts *counts, const uint8_t *bytes)
{
    struct x86_instruction usual, judge;
    bool whole = x86_decode(&judge, bytes, X86_LONGEST_INSTRUCTION - 1, PC, X86_MODE_64);
    counts->instructions += whole;
    if (!x86_decode_usual(&usual, bytes, PC))
        return;
    counts->usual++;
    if (whole && usual.flow == judge.flow && usual.length == judge.length &&
        usual.target == judge.target && usual.is_ptwrite == judge.is_ptwrite)
        return;
    print_message("%02x %02x %02x %02x %02x %02x\n", bytes[0], bytes[1], bytes[2], bytes[3],
                  bytes[4], bytes[5]);
    fail();
}

/* The opcodes of one and of two bytes, each with any ModRM byte, after these prefixes. */
static void compare_opcodes(struct counts *counts, const uint8_t *prefixes, size_t prefix_count)
{
    static const uint8_t sibs[] = {0x00, 0x05, 0x24, 0xe5};
    for (unsigned i = 0; i < OPCODES * MODRMS * sizeof(sibs); i++) {
        uint8_t bytes[X86_LONGEST_INSTRUCTION + 1] = {0};
        size_t size = prefix_count;
        unsigned opcode = i % OPCODES;
        for (size_t j = 0; j < prefix_count; j++)
            bytes[j] = prefixes[j];
        if (opcode >= OPCODES / 2)
            bytes[size++] = TWO_BYTES;
        bytes[size++] = (uint8_t)opcode;
        bytes[size++] = (uint8_t)(i / OPCODES);
        bytes[size++] = sibs[i / OPCODES / MODRMS];
        for (uint8_t byte = 0xe1; size < sizeof(bytes); byte -= 0x17)
            bytes[size++] = byte;
        compare(counts, bytes);
    }
}

#define COMPARE(counts, ...)                                                                       \
    compare_opcodes(counts, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void the_tables_say_what_zydis_says(void **state)
{
    struct counts counts = {0};
    compare_opcodes(&counts, NULL, 0);
    COMPARE(&counts, 0x40);
    COMPARE(&counts, 0x41);
    COMPARE(&counts, 0x48);
    COMPARE(&counts, 0x4f);
    COMPARE(&counts, 0x66);
    COMPARE(&counts, 0x66, 0x44);
    COMPARE(&counts, 0x66, 0x49);
    COMPARE(&counts, 0x48, 0x66);
    COMPARE(&counts, 0xf0);
    COMPARE(&counts, 0xf2);
    COMPARE(&counts, 0xf3);
    assert_true(counts.usual > counts.instructions / 3);
}

static void usual_code_is_usual(void **state)
{
    static const struct {
        uint8_t bytes[X86_LONGEST_INSTRUCTION];
        enum x86_flow flow;
        unsigned length;
        uint64_t target;
    } code[] = {
        {{0xf3, 0x0f, 0x1e, 0xfa}, X86_SEQUENTIAL, 4, 0},              /* endbr64 */
        {{0x48, 0x8b, 0x44, 0x24, 0x08}, X86_SEQUENTIAL, 5, 0},        /* mov 8(%rsp),%rax */
        {{0x66, 0xc7, 0x00, 0x01, 0x00}, X86_SEQUENTIAL, 5, 0},        /* movw $1,(%rax) */
        {{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, X86_SEQUENTIAL, 10, 0}, /* movabs */
        {{0xf6, 0x05, 1, 2, 3, 4, 0x80}, X86_SEQUENTIAL, 7, 0},        /* testb $,(%rip) */
        {{0x0f, 0x84, 0x00, 0xff, 0xff, 0xff}, X86_CONDITIONAL, 6, PC - 0xfa},
        {{0xe8, 0x00, 0x01, 0x00, 0x00}, X86_CALL, 5, PC + 0x105},
        {{0xeb, 0xfe}, X86_JUMP, 2, PC},
        {{0xff, 0x25, 1, 2, 3, 4}, X86_INDIRECT_JUMP, 6, 0}, /* jmp *(%rip) */
        {{0x41, 0xff, 0xd4}, X86_INDIRECT_CALL, 3, 0},       /* call *%r12 */
        {{0xc3}, X86_RETURN, 1, 0},
    };
    for (size_t i = 0; i < sizeof(code) / sizeof(*code); i++) {
        struct x86_instruction instruction;
        assert_true(x86_decode_usual(&instruction, code[i].bytes, PC));
        assert_int_equal(instruction.flow, code[i].flow);
        assert_int_equal(instruction.length, code[i].length);
        assert_int_equal(instruction.target, code[i].target);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_say_what_zydis_says),
        cmocka_unit_test(usual_code_is_usual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
