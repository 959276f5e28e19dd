/* What signal_delivery.c calls and is called by, reduced to what its tests need: "the code cache" is section cache_text,
 * in which only r11 is the translator's; the program runs natively elsewhere, and comes to the runtime for its system
 * calls. */
#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/code/fragment.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/log/sideband.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/selected_calls.h"
#include "runtime/translator/signals/signal.h"
#include "runtime/translator/signals/signal_actions.h"
#include "runtime/translator/syscalls/syscall.h"
#include "runtime/translator/system.h"
#include "signal_program.h"

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <sys/mman.h>

#define OFFSET(field) __builtin_offsetof(struct tr_hot, field)
_Static_assert(OFFSET(run) == 0x10 && OFFSET(r11) == 0x18 && OFFSET(log) == 0x20 &&
                   OFFSET(target) == 0x48 && OFFSET(stack) == 0x88 &&
                   __builtin_offsetof(struct tr_thread, app) == 0x520,
               "signal_program.S knows these offsets");

struct tr_process tr_process;

/* All is traced. */
bool tr_selected_signal(struct tr_thread *thread, const void *info, void *context)
{
    return false;
}

struct stand_in_log *stand_in_log;
void *stand_in_protected_page;
unsigned stand_in_code_writes;
void (*stand_in_while_blocked)(void);

extern const char __start_program_text[], __start_cache_text[], __stop_cache_text[],
    __executable_start[];
extern uint64_t program_touch_entry, program_write_entry, program_divide_entry,
    program_undefined_entry, program_halt_entry, program_wait_entry;
void stand_in_syscall(void), stand_in_sigreturn(void), stand_in_touch(void), stand_in_write(void),
    stand_in_divide(void), stand_in_undefined(void), stand_in_halt(void), stand_in_wait(void);
_Noreturn void stand_in_restore(struct tr_thread *thread, bool in_cache);
_Noreturn void stand_in_call(void *stack, void (*function)(void));
_Noreturn void stand_in_go_on(struct tr_thread *thread);

/* ---- fragments, log, clock ---- */

bool tr_in_cache(uint64_t address)
{
    return address - (uint64_t)__start_cache_text <
           (uint64_t)(__stop_cache_text - __start_cache_text);
}

bool tr_find_state(struct tr_thread *thread, struct tr_state *state, unsigned *block)
{
    *block = 0;
    if (!tr_in_cache(state->pc))
        return false;
    thread->hot.log = state->r[TR_R11];
    state->r[TR_R11] = thread->hot.r11;
    return true;
}

bool tr_fragment_at_is_of(uint64_t address, uint64_t start, uint64_t end)
{
    (void)address, (void)start, (void)end;
    return false;
}

bool tr_log_is_guard(struct tr_thread *thread, uint64_t address)
{
    return false;
}

void tr_log_event(struct tr_thread *thread, enum tr_event kind, uint32_t payload,
                  const uint64_t *values, unsigned count)
{
    stand_in_log->handlers += kind == TR_HANDLER;
    stand_in_log->sigreturns += kind == TR_SIGRETURN;
    stand_in_log->partials += kind == TR_PARTIAL;
    if (kind == TR_HANDLER)
        memcpy(stand_in_log->handler, values, count * sizeof *values);
}

void tr_log_stop(struct tr_thread *thread, enum tr_slot_end reason, uint64_t pc)
{
    stand_in_log->stops++;
}

uint64_t tr_time(struct tr_thread *thread)
{
    return 1;
}

void tr_sideband_death(struct tr_thread *thread, uint64_t time, int signal, uint64_t pc)
{
    stand_in_log->deaths++;
    stand_in_log->death_signal = signal;
    stand_in_log->death_pc = pc;
}

bool tr_code_written(struct tr_thread *thread, uint64_t address, uint64_t writer_pc)
{
    if (address - (uint64_t)stand_in_protected_page >= TR_PAGE)
        return false;
    stand_in_code_writes++;
    return tr_syscall(__NR_mprotect, (uint64_t)stand_in_protected_page, TR_PAGE,
                      PROT_READ | PROT_WRITE) == 0;
}

void tr_code_writes_itself(struct tr_thread *thread, uint64_t address)
{
    (void)thread, (void)address;
}

/* ---- threads ---- */

void tr_thread_set_base(struct tr_thread *thread)
{
    tr_syscall(__NR_arch_prctl, ARCH_SET_GS, (uint64_t)thread, 0);
}

struct tr_thread *tr_thread_here(void)
{
    uint64_t base = 0;
    tr_syscall(__NR_arch_prctl, ARCH_GET_GS, (uint64_t)&base, 0);
    return (struct tr_thread *)base;
}

enum { STACKS = 1 << 20, SIGNAL_STACK = 1 << 19 };

static struct tr_thread *make_thread(void)
{
    struct tr_thread *thread = tr_own_map(STACKS);
    thread->hot.self = thread;
    thread->hot.stack = (uint64_t)thread + STACKS;
    thread->process = &tr_process;
    thread->next = tr_process.threads;
    tr_process.threads = thread;
    return thread;
}

