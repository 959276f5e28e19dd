/* Coroutines that all run on one stack: at each switch, the part that belongs to the one that is left is copied away, and that
 * of the other one back to where it was (greenlet's way, and its instructions: switch_amd64_unix.h). So the stack pointer alone
 * does not show which one runs: all of them are left at the same few depths. */
/* truth: -O0 -g; -O2; -O2 -fomit-frame-pointer -fno-inline; strip -O2 */
/* truth-marked: the stack pointer alone does not show the true stack */
#include "marker.h"
#include <string.h>

enum { COROUTINES = 5, ROUNDS = 40, WORK = 300 };

struct coroutine {
    char *low, *high; /* of the stack, the part that belongs to it; low NULL: it has not begun */
    char *copy;
    size_t room;
    int number, ended;
};

static struct coroutine coroutines[COROUTINES + 1]; /* the last one is the main one */
static struct coroutine *const first = &coroutines[COROUTINES];
static struct coroutine *volatile running, *volatile next;
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

/* Copies away what lies further in than the one that continues reaches. 1: that has not begun. */
__attribute__((noinline, used)) static int save(char *low)
{
    struct coroutine *left = running, *other = next;
    if (!left->ended) {
        size_t size = (size_t)(other->high - low);
        if (size > left->room)
            left->copy = realloc(left->copy, left->room = size);
        left->low = low;
        memcpy(left->copy, low, size);
    }
    running = other;
    return other->low == NULL;
}

__attribute__((noinline, used)) static void bring_back(void)
{
    struct coroutine *other = running;
    size_t size = (size_t)(coroutines[0].high - other->low);
    memcpy(other->low, other->copy, size);
}

/* 1: the coroutine begins. */
__attribute__((noinline, noclone)) static int switch_stacks(void)
{
    char *here;
    long distance;
    __asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15");
    __asm__ volatile("movq %%rsp, %0" : "=r"(here));
    if (save(here))
        return 1;
    distance = running->low - here;
    __asm__ volatile("addq %0, %%rsp\n\taddq %0, %%rbp\n" ::"r"(distance) : "memory");
    bring_back();
    return 0;
}

__attribute__((noinline)) static void resume(struct coroutine *other);

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth > 0) {
        descend(depth - 1);
    } else {
        truth_marker();
        resume(first);
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

__attribute__((noinline)) static void run(struct coroutine *self)
{
    for (int i = 0; i < ROUNDS; i++)
        if ((i + self->number) % 2)
            other_way((self->number + i) % 3);
        else
            descend((self->number + i) % 4);
    truth_marker();
    self->ended = 1;
    resume(first);
    abort();
}

__attribute__((noinline)) static void resume(struct coroutine *other)
{
    char mark;
    next = other;
    if (other != first && other->low == NULL)
        for (int i = 0; i <= COROUTINES; i++)
            coroutines[i].high = &mark + 256;
    if (switch_stacks())
        run(running);
    __asm__ volatile("");
}

int main(void)
{
    running = first;
    for (int i = 0; i < COROUTINES; i++)
        coroutines[i].number = i;
    for (int i = 0; i <= ROUNDS * COROUTINES + COROUTINES - 1; i++) {
        struct coroutine *other = &coroutines[i % COROUTINES];
        if (other->ended)
            continue;
        resume(other);
        truth_marker();
        work(WORK / 10);
    }
    printf("sum %ld\n", sum);
    return 0;
}
