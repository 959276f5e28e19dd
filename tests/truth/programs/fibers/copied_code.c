/* Coroutines whose switch is code without a name: bytes that the program puts into memory of its own, as libco does. It saves
 * the registers in a block per coroutine, and goes on by a jump to what it pops from the other one's stack. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include "marker.h"
#include <string.h>
#include <sys/mman.h>

enum { COROUTINES = 6, STACK = 32 << 10, ROUNDS = 40, WORK = 200 };

struct coroutine {
    void *saved[8]; /* the stack pointer, and what calls preserve */
};

static struct coroutine coroutines[COROUTINES], outside, *running = &outside;
static volatile long sum;

/* (the one that continues, the one that is left) */
extern const char switch_begin[], switch_end[];
__asm__(".pushsection .rodata\nswitch_begin:\n"
        "mov %rsp, (%rsi)\nmov %rbp, 8(%rsi)\nmov %rbx, 16(%rsi)\n"
        "mov %r12, 24(%rsi)\nmov %r13, 32(%rsi)\nmov %r14, 40(%rsi)\nmov %r15, 48(%rsi)\n"
        "mov (%rdi), %rsp\nmov 8(%rdi), %rbp\nmov 16(%rdi), %rbx\n"
        "mov 24(%rdi), %r12\nmov 32(%rdi), %r13\nmov 40(%rdi), %r14\nmov 48(%rdi), %r15\n"
        "pop %rax\njmp *%rax\nswitch_end:\n.popsection\n");

static void (*change)(struct coroutine *, struct coroutine *);

__attribute__((noinline)) static void step(int value)
{
    sum = sum + value;
}

__attribute__((noinline)) static void work(int count)
{
    for (int i = 0; i < count; i++)
        step(i);
}

__attribute__((noinline)) static void go_to(struct coroutine *other)
{
    struct coroutine *left = running;
    running = other;
    change(other, left);
}

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth > 0) {
        descend(depth - 1);
    } else {
        truth_marker();
        go_to(&outside);
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

static void run(void)
{
    int number = (int)(running - coroutines);
    for (int i = 0;; i++)
        if ((i + number) % 2)
            other_way((number + i) % 3);
        else
            descend((number + i) % 4);
}

int main(void)
{
    size_t size = (size_t)(switch_end - switch_begin);
    void *code = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, switch_begin, size);
    mprotect(code, size, PROT_READ | PROT_EXEC);
    memcpy(&change, &code, sizeof change);
    for (int i = 0; i < COROUTINES; i++) {
        void **top = (void **)((char *)calloc(1, STACK) + STACK);
        *--top = NULL; /* run has no caller */
        *--top = (void *)run;
        coroutines[i].saved[0] = top;
    }
    for (int i = 0; i < ROUNDS * COROUTINES; i++) {
        go_to(&coroutines[i % COROUTINES]);
        truth_marker();
        work(WORK / 10);
    }
    printf("sum %ld\n", sum);
    return 0;
}
