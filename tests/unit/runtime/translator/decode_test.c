/* The translator's decoder against Zydis: all code of some installed programs, random encodings,
 * and single cases that the contract names. More random encodings:
 * MAGIC_TRACE_DECODE_CASES=200000000 MAGIC_TRACE_DECODE_SEED=7.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/translator/code/decode.h"
#include "zydis_view.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LONGEST = 15,
    PC = 0x7f1234567000,
    DIFFERENCES_SHOWN = 20,
    RANDOM_CASES = 2000000,
    INSTRUCTIONS_OF_A_FILE = 500000,
};

/* ---- comparison ---- */

/* Instructions of which Zydis names fewer operands than processors use, and none that a compiler
 * emits: the sets may hold more than Zydis says. */
static bool is_generous(const struct zydis_view *view)
{
    switch (view->mnemonic) {
    case ZYDIS_MNEMONIC_CLZERO:
    case ZYDIS_MNEMONIC_ENCLU:
    case ZYDIS_MNEMONIC_MONITORX:
    case ZYDIS_MNEMONIC_MWAITX:
    case ZYDIS_MNEMONIC_UIRET:
    case ZYDIS_MNEMONIC_VMCALL:
    case ZYDIS_MNEMONIC_VMFUNC:
    case ZYDIS_MNEMONIC_VMMCALL:
        return true;
    default:
        return view->isa_extension == ZYDIS_ISA_EXT_PADLOCK;
    }
}

/* MPX, which newer processors run as NOPs, knows no 67 prefix. */
static uint32_t compared_properties(const struct zydis_view *view)
{
    uint32_t of_memory =
        TR_MEMORY | TR_WRITES_MEMORY | TR_FS_OPERAND | TR_GS_OPERAND | TR_ADDRESS_32;
    return is_generous(view) || view->isa_extension == ZYDIS_ISA_EXT_MPX ? ~of_memory : ~0u;
}

static bool differs(unsigned ours, unsigned theirs, bool may_exceed)
{
    return may_exceed ? (theirs & ~ours) != 0 : ours != theirs;
}

/* A field that differs, or NULL. */
static const char *difference(const struct tr_instruction *ours, const struct zydis_view *view)
{
    const struct tr_instruction *theirs = &view->instruction;
    bool is_generous_case = is_generous(view);
    if (ours->length != theirs->length)
        return "length";
    if (ours->kind != theirs->kind)
        return "kind";
    if (ours->kind == TR_TRAP)
        return NULL;
    if (ours->kind == TR_CONDITIONAL && ours->condition != theirs->condition)
        return "condition";
    if (ours->prefix_size != theirs->prefix_size)
        return "prefix_size";
    if (ours->displacement_size != theirs->displacement_size ||
        (ours->displacement_size && ours->displacement_at != theirs->displacement_at))
        return "displacement";
    if (ours->immediate_size != theirs->immediate_size ||
        (ours->immediate_size && ours->immediate_at != theirs->immediate_at))
        return "immediate";
    if ((ours->properties & TR_HAS_MODRM) && ours->modrm_at != theirs->modrm_at)
        return "modrm_at";
    if (ours->pop_bytes != theirs->pop_bytes)
        return "pop_bytes";
    if ((ours->properties ^ theirs->properties) & compared_properties(view))
        return "properties";
    if (ours->target != theirs->target && view->isa_extension != ZYDIS_ISA_EXT_MPX)
        return "target";
    if (differs(ours->reads, theirs->reads, is_generous_case))
        return "reads";
    if (differs(ours->writes, theirs->writes, is_generous_case))
        return "writes";
    if (ours->flags_read != theirs->flags_read)
        return "flags_read";
    if (is_generous_case ? ours->flags_written & ~theirs->flags_written
                         : ours->flags_written != theirs->flags_written)
        return "flags_written";
    return NULL;
}

struct comparison {
    size_t instructions, differences;
};

