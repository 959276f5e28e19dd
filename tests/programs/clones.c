/* Threads and processes in every way that Linux makes and ends them. Each has a result that is known; a wrong one ends
 * the program. With arguments: a program that some of them execute, which returns the number. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
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
static char *self;

static void check(int condition, const char *what)
{
    if (condition)
        return;
    printf("wrong: %s\n", what);
    exit(1);
}

static int status_of(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        check(errno == EINTR, "waitpid");
    return status;
}

/* 1000 more than a signal. */
static int result_of(pid_t child)
{
    int status = status_of(child);
    check(child > 0, "a child");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void *count(void *argument)
{
    volatile long sum = 0;
    for (long i = 0; i < 5000; i++)
        sum += i;
    return argument;
}

static void *fork_often(void *argument)
{
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(i);
        check(result_of(child) == i, "fork in a thread");
    }
    return argument;
}

static void *exit_by_system_call(void *argument)
{
    syscall(SYS_exit, 0);
    return argument;
}

static void make_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    for (int round = 0; round < 5; round++) {
        for (long i = 0; i < THREADS; i++)
            check(pthread_create(&threads[i], NULL, count, (void *)i) == 0, "pthread_create");
        for (long i = 0; i < THREADS; i++) {
            void *result;
            pthread_join(threads[i], &result);
            check(result == (void *)i, "a thread's result");
        }
    }
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, fork_often, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    pthread_create(&threads[0], NULL, exit_by_system_call, NULL);
    pthread_join(threads[0], NULL);
    puts("threads");
}

static void fork_and_end(void)
{
    pid_t child = fork();
    if (child == 0) {
        check(getpid() == syscall(SYS_gettid), "the child's only thread");
        _exit(5);
    }
    check(result_of(child) == 5, "fork");
    child = fork();
    if (child == 0)
        abort();
    check(result_of(child) == 1000 + SIGABRT, "abort");
    child = fork();
    if (child == 0)
        raise(SIGKILL);
    check(result_of(child) == 1000 + SIGKILL, "SIGKILL");
    child = fork();
    if (child == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, count, NULL);
        syscall(SYS_exit, 3); /* the process lives on until its last thread has ended */
    }
    check(result_of(child) <= 3, "exit of the first thread");
    puts("fork");
}

static void execute(const char *number)
{
    char *const arguments[] = {self, "result", (char *)number, NULL};
    execv(self, arguments);
    _exit(100);
}

static void replace_programs(void)
{
    pid_t child = fork();
    if (child == 0)
        execute("11");
    check(result_of(child) == 11, "exec");
    child = fork();
    if (child == 0) {
        pthread_t threads[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, count, NULL);
        execute("12");
    }
    check(result_of(child) == 12, "exec with several threads");
    child = vfork();
    if (child == 0)
        execute("13");
    check(result_of(child) == 13, "vfork and exec");
    child = vfork();
    if (child == 0) {
        execl("/nonexistent", "nonexistent", NULL);
        _exit(errno);
    }
    check(result_of(child) == ENOENT, "exec of nothing");
    child = fork();
    if (child == 0) {
        pid_t grandchild = vfork();
        if (grandchild == 0)
            execute("14");
        _exit(result_of(grandchild) + 1);
    }
    check(result_of(child) == 15, "vfork in a child");
    for (int i = 0; i < 10; i++) {
        char number[12];
        snprintf(number, sizeof number, "%d", i);
        char *const arguments[] = {self, "result", number, NULL};
        check(posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0, "posix_spawn");
        check(result_of(child) == i, "a spawned program's result");
    }
    puts("exec");
}

static int set_and_return(void *argument)
{
    *(volatile int *)argument = 42;
    _exit(7);
}

static void clone_in_other_ways(void)
{
    enum { STACK = 1 << 16 };
    char *stack = malloc(STACK);
    int value = 0;
    check(result_of(clone(set_and_return, stack + STACK, SIGCHLD, &value)) == 7 && value == 0,
          "clone");
    check(result_of(clone(set_and_return, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD,
                          &value)) == 7 &&
              value == 42,
          "clone that waits, with shared memory");
    value = 0;
    check(result_of(clone(set_and_return, stack + STACK, CLONE_VM | SIGCHLD, &value)) == 7 &&
              value == 42,
          "clone with shared memory");
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0)
        _exit(8);
    check(result_of(child) == 8, "clone3");
    check(syscall(SYS_clone3, NULL, 64) == -1 && errno == EFAULT, "clone3 without arguments");
    check(syscall(SYS_clone3, &arguments, 8) == -1 && errno == EINVAL, "clone3 with few arguments");
    puts("clone");
}

/* Its caller must not have called a function for it: with CLONE_VM the child uses the same stack. */
static inline __attribute__((always_inline)) pid_t clone_here(struct clone_args *arguments)
{
    long result = SYS_clone3;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(arguments), "S"(sizeof *arguments)
                     : "rcx", "r11", "memory");
    return (pid_t)result;
}

static void ignore(int signal)
{
}

/* As posix_spawn does since glibc 2.38, with all signals blocked. */
static void *clone_without_handlers(void *argument)
{
    struct clone_args forks = {.flags = CLONE_CLEAR_SIGHAND, .exit_signal = SIGCHLD};
    struct clone_args waits = {.flags = CLONE_CLEAR_SIGHAND | CLONE_VM | CLONE_VFORK,
                               .exit_signal = SIGCHLD};
    struct sigaction action;
    sigset_t all, before;
    signal(SIGUSR1, ignore);
    pid_t child = clone_here(&forks);
    if (child == 0) {
        sigaction(SIGUSR1, NULL, &action);
        _exit(action.sa_handler == SIG_DFL ? 17 : 18);
    }
    check(result_of(child) == 17, "clone3 that clears handlers");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    child = clone_here(&waits);
    if (child == 0)
        execute("19");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    check(result_of(child) == 19, "clone3 that clears handlers, and exec");
    sigaction(SIGUSR1, NULL, &action);
    check(action.sa_handler == ignore, "the parent's handler");
    return argument;
}

/* Above the callers on the stack is nothing that could be read. */
static void clone_at_the_end_of_a_stack(void)
{
    enum { STACK = 1 << 16, PAGE = 1 << 12 };
    char *stack =
        mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    check(mprotect(stack + STACK, PAGE, PROT_NONE) == 0, "mprotect");
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK);
    check(pthread_create(&thread, &attributes, clone_without_handlers, NULL) == 0,
          "pthread_create");
    pthread_join(thread, NULL);
    puts("clone without handlers");
}

int main(int count_of_arguments, char **arguments)
{
    if (count_of_arguments > 2)
        return atoi(arguments[2]);
    self = arguments[0];
    setvbuf(stdout, NULL, _IONBF, 0);
    make_threads();
    fork_and_end();
    replace_programs();
    clone_in_other_ways();
    clone_at_the_end_of_a_stack();
    return 0;
}
