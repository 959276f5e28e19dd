/* A process that `attach` with the translator has to refuse, for the reason that its argument says; it waits for bytes, and ends with
 * status 7 when its input does. Prints "ready PID": the process that is meant.
 *
 *     traced   a child that its parent traces
 *     zombie   a child that has ended and is not waited for
 *     strict   seccomp's strict mode
 *     gs       its gs base is not 0
 *     tsc      RDTSC faults
 *     steps    it single-steps through itself: the trap flag
 *     calls    it dispatches system calls from outside of the C library to itself: SIGSYS
 *     kills    a filter kills it for mprotect
 *     vforked  a child that its parent made by vfork, and waits for
 *     leader   its first thread has ended, another one goes on
 *     private  it is not dumpable: as programs with a setuid bit, only root may look into it
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long base;

static void ready(int pid)
{
    printf("ready %d\n", pid);
    fflush(stdout);
}

static void wait_for_end(void)
{
    char byte;
    while (read(0, &byte, 1) == 1)
        ;
    syscall(SYS_exit, 7);
}

static int start_child(int traced)
{
    int ends[2], child;
    char byte;
    if (pipe(ends) != 0)
        abort();
    child = fork();
    if (child == 0) {
        if (!traced)
            _exit(0);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        if (write(ends[1], "t", 1) != 1)
            abort();
        wait_for_end();
    }
    if (traced ? read(ends[0], &byte, 1) != 1
               : waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT) != 0)
        abort();
    return child;
}

static void forbid_mprotect(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

/* The C library is within the range from which calls go to the kernel; the vDSO lies elsewhere. */
static void dispatch_calls(void)
{
    enum { REACH = 8 << 20 };
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, (char *)read - REACH, 2L * REACH,
              NULL) != 0)
        abort();
}

static void ignore_trap(int signal)
{
    (void)signal;
}

static void step(void)
{
    /* Its signal mask is the same at each moment that a test may look. */
    sigaction(SIGTRAP, &(struct sigaction){.sa_handler = ignore_trap, .sa_flags = SA_NODEFER},
              NULL);
    ready(getpid());
    __asm__ volatile("pushf\n\torq $0x100, (%%rsp)\n\tpopf" ::: "memory", "cc");
    wait_for_end();
}

/* The child's memory is the parent's, which does not run. */
static void wait_in_child(void)
{
    if (vfork() == 0) {
        ready(getpid());
        wait_for_end();
    }
    _exit(7);
}

static void *wait_in_thread(void *leader)
{
    char byte;
    pthread_join(*(pthread_t *)leader, NULL);
    ready(getpid());
    while (read(0, &byte, 1) == 1)
        ;
    _exit(7);
}

static void end_leader(void)
{
    static pthread_t leader, other;
    leader = pthread_self();
    if (pthread_create(&other, NULL, wait_in_thread, &leader) != 0)
        abort();
    pthread_exit(NULL);
}

int main(int count, char **words)
{
    const char *kind = count > 1 ? words[1] : "";
    if (strcmp(kind, "steps") == 0)
        step();
    if (strcmp(kind, "vforked") == 0)
        wait_in_child();
    if (strcmp(kind, "leader") == 0)
        end_leader();
    if (strcmp(kind, "private") == 0)
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    int child = strcmp(kind, "traced") == 0 || strcmp(kind, "zombie") == 0
                    ? start_child(strcmp(kind, "traced") == 0)
                    : 0;
    if (strcmp(kind, "gs") == 0)
        syscall(SYS_arch_prctl, ARCH_SET_GS, &base);
    if (strcmp(kind, "calls") == 0)
        dispatch_calls();
    if (strcmp(kind, "kills") == 0)
        forbid_mprotect();
    if (strcmp(kind, "tsc") == 0)
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    ready(child ? child : getpid());
    if (strcmp(kind, "strict") == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    wait_for_end();
}
