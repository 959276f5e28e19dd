#include "process/system_call_restart.h"

#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

/* What a system call returns inside the kernel: its include/linux/errno.h. */
enum {
    KERNEL_ERESTARTSYS = 512,
    KERNEL_ERESTARTNOINTR = 513,
    KERNEL_ERESTARTNOHAND = 514,
    KERNEL_ERESTART_RESTARTBLOCK = 516,
    SYSCALL_LENGTH = 2,     /* bytes of the instruction */
    CODE_SEGMENT_64 = 0x33, /* of user space */
};

/* SIG_KERNEL_IGNORE_MASK of include/linux/signal.h. */
static const uint64_t ignored_by_default =
    UINT64_C(1) << (SIGCONT - 1) | UINT64_C(1) << (SIGCHLD - 1) | UINT64_C(1) << (SIGWINCH - 1) |
    UINT64_C(1) << (SIGURG - 1);

static uint64_t signals_of(const char *status, const char *key)
{
    const char *line = strstr(status, key);
    return line ? strtoull(line + strlen(key), NULL, 16) : 0;
}

static uint64_t ignored_signals(const char *status)
{
    return signals_of(status, "\nSigIgn:\t") |
           (ignored_by_default & ~signals_of(status, "\nSigCgt:\t"));
}

bool signal_is_ignored(pid_t tid, int signal)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    char *status = file_read(path, NULL, NULL);
    bool ignored =
        status && signal > 0 && signal <= 64 && (ignored_signals(status) >> (signal - 1) & 1);
    free(status);
    return ignored;
}

/* The kernel keeps ignored signals for a thread that is traced, and drops them when it goes on. */
bool has_deliverable_signal(pid_t tid, bool shared_too)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    char *status = file_read(path, NULL, NULL);
    if (!status)
        return true;
    uint64_t pending = signals_of(status, "\nSigPnd:\t");
    if (shared_too)
        pending |= signals_of(status, "\nShdPnd:\t");
    pending &= ~signals_of(status, "\nSigBlk:\t") & ~ignored_signals(status) &
               ~(UINT64_C(1) << (SIGTRAP - 1));
    free(status);
    return pending != 0;
}

/* The system call to restart; -1: none. */
static long call_to_restart(const struct user_regs_struct *registers, bool all)
{
    long call = (long)registers->orig_rax;
    if (call < 0 || registers->cs != CODE_SEGMENT_64)
        return -1;
    switch (-(long)registers->rax) {
    case EINTR:
        return call == SYS_close ? -1 : call; /* the descriptor is closed all the same */
    case KERNEL_ERESTARTSYS:
    case KERNEL_ERESTARTNOINTR:
    case KERNEL_ERESTARTNOHAND:
        return all ? call : -1;
    case KERNEL_ERESTART_RESTARTBLOCK:
        return all ? SYS_restart_syscall : -1;
    default:
        return -1;
    }
}

bool restart_in_registers(struct user_regs_struct *registers, bool all)
{
    long call = call_to_restart(registers, all);
    if (call < 0)
        return false;
    registers->rax = (uint64_t)call;
    registers->orig_rax = UINT64_MAX; /* the kernel has nothing left to restart */
    registers->rip -= SYSCALL_LENGTH;
    return true;
}

void restart_system_call(pid_t tid, bool all)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) != 0)
        return;
    if (!restart_in_registers(&registers, all) || has_deliverable_signal(tid, true))
        return;
    ptrace(PTRACE_SETREGS, tid, NULL, &registers);
}
