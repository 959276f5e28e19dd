/* A thread that was traced goes on natively, and the others of its process, too. */
#include "engine/packets/sideband_layout.h"
#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/log/sideband.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/selected_calls.h"
#include "runtime/translator/signals/signal.h"
#include "runtime/translator/syscalls/rseq.h"
#include "runtime/translator/syscalls/syscall.h"
#include "runtime/translator/system.h"

/* Whether other threads of the process stay in the cache, and need our signal handlers and the protection of code. A
 * process that only shares its parent's memory (vfork) has handlers of its own. */
static bool others_stay(struct tr_thread *thread)
{
    return !thread->vforked &&
           __atomic_sub_fetch(&thread->process->running, 1, __ATOMIC_ACQ_REL) != 0;
}

/* What a thread does natively, mapping and writing code, the others would not notice: they follow at their next look. */
static void call_others(const struct tr_thread *thread)
{
    for (struct tr_thread *other = thread->process->threads; other; other = other->next) {
        bool used = __atomic_load_n(&other->state, __ATOMIC_ACQUIRE) == TR_THREAD_USED;
        if (other == thread || !used || other->pid != thread->pid)
            continue;
        other->let_go = true;
        other->hot.limit = other->hot.run = 0;
    }
}

/* A child that is not traced still has its parent's table. */
static void note_that_it_leaves(const struct tr_thread *thread)
{
    struct tr_table *table = thread->process->table;
    if (atomic_load(&table->pid) == (uint32_t)thread->pid)
        atomic_store(&table->left, 1);
}

/* The kernel's limit of address space is to be the program's own one, which programs that it executes inherit: nothing else may count then. */
static void give_memory_back(struct tr_thread *thread)
{
    struct tr_process *process = thread->process;
    if (!process->is_alone || tr_own_limit_in_kernel() == UINT64_MAX)
        return;
    process->control = NULL;
    tr_own_unmap_all(process->image, (uint64_t)thread);
}

static void report_untraced(struct tr_thread *thread, const char *cause)
{
    tr_sideband_untraced(thread, tr_time(thread), thread->pid, UNTRACED_FOREIGN,
                         thread->process->name, cause);
}

/* Protection ends before the first thread runs natively: no handler of ours would take its faults. It may block SIGSEGV, and a fault that
 * is on its way while the last thread gives the dispositions back would reach the program's handler. */
void tr_let_go(struct tr_thread *thread, enum tr_slot_end reason)
{
    struct tr_process *process = thread->process;
    tr_signals_block_handled(thread);
    call_others(thread);
    if (thread->steps) {
        report_untraced(thread, "it steps itself (trap flag)");
        reason = TR_SLOT_CANNOT;
    }
    if (thread->slot && !thread->stops)
        tr_log_stop(thread, reason, thread->app.pc);
    if (!thread->vforked) {
        tr_lock(&process->lock);
        note_that_it_leaves(thread);
        tr_code_let_go(thread, __atomic_load_n(&process->running, __ATOMIC_ACQUIRE) > 1);
        tr_unlock(&process->lock);
    }
    tr_selected_let_go(thread);
    tr_signal_let_go(thread, others_stay(thread));
    tr_rseq_resume(thread);
    give_memory_back(thread);
    tr_signal_return_natively(thread);
}

void tr_give_up(struct tr_thread *thread, const char *cause)
{
    report_untraced(thread, cause);
    tr_let_go(thread, TR_SLOT_CANNOT);
}
