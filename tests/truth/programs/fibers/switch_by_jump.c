/* A context switch in the style of boost.context: the address to go on at is popped and jumped to
 * (jmp *%r8). */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { STACK = 32768, ITEMS = 300 };

struct transfer {
    void *context;
    void *data;
};

/* Returns, on the other stack, the context that was left and the data that it sent. */
struct transfer jump_context(void *to, void *data);
__asm__(".text\n.globl jump_context\n.type jump_context, @function\njump_context:\n"
        "\tleaq -0x38(%rsp), %rsp\n\tstmxcsr (%rsp)\n\tfnstcw 4(%rsp)\n"
        "\tmovq %r12, 8(%rsp)\n\tmovq %r13, 0x10(%rsp)\n\tmovq %r14, 0x18(%rsp)\n"
        "\tmovq %r15, 0x20(%rsp)\n\tmovq %rbx, 0x28(%rsp)\n\tmovq %rbp, 0x30(%rsp)\n"
        "\tmovq %rsp, %rax\n\tmovq %rdi, %rsp\n\tmovq 0x38(%rsp), %r8\n"
        "\tldmxcsr (%rsp)\n\tfldcw 4(%rsp)\n"
        "\tmovq 8(%rsp), %r12\n\tmovq 0x10(%rsp), %r13\n\tmovq 0x18(%rsp), %r14\n"
        "\tmovq 0x20(%rsp), %r15\n\tmovq 0x28(%rsp), %rbx\n\tmovq 0x30(%rsp), %rbp\n"
        "\tleaq 0x40(%rsp), %rsp\n\tmovq %rsi, %rdx\n\tmovq %rax, %rdi\n\tjmp *%r8\n"
        ".size jump_context, . - jump_context\n");

__attribute__((noinline)) static void *produce(void *consumer, intptr_t item, int depth)
{
    volatile int here = depth;
    if (depth > 0)
        consumer = produce(consumer, item, depth - 1);
    if (here % 3 == 0)
        consumer = jump_context(consumer, (void *)item).context;
    return consumer;
}

static void producer(void *consumer, void *data)
{
    (void)data;
    for (intptr_t item = 1;; item++)
        consumer = produce(consumer, item, 8);
}

static void *make_context(char *stack)
{
    uint64_t *frame = (uint64_t *)(stack + STACK) - 10;
    for (int i = 0; i < 10; i++)
        frame[i] = 0;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1"
                     : "=m"(((uint32_t *)frame)[0]), "=m"(((uint32_t *)frame)[1]));
    frame[7] = (uint64_t)producer;
    return frame;
}

__attribute__((noinline)) static intptr_t consume(void **producer_context, int count)
{
    if (count == 0)
        return 0;
    struct transfer came = jump_context(*producer_context, NULL);
    *producer_context = came.context;
    volatile intptr_t item = (intptr_t)came.data;
    return consume(producer_context, count - 1) + item;
}

int main(void)
{
    char *stacks[2] = {aligned_alloc(16, STACK), aligned_alloc(16, STACK)};
    void *first = make_context(stacks[0]), *second = make_context(stacks[1]);
    intptr_t sum = 0;
    for (int i = 0; i < ITEMS / 10; i++)
        sum += consume(&first, 5) + consume(&second, 5);
    free(stacks[0]);
    free(stacks[1]);
    printf("sum %ld\n", (long)sum);
    return sum == 2 * 3 * (1 + 50) * 50 / 2 ? 0 : 1;
}
