/* Fibers whose selected function changes to other stacks before it returns, for recordings of some functions alone (-only).
 *
 *     selected_fibers one      four fibers, whose small stacks lie next to each other, by turns in the only thread
 *     selected_fibers moving   two threads by turns: each goes on with the four fibers where the other has left them
 *     selected_fibers leave    as `one`, and each second call is left by longjmp, within its fiber
 *
 * Each fiber calls chosen() five times, which calls leaf() three times and yields twice in between. Prints the sum.
 */
#include "change_stack.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FIBERS = 4, CALLS = 5, STACK = 16 << 10, REGISTERS = 6, THREADS = 2, ROUNDS = 200 };

static uint8_t stacks[FIBERS][STACK] __attribute__((aligned(16)));
static void *suspended[FIBERS], *scheduler;
static int running, ended;
static int leaves;
static volatile unsigned long sum;
static sem_t turns[THREADS];
static jmp_buf places[FIBERS];

__attribute__((noinline)) void leaf(unsigned long number)
{
    sum += number;
}

__attribute__((noinline)) void other_work(void)
{
    for (unsigned long i = 0; i < 100; i++)
        leaf(i);
}

__attribute__((noinline)) void yield(void)
{
    change_stack(&suspended[running], scheduler);
    __asm__ volatile("");
}

__attribute__((noinline)) int chosen(int number)
{
    leaf(1);
    yield();
    leaf(2);
    yield();
    leaf(3);
    if (leaves && number % 2)
        longjmp(places[running], 1);
    return number;
}

static void run_fiber(void)
{
    for (volatile int i = 0; i < CALLS; i = i + 1) {
        if (!setjmp(places[running]))
            sum += (unsigned long)chosen(i);
        other_work();
        yield();
    }
    ended++;
    for (;;)
        yield();
}

static void make_fibers(void)
{
    for (int i = 0; i < FIBERS; i++) {
        uint64_t *top = (uint64_t *)(stacks[i] + STACK);
        *--top = 0;
        *--top = (uint64_t)run_fiber;
        for (int j = 0; j < REGISTERS; j++)
            *--top = 0;
        suspended[i] = top;
    }
}

static void run_each_once(void)
{
    for (int i = 0; i < FIBERS; i++) {
        running = i;
        change_stack(&scheduler, suspended[i]);
        other_work();
    }
}

static void *take_turns(void *number)
{
    int own = number != NULL;
    for (int i = 0; i < ROUNDS; i++) {
        while (sem_wait(&turns[own]) != 0)
            ;
        if (ended < FIBERS)
            run_each_once();
        sem_post(&turns[!own]);
    }
    return NULL;
}

int main(int count, char **words)
{
    const char *way = count > 1 ? words[1] : "one";
    make_fibers();
    leaves = strcmp(way, "leave") == 0;
    if (strcmp(way, "moving") == 0) {
        pthread_t thread;
        sem_init(&turns[0], 0, 1);
        sem_init(&turns[1], 0, 0);
        pthread_create(&thread, NULL, take_turns, turns);
        take_turns(NULL);
        pthread_join(thread, NULL);
    } else {
        while (ended < FIBERS)
            run_each_once();
    }
    printf("%lu\n", sum);
    return 0;
}
