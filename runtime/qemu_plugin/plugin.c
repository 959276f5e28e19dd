/* The plugin that qemu loads: its callbacks, and the effects of a program's system calls on the
 * recording.
 *
 * For every block that a thread runs, qemu calls block_entry with the block's description; nearly
 * always only the inline path of the encoder runs. All other cases are handled here, slowly.
 */
#include "runtime/qemu_plugin/block_cost.h"
#include "runtime/qemu_plugin/process.h"
#include "runtime/qemu_plugin/program_exec.h"
#include "runtime/qemu_plugin/qemu_messages.h"
#include "runtime/qemu_plugin/qemu_plugin.h"
#include "runtime/qemu_plugin/stack_pointer.h"
#include "runtime/qemu_plugin/trigger.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* qemu's callbacks carry no pointer of ours (but for blocks), so the one process that we are in is
 * found here. */
static struct process process;

/* For threads that have run no block yet, and for threads that have ended: only unused counters in
 * them are written. */
static struct pt_encoder not_created = {.previous = &pt_code_block_none};
static struct pt_encoder ended = {.previous = &pt_code_block_none, .stopped = 1};

/* The calling thread's encoder; never NULL. A plugin's thread-local storage is in the static block
 * only with this model, which saves a call per block. */
static __thread struct pt_encoder *current __attribute__((tls_model("initial-exec"))) =
    &not_created;

/* Moments of other threads (order.h) that the calling one has seen. */
static __thread uint64_t seen_moments __attribute__((tls_model("initial-exec")));

/* --- Threads --- */

/* NULL for a thread that has ended, or that there was no memory for. */
static struct thread *current_thread(void)
{
    if (current == &not_created) {
        struct thread *thread = thread_begin(&process);
        current = thread ? thread->encoder : &ended;
    }
    return (struct thread *)(void *)current->owner;
}

/* New code was translated and did not run: the clock takes this into account elsewhere, or need
 * not. */
static void resume(struct thread *thread)
{
    if (thread->suspended) {
        thread->encoder->previous = thread->suspended;
        thread->suspended = NULL;
    }
}

static void suspend(struct thread *thread)
{
    if (!thread->suspended && !thread->encoder->stopped) {
        thread->suspended = thread->encoder->previous;
        thread->encoder->previous = &pt_code_block_none;
    }
}

/* --- Blocks --- */

static void check_registers(const uint64_t *registers, uint64_t pc)
{
    struct guest_registers guest = {registers, process.guest_base};
    process.registers_usable = signal_registers_plausible(&guest, pc);
    process.registers_checked = true;
}

static void enter_handler(struct pt_encoder *encoder, uint64_t pc, const uint64_t *registers)
{
    struct guest_registers guest = {process.registers_usable ? registers : NULL,
                                    process.guest_base};
    struct interruption interruption;
    if (!signal_interrupted(&process.handlers, &guest, pc, &interruption))
        return;
    struct thread *thread = current_thread();
    stack_pointer_interrupt(thread, &interruption);
    pt_encoder_interrupt(encoder, interruption.ip, interruption.faulted);
    stack_pointer_enter_handler(thread, &interruption, registers[GUEST_RSP]);
}

/* What the inline path would not do. The block's work has been counted. */
__attribute__((used, visibility("hidden"))) void run_block_slow(struct pt_code_block *block,
                                                                const uint64_t *registers);

void run_block_slow(struct pt_code_block *block, const uint64_t *registers)
{
    bool created_thread = current == &not_created;
    struct thread *thread = current_thread();
    struct pt_encoder *encoder = current;
    if (created_thread)
        encoder->work += block->work; /* it was counted in not_created */
    if (encoder->stopped) {
        if (thread && !thread->slept_over_end)
            thread_note_stop(thread);
        return;
    }
    if (!process.registers_checked)
        check_registers(registers, block->pc);
    thread->registers = process.registers_usable ? registers : NULL;
    if (thread->registers)
        pt_encoder_know_stack(encoder, &registers[GUEST_RSP]);
    bool translated = thread->suspended != NULL;
    resume(thread);
    if (translated || pt_encoder_edge_is_new(encoder, block->pc)) {
        encoder->work -= block->work;
        uint64_t cold = translated ? block_cold_cost(block->instructions, block->bits != 0)
                                   : BLOCK_NEW_WAY_COST;
        qemu_clock_emulator_worked(&thread->clock, encoder, cold, process_seen(&process, thread));
        if (thread->code_replaced) {
            thread->code_replaced = false;
            pt_encoder_arrive_at_new_code(encoder, block);
        }
        if (pt_encoder_step_fast(encoder, block))
            return;
    }
    if (signal_may_be_handler(&process.handlers, block->pc))
        enter_handler(encoder, block->pc, registers);
    bool asleep = encoder->previous->kind == PT_BLOCK_NONE;
    if (encoder->previous->loads_stack && process.registers_usable)
        stack_pointer_after_load(thread, block->pc, registers[GUEST_RSP]);
    pt_encoder_step_slow(encoder, block);
    thread->slept_over_end = asleep && encoder->stopped;
}

