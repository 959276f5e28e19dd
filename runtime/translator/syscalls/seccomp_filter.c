#include "runtime/translator/syscalls/seccomp_filter.h"

#include "runtime/translator/system.h"

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/rseq.h>
#include <linux/seccomp.h>

enum { MOST_STEPS = BPF_MAXINSNS }; /* jumps only lead forward */

/* --- Classic BPF --- */

struct machine {
    uint32_t a, x, memory[BPF_MEMWORDS];
    const struct seccomp_data *data;
    bool failed;  /* no instruction that seccomp_check_filter lets through */
    bool divided; /* by 0: the filter's result is 0, SECCOMP_RET_KILL_THREAD */
};

static uint32_t compute(struct machine *m, uint16_t code, uint32_t operand)
{
    switch (BPF_OP(code)) {
    case BPF_ADD:
        return m->a + operand;
    case BPF_SUB:
        return m->a - operand;
    case BPF_MUL:
        return m->a * operand;
    case BPF_DIV:
        m->divided |= operand == 0;
        return operand ? m->a / operand : 0;
    case BPF_OR:
        return m->a | operand;
    case BPF_AND:
        return m->a & operand;
    case BPF_XOR:
        return m->a ^ operand;
    case BPF_LSH:
        return m->a << (operand & 31);
    case BPF_RSH:
        return m->a >> (operand & 31);
    case BPF_NEG:
        return -m->a;
    default:
        m->failed = true;
        return 0;
    }
}

static bool is_taken(struct machine *m, uint16_t code, uint32_t operand)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return m->a == operand;
    case BPF_JGT:
        return m->a > operand;
    case BPF_JGE:
        return m->a >= operand;
    case BPF_JSET:
        return (m->a & operand) != 0;
    default:
        m->failed = true;
        return false;
    }
}

static uint32_t load(struct machine *m, const struct sock_filter *instruction)
{
    uint32_t value = 0, k = instruction->k;
    switch (BPF_MODE(instruction->code)) {
    case BPF_ABS:
        m->failed |= k % sizeof value != 0 || k > sizeof *m->data - sizeof value;
        if (!m->failed)
            memcpy(&value, (const uint8_t *)m->data + k, sizeof value);
        return value;
    case BPF_IMM:
        return k;
    case BPF_LEN:
        return sizeof *m->data;
    case BPF_MEM:
        m->failed |= k >= BPF_MEMWORDS;
        return m->failed ? 0 : m->memory[k];
    default:
        m->failed = true;
        return 0;
    }
}

static void store(struct machine *m, uint32_t place, uint32_t value)
{
    m->failed |= place >= BPF_MEMWORDS;
    if (!m->failed)
        m->memory[place] = value;
}

/* Any instruction but a return. Returns how many instructions are skipped. */
static uint32_t step(struct machine *m, const struct sock_filter *instruction)
{
    uint16_t code = instruction->code;
    uint32_t operand = BPF_SRC(code) == BPF_X ? m->x : instruction->k;
    switch (BPF_CLASS(code)) {
    case BPF_LD:
        m->a = load(m, instruction);
        return 0;
    case BPF_LDX:
        m->x = load(m, instruction);
        return 0;
    case BPF_ST:
        store(m, instruction->k, m->a);
        return 0;
    case BPF_STX:
        store(m, instruction->k, m->x);
        return 0;
    case BPF_ALU:
        m->a = compute(m, code, operand);
        return 0;
    case BPF_JMP:
        if (BPF_OP(code) == BPF_JA)
            return instruction->k;
        return is_taken(m, code, operand) ? instruction->jt : instruction->jf;
    case BPF_MISC:
        if (BPF_MISCOP(code) == BPF_TAX)
            m->x = m->a;
        else
            m->a = m->x;
        return 0;
    default:
        m->failed = true;
        return 0;
    }
}

/* The filter's result; SECCOMP_RET_ALLOW for a filter that the kernel would refuse. */
static uint32_t run(const struct tr_filter *filter, const struct sock_fprog *program,
                    const struct seccomp_data *data)
{
    struct machine m = {.data = data};
    uint64_t at = 0;
    for (unsigned steps = 0; steps < MOST_STEPS && at < program->len && !m.failed; steps++) {
        struct sock_filter instruction;
        if (!filter->read(&instruction, (uint64_t)(program->filter + at), sizeof instruction))
            break;
        if (BPF_CLASS(instruction.code) == BPF_RET)
            return BPF_RVAL(instruction.code) == BPF_A ? m.a : instruction.k;
        at += 1 + (uint64_t)step(&m, &instruction);
        if (m.divided)
            return SECCOMP_RET_KILL_THREAD;
    }
    return SECCOMP_RET_ALLOW;
}

bool tr_filter_allows(const struct tr_filter *filter, int32_t number, const uint64_t arguments[6])
{
    struct sock_fprog program;
    struct seccomp_data data = {
        .nr = number,
        .arch = AUDIT_ARCH_X86_64,
        .instruction_pointer = filter->instruction_pointer,
    };
    memcpy(data.args, arguments, sizeof data.args);
    if (!filter->read(&program, filter->program, sizeof program))
        return true;
    uint32_t action = run(filter, &program, &data) & SECCOMP_RET_ACTION_FULL;
    return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

/* --- What the runtime calls --- */

struct own_call {
    int32_t number;
    uint64_t arguments[6];
};

static bool allows_all(const struct tr_filter *filter, const struct own_call *calls, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!tr_filter_allows(filter, calls[i].number, calls[i].arguments))
            return false;
    return true;
}

