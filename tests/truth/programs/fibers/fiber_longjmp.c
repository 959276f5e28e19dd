/* setjmp and longjmp inside fibers: within one fiber's stack, with switches to others in between.
 */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { FIBERS = 3, STACK = 65536, ROUNDS = 30 };

static ucontext_t contexts[FIBERS], scheduler;
static jmp_buf targets[FIBERS];
static volatile int landed, done;

__attribute__((noinline)) static void dive(int number, int depth)
{
    if (depth % 7 == 3)
        swapcontext(&contexts[number], &scheduler);
    if (depth == 0)
        longjmp(targets[number], 1);
    dive(number, depth - 1);
    landed = -1000;
}

__attribute__((noinline)) static void attempt(int number, int depth)
{
    if (setjmp(targets[number]) == 0)
        dive(number, depth);
    else
        landed++;
    swapcontext(&contexts[number], &scheduler);
}

static void run(int number)
{
    for (int i = 0; i < ROUNDS; i++)
        attempt(number, i);
    done++;
    for (;;)
        swapcontext(&contexts[number], &scheduler);
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
    for (int i = 0; done < FIBERS; i++)
        swapcontext(&scheduler, &contexts[i % FIBERS]);
    for (int i = 0; i < FIBERS; i++)
        free(stacks[i]);
    printf("landed %d\n", landed);
    return landed == FIBERS * ROUNDS ? 0 : 1;
}