static void *signal_stack(struct tr_thread *thread)
{
    return (uint8_t *)thread + SIGNAL_STACK;
}

/* ---- system calls ---- */

static void meanwhile(void)
{
    if (stand_in_while_blocked)
        stand_in_while_blocked();
}

void stand_in_change_action(int signal, const void *action)
{
    memcpy(&tr_process.actions[signal - 1], action, sizeof(struct tr_action));
    tr_install_action(signal, action);
}

static int64_t run_fork(struct tr_thread *thread)
{
    if (tr_signals_block_handled(thread)) {
        tr_signals_unblock(thread);
        return TR_RESTART;
    }
    tr_signal_before_clone(thread, thread, 0);
    meanwhile();
    int64_t result = tr_syscall(__NR_fork, 0, 0, 0);
    if (result == 0) {
        tr_signal_begin_faults(thread, signal_stack(thread));
        tr_signal_begin_thread(thread);
        return 0;
    }
    tr_signal_after_clone(thread);
    tr_signals_unblock(thread);
    return result;
}

static int64_t run_exec(struct tr_thread *thread, const uint64_t arguments[6])
{
    int64_t result;
    tr_signal_before_exec(thread);
    bool made = tr_safe_syscall(thread, __NR_execve, arguments, &result);
    tr_signal_after_failed_exec(thread);
    return made ? result : TR_RESTART;
}

static int64_t run_syscall(struct tr_thread *thread, int64_t number)
{
    const uint64_t *r = thread->app.r;
    const uint64_t arguments[6] = {r[TR_RDI], r[TR_RSI], r[TR_RDX], r[TR_R10], r[TR_R8], r[TR_R9]};
    int64_t result;
    switch (number) {
    case __NR_rt_sigaction:
        return tr_sys_rt_sigaction(thread);
    case __NR_rt_sigprocmask:
        return tr_sys_rt_sigprocmask(thread);
    case __NR_sigaltstack:
        return tr_sys_sigaltstack(thread);
    case __NR_rt_sigpending:
        return tr_sys_rt_sigpending(thread);
    case __NR_rt_sigtimedwait:
        return tr_sys_rt_sigtimedwait(thread);
    case __NR_fork:
        return run_fork(thread);
    case __NR_execve:
        return run_exec(thread, arguments);
    default:
        return tr_safe_syscall(thread, number, arguments, &result) ? result : TR_RESTART;
    }
}

static void execute_syscall(struct tr_thread *thread)
{
    struct tr_state *app = &thread->app;
    int64_t number = (int64_t)app->r[TR_RAX];
    app->pc += 2;
    if (number == __NR_rt_sigreturn) {
        tr_sys_rt_sigreturn(thread);
        return;
    }
    app->r[TR_RCX] = app->pc;
    app->r[TR_R11] = app->flags;
    if (number == stand_in_let_go_call) {
        app->r[TR_RAX] = 0;
        tr_signals_block_handled(thread);
        tr_signal_let_go(thread, app->r[TR_RDI]);
        meanwhile();
        tr_signal_return_natively(thread);
    }
    int64_t result = run_syscall(thread, number);
    if (result == TR_RESTART)
        app->pc -= 2;
    else
        app->r[TR_RAX] = (uint64_t)result;
}

void stand_in_go_on(struct tr_thread *thread)
{
    bool in_cache = false;
    for (;;) {
        uint64_t pc = thread->app.pc;
        thread->hot.limit = UINT64_MAX;
        thread->hot.run = 1;
        __asm__ volatile("" : : : "memory");
        in_cache = tr_in_cache(pc);
        if (thread->signals.pending)
            tr_signal_deliver(thread, in_cache);
        else if (pc == (uint64_t)program_syscall_instruction ||
                 pc == (uint64_t)program_sigreturn_instruction)
            execute_syscall(thread);
        else
            break;
    }
    stand_in_restore(thread, in_cache);
}

/* ---- running a program ---- */

void stand_in_run_native(void *stack, void (*function)(void))
{
    stand_in_call(stack, function);
}

void stand_in_run_translated(void *stack, void (*function)(void))
{
    program_syscall_entry = (uint64_t)stand_in_syscall;
    program_sigreturn_entry = (uint64_t)stand_in_sigreturn;
    program_touch_entry = (uint64_t)stand_in_touch;
    program_write_entry = (uint64_t)stand_in_write;
    program_divide_entry = (uint64_t)stand_in_divide;
    program_undefined_entry = (uint64_t)stand_in_undefined;
    program_halt_entry = (uint64_t)stand_in_halt;
    program_wait_entry = (uint64_t)stand_in_wait;
    tr_process.image = (uint64_t)__executable_start;
    tr_process.image_size = (uint64_t)__start_program_text - tr_process.image;
    struct tr_thread *thread = make_thread();
    tr_thread_set_base(thread);
    tr_signal_begin_process(&tr_process, thread, signal_stack(thread));
    thread->app.pc = (uint64_t)function;
    thread->app.r[TR_RSP] = (uint64_t)stack;
    thread->app.flags = 0x202;
    stand_in_go_on(thread);
}