/* For blocks whose effects other threads may see, or that may see theirs. */
__attribute__((used, visibility("hidden"))) void run_ordered_block(struct pt_code_block *block,
                                                                   const uint64_t *registers);

void run_ordered_block(struct pt_code_block *block, const uint64_t *registers)
{
    struct thread *thread = current_thread();
    struct pt_encoder *encoder = current;
    bool ordered = thread && process.order.several;
    if (ordered)
        seen_moments = order_take(&process.order, &thread->clock);
    struct pt_encoder_progress before = pt_encoder_progress(encoder);
    if (!pt_encoder_step_fast(encoder, block))
        run_block_slow(block, registers);
    if (!ordered || encoder->stopped)
        return;
    pt_encoder_emit_arrival(encoder, block->pc, before);
    if (block->synchronises)
        seen_moments = order_publish(&process.order, &thread->clock, seen_moments);
}

/* For blocks that load the stack pointer: its values before and after the block distinguish the
 * stacks of a thread. */
__attribute__((used, visibility("hidden"))) void
run_stack_loading_block(struct pt_code_block *block, const uint64_t *registers);

void run_stack_loading_block(struct pt_code_block *block, const uint64_t *registers)
{
    run_ordered_block(block, registers);
    bool runs = !current->stopped && current->previous == block;
    if (runs && process.registers_usable)
        stack_pointer_before_load(current_thread(), block, registers[GUEST_RSP]);
}

/* Passes on RBP, in which qemu keeps the guest's registers (signal_frame.h). Only jumped to, from
 * the end of the callbacks below, where RBP is again what qemu's code had in it. */
__asm__(".pushsection .text\n"
        ".type leave_inline_path, @function\n"
        "leave_inline_path:\n"
        "    mov %rbp, %rsi\n"
        "    jmp run_block_slow\n"
        ".size leave_inline_path, . - leave_inline_path\n"
        ".type leave_for_order, @function\n"
        "leave_for_order:\n"
        "    mov %rbp, %rsi\n"
        "    jmp run_ordered_block\n"
        ".size leave_for_order, . - leave_for_order\n"
        ".type leave_for_stack, @function\n"
        "leave_for_stack:\n"
        "    mov %rbp, %rsi\n"
        "    jmp run_stack_loading_block\n"
        ".size leave_for_stack, . - leave_for_stack\n"
        ".popsection\n");
__attribute__((visibility("hidden"))) void leave_inline_path(struct pt_code_block *block);
__attribute__((visibility("hidden"))) void leave_for_order(struct pt_code_block *block);
__attribute__((visibility("hidden"))) void leave_for_stack(struct pt_code_block *block);

/* qemu runs a block. Without a jump to begin with, which costs 5 % of a tight loop's time. In a
 * build without optimization this may call where it should jump, and RBP be its own:
 * check_registers then finds no registers, as with a qemu that keeps them elsewhere. */
static void block_entry(unsigned int vcpu, void *data)
{
    if (!pt_encoder_step_fast(current, data))
        leave_inline_path(data);
}

/* The same in a process with several threads. */
static void watched_block_entry(unsigned int vcpu, void *data)
{
    if (__builtin_expect(order_has_news(&process.order, seen_moments), 0))
        leave_for_order(data);
    else if (!pt_encoder_step_fast(current, data))
        leave_inline_path(data);
}

/* The same for a block with an atomic instruction. */
static void synchronising_block_entry(unsigned int vcpu, void *data)
{
    leave_for_order(data);
}

static void stack_loading_block_entry(unsigned int vcpu, void *data)
{
    leave_for_stack(data);
}

