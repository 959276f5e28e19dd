/* Fibers that share one stack (libaco's way): the one that resumes another copies away what lies there, and the other one's back,
 * and then changes to it by a few instructions. So each continues where another one was left, or a little further in. They take turns,
 * or with BY_CHANCE do not. */
/* truth: -O0 -g; -O2; -O2 -fomit-frame-pointer -fno-inline; strip -O2; -O2 -DBY_CHANCE; -O0 -g -DBY_CHANCE */
/* truth-marked: the stack pointer alone does not show the true stack */
#include "marker.h"
#include <string.h>

enum { FIBERS = 5, ROUNDS = 40, WORK = 200, STACK = 64 << 10, PUSHED = 6 };

struct fiber {
    void *pointer;
    char *copy;
    size_t size;
    int begun, ended, number;
};

static struct fiber fibers[FIBERS], *on_stack, *running;
static void *main_pointer;
static char *stack_end;
static volatile long sum;

/* Where `*from` is kept, what runs waits; `to` continues. */
void change_stacks(void **from, void *to);
__asm__(".text\n"
        ".type change_stacks, @function\n"
        "change_stacks:\n"
        ".cfi_startproc\n"
        "push %rbp\n.cfi_adjust_cfa_offset 8\n"
        "push %rbx\n.cfi_adjust_cfa_offset 8\n"
        "push %r12\n.cfi_adjust_cfa_offset 8\n"
        "push %r13\n.cfi_adjust_cfa_offset 8\n"
        "push %r14\n.cfi_adjust_cfa_offset 8\n"
        "push %r15\n.cfi_adjust_cfa_offset 8\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %r15\n.cfi_adjust_cfa_offset -8\n"
        "pop %r14\n.cfi_adjust_cfa_offset -8\n"
        "pop %r13\n.cfi_adjust_cfa_offset -8\n"
        "pop %r12\n.cfi_adjust_cfa_offset -8\n"
        "pop %rbx\n.cfi_adjust_cfa_offset -8\n"
        "pop %rbp\n.cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size change_stacks, .-change_stacks\n");

__attribute__((noinline)) static void step(int value)
{
    sum = sum + value;
}

__attribute__((noinline)) static void work(int count)
{
    for (int i = 0; i < count; i++)
        step(i);
}

__attribute__((noinline)) static void yield(void)
{
    change_stacks(&running->pointer, main_pointer);
    __asm__ volatile("");
}

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth > 0) {
        descend(depth - 1);
    } else {
        truth_marker();
        yield();
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

__attribute__((noinline)) static void run(void)
{
    struct fiber *self = running;
    for (int i = 0; i < ROUNDS; i++)
        if ((i + self->number) % 2)
            other_way((i + self->number) % 3);
        else
            descend((i + self->number) % 4);
    truth_marker();
    self->ended = 1;
    yield();
    abort();
}

static void copy_away(struct fiber *fiber)
{
    fiber->size = (size_t)(stack_end - (char *)fiber->pointer);
    fiber->copy = realloc(fiber->copy, fiber->size);
    memcpy(fiber->copy, fiber->pointer, fiber->size);
}

/* With a return address of 0, where unwinders end. */
static void begin(struct fiber *fiber)
{
    uint64_t *top = (uint64_t *)stack_end - 3;
    top[0] = 0;
    top[-1] = (uint64_t)run;
    memset(top - 1 - PUSHED, 0, PUSHED * sizeof *top);
    fiber->pointer = top - 1 - PUSHED;
    fiber->begun = 1;
}

__attribute__((noinline)) static void resume(struct fiber *fiber)
{
    if (on_stack != fiber) {
        if (on_stack && !on_stack->ended)
            copy_away(on_stack);
        if (fiber->begun)
            memcpy(fiber->pointer, fiber->copy, fiber->size);
        on_stack = fiber;
    }
    running = fiber;
    if (!fiber->begun)
        begin(fiber);
    change_stacks(&main_pointer, fiber->pointer);
    __asm__ volatile("");
}

static int next_fiber(int turn)
{
#ifdef BY_CHANCE
    static unsigned seed = 1;
    seed = seed * 1103515245 + 12345;
    (void)turn;
    return seed >> 16 & 0x7fff;
#else
    return turn;
#endif
}

int main(void)
{
    stack_end = (char *)aligned_alloc(4096, STACK) + STACK;
    for (int i = 0; i < FIBERS; i++)
        fibers[i].number = i;
    for (int turn = 0; turn < FIBERS * (ROUNDS + 1); turn++) {
        struct fiber *fiber = &fibers[next_fiber(turn) % FIBERS];
        if (fiber->ended)
            continue;
        resume(fiber);
        truth_marker();
        work(WORK / 10);
    }
    printf("sum %ld\n", sum);
    return 0;
}