static void show(const struct zydis_view *view, const struct tr_instruction *ours,
                 const uint8_t *bytes, const char *field)
{
    const struct tr_instruction *theirs = &view->instruction;
    print_message("%s of %s:", field, ZydisMnemonicGetString(view->mnemonic));
    for (size_t i = 0; i < LONGEST; i++)
        print_message(" %02x", bytes[i]);
    print_message("\n  ours   length %d kind %d reads %04x writes %04x flags %02x %02x "
                  "properties %05x target %llx\n",
                  ours->length, ours->kind, ours->reads, ours->writes, ours->flags_read,
                  ours->flags_written, ours->properties, (unsigned long long)ours->target);
    print_message("  Zydis' length %d kind %d reads %04x writes %04x flags %02x %02x "
                  "properties %05x target %llx\n",
                  theirs->length, theirs->kind, theirs->reads, theirs->writes, theirs->flags_read,
                  theirs->flags_written, theirs->properties, (unsigned long long)theirs->target);
}

/* Compares what starts at `bytes`; its length, or 1 where Zydis sees no instruction. */
static size_t compare(struct comparison *comparison, const uint8_t *bytes, size_t size, uint64_t pc)
{
    struct tr_instruction ours = {0};
    struct zydis_view view;
    bool is_decoded = tr_decode(&ours, bytes, size, pc);
    if (!zydis_view(&view, bytes, size, pc))
        return 1;
    const char *field = is_decoded ? difference(&ours, &view) : "decoding";
    comparison->instructions++;
    if (field && comparison->differences++ < DIFFERENCES_SHOWN)
        show(&view, &ours, bytes, field);
    return view.instruction.length;
}

/* ---- code of programs ---- */

static void compare_code(const uint8_t *code, size_t size)
{
    struct comparison comparison = {0};
    for (size_t at = 0; at < size && comparison.instructions < INSTRUCTIONS_OF_A_FILE;)
        at += compare(&comparison, code + at, size - at, PC + at);
    assert_true(comparison.instructions > 0);
    assert_int_equal(comparison.differences, 0);
}

static void compare_sections(const uint8_t *file)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + header->e_shoff);
    for (size_t i = 0; i < header->e_shnum; i++)
        if ((sections[i].sh_flags & SHF_EXECINSTR) && sections[i].sh_type == SHT_PROGBITS)
            compare_code(file + sections[i].sh_offset, sections[i].sh_size);
}

static void compare_file(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    struct stat status;
    assert_int_equal(fstat(file, &status), 0);
    void *content = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    assert_true(content != MAP_FAILED);
    close(file);
    compare_sections(content);
    munmap(content, (size_t)status.st_size);
}

/* Whatever of these is installed; the C library is. */
static void code_of_programs(void **state)
{
    static const char *const patterns[] = {
        "/lib*/x86_64-linux-gnu/libc.so.6",
        "/lib64/libc.so.6",
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/x86_64-linux-gnu/libm.so.6",
        "/usr/lib/x86_64-linux-gnu/libcrypto.so.*",
        "/usr/lib/x86_64-linux-gnu/libisal.so.*",
        "/usr/lib/gcc/x86_64-linux-gnu/*/cc1",
        "/usr/bin/python3",
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        glob_t paths;
        if (glob(patterns[i], 0, NULL, &paths) == 0) {
            for (size_t j = 0; j < paths.gl_pathc; j++, count++)
                compare_file(paths.gl_pathv[j]);
            globfree(&paths);
        }
    }
    assert_true(count > 0);
}

/* ---- random encodings ---- */

/* xorshift64*: Vigna, 2014 */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}

static unsigned below(uint64_t *state, unsigned limit)
{
    return (unsigned)((next_random(state) >> 32) * limit >> 32);
}

static size_t put_prefixes(uint8_t *bytes, uint64_t *state)
{
    static const uint8_t prefixes[] = {0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x64,
                                       0x65, 0x2e, 0x3e, 0x36, 0x26, 0x48};
    size_t size = 0;
    while (size < LONGEST - 1 && below(state, 3) == 0)
        bytes[size++] = prefixes[below(state, sizeof(prefixes))];
    return size;
}