static qemu_executed *callback_for(const struct pt_code_block *block)
{
    if (block->loads_stack)
        return stack_loading_block_entry;
    if (!process.order.watched)
        return block_entry;
    return block->synchronises ? synchronising_block_entry : watched_block_entry;
}

static void before_sigreturn(struct thread *thread)
{
    struct guest_registers guest = {thread->registers, process.guest_base};
    struct interruption restored;
    if (signal_restored(&process.handlers, &guest, &restored))
        stack_pointer_restore(thread, restored.stack_pointer);
}

/* --- The trigger --- */

/* An instruction of the trigger is about to run; the block that it is in has been stepped into.
 * qemu's registers are in memory at a block's first instruction only, which a function's is. */
__attribute__((used, visibility("hidden"))) void reach_trigger(unsigned int vcpu, void *data,
                                                               const uint64_t *registers);

void reach_trigger(unsigned int vcpu, void *data, const uint64_t *registers)
{
    struct thread *thread = current_thread();
    struct qemu_control *control = process.log.control;
    if (atomic_load(&control->frozen))
        return;
    if (!thread || !thread_is_recorded(thread) || process.untraced) {
        atomic_fetch_add(&control->unseen_hits, 1);
        return;
    }
    struct pt_encoder *encoder = thread->encoder;
    uint64_t ip = (uint64_t)(uintptr_t)data;
    if (encoder->stopped)
        return;
    struct trigger_arguments arguments = {.known = process.registers_usable &&
                                                   encoder->previous->pc == ip};
    if (arguments.known) {
        arguments.first = registers[GUEST_RDI];
        arguments.second = registers[GUEST_RSI];
    }
    pt_encoder_emit_arrival(encoder, ip, pt_encoder_progress(encoder));
    struct sideband_subject subject = thread_subject(thread);
    if (trigger_hit(&process.log, &subject, ip, &arguments) == TRIGGER_STOPS) {
        pt_encoder_stop_at(encoder, ip);
        thread_note_stop(thread);
    }
}

__asm__(".pushsection .text\n"
        ".type trigger_reached, @function\n"
        "trigger_reached:\n"
        "    mov %rbp, %rdx\n"
        "    jmp reach_trigger\n"
        ".size trigger_reached, . - trigger_reached\n"
        ".popsection\n");
__attribute__((visibility("hidden"))) void trigger_reached(unsigned int vcpu, void *data);

/* Makes qemu report the trigger's instructions in a block at `pc`. */
static void watch_block(struct qemu_plugin_tb *tb, uint64_t pc)
{
    const struct qemu_trigger *trigger = &process.log.control->options.trigger;
    struct code_place place;
    if (!code_map_place(&process.code, pc, &place))
        return;
    uint64_t end = place.file_offset + block_code_size(tb);
    if (trigger_next_place(trigger, place.inode, place.file_offset, end) == UINT64_MAX ||
        !trigger_concerns_file(trigger, place.path, place.inode))
        return;
    uint64_t at = place.file_offset;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        uint64_t size = qemu_plugin_insn_size(instruction);
        if (trigger_next_place(trigger, place.inode, at, at + 1) == at)
            qemu_plugin_register_vcpu_insn_exec_cb(
                instruction, trigger_reached, QEMU_PLUGIN_CB_NO_REGS,
                (void *)(uintptr_t)(pc + at - place.file_offset));
        at += size;
    }
}

static void learn_guest_base(const struct qemu_plugin_tb *tb)
{
    uint64_t host = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0));
    process.guest_base = host - qemu_plugin_tb_vaddr(tb);
    process.code.guest_base = process.guest_base;
    process.guest_base_known = true;
}

static void block_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
    struct thread *thread = current_thread();
    if (!process.guest_base_known)
        learn_guest_base(tb);
    uint64_t pc = qemu_plugin_tb_vaddr(tb);
    if (process.log.control->options.trigger.place_count > 0 && pc >> 47 == 0)
        watch_block(tb, pc);
    if (process.untraced || !thread)
        return;
    struct block_code code = {
        .pc = pc,
        .guest_base = process.guest_base,
        .compress_returns = !process.log.control->options.all_returns,
    };
    if (pc >> 47 == 0) {
        struct sideband_subject subject = thread_subject(thread);
        if (thread_is_recorded(thread) &&
            code_map_may_replace(&process.code, pc, pc + block_code_size(tb))) {
            subject.time = thread_new_moment(thread);
            thread->code_replaced = true;
        }
        code.changeable =
            code_map_learn(&process.code, &subject, pc, pc + block_code_size(tb)) != CODE_FILE;
    }
    struct pt_code_block *block = block_table_get(&process.blocks, tb, &code);
    if (!block)
        return;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, callback_for(block), QEMU_PLUGIN_CB_NO_REGS, block);
    suspend(thread);
}

