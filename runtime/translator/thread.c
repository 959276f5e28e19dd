#include "runtime/translator/thread.h"

#include "runtime/translator/lock.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include <stdatomic.h>

/* A thread's memory, from its gs base on: struct tr_thread, the table, then two stacks, each above a guard page. */
enum {
    TABLE_SIZE = TR_TABLE_ENTRIES * 8,
    STACK = TR_TABLE_OFFSET + TABLE_SIZE + TR_PAGE,
    SIGNAL_STACK = STACK + TR_STACK_SIZE + TR_PAGE,
    SIZE = SIGNAL_STACK + TR_SIGNAL_STACK_SIZE + TR_PAGE,
    RESERVED_AT_ONCE = 16, /* threads */
};

_Static_assert(sizeof(struct tr_thread) <= TR_TABLE_OFFSET, "the table begins after it");
_Static_assert(offsetof(struct tr_hot, self) == 0x00, "tr_current");

/* enter.S */
extern const char tr_leave_direct[], tr_leave_indirect[], tr_leave_check[], tr_leave_syscall[],
    tr_leave_first[], tr_leave_run[], tr_leave_run_at[], tr_leave_trigger[], tr_stack_loaded[],
    tr_stack_loaded_selected[], tr_stack_copied[];

/* Address space that is reserved for further threads. */
static uint64_t reserved, reserved_end;

static uint64_t take_reserved(void)
{
    if (reserved == reserved_end) {
        uint64_t size = (uint64_t)SIZE * RESERVED_AT_ONCE;
        tr_own_make_room(size);
        int64_t address = tr_own_mmap(size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
        if (address < 0)
            return 0;
        if (!tr_own_add((uint64_t)address, size)) {
            tr_syscall(__NR_munmap, (uint64_t)address, size, 0);
            return 0;
        }
        reserved = (uint64_t)address;
        reserved_end = reserved + size;
    }
    uint64_t base = reserved;
    reserved += SIZE;
    return base;
}

static bool make_writable(uint64_t start, uint64_t size)
{
    return tr_syscall(__NR_mprotect, start, size, PROT_READ | PROT_WRITE) == 0;
}

/* Under process->thread_lock. */
static struct tr_thread *make(struct tr_process *process)
{
    uint64_t base = take_reserved();
    if (base == 0 || !make_writable(base, TR_TABLE_OFFSET + TABLE_SIZE) ||
        !make_writable(base + STACK, TR_STACK_SIZE) ||
        !make_writable(base + SIGNAL_STACK, TR_SIGNAL_STACK_SIZE))
        return NULL;
    struct tr_thread *thread = (struct tr_thread *)base;
    if (!process->threads)
        process->running = 1;
    thread->next = process->threads;
    __atomic_store_n(&process->threads, thread, __ATOMIC_RELEASE); /* others_run in log.c */
    return thread;
}

static struct tr_thread *find_free(struct tr_process *process)
{
    for (struct tr_thread *thread = process->threads; thread; thread = thread->next)
        if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == TR_THREAD_FREE)
            return thread;
    return NULL;
}

/* What generated code needs. */
static void begin_hot(struct tr_thread *thread)
{
    struct tr_hot *hot = &thread->hot;
    hot->self = thread;
    hot->stack = (uint64_t)thread + STACK + TR_STACK_SIZE;
    hot->clock = (uint64_t)&thread->process->control->clock;
    hot->leave_direct = (uint64_t)tr_leave_direct;
    hot->leave_indirect = (uint64_t)tr_leave_indirect;
    hot->leave_check = (uint64_t)tr_leave_check;
    hot->leave_syscall = (uint64_t)tr_leave_syscall;
    hot->leave_first = (uint64_t)tr_leave_first;
    hot->leave_run = (uint64_t)tr_leave_run;
    hot->leave_run_at = (uint64_t)tr_leave_run_at;
    hot->leave_trigger = (uint64_t)tr_leave_trigger;
    bool selects = thread->process->control->options.selected_count > 0;
    hot->stack_loaded = (uint64_t)(selects ? tr_stack_loaded_selected : tr_stack_loaded);
    hot->stack_copied = (uint64_t)tr_stack_copied;
}

void tr_thread_empty_table(struct tr_thread *thread)
{
    uint64_t *table = (uint64_t *)((uint8_t *)thread + TR_TABLE_OFFSET);
    for (unsigned i = 0; i < TR_TABLE_ENTRIES; i++)
        table[i] = (uint64_t)tr_leave_indirect;
}

struct tr_thread *tr_thread_allocate(struct tr_process *process)
{
    struct tr_thread *thread = tr_thread_reserve(process);
    if (thread)
        tr_thread_empty_table(thread);
    return thread;
}

struct tr_thread *tr_thread_reserve(struct tr_process *process)
{
    tr_lock(&process->thread_lock);
    struct tr_thread *thread = find_free(process);
    if (!thread)
        thread = make(process);
    if (thread) {
        struct tr_thread kept = {.next = thread->next,
                                 .private_ring = thread->private_ring,
                                 .copied.left = thread->copied.left,
                                 .value_calls.calls = thread->value_calls.calls};
        *thread = kept;
        thread->process = process;
        thread->serial = UINT32_MAX;
        begin_hot(thread);
        __atomic_store_n(&thread->state, TR_THREAD_USED, __ATOMIC_RELEASE);
    }
    tr_unlock(&process->thread_lock);
    return thread;
}

void tr_thread_release(struct tr_thread *thread)
{
    __atomic_store_n(&thread->state, TR_THREAD_FREE, __ATOMIC_RELEASE);
}

void *tr_thread_signal_stack(const struct tr_thread *thread)
{
    return (uint8_t *)thread + SIGNAL_STACK;
}

/* --- The gs base --- */

void tr_thread_set_base(struct tr_thread *thread)
{
    if (tr_process.fsgsbase)
        __asm__ volatile("wrgsbase %0" : : "r"(thread));
    else
        tr_syscall(__NR_arch_prctl, ARCH_SET_GS, (uint64_t)thread, 0);
}

struct tr_thread *tr_thread_here(void)
{
    uint64_t base = 0;
    if (tr_process.fsgsbase)
        __asm__ volatile("rdgsbase %0" : "=r"(base));
    else
        tr_syscall(__NR_arch_prctl, ARCH_GET_GS, (uint64_t)&base, 0);
    if (base == 0 || base % TR_PAGE != 0 || !tr_own_overlaps(base, base + 1))
        return NULL;
    struct tr_thread *thread = (struct tr_thread *)base;
    return thread->hot.self == thread ? thread : NULL;
}