static void put_vector_prefix(uint8_t *bytes, uint64_t *state)
{
    enum { VEX_2 = 0xc5, VEX_3 = 0xc4, XOP = 0x8f, EVEX = 0x62, EVEX_ALWAYS_1 = 4 };
    bool is_without_vvvv = below(state, 3) == 0;
    switch (below(state, 8)) {
    case 0:
        bytes[0] = VEX_2;
        bytes[1] |= is_without_vvvv ? 0x78 : 0;
        break;
    case 1:
        bytes[0] = XOP;
        bytes[1] = (uint8_t)((bytes[1] & 0xe0) | (8 + below(state, 3)));
        bytes[2] |= is_without_vvvv ? 0x78 : 0;
        break;
    case 2:
    case 3:
    case 4:
        bytes[0] = VEX_3;
        bytes[1] = (uint8_t)((bytes[1] & 0xe0) | (1 + below(state, 3)));
        bytes[2] |= is_without_vvvv ? 0x78 : 0;
        break;
    default:
        bytes[0] = EVEX;
        bytes[1] = (uint8_t)((bytes[1] & 0xf0) | (1 + below(state, 6)));
        bytes[2] |= EVEX_ALWAYS_1 | (is_without_vvvv ? 0x78 : 0);
        bytes[3] |= is_without_vvvv ? 0x08 : 0;
        bytes[3] &= below(state, 2) ? 0x68 : 0xff; /* neither masks nor rounding */
        break;
    }
}

/* Random bytes that are likely to be an instruction. */
static void make_encoding(uint8_t *bytes, size_t size, uint64_t *state)
{
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t random = next_random(state);
        memcpy(bytes + i, &random, sizeof(random));
    }
    bytes += put_prefixes(bytes, state);
    unsigned choice = below(state, 100);
    if (choice < 30) {
        put_vector_prefix(bytes, state);
        return;
    }
    if (below(state, 2))
        *bytes++ = (uint8_t)(0x40 | below(state, 16));
    if (choice < 70)
        *bytes++ = 0x0f;
    if (choice < 48)
        *bytes = choice < 40 ? 0x38 : choice < 46 ? 0x3a : 0x0f;
}

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 0) : otherwise;
}

static void random_encodings(void **state)
{
    uint64_t cases = number_from_environment("MAGIC_TRACE_DECODE_CASES", RANDOM_CASES);
    uint64_t random = number_from_environment("MAGIC_TRACE_DECODE_SEED", 1);
    struct comparison comparison = {0};
    for (uint64_t i = 0; i < cases; i++) {
        uint8_t bytes[40];
        make_encoding(bytes, sizeof(bytes), &random);
        compare(&comparison, bytes, i % 2 ? sizeof(bytes) : LONGEST, PC + i);
    }
    assert_true(comparison.instructions > cases / 3);
    assert_int_equal(comparison.differences, 0);
}

/* ---- bytes that end ---- */

/* Two pages, of which the second is none. */
static uint8_t *map_pages(size_t page)
{
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    return pages;
}

/* An instruction needs all of its bytes, and none beyond: these end where memory does. */
static void cut_off(uint8_t *end, const uint8_t *bytes, const struct tr_instruction *whole)
{
    for (size_t size = 0; size <= LONGEST; size++) {
        struct tr_instruction truncated;
        memset(&truncated, 0, sizeof(truncated)); /* padding is compared, too */
        memcpy(end - size, bytes, size);
        bool is_decoded = tr_decode(&truncated, end - size, size, PC);
        if (whole->length > 1)
            assert_int_equal(is_decoded, size >= whole->length);
        if (is_decoded)
            assert_memory_equal(&truncated, whole, sizeof(truncated));
    }
}

static void truncated_encodings(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), instructions = 0;
    uint8_t *pages = map_pages(page);
    uint64_t random = 2;
    for (size_t i = 0; i < 100000; i++) {
        uint8_t bytes[40];
        struct tr_instruction whole;
        memset(&whole, 0, sizeof(whole));
        make_encoding(bytes, sizeof(bytes), &random);
        assert_true(tr_decode(&whole, bytes, sizeof(bytes), PC));
        cut_off(pages + page, bytes, &whole);
        instructions += whole.length > 1;
    }
    assert_true(instructions > 30000);
    munmap(pages, 2 * page);
}

