/* Does what its words say, one after the other, for recordings of some functions alone (-only).
 *
 *     selected WORD...
 *
 *     call     calls chosen(), which calls leaf() three times
 *     compute  calls leaf() 100,000 times
 *     kernel   calls asks(), which makes a system call and then calls leaf()
 *     jump     calls leaves(), which is left by longjmp, and makes a system call
 *     thread   has a second thread, which blocks all signals, do the next word, and waits for it
 *     signals  sends itself 50 signals whose handler calls chosen(), on an alternate stack
 *     fault    reads address 16; the handler leaves by siglongjmp
 *     fork     has a child do the next word; vfork likewise, while its parent waits
 *     spawn    starts /bin/true by posix_spawn
 *     exec     executes itself, to do the rest
 *     library  calls compressBound of libz.so.1, which it loads
 *     patches  makes its own code writable and writes the same bytes
 *     pause    prints "ready" and waits for a byte
 *
 * Prints what was computed, and what became of children.
 */
#define _GNU_SOURCE
#include "wait_for_byte.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile unsigned long sum;
static jmp_buf before;
static sigjmp_buf before_fault;

__attribute__((noinline)) void leaf(unsigned long number)
{
    sum += number;
}

__attribute__((noinline)) void chosen(void)
{
    for (unsigned long i = 1; i <= 3; i++)
        leaf(i);
}

__attribute__((noinline)) void asks(void)
{
    syscall(SYS_getppid);
    leaf(10);
}

__attribute__((noinline)) void leaves(void)
{
    leaf(20);
    longjmp(before, 1);
}

__attribute__((noinline)) void compute(void)
{
    for (unsigned long i = 0; i < 100000; i++)
        leaf(i);
}

__attribute__((noinline)) void jump(void)
{
    if (!setjmp(before))
        leaves();
    syscall(SYS_getppid);
    leaf(30);
}

static void handle(int signal)
{
    (void)signal;
    chosen();
}

static void send_signals(void)
{
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_ONSTACK}, NULL);
    for (int i = 0; i < 50; i++)
        raise(SIGUSR1);
}

static void leave_fault(int signal)
{
    (void)signal;
    siglongjmp(before_fault, 1);
}

static void fault(void)
{
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = leave_fault}, NULL);
    if (!sigsetjmp(before_fault, 1))
        leaf(*(volatile unsigned long *)16);
    else
        leaf(40);
}

static void spawn(void)
{
    char *arguments[] = {"true", NULL};
    pid_t child;
    int status = -1;
    if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) == 0)
        waitpid(child, &status, 0);
    printf("true: %d\n", status);
}

static void call_library(void)
{
    void *library = dlopen("libz.so.1", RTLD_NOW);
    unsigned long (*bound)(unsigned long) =
        library ? (unsigned long (*)(unsigned long))dlsym(library, "compressBound") : NULL;
    if (bound)
        sum += bound(1000);
    if (library)
        dlclose(library);
}

static void patch(void)
{
    uint8_t *page = (uint8_t *)((uintptr_t)chosen & ~UINT64_C(4095));
    uint8_t copy[16];
    if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return;
    memcpy(copy, (void *)chosen, sizeof copy);
    memcpy((void *)chosen, copy, sizeof copy);
    mprotect(page, 8192, PROT_READ | PROT_EXEC);
}

static void *do_word(void *word)
{
    static const struct {
        const char *word;
        void (*does)(void);
    } words[] = {{"call", chosen},        {"compute", compute},      {"kernel", asks},
                 {"jump", jump},          {"signals", send_signals}, {"fault", fault},
                 {"spawn", spawn},        {"library", call_library}, {"patches", patch},
                 {"pause", wait_for_byte}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0)
            words[i].does();
    return NULL;
}

static void *do_blocked(void *word)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    return do_word(word);
}

static void report(const char *what, pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    printf("%s: %d\n", what, status);
}

int main(int count, char **words)
{
    (void)count;
    for (char **word = words + 1; *word; word++) {
        pthread_t thread;
        pid_t child;
        if (strcmp(*word, "exec") == 0) {
            *word = words[0];
            printf("%lu\n", sum);
            fflush(stdout);
            execv("/proc/self/exe", word);
        } else if (strcmp(*word, "thread") == 0) {
            pthread_create(&thread, NULL, do_blocked, *++word);
            pthread_join(thread, NULL);
        } else if (strcmp(*word, "fork") == 0 || strcmp(*word, "vfork") == 0) {
            fflush(stdout);
            child = **word == 'f' ? fork() : vfork();
            if (child == 0) {
                do_word(word[1]);
                _exit(3);
            }
            report(*word++, child);
        } else {
            do_word(*word);
        }
    }
    printf("%lu\n", sum);
    return 0;
}
