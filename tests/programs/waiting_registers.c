/* A child waits in read with values of its own in the registers that a system call leaves alone, on its own stack; its parent looks at them
 * by ptrace, as LeakSanitizer and writers of crash reports do with other threads. Prints which registers are as the child left them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VALUE = 0x12340000 };

struct noted {
    uint64_t stack_pointer;
    char byte;
};

__attribute__((noinline)) static void wait_in_read(int input, struct noted *noted)
{
    __asm__ volatile("push %%rbp\n"
                     "mov %%rsp, (%%rcx)\n"
                     "mov $0x12340001, %%ebx\n"
                     "mov $0x12340002, %%ebp\n"
                     "mov $0x12340003, %%r12d\n"
                     "mov $0x12340004, %%r13d\n"
                     "mov $0x12340005, %%r14d\n"
                     "mov $0x12340006, %%r15d\n"
                     "syscall\n"
                     "pop %%rbp\n"
                     :
                     : "a"((long)SYS_read), "D"((long)input), "S"(&noted->byte), "d"(1L),
                       "c"(&noted->stack_pointer)
                     : "rbx", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
}

static void await_read(pid_t child)
{
    char path[64], text[16] = "";
    snprintf(path, sizeof path, "/proc/%d/syscall", child);
    while (strncmp(text, "0 ", 2) != 0) { /* SYS_read; the file says "running" before */
        FILE *file = fopen(path, "r");
        if (!file || !fgets(text, sizeof text, file))
            exit(2);
        fclose(file);
        usleep(1000);
    }
}

static void print(const char *name, uint64_t value, uint64_t expected)
{
    printf("%s: %s\n", name, value == expected ? "the program's" : "another value");
}

int main(void)
{
    int pipes[2];
    struct user_regs_struct registers;
    struct noted *noted =
        mmap(NULL, sizeof *noted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (noted == MAP_FAILED || pipe(pipes) != 0)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        wait_in_read(pipes[0], noted);
        _exit(noted->byte == 'x' ? 5 : 6);
    }
    await_read(child);
    int status;
    if (ptrace(PTRACE_SEIZE, child, NULL, NULL) != 0 ||
        ptrace(PTRACE_INTERRUPT, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child ||
        ptrace(PTRACE_GETREGS, child, NULL, &registers) != 0)
        return 3;
    print("rsp", registers.rsp, noted->stack_pointer);
    print("rbx", registers.rbx, VALUE + 1);
    print("rbp", registers.rbp, VALUE + 2);
    print("r12", registers.r12, VALUE + 3);
    print("r13", registers.r13, VALUE + 4);
    print("r14", registers.r14, VALUE + 5);
    print("r15", registers.r15, VALUE + 6);
    print("rsi", registers.rsi, (uint64_t)&noted->byte);
    if (ptrace(PTRACE_DETACH, child, NULL, NULL) != 0 || write(pipes[1], "x", 1) != 1 ||
        waitpid(child, &status, 0) != child)
        return 4;
    printf("child: %d\n", WEXITSTATUS(status));
    return 0;
}