/* --- System calls --- */

static bool may_move_code(int64_t number)
{
    switch (number) {
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_mremap:
    case SYS_pkey_mprotect:
    case SYS_remap_file_pages:
    case SYS_shmat:
    case SYS_shmdt:
        return true;
    default:
        return false;
    }
}

/* Whether the call waited for some time to pass, and that time did pass. */
static bool slept(int64_t number, int64_t result)
{
    switch (number) {
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        return result == 0;
    case SYS_futex:
        return result == -ETIMEDOUT;
    case SYS_rt_sigtimedwait:
    case SYS_semtimedop:
        return result == -EAGAIN;
    default:
        return false;
    }
}

static void before_exec(struct thread *thread, const struct exec_call *call)
{
    /* The recording is over, its files may be gone: the new program runs natively. */
    if (sideband_frozen(&process.log))
        return;
    /* Large, and a guest thread's host stack is qemu's: big enough, but not ours. */
    struct exec_program *program = malloc(sizeof *program);
    if (!program)
        return;
    enum exec_verdict verdict = exec_judge(call, program);
    if (verdict != EXEC_FAILING) {
        struct sideband_subject subject = thread_subject(thread);
        if (process.untraced) {
            sideband_untraced(&process.log, &subject, UNTRACED_PROCESS, program->path);
        } else {
            if (verdict == EXEC_TRACEABLE) {
                thread_note_stop(thread);
                exec_run(call, program, &process.log.control->options, process.directory,
                         thread_new_moment(thread));
                thread_note_go_on(thread);
            }
            sideband_untraced(&process.log, &subject, UNTRACED_FOREIGN, program->path);
        }
    }
    free(program);
}

static void system_call_begins(uint64_t id, unsigned int vcpu, int64_t number, uint64_t a1,
                               uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                               uint64_t a7, uint64_t a8)
{
    struct thread *thread = current_thread();
    if (!thread)
        return;
    if (!thread->encoder->stopped) {
        resume(thread);
        if (order_has_news(&process.order, seen_moments))
            seen_moments = order_take(&process.order, &thread->clock);
        if (number == SYS_rt_sigreturn)
            before_sigreturn(thread);
        pt_encoder_disable(thread->encoder);
        qemu_clock_enter_kernel(&thread->clock, thread->encoder);
        thread->in_kernel = true;
    }
    uint64_t base = process.guest_base;
    order_before_system_call(&process.order, &process.log.control->options, number, a1, a4);
    switch (number) {
    case SYS_clone:
    case SYS_fork:
    case SYS_vfork:
        atomic_store(&process.birth_time, thread->clock.floor);
        thread->calls_at_fork = pt_encoder_save_calls(thread->encoder);
        break;
    case SYS_rt_sigaction:
        signal_handlers_add(&process.handlers, base, a2);
        break;
    case SYS_rt_sigreturn:
        pt_encoder_note_sigreturn(thread->encoder);
        stack_pointer_leave_handler(thread);
        break;
    case SYS_execve:
        before_exec(thread, &(struct exec_call){AT_FDCWD, 0, a1, a2, a3, base});
        break;
    case SYS_execveat:
        before_exec(thread, &(struct exec_call){(int)a1, (int)a5, a2, a3, a4, base});
        break;
    case SYS_exit:
        /* The kernel clears the thread's id in memory, which pthread_join may find there. */
        order_publish(&process.order, &thread->clock, seen_moments);
        thread_end(thread);
        current = &ended;
        break;
    case SYS_exit_group:
        thread_end_process(thread);
        break;
    default:
        break;
    }
}

/* prctl(PR_SET_NAME) has given the calling thread a new name. */
static void thread_was_named(struct thread *thread)
{
    char name[PROCESS_NAME_SIZE] = "";
    if (process.untraced || prctl(PR_GET_NAME, name) != 0)
        return;
    struct sideband_subject subject = thread_subject(thread);
    if (subject.serial != UINT32_MAX)
        sideband_name(&process.log, &subject, false, name);
}

