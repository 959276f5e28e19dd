/* Our reading of seccomp filters against the kernel's: random filters are installed in a child, and both say whether a
 * system call is let through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arena_stand_in.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/syscalls/seccomp_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST = 40, FILTERS = 400, REFUSED = 99, REFUSE = SECCOMP_RET_ERRNO | REFUSED };

static uint32_t random_value(void)
{
    static const uint32_t usual[] = {
        0, 1, 2, 5, 31, SYS_getppid, UINT32_MAX, 0x80000000, AUDIT_ARCH_X86_64};
    if (random() % 3 == 0)
        return (uint32_t)random();
    return usual[random() % (long)(sizeof usual / sizeof *usual)];
}

static struct sock_filter random_instruction(unsigned left)
{
    static const uint16_t operations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR,
                                          BPF_AND, BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG};
    static const uint16_t jumps[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
    /* Where the call comes from is not the same in the child. */
    static const uint8_t data[] = {0, 4, 16, 20, 24, 28, 32, 36, 40, 60};
    uint16_t source = random() % 2 ? BPF_X : BPF_K;
    uint32_t value = random_value(), place = (uint32_t)random() % BPF_MEMWORDS;
    switch (random() % 12) {
    case 0:
    case 1:
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                            data[random() % (long)sizeof data]);
    case 2:
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, value);
    case 3:
        return (struct sock_filter)BPF_STMT(BPF_LDX | BPF_IMM, value);
    case 4:
        return (struct sock_filter)BPF_STMT(BPF_ST, place);
    case 5:
        return (struct sock_filter)BPF_STMT(BPF_STX, place);
    case 6:
        return (struct sock_filter)BPF_STMT(random() % 2 ? BPF_MISC | BPF_TAX : BPF_MISC | BPF_TXA,
                                            0);
    case 7:
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0);
    case 8:
    case 9: {
        uint16_t operation = operations[random() % 10];
        bool shifts = operation == BPF_LSH || operation == BPF_RSH;
        if (source == BPF_K && (operation == BPF_DIV || shifts))
            value = value % 31 + 1;
        return (struct sock_filter)BPF_STMT(BPF_ALU | operation | (shifts ? BPF_K : source),
                                            shifts ? value % 32 : value);
    }
    default: {
        unsigned most = left - 1 < 255 ? left - 1 : 255;
        uint8_t yes = (uint8_t)(random() % (most + 1)), no = (uint8_t)(random() % (most + 1));
        if (random() % 5 == 0)
            return (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, yes);
        return (struct sock_filter)BPF_JUMP(BPF_JMP | jumps[random() % 4] | source, value, yes, no);
    }
    }
}

/* Memory is written before it is read, as the kernel wants it. */
static unsigned make_filter(struct sock_filter filter[LONGEST])
{
    unsigned count = 0;
    for (uint32_t i = 0; i < BPF_MEMWORDS; i++)
        filter[count++] = (struct sock_filter)BPF_STMT(BPF_ST, i);
    while (count < LONGEST - 5)
        filter[count] = random_instruction(LONGEST - 5 - count), count++;
    filter[count++] =
        (struct sock_filter)BPF_STMT(BPF_LDX | BPF_MEM, (uint32_t)random() % BPF_MEMWORDS);
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0);
    filter[count++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1u << random() % 32, 0, 1);
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, REFUSE);
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return count;
}

/* For system calls other than getppid the filter lets everything through. */
static unsigned only_for_getppid(struct sock_filter filter[LONGEST + 3],
                                 const struct sock_filter *rest, unsigned count)
{
    filter[0] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    filter[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0);
    filter[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    memcpy(filter + 3, rest, count * sizeof *rest);
    return count + 3;
}

enum { LETS_THROUGH, REFUSES, IS_NO_FILTER };

static int ask_kernel(const struct sock_fprog *program, const uint64_t a[6])
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) != 0)
            _exit(IS_NO_FILTER);
        long result = syscall(SYS_getppid, a[0], a[1], a[2], a[3], a[4], a[5]);
        _exit(result == -1 && errno == REFUSED ? REFUSES : LETS_THROUGH);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : REFUSES; /* division by 0: killed */
}

