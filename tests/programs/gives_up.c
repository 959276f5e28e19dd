/* What the translator does not follow: `gives_up far|int80|dispatch|breakpoint|stepped|executable`. Does it, goes on, and prints what came of it. */
#define _GNU_SOURCE
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int signal)
{
    signals += signal == SIGSYS || signal == SIGTRAP;
}

static void work(void)
{
    for (volatile int i = 0; i < 1000; i++)
        ;
}

static void return_far(void)
{
    __asm__ volatile("push $0x33\n"
                     "lea 1f(%%rip), %%rax\n"
                     "push %%rax\n"
                     "lretq\n"
                     "1:"
                     :
                     :
                     : "rax", "memory");
    printf("far\n");
}

/* fork() of the 32-bit ABI. */
static void fork_by_int80(void)
{
    int child, status = 0;
    __asm__ volatile("int $0x80" : "=a"(child) : "a"(2) : "memory", "r8", "r9", "r10", "r11");
    work();
    if (child == 0)
        _exit(7);
    if (child > 0)
        waitpid(child, &status, 0);
    printf("int80: %d %x\n", child > 0, status);
}

static void dispatch_calls(void)
{
    static volatile char selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    int result = prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector);
    signal(SIGSYS, count);
    selector = SYSCALL_DISPATCH_FILTER_BLOCK;
    if (result == 0)
        syscall(SYS_getppid);
    selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    printf("dispatch: %d, %d\n", result, (int)signals);
}

__attribute__((noinline)) static int stopped_at(void)
{
    work();
    return 1;
}

static void set_breakpoint(void)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_BREAKPOINT,
                                         .size = sizeof attributes,
                                         .bp_type = HW_BREAKPOINT_X,
                                         .bp_addr = (unsigned long)stopped_at,
                                         .bp_len = sizeof(long),
                                         .exclude_kernel = 1};
    long event = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    unsigned long long hits = 0;
    for (int i = 0; i < 3; i++)
        stopped_at();
    if (event >= 0 && read((int)event, &hits, sizeof hits) < 0)
        perror("read");
    printf("breakpoint: %d, %llu\n", event >= 0, hits);
}

/* A child that its parent steps from instruction to instruction of this program. */
static void step_child(void)
{
    int child = fork(), status = 0, steps = 0;
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        work();
        __asm__ volatile("int3");
    }
    waitpid(child, &status, 0);
    for (long bytes = 0; (bytes & 0xff) != 0xcc && steps < 100000; steps++) {
        struct user_regs_struct registers;
        ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
        waitpid(child, &status, 0);
        ptrace(PTRACE_GETREGS, child, NULL, &registers);
        bytes = ptrace(PTRACE_PEEKTEXT, child, (void *)registers.rip, NULL);
    }
    printf("stepped: %d, %x\n", steps, status);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

/* Exits with 77 on kernels before Linux 6.3. */
static void forbid_executable_memory(void)
{
    enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1, NOT_KNOWN = 77 };
    if (prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
        _exit(NOT_KNOWN);
    void *memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%d\n", memory == MAP_FAILED);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    work();
    if (strcmp(what, "far") == 0)
        return_far();
    else if (strcmp(what, "int80") == 0)
        fork_by_int80();
    else if (strcmp(what, "dispatch") == 0)
        dispatch_calls();
    else if (strcmp(what, "breakpoint") == 0)
        set_breakpoint();
    else if (strcmp(what, "executable") == 0)
        forbid_executable_memory();
    else if (strcmp(what, "stepped") == 0)
        step_child();
    work();
    return 0;
}
