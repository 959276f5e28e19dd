/* truth: -O0 -g; -O2; -O2 -static; strip -O2
 * Signals: on the same stack and on one of their own, nested, at once, left by siglongjmp, in
 * the middle of blocks and of calls. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile unsigned long count, alarms;
static sigjmp_buf target;

__attribute__((noinline)) static void note(int signal)
{
    count += (unsigned long)signal;
}

static void on_user(int signal)
{
    note(signal);
}

static void on_nested(int signal, siginfo_t *information, void *context)
{
    (void)information;
    (void)context;
    note(signal);
    raise(SIGUSR1);
    note(signal);
}

static void on_fault(int signal)
{
    note(signal);
    siglongjmp(target, 1);
}

static void on_alarm(int signal)
{
    alarms++;
    note(signal);
}

__attribute__((noinline)) static unsigned long work(unsigned long value)
{
    return value * 6364136223846793005u + 1;
}

__attribute__((noinline)) static void fault(int depth)
{
    if (depth > 0) {
        fault(depth - 1);
        count++;
        return;
    }
    volatile int *nowhere = (volatile int *)8;
    *nowhere = 1;
}

__attribute__((noinline)) static void recover(int depth)
{
    if (sigsetjmp(target, 1) == 0)
        fault(depth);
    else
        note(1);
}

static void handle(int signal, int flags, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(signal, &action, NULL);
}

/* Both wait, and come one upon the other before the first runs. */
__attribute__((noinline)) static void at_once(void)
{
    sigset_t both, before;
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    sigprocmask(SIG_BLOCK, &both, &before);
    raise(SIGUSR1);
    raise(SIGUSR2);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

__attribute__((noinline)) static void compute_until_alarms(unsigned long wanted)
{
    struct itimerval timer = {{0, 2000}, {0, 2000}}, none = {{0, 0}, {0, 0}};
    unsigned long value = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
    while (alarms < wanted)
        value = work(value);
    setitimer(ITIMER_REAL, &none, NULL);
    count += value & 1;
}

int main(void)
{
    char *alternate = malloc(65536);
    stack_t stack = {.ss_sp = alternate, .ss_size = 65536};
    struct sigaction nested = {.sa_sigaction = on_nested, .sa_flags = SA_SIGINFO};
    handle(SIGUSR1, 0, on_user);
    sigaction(SIGUSR2, &nested, NULL);
    handle(SIGSEGV, 0, on_fault);
    handle(SIGALRM, SA_RESTART, on_alarm);
    for (int round = 0; round < 3; round++) {
        raise(SIGUSR1);
        raise(SIGUSR2);
        recover(round * 3);
        at_once();
        compute_until_alarms(alarms + 5);
        /* The second time all of it on a stack of its own. */
        sigaltstack(&stack, NULL);
        nested.sa_flags |= SA_ONSTACK;
        sigaction(SIGUSR2, &nested, NULL);
        handle(SIGUSR1, round == 1 ? 0 : SA_ONSTACK, on_user);
        handle(SIGSEGV, SA_ONSTACK, on_fault);
        handle(SIGALRM, SA_RESTART | SA_ONSTACK, on_alarm);
    }
    printf("%s\n", alarms >= 15 ? "done" : "?");
    return 0;
}
