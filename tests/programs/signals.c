/* Signals: sent by the program to itself, by a timer while it computes, and by faults in the middle
 * of a block. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile unsigned long on_user_calls, on_fault_calls, on_alarm_calls;
static volatile unsigned long handled, work_calls;
static sigjmp_buf target;

static void on_user(int signal)
{
    (void)signal;
    on_user_calls++;
}

static void on_alarm(int signal, siginfo_t *information, void *context)
{
    (void)signal;
    (void)information;
    (void)context;
    on_alarm_calls++;
}

static void on_fault(int signal)
{
    (void)signal;
    on_fault_calls++;
    siglongjmp(target, 1);
}

static void fault(void)
{
    *(volatile int *)8 = 1;
}

static unsigned work(unsigned value)
{
    work_calls++;
    for (int i = 0; i < 1000; i++)
        value = value * 1103515245u + 12345u;
    return value;
}

int main(void)
{
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_user}, NULL);
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_fault, .sa_flags = SA_NODEFER}, NULL);
    sigaction(SIGALRM,
              &(struct sigaction){.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART},
              NULL);
    for (int i = 0; i < 10; i++)
        raise(SIGUSR1);
    for (int i = 0; i < 10; i++)
        if (sigsetjmp(target, 1) == 0)
            fault();
        else
            handled++;

    setitimer(ITIMER_REAL, &(struct itimerval){{0, 400}, {0, 400}}, NULL);
    unsigned value = 1;
    while (on_alarm_calls < 5)
        value = work(value);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);

    printf("handled %lu\n", handled);
    printf("COUNT on_user %lu\nCOUNT on_fault %lu\n", on_user_calls, on_fault_calls);
    /* How often the timer fires differs from run to run: not for comparing with an untraced run. */
    fprintf(stderr, "COUNT on_alarm %lu\nCOUNT work %lu\n", on_alarm_calls, work_calls);
    return 0;
}
