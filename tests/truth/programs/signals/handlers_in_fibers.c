/* Handlers that interrupt fibers, on an alternate stack; every second one changes to a fiber of its own, which waits until the
 * next one. A snapshot may begin while a handler waits. */
/* truth: -O0 -g; -O2; strip -O2 */
#include "marker.h"
#include <signal.h>
#include <ucontext.h>

enum { FIBERS = 4, ROUNDS = 200, STACK = 256 << 10 };

static ucontext_t main_context, fibers[FIBERS], helper, handler;
static volatile int running, handled;
static volatile long sum;

__attribute__((noinline)) static void step(int value)
{
    sum = sum + value;
}

__attribute__((noinline)) static void work(int count)
{
    for (int i = 0; i < count; i++)
        step(i);
}

__attribute__((noinline)) static void help_once(void)
{
    truth_marker();
    work(20);
}

static void help(void)
{
    for (;;) {
        help_once();
        swapcontext(&helper, &handler);
        truth_marker();
    }
}

__attribute__((noinline)) static void handle(int count)
{
    truth_marker();
    if (count % 2) {
        swapcontext(&handler, &helper);
        truth_marker();
    }
    work(30);
}

static void on_signal(int number)
{
    (void)number;
    handle(handled);
    handled = handled + 1;
}

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth > 0) {
        descend(depth - 1);
    } else {
        raise(SIGUSR1);
        truth_marker();
        swapcontext(&fibers[running], &main_context);
        truth_marker();
    }
    step(here);
}

static void run(void)
{
    for (int i = 0;; i++)
        descend((i + running) % 5);
}

static void make(ucontext_t *context, void (*function)(void))
{
    getcontext(context);
    context->uc_stack.ss_sp = malloc(STACK);
    context->uc_stack.ss_size = STACK;
    makecontext(context, function, 0);
}

int main(void)
{
    stack_t other = {.ss_sp = malloc(STACK), .ss_size = STACK};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&other, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < FIBERS; i++)
        make(&fibers[i], run);
    make(&helper, help);
    for (int i = 0; i < ROUNDS; i++) {
        running = i % FIBERS;
        swapcontext(&main_context, &fibers[running]);
        truth_marker();
        work(100);
    }
    printf("sum %ld\n", sum);
    return 0;
}
