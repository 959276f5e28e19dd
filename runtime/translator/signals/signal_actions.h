/* Dispositions, masks and pending sets: what the program set, and what the kernel is given instead
 * (signal.h).
 *
 * For the files that implement signal.h. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SIGNAL_ACTIONS_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SIGNAL_ACTIONS_H

#include "runtime/translator/thread.h"

/* Values of tr_action.handler. */
enum { TR_DEFAULT, TR_IGNORE };

/* safe_syscall.S: the rt_sigreturn that the kernel's frames return to; the SYSCALL instruction and
 * what lies around it. */
#pragma GCC visibility push(hidden)
extern const char tr_signal_restorer[], tr_syscall_check[], tr_syscall_instruction[],
    tr_syscall_made[], tr_syscall_refused[];
#pragma GCC visibility pop
int tr_make_syscall(volatile int *pending, int64_t number, const uint64_t arguments[6],
                    int64_t *result);

void tr_set_kernel_mask(uint64_t mask);

/* Gives the kernel what `action` asks for: our handler for what the program handles and for
 * synchronous signals. */
int64_t tr_install_action(int signal, const struct tr_action *action);
/* Gives the kernel the action itself. */
int64_t tr_set_kernel_action(int signal, const struct tr_action *action);
int64_t tr_get_kernel_action(int signal, struct tr_action *action);

/* The action for a signal that is about to be handled; resets it with SA_RESETHAND. */
struct tr_action tr_take_action(struct tr_action *actions, int signal);

/* Sends the calling thread a signal with that siginfo; blocked ones stay in the kernel's queue. */
bool tr_queue_again(int signal, void *info);

/* Those that the kernel drops when they are sent to the thread, which does not block them: ignored ones. */
uint64_t tr_dropped_signals(const struct tr_signals_of_thread *signals);

/* Those of `held` that the program does not block, or cannot. */
uint64_t tr_deliverable(const struct tr_signals_of_thread *signals);
/* `pending` from nothing to TR_PENDING_HELD, if there are any, or in any case; and back. The master handler may set it
 * between any two instructions. */
void tr_notice_held(struct tr_signals_of_thread *signals);
void tr_set_held_pending(struct tr_signals_of_thread *signals);
void tr_forget_held_pending(struct tr_signals_of_thread *signals);
/* Sends the program a synchronous signal in the way that it cannot escape (force_sig of kernel/signal.c). */
void tr_force_signal(struct tr_signals_of_thread *signals, int signal, const void *info);
/* Takes a signal out of `held`. Whether it was forced. */
bool tr_take_held(struct tr_signals_of_thread *signals, int signal, void *info);
/* Sets the kernel's mask to what the program wants blocked, but never the synchronous ones. False: something is pending
 * and comes first, nothing has changed. (A signal that is caught keeps all others blocked until it is delivered: there
 * is room for one.) */
bool tr_unblock_unless_pending(struct tr_signals_of_thread *signals, uint64_t mask);
/* Sets the program's mask and the kernel's. False: a signal came first, nothing has changed. */
bool tr_change_mask(struct tr_signals_of_thread *signals, uint64_t mask);

#endif
