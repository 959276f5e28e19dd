/* Fibers that a signal handler switches, as a preemptive scheduler does: each is left within a
 * handler, and the handler returns later, on the fiber's own stack. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { FIBERS = 3, STACK = 65536 };

static ucontext_t contexts[FIBERS + 1];
static volatile int current = FIBERS, switches, running;

__attribute__((noinline)) static void switch_to(int next)
{
    int before = current;
    current = next;
    switches++;
    swapcontext(&contexts[before], &contexts[next]);
}

/* Takes the next fiber's turn; the interrupted one goes on when the handler comes back here. */
static void preempt(int number)
{
    (void)number;
    switch_to((current + 1) % FIBERS);
}

__attribute__((noinline)) static int climb(int depth)
{
    volatile int here = depth;
    if (depth % 5 == 0)
        raise(SIGUSR1);
    int below = depth == 0 ? 0 : climb(depth - 1);
    if (here % 7 == 0)
        raise(SIGUSR1);
    return below + (here == depth);
}

static void run(int number)
{
    int levels = climb(20 + 10 * number);
    running -= levels == 21 + 10 * number;
    while (running > 0)
        raise(SIGUSR1);
    switch_to(FIBERS);
}

int main(void)
{
    struct sigaction action = {.sa_handler = preempt, .sa_flags = SA_NODEFER};
    char *stacks[FIBERS];
    sigaction(SIGUSR1, &action, NULL);
    running = FIBERS;
    for (int i = 0; i < FIBERS; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i] = malloc(STACK);
        contexts[i].uc_stack.ss_size = STACK;
        makecontext(&contexts[i], (void (*)(void))run, 1, i);
    }
    switch_to(0);
    for (int i = 0; i < FIBERS; i++)
        free(stacks[i]);
    printf("running %d after %d switches\n", running, switches);
    return running == 0 && switches > 30 ? 0 : 1;
}
