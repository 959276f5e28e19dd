/* Threads that ran natively begin to be traced, and what is left of the runtime after the last has ended: attachment.h.
 * Called by attach.S with all signals blocked. */
#include "engine/packets/sideband_layout.h"
#include "runtime/translator/attachment.h"
#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/code/fragment.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/log/recorder.h"
#include "runtime/translator/log/sideband.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/places.h"
#include "runtime/translator/signals/signal.h"
#include "runtime/translator/syscalls/maps.h"
#include "runtime/translator/syscalls/rseq.h"
#include "runtime/translator/syscalls/syscall.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/prctl.h>

_Static_assert(offsetof(struct tr_attachment, leaving_mask) == 0x40, "attach.S");
_Static_assert(offsetof(struct tr_attachment, leaving) == TR_ATTACH_REGISTERS, "attach.S");
_Static_assert(offsetof(struct tr_attachment, process) == 0x28, "attach.S");
_Static_assert(sizeof(struct tr_attachment) <= TR_ATTACHMENT_SIZE, "attach.S");

enum {
    CLOCK_DEFAULT = 0,
    SYSCALL_SIZE = 2,
};

__attribute__((visibility("hidden"))) void tr_attach_begin(struct tr_attachment *attachment);
__attribute__((visibility("hidden"))) void tr_release_begin(struct tr_attachment *attachment);
__attribute__((visibility("hidden"))) _Noreturn void tr_attach_thread(struct tr_thread *thread);

/* ---- the process ---- */

static bool fail(struct tr_attachment *attachment, enum tr_attach_problem problem, int64_t result)
{
    attachment->problem = problem;
    attachment->problem_number = (int32_t)-result;
    return false;
}

/* 0: it cannot be mapped. */
static uint64_t map_arena(struct tr_attachment *attachment)
{
    int64_t file = attachment->arena_file;
    if (file < 0)
        file = tr_syscall6(__NR_openat, (uint64_t)AT_FDCWD, attachment->path, O_RDWR | O_CLOEXEC, 0,
                           0, 0);
    if (file < 0) {
        fail(attachment, TR_ATTACH_CANNOT_OPEN, file);
        return 0;
    }
    int64_t arena =
        tr_syscall6(__NR_mmap, attachment->place + TR_PLACE_ARENA, attachment->arena_size,
                    PROT_NONE, MAP_SHARED | MAP_NORESERVE, (uint64_t)file, 0);
    tr_syscall(__NR_close, (uint64_t)file, 0, 0);
    if (arena < 0) {
        fail(attachment, TR_ATTACH_NO_SPACE, arena);
        return 0;
    }
    tr_own_add((uint64_t)arena, attachment->arena_size);
    int64_t result =
        tr_syscall(__NR_mprotect, (uint64_t)arena, attachment->open_size, PROT_READ | PROT_WRITE);
    if (result == 0)
        return (uint64_t)arena;
    fail(attachment, TR_ATTACH_NO_MEMORY, result);
    return 0;
}

static void describe_process(struct tr_process *process, const struct tr_attachment *attachment,
                             uint64_t arena)
{
    process->control = (void *)arena;
    process->arena = (void *)arena;
    tr_syscall(__NR_madvise, arena, attachment->arena_size, MADV_RANDOM);
    process->image = attachment->image;
    process->image_size = attachment->image_size;
    process->pid = attachment->pid;
    process->steals_time = process->control->options.clock == CLOCK_DEFAULT;
    process->fsgsbase = attachment->fsgsbase;
    process->supplies_pages = attachment->supplies_pages;
    memcpy(process->name, attachment->name, sizeof process->name);
}

static bool make_thread(struct tr_process *process, const struct tr_attachment *attachment,
                        struct tr_attached_thread *attached)
{
    struct tr_thread *thread = tr_thread_reserve(process);
    attached->thread = thread;
    if (!thread)
        return false;
    struct tr_signals_of_thread *signals = &thread->signals;
    thread->app = attached->app;
    thread->pid = attachment->pid;
    thread->tid = attached->tid;
    thread->attached = attached;
    thread->rseq = attached->rseq;
    thread->stops = true;
    signals->mask = attached->mask;
    signals->actions = process->actions;
    memcpy(signals->extended_state, attachment->extended_state, sizeof signals->extended_state);
    signals->extended_state_known = true;
    signals->protection_keys = attachment->protection_keys;
    return true;
}

static bool make_threads(struct tr_process *process, struct tr_attachment *attachment)
{
    struct tr_attached_thread *threads = (void *)attachment->threads;
    for (uint32_t i = 0; i < attachment->thread_count; i++)
        if (!make_thread(process, attachment, &threads[i]))
            return false;
    process->running = attachment->thread_count;
    return true;
}

