/* A fiber that creates a fiber that creates a fiber, each deep in its calls, and resumes them step
 * by step. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { STACK = 65536, LEVELS = 6, STEPS = 4 };

struct fiber {
    ucontext_t context, resumer;
    int level, done, value;
};

static struct fiber *starting;

static int run_below(int level);

__attribute__((noinline)) static void pause_fiber(struct fiber *fiber)
{
    swapcontext(&fiber->context, &fiber->resumer);
}

__attribute__((noinline)) static int steps(struct fiber *fiber, int depth)
{
    volatile int here = depth;
    if (depth == 0)
        return fiber->level > 0 ? run_below(fiber->level - 1) : 1;
    int below = steps(fiber, depth - 1);
    if (here % 3 == 0)
        pause_fiber(fiber);
    return below + 1;
}

static void run(void)
{
    struct fiber *fiber = starting;
    fiber->value = steps(fiber, 3 * STEPS);
    fiber->done = 1;
    setcontext(&fiber->resumer);
}

__attribute__((noinline)) static int run_below(int level)
{
    struct fiber fiber = {.level = level};
    char *stack = malloc(STACK);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stack;
    fiber.context.uc_stack.ss_size = STACK;
    makecontext(&fiber.context, run, 0);
    int resumes = 0;
    for (; !fiber.done; resumes++) {
        starting = &fiber;
        swapcontext(&fiber.resumer, &fiber.context);
    }
    free(stack);
    return fiber.value + (resumes == STEPS + 1);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += run_below(LEVELS - 1);
    printf("sum %d\n", sum);
    return sum == 10 * (LEVELS * (3 * STEPS + 1) + 1) ? 0 : 1;
}
