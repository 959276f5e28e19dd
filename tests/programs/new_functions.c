/* Functions that two threads call as soon as they are there: on pages of their own, one after the other on one page, and in
 * the place of older ones that nobody runs any more. Every function returns its number. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, FUNCTIONS = 40, SIZE = 16, LOOKS = 2000 };

static _Atomic(uint8_t *) current;
static atomic_int number, called;

/* Without a system call, for a while: the other one may be about to run. */
static void await(atomic_int *value, int wanted)
{
    for (int i = 1; atomic_load(value) != wanted; i++)
        if (i % LOOKS == 0)
            sched_yield();
}

static uint8_t *map(void)
{
    uint8_t *page =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        abort();
    return page;
}

/* mov eax, number; ret */
static void make_function(uint8_t *at, int value)
{
    at[0] = 0xb8;
    memcpy(at + 1, &value, sizeof value);
    at[5] = 0xc3;
}

static void call(const void *function, int expected)
{
    if (((int (*)(void))(uintptr_t)function)() == expected)
        return;
    puts("wrong function");
    exit(1);
}

static void *run(void *argument)
{
    for (int next = 1; next <= 3 * FUNCTIONS; next++) {
        await(&number, next);
        call(atomic_load(&current), next);
        atomic_store(&called, next);
    }
    return argument;
}

static void offer(uint8_t *at)
{
    int next = atomic_load(&number) + 1;
    make_function(at, next);
    atomic_store(&current, at);
    atomic_store(&number, next);
    call(at, next);
    await(&called, next);
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    for (int i = 0; i < FUNCTIONS; i++)
        offer(map());
    uint8_t *page = map();
    for (int i = 0; i < FUNCTIONS; i++)
        offer(page + i * SIZE);
    page = map();
    for (int i = 0; i < FUNCTIONS; i++)
        offer(page + i % 8 * SIZE);
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}