static bool may_read_time(struct tr_attachment *attachment)
{
    int setting = PR_TSC_ENABLE;
    tr_syscall(__NR_prctl, PR_GET_TSC, (uint64_t)&setting, 0);
    return setting == PR_TSC_ENABLE || fail(attachment, TR_ATTACH_TSC_FORBIDDEN, 0);
}

/* In a chroot there may be no /proc. */
static bool may_read_maps(struct tr_attachment *attachment)
{
    int64_t maps = tr_maps_open();
    if (maps < 0)
        return fail(attachment, TR_ATTACH_NO_MAPS, maps);
    tr_syscall(__NR_close, (uint64_t)maps, 0, 0);
    return true;
}

static bool begin(struct tr_attachment *attachment)
{
    struct tr_process *process = &tr_process;
    tr_own_begin_at(attachment->place + TR_PLACE_OWN);
    uint64_t arena = map_arena(attachment); /* first: that closes the descriptor of it */
    if (!arena || !may_read_time(attachment) || !may_read_maps(attachment))
        return false;
    describe_process(process, attachment, arena);
    if (!tr_own_add(attachment->image, attachment->whole_size) ||
        !make_threads(process, attachment) || !tr_fragments_begin(process, attachment->table))
        return fail(attachment, TR_ATTACH_NO_MEMORY, 0);
    tr_code_begin(process->threads);
    tr_code_report_all(process->threads);
    return true;
}

/* ---- the carrier ---- */

/* Until the recorder moves the thread elsewhere. Returns when it was silent for too long, or has died, and leaves the
 * thread alone: `state` is TR_ATTACH_ABANDONED then. Sleeps by a system call that has no restart block, as the one may
 * have that the thread was stopped in. */
static void wait_for_recorder(struct tr_attachment *attachment, uint32_t state)
{
    enum { WAITS = 500, WAIT = 10 * 1000 * 1000 };
    const struct tr_control *control = tr_process.control;
    atomic_store(&attachment->state, state);
    for (unsigned i = 0; i < WAITS && (!control || tr_recorder_lives(control)); i++) {
        struct {
            int64_t seconds, nanoseconds;
        } wait = {0, WAIT};
        tr_syscall6(__NR_pselect6, 0, 0, 0, 0, (uint64_t)&wait, 0);
    }
    atomic_store(&attachment->state, TR_ATTACH_ABANDONED);
}

void tr_attach_begin(struct tr_attachment *attachment)
{
    if (begin(attachment)) {
        wait_for_recorder(attachment, TR_ATTACH_READY);
        return;
    }
    tr_process.control = NULL;
    tr_own_unmap_all(attachment->image, attachment->image);
    wait_for_recorder(attachment, TR_ATTACH_FAILED);
}

/* ---- a thread ---- */

static void begin_log(struct tr_thread *thread)
{
    const struct tr_attached_thread *attached = thread->attached;
    tr_log_begin(thread,
                 attached->recorded ? tr_slot_reserve(thread->process->control) : UINT32_MAX,
                 !attached->recorded);
    if (attached->recorded)
        tr_sideband_name(thread, tr_time(thread), false, attached->name);
    else
        tr_sideband_untraced(thread, tr_time(thread), thread->pid, UNTRACED_THREAD,
                             thread->process->name, "");
    uint64_t now = tr_time(thread);
    tr_log_event(thread, TR_FORKED, 0, &now, 1);
    tr_log_first_calls(thread);
    tr_log_event(thread, TR_RESUME, 0, &now, 1);
}

/* Nothing of the process changes before the first thread is moved: until then it can be undone. */
static void take_over_actions(struct tr_process *process)
{
    tr_lock(&process->action_lock);
    if (!process->taken_over)
        tr_signal_take_over_actions(process);
    process->taken_over = true;
    tr_unlock(&process->action_lock);
}

/* A thread that sleeps in the kernel needs next to no memory until it wakes. */
void tr_attach_thread(struct tr_thread *thread)
{
    const struct tr_attached_thread *attached = thread->attached;
    take_over_actions(thread->process);
    tr_rseq_suspend(thread);
    tr_signal_take_over_thread(thread, tr_thread_signal_stack(thread));
    if (attached->calls) {
        thread->app.pc += SYSCALL_SIZE;
        tr_syscall_run(thread);
    }
    if (tr_recording_is_over(thread->process->control))
        tr_let_go(thread, TR_SLOT_LET_GO);
    tr_thread_empty_table(thread);
    thread->began_at = thread->app.pc;
    begin_log(thread);
    tr_enter(thread);
}

/* ---- letting go ---- */

/* No thread is in the runtime but this one. Its stack and code are in the image, which stays. */
void tr_release_begin(struct tr_attachment *attachment)
{
    struct tr_process *process = &tr_process;
    if (process->threads)
        tr_code_let_go(process->threads, false);
    tr_signal_give_actions_back(process);
    process->control = NULL;
    tr_own_unmap_all(attachment->image, attachment->image);
    wait_for_recorder(attachment, TR_ATTACH_RELEASED);
}
