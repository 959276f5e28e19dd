/* Runs a command as on Linux 4.14: what the kernel has learned since then does not exist.
 *
 *     old_kernel PROGRAM ARGUMENTS
 *
 * System calls: the last that 4.14 has is statx; pidfd_open, clone3, rseq and all others have higher numbers. Of the older
 * calls' requests: PTRACE_GET_SYSCALL_INFO (5.3), PTRACE_GET_RSEQ_CONFIGURATION (5.13) and later ones of ptrace; MADV_COLD
 * (5.4), MADV_POPULATE_READ and _WRITE (5.14) and later ones of madvise. What cannot be filtered by numbers: flags of mmap,
 * which old kernels ignore, and what structures point to.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The answer to system call `number` when `argument` (of its number) is in [from, to). */
#define REFUSE(number, argument, from, to, error)                                                  \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),                         \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4),                                         \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[argument])),         \
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, from, 0, 2),                                           \
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, to, 1, 0),                                             \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

int main(int argc, char **argv)
{
    enum { POISON = 100 }; /* MADV_HWPOISON: older */
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SYS_statx, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        REFUSE(SYS_ptrace, 0, PTRACE_GET_SYSCALL_INFO, PTRACE_GET_SYSCALL_INFO + 16, EIO),
        REFUSE(SYS_madvise, 2, MADV_COLD, POISON, EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 99;
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return 98;
}