/* A traced child that was killed could not record its end itself. One that only stopped still
 * exists. */
static void child_was_waited_for(struct thread *thread, pid_t child)
{
    if (process.untraced || !thread_is_recorded(thread) || kill(child, 0) == 0 || errno != ESRCH)
        return;
    struct sideband_subject subject = thread_subject(thread);
    subject.time = qemu_clock_now(&thread->clock, thread->encoder);
    subject.pid = subject.tid = child;
    sideband_reaped(&process.log, &subject);
}

static void system_call_returned(uint64_t id, unsigned int vcpu, int64_t number, int64_t result)
{
    struct thread *thread = current_thread();
    if (!thread)
        return;
    bool may_be_child = number == SYS_fork || number == SYS_vfork || number == SYS_clone;
    if (may_be_child && getpid() != process.pid) {
        process_forked(thread);
        current = thread->encoder;
    } else if (thread->in_kernel) {
        qemu_clock_leave_kernel(&thread->clock, thread->encoder, slept(number, result));
    }
    thread->in_kernel = false;
    if (may_move_code(number))
        code_map_forget(&process.code);
    if (number == SYS_prctl && result == 0)
        thread_was_named(thread);
    if (number == SYS_io_uring_setup && result == -ENOSYS)
        atomic_fetch_add(&process.log.control->refused_io_urings, 1);
    if (number == SYS_wait4 && result > 0)
        child_was_waited_for(thread, (pid_t)result);
}

/* --- Death --- */

/* An unhandled signal ends the process, in this thread. Packets cover the thread up to that
 * instruction, not the rest of its last block. */
static void killed(uint32_t signal)
{
    struct thread *thread = current == &not_created ? NULL : current_thread();
    if (!thread || !thread_is_recorded(thread))
        return;
    struct pt_encoder *encoder = thread->encoder;
    struct guest_registers guest = {thread->registers, process.guest_base};
    struct logged_death death = {.has_ip = guest.registers != NULL, .signal = signal};
    resume(thread);
    if (death.has_ip) {
        death.ip = guest_instruction(&guest);
        /* qemu has searched for the instruction meanwhile. */
        qemu_clock_emulator_worked(&thread->clock, encoder, 0, process_seen(&process, thread));
        pt_encoder_interrupt(encoder, death.ip, true);
    }
    struct sideband_subject subject = thread_subject(thread);
    subject.time = qemu_clock_now(&thread->clock, encoder);
    sideband_death(&process.log, &subject, &death);
    sideband_exit(&process.log, &subject);
    thread_note_stop(thread);
}

/* --- Loading --- */

int qemu_plugin_version = 1;

/* qemu reads our version after this and refuses one that it does not support. Its own version
 * follows from the functions that it exports: see the list in qemu_plugin.h. */
__attribute__((constructor)) static void choose_plugin_version(void)
{
    if (dlsym(RTLD_DEFAULT, "qemu_plugin_n_vcpus"))
        qemu_plugin_version = 1;
    else if (dlsym(RTLD_DEFAULT, "qemu_plugin_register_vcpu_tb_exec_cond_cb"))
        qemu_plugin_version = 3;
    else
        qemu_plugin_version = 2;
}

static const char *argument_value(const char *argument, const char *name)
{
    size_t length = strlen(name);
    return strncmp(argument, name, length) == 0 ? argument + length : NULL;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
    const char *directory = NULL, *value;
    if (info->system_emulation || strcmp(info->target_name, "x86_64") != 0)
        return -1;
    for (int i = 0; i < argc; i++) {
        if ((value = argument_value(argv[i], "dir="))) {
            directory = value;
        } else if ((value = argument_value(argv[i], "name="))) {
            strncpy(process.name, value, sizeof process.name - 1);
        } else if ((value = argument_value(argv[i], "exec="))) {
            process.execed = true;
            process.exec_time = strtoull(value, NULL, 16);
        }
    }
    if (!directory)
        return -1;
    /* The recording may have ended between an execve and here: the program runs on, unrecorded. */
    if (!process_begin(&process, directory))
        return process.execed ? 0 : -1;
    qemu_messages_take_over(killed);
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_vcpu_syscall_cb(id, system_call_begins);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, system_call_returned);
    return 0;
}
