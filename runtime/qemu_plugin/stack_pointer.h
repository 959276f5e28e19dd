/* Packets about a thread's stack besides its branches: the stack pointer where code loads it, and
 * which calls are active (packet/calls.h) when control leaves a stack by something that is no call
 * or return.
 *
 * Called by plugin.c. All of it needs the guest's registers: `process.registers_usable`.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_STACK_POINTER_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_STACK_POINTER_H

#include "runtime/qemu_plugin/process.h"

/* `block`, which loads the stack pointer, has been stepped into. */
void stack_pointer_before_load(struct thread *thread, const struct pt_code_block *block,
                               uint64_t stack_pointer);

/* The block that ran last loads the stack pointer, and is left for `pc` now. */
void stack_pointer_after_load(struct thread *thread, uint64_t pc, uint64_t stack_pointer);

/* A signal handler is about to begin, before the interruption is emitted. */
void stack_pointer_interrupt(struct thread *thread, const struct interruption *interruption);

/* A signal handler begins, and its interruption has been emitted. */
void stack_pointer_enter_handler(struct thread *thread, const struct interruption *interruption,
                                 uint64_t stack_pointer);

/* It is about to call sigreturn, which will continue with the stack pointer `restored`: perhaps on another stack than the
 * interrupted one. Before tracing is disabled. */
void stack_pointer_restore(struct thread *thread, uint64_t restored);

/* It ends, by sigreturn. */
void stack_pointer_leave_handler(struct thread *thread);

#endif
