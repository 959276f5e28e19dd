#include "engine/translator/inject/remote_call.h"

#include "base/child_wait.h"
#include "engine/translator/inject/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)
extern const unsigned char remote_stub_code[], remote_stub_restore[], remote_stub_data[],
    remote_stub_end[];
#pragma GCC visibility pop

/* At remote_stub_data: registers by number, as instructions encode them, then the program counter. */
struct stub_data {
    uint64_t mask;
    uint64_t registers[17];
};

enum { KERNEL_MASK_SIZE = 8, LARGEST_STUB = 1024 };

static size_t offset_of(const unsigned char *label)
{
    return (size_t)(label - remote_stub_code);
}

static bool lost(int reason, struct error *error)
{
    return error_set_errno(error, ERROR_IO, reason, "a thread of it cannot be traced any more");
}

static bool write_stub(const struct remote_stub *stub, size_t offset, const void *bytes,
                       size_t size, struct error *error)
{
    return pwrite(stub->memory, bytes, size, (off_t)(stub->address + offset)) == (ssize_t)size ||
           error_set_errno(error, ERROR_IO, errno, "its memory cannot be written");
}

bool remote_stub_place(struct remote_stub *stub, pid_t pid, pid_t tid, int memory,
                       struct error *error)
{
    *stub = (struct remote_stub){.pid = pid, .memory = memory};
    return inject_find_place(tid, remote_stub_size(), &stub->address, error) &&
           write_stub(stub, 0, remote_stub_code, remote_stub_size(), error);
}

void remote_stub_remove(const struct remote_stub *stub)
{
    static const unsigned char nothing[LARGEST_STUB];
    write_stub(stub, 0, nothing, remote_stub_size(), NULL);
}

uint64_t remote_stub_size(void)
{
    return offset_of(remote_stub_end);
}

uint64_t remote_stub_left(pid_t pid)
{
    char path[64];
    unsigned char bytes[LARGEST_STUB];
    size_t size = offset_of(remote_stub_data);
    uint64_t address = inject_place_of(pid, remote_stub_size());
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    int memory = address ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (memory < 0)
        return 0;
    bool left = pread(memory, bytes, size, (off_t)address) == (ssize_t)size &&
                memcmp(bytes, remote_stub_code, size) == 0;
    close(memory);
    return left ? address : 0;
}

/* Up to the next stop for a system call. Signals are blocked: other stops are none of the program's. */
static bool go_to_call(pid_t tid, struct error *error)
{
    int status = 0;
    do {
        if (ptrace(PTRACE_SYSCALL, tid, NULL, NULL) != 0)
            return lost(errno, error);
        status = child_wait(tid);
        if (!WIFSTOPPED(status))
            return lost(ESRCH, error);
    } while (WSTOPSIG(status) != (SIGTRAP | 0x80));
    return true;
}

static bool set_registers(pid_t tid, const struct user_regs_struct *registers, struct error *error)
{
    return ptrace(PTRACE_SETREGS, tid, NULL, registers) == 0 || lost(errno, error);
}

static bool set_mask(pid_t tid, uint64_t mask, struct error *error)
{
    return ptrace(PTRACE_SETSIGMASK, tid, (void *)KERNEL_MASK_SIZE, &mask) == 0 ||
           lost(errno, error);
}

bool remote_end_exec(pid_t tid, struct remote_return *to, struct error *error)
{
    if (ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0 ||
        ptrace(PTRACE_GETSIGMASK, tid, (void *)KERNEL_MASK_SIZE, &to->mask) != 0)
        return lost(errno, error);
    return set_mask(tid, UINT64_MAX, error) && go_to_call(tid, error) &&
           (ptrace(PTRACE_GETREGS, tid, NULL, &to->registers) == 0 || lost(errno, error));
}

bool remote_begin(const struct remote_stub *stub, const struct remote_return *to,
                  struct error *error)
{
    const struct user_regs_struct *r = &to->registers;
    struct stub_data data = {
        .mask = to->mask,
        .registers = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi, r->r8, r->r9,
                      r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip},
    };
    return write_stub(stub, offset_of(remote_stub_data), &data, sizeof data, error);
}

bool remote_call(const struct remote_stub *stub, pid_t tid, const struct remote_return *to,
                 int64_t number, const uint64_t arguments[6], int64_t *result, struct error *error)
{
    struct user_regs_struct registers = to->registers;
    registers.rip = stub->address;
    registers.orig_rax = UINT64_MAX;
    registers.rax = (uint64_t)number;
    registers.rdi = arguments[0];
    registers.rsi = arguments[1];
    registers.rdx = arguments[2];
    registers.r10 = arguments[3];
    registers.r8 = arguments[4];
    registers.r9 = arguments[5];
    /* In this order: with signals blocked and without the stub it would be left alone by the recorder's death. */
    if (!set_registers(tid, &registers, error) || !set_mask(tid, UINT64_MAX, error) ||
        !go_to_call(tid, error) || !go_to_call(tid, error) ||
        (ptrace(PTRACE_GETREGS, tid, NULL, &registers) != 0 && !lost(errno, error)))
        return false;
    *result = (int64_t)registers.rax;
    return true;
}

/* The kernel's mask is set by the stub's second call. */
bool remote_end(const struct remote_stub *stub, pid_t tid, const struct remote_return *to,
                struct error *error)
{
    struct user_regs_struct registers = to->registers;
    registers.rip = stub->address + offset_of(remote_stub_restore);
    registers.orig_rax = UINT64_MAX;
    return set_registers(tid, &registers, error) && go_to_call(tid, error) &&
           go_to_call(tid, error) && set_registers(tid, &to->registers, error);
}
