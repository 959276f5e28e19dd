/* Coroutines begun in a signal handler on an alternate stack: the handler saves itself with sigsetjmp and returns; then a
 * longjmp goes on in its frame (GNU pth, QEMU's coroutine-sigaltstack). */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

enum { COROUTINES = 3, STACK = 64 << 10, TURNS = 6 };

struct coroutine {
    sigjmp_buf here;
    int number, ended;
};

static struct coroutine coroutines[COROUTINES], *beginning;
static sigjmp_buf outside;
static volatile int sum;

__attribute__((noinline)) static void step(int value)
{
    sum = sum + value;
}

__attribute__((noinline)) static void yield(struct coroutine *self)
{
    step(1);
    if (!sigsetjmp(self->here, 0))
        siglongjmp(outside, 1);
    step(2);
}

__attribute__((noinline)) static void descend(struct coroutine *self, int depth)
{
    if (depth > 0)
        descend(self, depth - 1);
    else
        yield(self);
    sum = sum + depth;
}

__attribute__((noinline)) static void run(struct coroutine *self)
{
    for (int i = 0; i < TURNS; i++)
        descend(self, i % 3 + self->number);
    self->ended = 1;
    siglongjmp(outside, 1);
}

static void handle(int number)
{
    (void)number;
    struct coroutine *self = beginning;
    if (!sigsetjmp(self->here, 0))
        return;
    run(self);
}

__attribute__((noinline)) static void begin(struct coroutine *coroutine, char *memory)
{
    stack_t stack = {.ss_sp = memory, .ss_size = STACK}, none = {.ss_flags = SS_DISABLE};
    sigaltstack(&stack, NULL);
    beginning = coroutine;
    raise(SIGUSR2);
    sigaltstack(&none, NULL);
}

__attribute__((noinline)) static void resume(struct coroutine *coroutine)
{
    if (!sigsetjmp(outside, 0))
        siglongjmp(coroutine->here, 1);
    step(2);
}

int main(void)
{
    static char memory[COROUTINES][STACK];
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < COROUTINES; i++) {
        coroutines[i].number = i;
        begin(&coroutines[i], memory[i]);
    }
    for (int turn = 0; turn <= TURNS; turn++)
        for (int i = 0; i < COROUTINES; i++)
            resume(&coroutines[i]);
    printf("sum %d\n", sum);
    return coroutines[0].ended && coroutines[COROUTINES - 1].ended ? 0 : 1;
}
