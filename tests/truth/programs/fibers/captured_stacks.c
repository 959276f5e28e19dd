/* Coroutines by continuations: setjmp and a copy of the stack, which a function makes and returns from. Later the stack is grown
 * beyond what is copied back, and longjmp goes on in an activation that has ended (as SCM, old Guile and Ruby's callcc). */
/* truth: -O0 -g; -O2; -O2 -fomit-frame-pointer -fno-inline; strip -O2 */
/* truth-marked: the stack pointer alone does not show the true stack */
#include "marker.h"
#include <setjmp.h>
#include <string.h>

enum { COROUTINES = 5, ROUNDS = 40, WORK = 300, LINE = 64, BELOW = 512 };

struct continuation {
    jmp_buf registers;
    char *low, *copy; /* where the stack's innermost byte lies, and what was there */
    size_t size;
    int begun, ended;
};

static struct continuation continuations[COROUTINES + 1]; /* the last one is the main one's */
static char *base;                                        /* of the stack that is copied */
static volatile int running = COROUTINES;
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

/* 1: it continues. */
__attribute__((noinline)) static int capture(struct continuation *to)
{
    char here;
    if (setjmp(to->registers))
        return 1;
    to->low = (char *)((uintptr_t)&here & -(uintptr_t)LINE) - BELOW;
    to->size = (size_t)(base - to->low);
    free(to->copy);
    to->copy = malloc(to->size);
    memcpy(to->copy, to->low, to->size);
    return 0;
}

__attribute__((noinline)) static void go_on(struct continuation *in)
{
    volatile char room[2 * BELOW];
    room[0] = 1;
    if ((char *)room + sizeof room < in->low) {
        memcpy(in->low, in->copy, in->size);
        longjmp(in->registers, 1);
    }
    go_on(in);
    room[1] = 1;
}

__attribute__((noinline)) static void run(int number);

__attribute__((noinline)) static void change_to(int number)
{
    if (capture(&continuations[running]))
        return;
    running = number;
    if (continuations[number].begun)
        go_on(&continuations[number]);
    continuations[number].begun = 1;
    run(number);
    __asm__ volatile("");
}

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth > 0) {
        descend(depth - 1);
    } else {
        truth_marker();
        change_to(COROUTINES);
        truth_marker();
        work(WORK);
    }
    step(here);
}

__attribute__((noinline)) static void other_way(int depth)
{
    volatile int here = depth;
    descend(depth);
    step(here);
}

__attribute__((noinline)) static void run(int number)
{
    for (int i = 0; i < ROUNDS; i++)
        if ((i + number) % 2)
            other_way((i + number) % 3);
        else
            descend((i + number) % 4);
    truth_marker();
    continuations[number].ended = 1;
    change_to(COROUTINES);
}

__attribute__((noinline)) static void run_all(void)
{
    for (int i = 0; i <= ROUNDS * COROUTINES + COROUTINES - 1; i++) {
        if (continuations[i % COROUTINES].ended)
            continue;
        change_to(i % COROUTINES);
        truth_marker();
        work(WORK / 10);
    }
}

int main(void)
{
    base = (char *)__builtin_frame_address(0) + 2 * sizeof(void *);
    continuations[COROUTINES].begun = 1;
    run_all();
    printf("sum %ld\n", sum);
    return 0;
}
