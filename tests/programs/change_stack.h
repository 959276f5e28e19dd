/* Changes to another stack of the thread, as libraries of fibers do: for programs whose fibers are recorded. */
#ifndef MAGIC_TRACE_TESTS_CHANGE_STACK_H
#define MAGIC_TRACE_TESTS_CHANGE_STACK_H

/* Saves the stack pointer in *from and goes on with the stack that `to` points to. */
void change_stack(void **from, void *to);
__asm__(".text\n"
        ".globl change_stack\n"
        ".type change_stack, @function\n"
        "change_stack:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size change_stack, . - change_stack\n");

#endif
