/* truth: -O0 -g; -O2; -O2 -static
 * Several stacks in one thread: swapcontext to and fro, contexts that end, setjmp and longjmp
 * between them, arrays of variable length. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { COROUTINES = 3, STACK_SIZE = 65536 };

static ucontext_t back, coroutine[COROUTINES];
static volatile unsigned long sum;
static jmp_buf target;

__attribute__((noinline)) static void yield_from(int self)
{
    sum++;
    swapcontext(&coroutine[self], &back);
    sum++;
}

__attribute__((noinline)) static void deep(int self, int depth)
{
    if (depth > 0)
        deep(self, depth - 1);
    else
        yield_from(self);
    sum++;
}

static void body(int self)
{
    for (int i = 0; i < 4; i++)
        deep(self, self * 5 + i);
}

__attribute__((noinline)) static unsigned long array(int size)
{
    unsigned long numbers[size];
    memset(numbers, 1, sizeof numbers);
    sum += numbers[size / 2];
    return numbers[size - 1] & 1;
}

__attribute__((noinline)) static void jump_out(int depth)
{
    if (depth == 0)
        longjmp(target, 1);
    array(depth);
    jump_out(depth - 1);
    sum++;
}

int main(void)
{
    char *stacks = malloc(COROUTINES * STACK_SIZE);
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&coroutine[i]);
        coroutine[i].uc_stack.ss_sp = stacks + i * STACK_SIZE;
        coroutine[i].uc_stack.ss_size = STACK_SIZE;
        coroutine[i].uc_link = &back;
        makecontext(&coroutine[i], (void (*)(void))body, 1, i);
    }
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < COROUTINES; i++)
            swapcontext(&back, &coroutine[i]);
    for (int i = 1; i < 20; i++)
        if (setjmp(target) == 0)
            jump_out(i);
    array(30000);
    free(stacks);
    puts("done");
    return 0;
}
