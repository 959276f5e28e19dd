#include "runtime/qemu_plugin/order.h"

#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static bool is_thread(uint64_t clone_flags)
{
    return (clone_flags & CLONE_VM) && !(clone_flags & CLONE_VFORK);
}

void order_before_system_call(struct order *order, const struct qemu_options *options,
                              int64_t number, uint64_t a1, uint64_t a4)
{
    /* Threads that are not recorded have no time, and instructions are counted by each thread for
     * itself. */
    if (!options->multi_thread || options->clock == RECORD_CLOCK_INSTRUCTIONS)
        return;
    bool thread = number == SYS_clone && is_thread(a1);
    /* When memory becomes shared, qemu does not translate again, as it does for a new thread. */
    bool shares = number == SYS_shmat || (number == SYS_mmap && (a4 & MAP_SHARED));
    if (thread || shares)
        atomic_store(&order->watched, true);
    if (thread)
        atomic_store(&order->several, true);
}

uint64_t order_take(struct order *order, struct qemu_clock *clock)
{
    uint64_t seen = atomic_load_explicit(&order->moments, memory_order_acquire);
    qemu_clock_catch_up(clock);
    return seen;
}

uint64_t order_publish(struct order *order, struct qemu_clock *clock, uint64_t seen)
{
    if (!atomic_load_explicit(&order->several, memory_order_relaxed))
        return seen;
    qemu_clock_publish(clock);
    uint64_t before = atomic_fetch_add(&order->moments, 1);
    return before == seen ? before + 1 : seen; /* else others came between: still to be taken */
}
