/* Signals by kill, sigqueue and raise that wait while they are blocked and then arrive all at once,
 * stacked. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int plain_ran, queued_ran, queued_sum;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

static void plain(int number)
{
    plain_ran += work(number % 8) == number % 8;
}

static void queued(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    queued_ran++;
    queued_sum += work(info->si_value.sival_int);
}

static void send_all(const sigset_t *mask)
{
    sigset_t before;
    sigprocmask(SIG_BLOCK, mask, &before);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    raise(SIGTERM);
    for (int i = 0; i < 5; i++)
        sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i});
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = queued, .sa_flags = SA_SIGINFO};
    sigset_t mask;
    sigfillset(&mask);
    signal(SIGUSR1, plain);
    signal(SIGUSR2, plain);
    signal(SIGTERM, plain);
    sigaction(SIGRTMIN, &action, NULL);
    for (int i = 0; i < 20; i++)
        send_all(&mask);
    printf("plain %d queued %d sum %d\n", plain_ran, queued_ran, queued_sum);
    return plain_ran == 60 && queued_ran == 100 && queued_sum == 200 ? 0 : 1;
}
