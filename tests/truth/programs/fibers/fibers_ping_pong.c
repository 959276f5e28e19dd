/* Three fibers (makecontext, swapcontext) that pass a ball around, each from another depth of its
 * recursion. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { FIBERS = 3, STACK = 65536, DEPTH = 40 };

static ucontext_t contexts[FIBERS], outside;
static volatile int passes, finished;

__attribute__((noinline)) static void pass(int number)
{
    passes++;
    swapcontext(&contexts[number], &contexts[(number + 1) % FIBERS]);
}

__attribute__((noinline)) static int descend(int number, int depth)
{
    volatile int here = depth;
    pass(number);
    int below = depth == 0 ? 0 : descend(number, depth - 1);
    if (here % (number + 2) == 0)
        pass(number);
    return below + 1;
}

static void run(int number)
{
    finished += descend(number, DEPTH + number) == DEPTH + number + 1;
    while (finished < FIBERS)
        pass(number);
    setcontext(&outside);
}

int main(void)
{
    char *stacks[FIBERS];
    for (int i = 0; i < FIBERS; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i] = malloc(STACK);
        contexts[i].uc_stack.ss_size = STACK;
        makecontext(&contexts[i], (void (*)(void))run, 1, i);
    }
    swapcontext(&outside, &contexts[0]);
    for (int i = 0; i < FIBERS; i++)
        free(stacks[i]);
    printf("finished %d after %d passes\n", finished, passes);
    return finished == FIBERS && passes > 3 * DEPTH ? 0 : 1;
}