/* Prefixes move the rest towards, and beyond, the fifteenth byte. */
static void truncated_after_prefixes(void **state)
{
    enum { SHORTEST = 5 };
    static const uint8_t code[][8] = {
        {0x62, 0xf1, 0x7c, 0x48, 0x10, 0x44, 0x24, 0x01}, /* vmovups 64(%rsp),%zmm0 */
        {0x48, 0x0f, 0x38, 0xf0, 0x04, 0x24},             /* movbe (%rsp),%rax */
        {0x48, 0xb8, 1, 2, 3, 4, 5, 6},                   /* movabs */
        {0x8f, 0xe9, 0x78, 0x01, 0xc8},                   /* blcfill %eax,%eax */
    };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = map_pages(page);
    for (size_t i = 0; i < sizeof(code) / sizeof(*code); i++)
        for (size_t prefixes = 0; prefixes <= LONGEST; prefixes++) {
            uint8_t bytes[40] = {0};
            struct tr_instruction whole;
            memset(&whole, 0, sizeof(whole));
            memset(bytes, 0x67, prefixes);
            memcpy(bytes + prefixes, code[i], sizeof(code[i]));
            assert_true(tr_decode(&whole, bytes, sizeof(bytes), PC));
            if (prefixes + SHORTEST > LONGEST)
                assert_int_equal(whole.kind, TR_TRAP);
            cut_off(pages + page, bytes, &whole);
        }
    munmap(pages, 2 * page);
}

/* ---- the contract, case by case ---- */

enum {
    RAX = 1 << 0,
    RCX = 1 << 1,
    RDX = 1 << 2,
    RBX = 1 << 3,
    RSP = 1 << 4,
    RBP = 1 << 5,
    RSI = 1 << 6,
    RDI = 1 << 7,
    R8 = 1 << 8,
    R11 = 1 << 11,
    R12 = 1 << 12,
};

static struct tr_instruction decoded(const uint8_t *bytes, size_t size)
{
    struct tr_instruction instruction;
    assert_true(tr_decode(&instruction, bytes, size, PC));
    return instruction;
}

#define DECODED(...) decoded((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void registers_of_usual_code(void **state)
{
    static const struct {
        uint8_t bytes[LONGEST];
        uint8_t size;
        uint16_t reads, writes;
    } cases[] = {
        {{0x49, 0x89, 0xc3}, 3, RAX, R11},                         /* mov %rax,%r11 */
        {{0x41, 0x88, 0xc3}, 3, RAX | R11, R11},                   /* mov %al,%r11b */
        {{0x66, 0x41, 0x89, 0xc3}, 4, RAX | R11, R11},             /* mov %ax,%r11w */
        {{0x4d, 0x8b, 0x5c, 0x24, 8}, 5, R12, R11},                /* mov 8(%r12),%r11 */
        {{0x88, 0xe0}, 2, RAX, RAX},                               /* mov %ah,%al */
        {{0x40, 0x88, 0xe0}, 3, RSP | RAX, RAX},                   /* mov %spl,%al */
        {{0xf3, 0x48, 0xab}, 3, RAX | RCX | RDI, RCX | RDI},       /* rep stos */
        {{0x48, 0xa5}, 2, RSI | RDI, RSI | RDI},                   /* movs */
        {{0x0f, 0xa2}, 2, RAX | RCX, RAX | RBX | RCX | RDX},       /* cpuid */
        {{0x0f, 0x05}, 2, 0, RCX | R11},                           /* syscall */
        {{0x49, 0xf7, 0xe3}, 3, RAX | R11, RAX | RDX},             /* mul %r11 */
        {{0x41, 0xd3, 0xe3}, 3, RCX | R11, R11},                   /* shl %cl,%r11d */
        {{0xf0, 0x4c, 0x0f, 0xb1, 0x1f}, 5, RAX | RDI | R11, RAX}, /* lock cmpxchg %r11,(%rdi) */
        {{0xc4, 0x62, 0xfb, 0xf6, 0xc3}, 5, RDX | RBX, RAX | R8},  /* mulx %rbx,%rax,%r8 */
        {{0xc4, 0xe2, 0x79, 0x90, 0x04, 0x18}, 6, RAX, 0},         /* vpgatherdd (%rax,%xmm3) */
        {{0x44, 0x0f, 0x40, 0xd8}, 4, RAX | R11, R11},             /* cmovo %eax,%r11d */
        {{0xc9}, 1, RSP | RBP, RSP | RBP},                         /* leave */
        {{0x90}, 1, 0, 0},                                         /* nop */
        {{0x41, 0x90}, 2, RAX | R8, RAX | R8},                     /* xchg %rax,%r8 */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct tr_instruction instruction = decoded(cases[i].bytes, cases[i].size);
        assert_int_equal(instruction.length, cases[i].size);
        assert_int_equal(instruction.reads, cases[i].reads);
        assert_int_equal(instruction.writes, cases[i].writes);
    }
}

