/* Fibers that two threads run in turn: each waits in one thread and goes on in the other. */
/* truth: -O0 -g -pthread; -O2 -pthread */
/* truth-threads: each fiber runs in both */
/* truth-incomplete: what ran in the other thread is known from the returns that follow */
/* truth-marked: stacks are judged within their threads */
#include "marker.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

enum { FIBERS = 6, STACK = 64 << 10, ROUNDS = 40 };

void switch_stack(void **save, void *load);
__asm__(".text\n.globl switch_stack\n.type switch_stack, @function\nswitch_stack:\n"
        "\tpushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n"
        "\tmovq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n"
        "\tpopq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret\n"
        ".size switch_stack, . - switch_stack\n");

static void *fibers[FIBERS], *thread_stack;
static int current;
static volatile long sum;
static sem_t turns[2];

__attribute__((noinline)) static void step(int value)
{
    sum = sum + value;
}

__attribute__((noinline)) static void yield(void)
{
    truth_marker();
    switch_stack(&fibers[current], thread_stack);
    truth_marker();
}

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth > 0)
        descend(depth - 1);
    else
        yield();
    if (here % 3 == 1)
        yield();
    step(here);
}

static void run(void)
{
    for (int i = current;; i++)
        descend(i % 5);
}

__attribute__((noinline)) static void resume(int number)
{
    current = number;
    switch_stack(&thread_stack, fibers[number]);
    truth_marker();
}

static void *work(void *argument)
{
    int own = argument != NULL;
    for (int i = 0; i < ROUNDS; i++) {
        while (sem_wait(&turns[own]) != 0)
            ;
        for (int j = 0; j < FIBERS; j++)
            if ((i + j) % 3 != own)
                resume(j);
        for (int j = 0; j < 2000; j++)
            step(j);
        sem_post(&turns[!own]);
    }
    return NULL;
}

int main(void)
{
    char *stacks = (char *)aligned_alloc(4096, FIBERS * STACK);
    pthread_t other;
    for (int i = 0; i < FIBERS; i++) {
        uintptr_t *top = (uintptr_t *)(stacks + (i + 1) * STACK);
        *--top = 0;
        *--top = (uintptr_t)run;
        for (int j = 0; j < 6; j++)
            *--top = 0;
        fibers[i] = top;
    }
    sem_init(&turns[0], 0, 1);
    sem_init(&turns[1], 0, 0);
    if (pthread_create(&other, NULL, work, stacks) != 0)
        return 1;
    work(NULL);
    pthread_join(other, NULL);
    printf("%ld\n", sum);
    return 0;
}
