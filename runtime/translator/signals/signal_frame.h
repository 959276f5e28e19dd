/* What the kernel puts on the stack when a signal handler begins, and reads when it returns: struct rt_sigframe of
 * arch/x86/include/asm/sigframe.h, and above it, aligned by 64, the extended state as XSAVE writes it
 * (arch/x86/kernel/fpu/signal.c). Made and read here for the program, and made once more for the kernel's own
 * sigreturn when a thread goes on natively.
 *
 * Called by signal_delivery.c and signal_actions.c, not under process->lock. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SIGNAL_FRAME_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SIGNAL_FRAME_H

#include "runtime/translator/thread.h"

#include <asm/sigcontext.h>
#include <linux/signal.h>

#include <asm/ucontext.h>

struct tr_signal_frame {
    uint64_t restorer;
    struct ucontext context;
    uint8_t info[TR_SIGNAL_INFO];
};

/* The program's registers as the kernel's frame of the master handler has them: general registers,
 * flags, pc. */
void tr_frame_registers(struct tr_state *state, const struct sigcontext *context);

/* Takes from the kernel's frame how large the extended state is at present. */
void tr_frame_learn(struct tr_signals_of_thread *signals, const struct sigcontext *context);

/* Puts the frame for a handler on the program's stack, and changes thread->app and the vector state
 * to what the handler begins with. False: it cannot be written there, the stack is too small, or
 * the action has no restorer; nothing has changed. `saved_mask` is what the handler returns to. */
bool tr_frame_push(struct tr_thread *thread, int signal, const void *info,
                   const struct tr_action *action, uint64_t saved_mask);

/* Reads the frame that ends at the program's stack pointer, as rt_sigreturn(2) does. False: it cannot be read. */
bool tr_frame_read(const struct tr_thread *thread, struct ucontext *context);

/* Sets thread->app, the vector state and the program's sigaltstack from it, but not its mask. False: the kernel would
 * refuse it. */
bool tr_frame_restore(struct tr_thread *thread, const struct ucontext *context);

/* A frame by which the kernel's rt_sigreturn makes the thread go on at thread->app, made in the
 * runtime's own memory. `area` is for the extended state: tr_extended_state_size() bytes, aligned
 * by 64. */
void tr_frame_for_kernel(struct tr_thread *thread, struct tr_signal_frame *frame, void *area);
uint64_t tr_extended_state_size(struct tr_signals_of_thread *signals);

/* The program's sigaltstack. */
bool tr_on_alt_stack(const struct tr_signals_of_thread *signals, uint64_t stack_pointer);
/* What sigaltstack(2) does; 0 or negative errno. */
int64_t tr_set_alt_stack(struct tr_signals_of_thread *signals, const stack_t *stack,
                         uint64_t stack_pointer);

#endif
