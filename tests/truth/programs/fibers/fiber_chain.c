/* Fibers that end by returning: control goes on in the next one (uc_link), at last in
 * main. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { FIBERS = 5, STACK = 65536, ROUNDS = 20 };

static volatile int order;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

static void run(int number, int depth)
{
    order = order * 10 + number + (work(depth) != depth);
}

__attribute__((noinline)) static int chain(char *stacks)
{
    ucontext_t contexts[FIBERS], back;
    order = 0;
    for (int i = 0; i < FIBERS; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks + i * STACK;
        contexts[i].uc_stack.ss_size = STACK;
        contexts[i].uc_link = i + 1 < FIBERS ? &contexts[i + 1] : &back;
        makecontext(&contexts[i], (void (*)(void))run, 2, i + 1, 30 * i);
    }
    swapcontext(&back, &contexts[0]);
    return order;
}

int main(void)
{
    char *stacks = malloc(FIBERS * STACK);
    int right = 0;
    for (int i = 0; stacks && i < ROUNDS; i++)
        right += chain(stacks) == 12345;
    free(stacks);
    printf("right %d\n", right);
    return right == ROUNDS ? 0 : 1;
}