static struct tr_filter filter_of(const struct sock_fprog *program)
{
    return (struct tr_filter){.program = (uint64_t)program, .read = tr_read_safely};
}

static void test_random_filters(void **state)
{
    unsigned verdicts[3] = {0};
    stand_in_begin();
    srandom(1);
    for (unsigned i = 0; i < FILTERS; i++) {
        struct sock_filter rest[LONGEST], filter[LONGEST + 3];
        struct sock_fprog program = {.filter = filter};
        program.len = (unsigned short)only_for_getppid(filter, rest, make_filter(rest));
        uint64_t arguments[6];
        for (unsigned k = 0; k < 6; k++)
            arguments[k] = (uint64_t)random_value() << 32 | random_value();
        int verdict = ask_kernel(&program, arguments);
        verdicts[verdict]++;
        struct tr_filter whole = filter_of(&program);
        if (verdict != IS_NO_FILTER)
            assert_int_equal(tr_filter_allows(&whole, SYS_getppid, arguments),
                             verdict == LETS_THROUGH);
    }
    assert_true(verdicts[LETS_THROUGH] > FILTERS / 10);
    assert_true(verdicts[REFUSES] > FILTERS / 10);
    assert_true(verdicts[IS_NO_FILTER] < FILTERS / 4);
}

static bool allows(bool (*what)(const struct tr_filter *filter), uint32_t number, uint32_t action)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, filter};
    struct tr_filter whole = filter_of(&program);
    return what(&whole);
}

static void test_what_the_runtime_needs(void **state)
{
    stand_in_begin();
    assert_true(allows(tr_filter_allows_translator, SYS_ptrace, SECCOMP_RET_KILL_PROCESS));
    assert_true(allows(tr_filter_allows_translator, SYS_openat, SECCOMP_RET_KILL_PROCESS));
    assert_true(allows(tr_filter_allows_translator, SYS_mmap, SECCOMP_RET_LOG));
    assert_false(allows(tr_filter_allows_translator, SYS_mmap, SECCOMP_RET_KILL_PROCESS));
    assert_false(allows(tr_filter_allows_translator, SYS_futex, SECCOMP_RET_ERRNO));
    assert_false(allows(tr_filter_allows_translator, SYS_rt_sigreturn, SECCOMP_RET_TRAP));
    assert_true(allows(tr_filter_allows_translator, SYS_madvise, SECCOMP_RET_KILL_PROCESS));
    assert_false(allows(tr_filter_allows_limits, SYS_prlimit64, SECCOMP_RET_KILL_PROCESS));
    assert_true(allows(tr_filter_allows_limits, SYS_mmap, SECCOMP_RET_KILL_PROCESS));
    assert_false(allows(tr_filter_allows_populate, SYS_madvise, SECCOMP_RET_KILL_PROCESS));
    assert_true(allows(tr_filter_allows_populate, SYS_mmap, SECCOMP_RET_KILL_PROCESS));
    assert_true(allows(tr_filter_allows_attach, SYS_ptrace, SECCOMP_RET_KILL_PROCESS));
    assert_false(allows(tr_filter_allows_attach, SYS_recvmsg, SECCOMP_RET_KILL_PROCESS));
    assert_false(allows(tr_filter_allows_attach, SYS_close, SECCOMP_RET_ERRNO));
}

static void test_bad_filters(void **state)
{
    static const uint64_t arguments[6];
    struct sock_filter unknown[] = {BPF_STMT(BPF_LD | BPF_B | BPF_IND, 3),
                                    BPF_STMT(BPF_RET | BPF_K, REFUSE)};
    struct sock_filter endless[] = {BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX)};
    struct sock_fprog programs[] = {{2, unknown}, {1, endless}, {0, NULL}, {5, NULL}};
    stand_in_begin();
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct tr_filter filter = filter_of(&programs[i]);
        assert_true(tr_filter_allows(&filter, SYS_getppid, arguments));
    }
    struct tr_filter nowhere = filter_of(NULL);
    assert_true(tr_filter_allows(&nowhere, SYS_getppid, arguments));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_filters),
        cmocka_unit_test(test_what_the_runtime_needs),
        cmocka_unit_test(test_bad_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
