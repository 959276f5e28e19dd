/* The start of the runtime in a process: enter.S calls tr_begin on a small stack of its own, with everything else as
 * the kernel left it at the program's exec. */
#include "engine/packets/sideband_layout.h"
#include "runtime/translator/attachment.h"
#include "runtime/translator/auxiliary_vector.h"
#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/code/fragment.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/log/sideband.h"
#include "runtime/translator/signals/signal.h"
#include "runtime/translator/syscalls/held_inputs.h"
#include "runtime/translator/syscalls/syscall.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/mman.h>

struct tr_process tr_process;
extern __attribute__((visibility("hidden"))) struct tr_attachment tr_attachment; /* attach.S */

enum { CLOCK_DEFAULT = 0, HWCAP2_FSGSBASE = 1 << 1 };

_Noreturn void tr_begin(const struct tr_start *start, uint64_t *stack);

static bool has_fsgsbase(uint64_t *stack)
{
    const uint64_t *capabilities = tr_auxiliary_entry(stack, AT_HWCAP2);
    return capabilities && (capabilities[1] & HWCAP2_FSGSBASE) != 0;
}

static void log_no_memory(struct tr_process *process)
{
    static struct tr_thread nobody;
    nobody = (struct tr_thread){
        .process = process, .serial = UINT32_MAX, .pid = process->pid, .tid = process->pid};
    tr_sideband_untraced(&nobody, tr_time(&nobody), process->pid, UNTRACED_FOREIGN, process->name,
                         "it has no memory for the translator (see ulimit -v)");
}

/* Without memory for the runtime the program runs natively. All registers are 0 at exec. */
static _Noreturn void begin_natively(uint64_t pc, const uint64_t *stack)
{
    __asm__ volatile("mov %0, %%rsp\n\tjmp *%1"
                     :
                     : "r"(stack), "a"(pc), "d"(UINT64_C(0))
                     : "memory");
    __builtin_unreachable();
}

/* The pages around one that is written first are holes of the sparse file: the kernel must not read megabytes of them
 * ahead. */
static void expect_holes(uint64_t arena, uint64_t size)
{
    tr_syscall(__NR_madvise, arena, size, MADV_RANDOM);
}

/* What a process executes that was attached to is let go as that is. The recorder has filled in the rest (release_mark_image). */
static void describe_attachment(struct tr_process *process, const struct tr_start *start)
{
    struct tr_attachment *attachment = &tr_attachment;
    if (!process->control->options.attached)
        return;
    attachment->image = start->image;
    attachment->image_size = attachment->whole_size = start->image_size;
    attachment->pid = process->pid;
    attachment->outer_pid = (int32_t)start->pid;
    process->taken_over = true;
}

_Noreturn void tr_begin(const struct tr_start *start, uint64_t *stack)
{
    struct tr_process *process = &tr_process;
    process->control = (void *)start->arena;
    process->arena = (void *)start->arena;
    expect_holes(start->arena, process->control->arena_size);
    process->image = start->image;
    process->image_size = start->image_size;
    process->pid = (int32_t)tr_syscall(__NR_getpid, 0, 0, 0);
    process->steals_time = process->control->options.clock == CLOCK_DEFAULT;
    process->fsgsbase = has_fsgsbase(stack);
    memcpy(process->name, start->name, sizeof process->name);
    struct tr_thread *thread = tr_thread_allocate(process);
    if (!thread || !tr_fragments_begin(process, start->table)) {
        log_no_memory(process);
        begin_natively(start->pc, stack);
    }
    describe_attachment(process, start);
    if (process->control->options.hold_inputs)
        tr_hold_start(stack);
    thread->pid = process->pid;
    thread->tid = (int32_t)tr_syscall(__NR_gettid, 0, 0, 0);
    thread->app.pc = start->pc;
    thread->app.r[TR_RSP] = thread->stack_top = (uint64_t)stack;
    thread->app.flags = 0x202;
    tr_thread_set_base(thread);
    tr_log_begin(thread, start->slot, false);
    tr_process_begun(thread, start);
    tr_signal_begin_process(process, thread, tr_thread_signal_stack(thread));
    tr_lock(&process->lock);
    tr_code_break(thread, 0, UINT64_MAX);
    tr_unlock(&process->lock);
    uint64_t now = tr_time(thread);
    tr_log_event(thread, TR_RESUME, 0, &now, 1);
    tr_enter(thread);
}
