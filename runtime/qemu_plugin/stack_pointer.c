#include "runtime/qemu_plugin/stack_pointer.h"

#include <string.h>

void stack_pointer_before_load(struct thread *thread, const struct pt_code_block *block,
                               uint64_t stack_pointer)
{
    struct pt_encoder *encoder = thread->encoder;
    thread->stack_before = stack_pointer;
    /* At its second instruction, unless that is its last, where the other value is emitted. */
    if (block->instructions > 2)
        pt_encoder_emit_stack_pointer(encoder, block->pc + block->length[0], stack_pointer);
    pt_encoder_forget_returns(encoder);
}

static uint64_t last_instruction(const struct pt_code_block *block)
{
    return block->end - block->length[block->instructions - 1];
}

void stack_pointer_after_load(struct thread *thread, uint64_t pc, uint64_t stack_pointer)
{
    struct pt_encoder *encoder = thread->encoder;
    const struct pt_code_block *block = encoder->previous;
    bool given_up = pc >= block->pc && pc < block->end;
    if (given_up)
        return;
    pt_encoder_emit_stack_pointer(encoder, last_instruction(block), stack_pointer);
    pt_encoder_stack_moved(encoder, thread->stack_before);
}

/* Until then the guest's registers are those of the handler. */
void stack_pointer_interrupt(struct thread *thread, const struct interruption *interruption)
{
    pt_encoder_know_stack(thread->encoder, &interruption->stack_pointer);
    if (thread->encoder->previous->loads_stack)
        stack_pointer_after_load(thread, interruption->ip, interruption->stack_pointer);
}

static void note_handler(struct thread *thread, uint64_t entry, uint64_t interrupted)
{
    struct running_handler *first = thread->handlers;
    if (thread->handler_count == THREAD_HANDLERS)
        memmove(first, first + 1, --thread->handler_count * sizeof *first);
    first[thread->handler_count++] = (struct running_handler){entry, interrupted};
}

/* The stack pointer of what the handler interrupted that began with `entry`; 0: none did. It returns. */
static uint64_t take_handler(struct thread *thread, uint64_t entry)
{
    struct running_handler *first = thread->handlers;
    for (unsigned i = thread->handler_count; i-- > 0;)
        if (first[i].entry == entry) {
            uint64_t interrupted = first[i].interrupted;
            memmove(first + i, first + i + 1, (--thread->handler_count - i) * sizeof *first);
            return interrupted;
        }
    return 0;
}

/* A handler on a stack of its own hides the calls in progress until it returns. */
void stack_pointer_enter_handler(struct thread *thread, const struct interruption *interruption,
                                 uint64_t stack_pointer)
{
    enum { SAME_STACK = 1 << 20 }; /* bytes */
    struct pt_encoder *encoder = thread->encoder;
    pt_encoder_know_stack(encoder, &thread->registers[GUEST_RSP]);
    note_handler(thread, stack_pointer, interruption->stack_pointer);
    if (interruption->stack_pointer - stack_pointer < SAME_STACK) {
        pt_encoder_push_interrupted(encoder, interruption->ip, interruption->stack_pointer);
        return;
    }
    /* Handlers on such stacks within each other are not followed. */
    thread->handler_runs = !thread->handler_runs;
    thread->interrupted = pt_encoder_save_calls(encoder);
    pt_encoder_forget_calls(encoder);
}

/* The two pointers are reported in the code that calls sigreturn, to which the handler has returned: at its first instruction
 * that of the interrupted code, at the system call the restored one. */
void stack_pointer_restore(struct thread *thread, uint64_t restored)
{
    enum { RETURN_ADDRESS = 8 };
    struct pt_encoder *encoder = thread->encoder;
    const struct pt_code_block *block = encoder->previous;
    uint64_t interrupted = take_handler(thread, thread->registers[GUEST_RSP] - RETURN_ADDRESS);
    if (interrupted == 0 || interrupted == restored || block->instructions < 2)
        return;
    pt_encoder_emit_stack_pointer(encoder, block->pc, interrupted);
    pt_encoder_emit_stack_pointer(encoder, last_instruction(block), restored);
    thread->restores_another =
        !pt_calls_same_stack(&encoder->calls, encoder->depth, interrupted, restored);
}

void stack_pointer_leave_handler(struct thread *thread)
{
    if (thread->restores_another)
        pt_encoder_forget_calls(thread->encoder);
    else if (thread->handler_runs)
        pt_encoder_restore_calls(thread->encoder, &thread->interrupted);
    thread->handler_runs = thread->restores_another = false;
}
