/* System calls that are forbidden, by seccomp in its modes: the program does the same things with and without being
 * traced, and only what it does itself is forbidden to it. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void check(int condition, const char *what)
{
    if (condition)
        return;
    printf("wrong: %s\n", what);
    _exit(1);
}

static void decide(uint32_t number, uint32_t action, uint32_t otherwise)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, otherwise),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
    check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "PR_SET_SECCOMP");
}

static void forbid(uint32_t number, uint32_t action)
{
    decide(number, action, SECCOMP_RET_ALLOW);
}

static void work(void)
{
    volatile long sum = 0;
    for (int i = 0; i < 100000; i++)
        sum += i;
    free(memset(malloc(1 << 20), 1, 1 << 20));
}

static void strict(void)
{
    check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0, "strict mode");
    syscall(SYS_exit, 2);
}

static void only_the_end(void)
{
    decide(SYS_exit_group, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
    _exit(3);
}

static void killed(void)
{
    forbid(SYS_getppid, SECCOMP_RET_KILL_PROCESS);
    work();
    syscall(SYS_getppid);
}

static void refused(void)
{
    forbid(SYS_getppid, SECCOMP_RET_ERRNO | 77);
    work();
    check(syscall(SYS_getppid) == -1 && errno == 77, "refused call");
    _exit(4);
}

static void answer(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    check(registers[REG_RAX] == info->si_syscall, "the call's number");
    check(registers[REG_RIP] == (greg_t)info->si_call_addr, "the call's address");
    registers[REG_RAX] = 1000 + registers[REG_RDI];
}

static void answered(void)
{
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    forbid(SYS_getppid, SECCOMP_RET_TRAP);
    for (int i = 0; i < 100; i++)
        check(syscall(SYS_getppid, i) == 1000 + i, "answered call");
    _exit(5);
}

/* Nobody can look into /proc any more to see what is mapped where. */
static void no_files(void)
{
    forbid(SYS_openat, SECCOMP_RET_KILL_PROCESS);
    work();
    uint8_t *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 50; i++) {
        memcpy(code, "\xb8\0\0\0\0\xc3", 6); /* mov eax, i; ret */
        memcpy(code + 1, &i, sizeof i);
        check(((int (*)(void))(uintptr_t)code)() == i, "code under a filter");
    }
    _exit(6);
}

/* By which pages of memory could be made at once: what is traced takes more memory than before. */
static void no_madvise(void)
{
    forbid(SYS_madvise, SECCOMP_RET_KILL_PROCESS);
    for (int i = 0; i < 20; i++)
        work();
    _exit(7);
}

static void run(void (*function)(void), const char *name)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        function();
        _exit(100);
    }
    check(waitpid(child, &status, 0) == child, "waitpid");
    printf("%s: %s %d\n", name, WIFEXITED(status) ? "exited with" : "killed by signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    run(strict, "strict");
    run(only_the_end, "only the end");
    run(killed, "killed");
    run(refused, "refused");
    run(answered, "answered");
    run(no_files, "no files");
    run(no_madvise, "no madvise");
    return 0;
}
