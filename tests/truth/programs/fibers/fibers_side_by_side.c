/* Fibers whose small stacks lie side by side in one block of memory, switched in a changing order;
 * some are thrown away deep in their calls, and their stack is used again. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { FIBERS = 8, STACK = 16384, TURNS = 400 };

static ucontext_t contexts[FIBERS], scheduler;
static int restarts;
static volatile int yields;

__attribute__((noinline)) static void yield_turn(int number)
{
    yields++;
    swapcontext(&contexts[number], &scheduler);
}

__attribute__((noinline)) static int climb(int number, int depth)
{
    volatile int here = depth;
    if (depth % 4 == 0)
        yield_turn(number);
    if (depth < 20 + number)
        climb(number, depth + 1);
    if (here % 5 == 0)
        yield_turn(number);
    return here;
}

static void run(int number)
{
    for (;;)
        climb(number, number);
}

static void start(char *stacks, int number)
{
    restarts++;
    getcontext(&contexts[number]);
    contexts[number].uc_stack.ss_sp = stacks + number * STACK;
    contexts[number].uc_stack.ss_size = STACK;
    makecontext(&contexts[number], (void (*)(void))run, 1, number);
}

int main(void)
{
    char *stacks = malloc(FIBERS * STACK);
    if (!stacks)
        return 1;
    for (int i = 0; i < FIBERS; i++)
        start(stacks, i);
    for (int turn = 0; turn < TURNS; turn++) {
        int number = (turn * turn + turn / 3) % FIBERS;
        if (turn % 50 == 49)
            start(stacks, number);
        swapcontext(&scheduler, &contexts[number]);
    }
    free(stacks);
    printf("yields %d restarts %d\n", yields, restarts);
    return yields == TURNS && restarts == FIBERS + TURNS / 50 ? 0 : 1;
}
