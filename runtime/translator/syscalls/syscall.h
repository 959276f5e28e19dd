/* System calls of the traced program: nearly all are made as they are; the runtime follows or emulates the rest.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SYSCALL_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SYSCALL_H

#include "runtime/translator/thread.h"

/* The program's SYSCALL instruction at app.pc - 2 is to be executed: app.pc is past it already. Logs TR_SYSCALL and
 * TR_RESUME, makes or emulates the call, sets rax, rcx, r11. Returns normally in the calling thread, with app.pc where
 * the program goes on; signals that came meanwhile are pending (tr_signal_deliver follows). */
void tr_syscall_run(struct tr_thread *thread);

/* The program's CALL went to one of the three entries of the vsyscall page, `pc`: makes the call, as the kernel would
 * (arch/x86/entry/vsyscall), and returns to the program. The log shows the CALL only. False: there is no entry, the
 * program gets SIGSEGV. */
bool tr_sys_vsyscall(struct tr_thread *thread, uint64_t pc);

/* processes.c: the sideband records of a program that begins: its name, its fork (of a program that replaced a traced
 * one: by exec). */
void tr_process_begun(struct tr_thread *thread, const struct tr_start *start);

/* processes.c: a slot for a thread's log. UINT32_MAX, counted as lost: all are in use. */
uint32_t tr_slot_reserve(struct tr_control *control);

/* processes.c: clone, clone3, fork, vfork, exit, exit_group; exec.c: execve, execveat. Return what the program gets, or
 * TR_RESTART (signal.h). In a child they do not return: it enters the cache by tr_enter (enter.S). */
int64_t tr_sys_clone(struct tr_thread *thread);
int64_t tr_sys_exec(struct tr_thread *thread);
int64_t tr_sys_exit(struct tr_thread *thread);
int64_t tr_sys_exit_group(struct tr_thread *thread);

/* processes.c: the log of the thread has ended, or (TR_SLOT_RUNS) goes on after all. */
void tr_process_end_log(struct tr_thread *thread, enum tr_slot_end end);
/* The same for the logs of the process's other threads, which the kernel ends with the call that follows: for those at
 * `from`. */
void tr_process_end_other_logs(struct tr_thread *thread, enum tr_slot_end from,
                               enum tr_slot_end to);

/* enter.S: runs the program from thread->app on, in the cache; never returns. From any stack. */
_Noreturn void tr_enter(struct tr_thread *thread);

/* let_go.c: the calling thread goes on natively at thread->app, with the kernel's state (dispositions, masks, stacks)
 * as the program set it. */
_Noreturn void tr_let_go(struct tr_thread *thread, enum tr_slot_end reason);

/* let_go.c: the same because of what the program does next, which the translator does not support: `cause` says it to the user. */
_Noreturn void tr_give_up(struct tr_thread *thread, const char *cause);

#endif
