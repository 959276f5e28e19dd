/* Generators on fibers: each walks a tree recursively and yields every node to its consumer. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { STACK = 32768 };

struct generator {
    ucontext_t context, consumer;
    char *stack;
    int value, done, step;
};

static struct generator *starting;

__attribute__((noinline)) static void yield_value(struct generator *generator, int value)
{
    generator->value = value;
    swapcontext(&generator->context, &generator->consumer);
}

__attribute__((noinline)) static void walk(struct generator *generator, int low, int high)
{
    if (low >= high)
        return;
    int middle = (low + high) / 2;
    walk(generator, low, middle);
    yield_value(generator, middle * generator->step);
    walk(generator, middle + 1, high);
}

static void run(void)
{
    struct generator *generator = starting;
    walk(generator, 0, 100);
    generator->done = 1;
    setcontext(&generator->consumer);
}

__attribute__((noinline)) static int next(struct generator *generator)
{
    starting = generator;
    swapcontext(&generator->consumer, &generator->context);
    return !generator->done;
}

static void set_up(struct generator *generator, int step)
{
    *generator = (struct generator){.stack = malloc(STACK), .step = step};
    getcontext(&generator->context);
    generator->context.uc_stack.ss_sp = generator->stack;
    generator->context.uc_stack.ss_size = STACK;
    makecontext(&generator->context, run, 0);
}

int main(void)
{
    static struct generator generators[3];
    int sum = 0, count = 0, running = 3;
    for (int i = 0; i < 3; i++)
        set_up(&generators[i], i + 1);
    while (running > 0) {
        running = 0;
        for (int i = 0; i < 3; i++) {
            if (generators[i].done || !next(&generators[i]))
                continue;
            running++;
            count++;
            sum += generators[i].value;
        }
    }
    for (int i = 0; i < 3; i++)
        free(generators[i].stack);
    printf("count %d sum %d\n", count, sum);
    return count == 300 && sum == 6 * 4950 ? 0 : 1;
}
