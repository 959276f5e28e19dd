/* sigsuspend, sigwaitinfo and signalfd: blocked signals run handlers when they are let in, or are
 * taken without a handler. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { ROUNDS = 25 };

static volatile int handled, order;

__attribute__((noinline)) static int work(int level)
{
    volatile int here = level;
    return level == 0 ? 0 : work(level - 1) + (here == level);
}

static void handle(int number)
{
    handled += work(3) == 3;
    order = order * 3 % 1009 + number;
}

__attribute__((noinline)) static int let_in(int depth, const sigset_t *none)
{
    if (depth > 0)
        return let_in(depth - 1, none) + (work(1) == 1);
    raise(SIGUSR1);
    raise(SIGUSR2);
    raise(SIGHUP);
    return sigsuspend(none) == -1;
}

__attribute__((noinline)) static int take(int descriptor, const sigset_t *all)
{
    struct signalfd_siginfo read_info;
    siginfo_t info;
    raise(SIGUSR1);
    raise(SIGUSR2);
    int taken = sigwaitinfo(all, &info) > 0;
    return taken + (read(descriptor, &read_info, sizeof read_info) == sizeof read_info);
}

int main(void)
{
    struct sigaction action = {.sa_handler = handle};
    sigset_t all, none;
    sigemptyset(&none);
    sigemptyset(&all);
    sigaddset(&all, SIGUSR1);
    sigaddset(&all, SIGUSR2);
    sigaddset(&all, SIGHUP);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int descriptor = signalfd(-1, &all, 0), result = 0;
    for (int i = 0; i < ROUNDS; i++)
        result += let_in(i % 5, &none) + take(descriptor, &all);
    printf("handled %d result %d\n", handled, result);
    return handled == 3 * ROUNDS && result == 3 * ROUNDS + 2 * ROUNDS ? 0 : 1;
}