/* Whether flags may be thought dead depends on this. */
static void flags_that_are_always_written(void **state)
{
    static const struct {
        uint8_t bytes[LONGEST];
        uint8_t size, flags_written;
    } cases[] = {
        {{0x01, 0xc0}, 2, TR_ALL_FLAGS},          /* add */
        {{0x31, 0xc0}, 2, TR_ALL_FLAGS},          /* xor */
        {{0xff, 0xc0}, 2, TR_ALL_FLAGS & ~TR_CF}, /* inc */
        {{0xd3, 0xe0}, 2, 0},                     /* shl %cl,%eax */
        {{0xc1, 0xe0, 0x00}, 3, 0},               /* shl $0,%eax */
        {{0xc1, 0xe0, 0x20}, 3, 0},               /* shl $32,%eax */
        {{0x48, 0xc1, 0xe0, 0x20}, 4, TR_ALL_FLAGS & ~(TR_AF | TR_OF)},
        {{0xc1, 0xe0, 0x01}, 3, TR_ALL_FLAGS & ~TR_AF}, /* shl $1,%eax */
        {{0xc0, 0xe0, 0x08}, 3, TR_PF | TR_ZF | TR_SF}, /* shl $8,%al */
        {{0x66, 0x0f, 0xa4, 0xc0, 0x11}, 5, 0},         /* shld $17,%ax,%ax */
        {{0xa6}, 1, TR_ALL_FLAGS},                      /* cmps */
        {{0xf3, 0xa6}, 2, 0},                           /* repe cmps */
        {{0x0f, 0xbc, 0xc0}, 3, TR_ZF},                 /* bsf */
        {{0xf7, 0xf0}, 2, 0},                           /* div */
        {{0xf7, 0xd0}, 2, 0},                           /* not */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(decoded(cases[i].bytes, cases[i].size).flags_written,
                         cases[i].flags_written);
}

enum { EFLAGS_AF = 1 << 4 };

/* What the flags are after an instruction that begins with AF set. */
#define FLAGS_AFTER(instruction, value)                                                            \
    ({                                                                                             \
        uint64_t flags, operand = (value);                                                         \
        __asm__ volatile("movb $0x10, %%ah; sahf; " instruction "; pushf; pop %0"                  \
                         : "=r"(flags), "+r"(operand)                                              \
                         :                                                                         \
                         : "rax", "cc", "memory");                                                 \
        flags;                                                                                     \
    })

/* The manuals leave it undefined; loops that test are cheaper to trace because it is not left as it was. */
static void logical_operations_clear_af(void **state)
{
    assert_true(FLAGS_AFTER("nop", 0) & EFLAGS_AF);
    for (uint64_t value = 0; value < 256; value++) {
        assert_false(FLAGS_AFTER("test %1, %1", value) & EFLAGS_AF);
        assert_false(FLAGS_AFTER("and %1, %1", value) & EFLAGS_AF);
        assert_false(FLAGS_AFTER("or $7, %1", value) & EFLAGS_AF);
        assert_false(FLAGS_AFTER("xor $7, %1", value) & EFLAGS_AF);
    }
}

static void loads_of_the_stack_pointer(void **state)
{
    assert_true(DECODED(0x48, 0x89, 0xec).properties & TR_LOADS_STACK);        /* mov %rbp,%rsp */
    assert_true(DECODED(0x48, 0x94).properties & TR_LOADS_STACK);              /* xchg %rax,%rsp */
    assert_true(DECODED(0x5c).properties & TR_LOADS_STACK);                    /* pop %rsp */
    assert_true(DECODED(0x48, 0x29, 0xc4).properties & TR_LOADS_STACK);        /* sub %rax,%rsp */
    assert_true(DECODED(0x83, 0xc4, 8).properties & TR_LOADS_STACK);           /* add $8,%esp */
    assert_true(DECODED(0x48, 0x8d, 0x65, 0xd8).properties & TR_LOADS_STACK);  /* lea -40(%rbp) */
    assert_true(DECODED(0x48, 0x8d, 0x24, 0x04).properties & TR_LOADS_STACK);  /* lea (%rsp,%rax) */
    assert_false(DECODED(0x48, 0x83, 0xc4, 8).properties & TR_LOADS_STACK);    /* add $8,%rsp */
    assert_false(DECODED(0x48, 0x83, 0xe4, 0xf0).properties & TR_LOADS_STACK); /* and $-16,%rsp */
    assert_false(DECODED(0x48, 0x8d, 0x64, 0x24, 8).properties & TR_LOADS_STACK);
    assert_false(DECODED(0xc9).properties & TR_LOADS_STACK); /* leave */
    assert_false(DECODED(0x50).properties & TR_LOADS_STACK); /* push %rax */
}

static void fields_of_branches(void **state)
{
    struct tr_instruction conditional = DECODED(0x0f, 0x85, 0xfa, 0xff, 0xff, 0xff);
    assert_int_equal(conditional.kind, TR_CONDITIONAL);
    assert_int_equal(conditional.condition, 5);
    assert_true(conditional.target == PC);
    struct tr_instruction loop = DECODED(0x67, 0xe3, 0xfd);
    assert_int_equal(loop.kind, TR_LOOP);
    assert_true(loop.properties & TR_ADDRESS_32);
    assert_true(loop.target == PC);
    struct tr_instruction call = DECODED(0xff, 0x15, 0x10, 0, 0, 0);
    assert_int_equal(call.kind, TR_INDIRECT_CALL);
    assert_true(call.properties & TR_RIP_RELATIVE);
    assert_true(call.target == PC + 0x16);
    assert_int_equal(DECODED(0xc2, 0x08, 0x00).pop_bytes, 8);
    assert_int_equal(DECODED(0xcd, 0x80).kind, TR_INT80);
    assert_int_equal(DECODED(0x8e, 0xe8).kind, TR_GS_BASE); /* mov %eax,%gs */
    struct tr_instruction push = DECODED(0x41, 0x53);
    assert_true(push.properties & TR_PUSH_POP);
    assert_int_equal(push.reg, 11);
}

static void what_is_no_instruction_traps(void **state)
{
    struct tr_instruction apx = DECODED(0xd5, 0x10, 0x89, 0xc0);
    assert_int_equal(apx.kind, TR_TRAP);
    assert_int_equal(apx.length, 1);
    assert_int_equal(DECODED(0x06).kind, TR_TRAP);
    assert_int_equal(DECODED(0xf0, 0x90).kind, TR_TRAP);                   /* lock nop */
    assert_int_equal(DECODED(0xf0, 0x75, 0x00).kind, TR_TRAP);             /* lock jne */
    assert_int_equal(DECODED(0x66, 0xc5, 0xf8, 0x58, 0xc0).kind, TR_TRAP); /* 66 before VEX */
    uint8_t prefixes[LONGEST];
    memset(prefixes, 0x66, sizeof(prefixes));
    assert_int_equal(decoded(prefixes, sizeof(prefixes)).kind, TR_TRAP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_of_programs),
        cmocka_unit_test(random_encodings),
        cmocka_unit_test(truncated_encodings),
        cmocka_unit_test(truncated_after_prefixes),
        cmocka_unit_test(registers_of_usual_code),
        cmocka_unit_test(flags_that_are_always_written),
        cmocka_unit_test(logical_operations_clear_af),
        cmocka_unit_test(loads_of_the_stack_pointer),
        cmocka_unit_test(fields_of_branches),
        cmocka_unit_test(what_is_no_instruction_traps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