bool tr_filter_allows_translator(const struct tr_filter *filter)
{
    enum { ALL = PROT_READ | PROT_WRITE | PROT_EXEC, DATA = PROT_READ | PROT_WRITE };
    enum { ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS };
    static const struct own_call calls[] = {
        {__NR_mmap, {0, 1 << 16, DATA, ANONYMOUS, UINT64_MAX, 0}},
        {__NR_mmap, {0, 1 << 28, PROT_NONE, ANONYMOUS | MAP_NORESERVE, UINT64_MAX, 0}},
        {__NR_munmap, {1 << 16, 1 << 16}},
        {__NR_mprotect, {1 << 16, 1 << 16, ALL}},
        {__NR_mprotect, {1 << 16, 1 << 16, DATA}},
        {__NR_futex, {1 << 16, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2}},
        {__NR_futex, {1 << 16, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1}},
        {__NR_futex, {1 << 16, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, 1 << 16}},
        {__NR_rt_sigprocmask, {2, 1 << 16, 0, 8}},
        {__NR_rt_sigreturn, {0}},
        {__NR_rt_sigaction, {11, 1 << 16, 0, 8}},
        {__NR_sigaltstack, {1 << 16}},
        {__NR_getpid, {0}},
        {__NR_gettid, {0}},
    };
    return allows_all(filter, calls, sizeof calls / sizeof *calls);
}

bool tr_filter_allows_processor_time(const struct tr_filter *filter)
{
    return tr_filter_allows(filter, __NR_clock_gettime,
                            (uint64_t[6]){CLOCK_THREAD_CPUTIME_ID, 1 << 16});
}

bool tr_filter_allows_populate(const struct tr_filter *filter)
{
    return tr_filter_allows(filter, __NR_madvise,
                            (uint64_t[6]){1 << 16, 1 << 16, MADV_POPULATE_WRITE});
}

bool tr_filter_allows_limits(const struct tr_filter *filter)
{
    static const struct own_call calls[] = {
        {__NR_prlimit64, {0, RLIMIT_AS, 0, 1 << 16}},
        {__NR_prlimit64, {0, RLIMIT_AS, 1 << 16, 0}},
    };
    return allows_all(filter, calls, sizeof calls / sizeof *calls);
}

bool tr_filter_allows_attach(const struct tr_filter *filter)
{
    /* include/linux/socket.h, which programs do not get from the kernel's headers */
    enum { UNIX = 1, STREAM = 1, MSG_CMSG_CLOEXEC = 0x40000000 };
    enum { ALL = PROT_READ | PROT_WRITE | PROT_EXEC };
    static const struct own_call calls[] = {
        {__NR_mmap, {0, 1 << 24, ALL, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0}},
        {__NR_mmap, {0, 1 << 30, PROT_NONE, MAP_SHARED | MAP_NORESERVE, 3, 0}},
        {__NR_openat, {(uint64_t)AT_FDCWD, 1 << 16, O_RDWR | O_CLOEXEC}},
        {__NR_socketpair, {UNIX, STREAM | O_CLOEXEC, 0, 1 << 16}},
        {__NR_recvmsg, {3, 1 << 16, MSG_CMSG_CLOEXEC}},
        {__NR_close, {3}},
        {__NR_prctl, {PR_GET_TSC, 1 << 16}},
        {__NR_madvise, {1 << 16, 1 << 16, MADV_RANDOM}},
        {__NR_madvise, {1 << 16, 1 << 16, MADV_POPULATE_WRITE}},
        {__NR_restart_syscall, {0}},
        {__NR_rseq, {1 << 16, 32, RSEQ_FLAG_UNREGISTER}},
        {__NR_rseq, {1 << 16, 32, 0}},
        {__NR_arch_prctl, {ARCH_SET_GS, 1 << 16}},
    };
    return allows_all(filter, calls, sizeof calls / sizeof *calls);
}

bool tr_filter_allows_files(const struct tr_filter *filter)
{
    static const struct own_call calls[] = {
        {__NR_openat, {(uint64_t)AT_FDCWD, 1 << 16, O_RDONLY | O_CLOEXEC}},
        {__NR_read, {3, 1 << 16, 1 << 16}},
        {__NR_pread64, {3, 1 << 16, 1 << 12}},
        {__NR_close, {3}},
        {__NR_fstat, {3, 1 << 16}},
        {__NR_newfstatat, {(uint64_t)AT_FDCWD, 1 << 16, 1 << 16}},
        {__NR_getxattr, {1 << 16, 1 << 16}},
        {__NR_fgetxattr, {3, 1 << 16}},
        {__NR_lseek, {3, 0, SEEK_CUR}},
        {__NR_prctl, {PR_SET_PTRACER, 1 << 16}},
    };
    return allows_all(filter, calls, sizeof calls / sizeof *calls);
}
