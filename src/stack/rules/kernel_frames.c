#include "stack/rules/kernel_frames.h"

#include "stack/stack_moves.h"

/* SYSCALL (0f 05), SYSENTER (0f 34) and INT 0x80 (cd 80) all have two bytes; to repeat one, the
 * kernel goes back by that much (arch/x86/kernel/signal.c, "regs->ip -= 2"). */
enum { SYSCALL_LENGTH = 2 };

bool kernel_frames_continues_at(uint64_t return_address, uint64_t address)
{
    return return_address != 0 &&
           (address == return_address || address == return_address - SYSCALL_LENGTH);
}

void kernel_frames_leave_unseen(struct thread_stack *stack)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    if (!kernel_frames_is_outside(leaf))
        return;
    thread_stack_count_repaired(stack);
    stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
}
