#include "runtime/translator/lock.h"

#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/futex.h>

/* Ulrich Drepper, "Futexes Are Tricky" (2011), mutex 2. */
enum { UNLOCKED, LOCKED, CONTENDED };

void tr_lock(uint32_t *lock)
{
    uint32_t seen = UNLOCKED;
    if (__atomic_compare_exchange_n(lock, &seen, LOCKED, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(lock, CONTENDED, __ATOMIC_ACQUIRE) != UNLOCKED)
        tr_syscall6(__NR_futex, (uint64_t)lock, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, CONTENDED, 0, 0,
                    0);
}

void tr_unlock(uint32_t *lock)
{
    if (__atomic_exchange_n(lock, UNLOCKED, __ATOMIC_RELEASE) == CONTENDED)
        tr_syscall6(__NR_futex, (uint64_t)lock, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
}
