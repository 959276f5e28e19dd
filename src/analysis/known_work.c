#include "analysis/known_work.h"

#include <stddef.h>
#include <string.h>

const char *known_work(const char *function)
{
    static const struct {
        const char *beginning, *work;
    } known[] = {
        {"_dl_runtime_resolve", "first call: the dynamic linker binds a symbol"},
        {"_dl_fixup", "first call: the dynamic linker binds a symbol"},
        {"__tls_get_addr_slow", "first use of a thread-local variable"},
        {"dlopen", "a library is loaded"},
        {"_dl_open", "a library is loaded"},
        {"__pthread_once_slow", "one-time initialisation"},
        {"__cxa_guard_acquire", "one-time initialisation"},
        {"__lll_lock_wait", "waiting for a lock"},
        {"__pthread_mutex_lock", "waiting for a lock"},
        {"pthread_mutex_lock", "waiting for a lock"},
        {"__pthread_rwlock_", "waiting for a lock"},
        {"pthread_rwlock_", "waiting for a lock"},
        {"__pthread_cond_wait", "waiting for a condition"},
        {"pthread_cond_wait", "waiting for a condition"},
        {"std::__atomic_futex_unsigned", "waiting for another thread"},
        {"__new_sem_wait", "waiting for a semaphore"},
        {"sem_wait", "waiting for a semaphore"},
        {"__futex_abstimed_wait", "waiting for another thread"},
        {"futex_wait", "waiting for another thread"},
        {"sysmalloc", "the allocator gets memory from the system"},
        {"malloc_consolidate", "the allocator merges free memory"},
        {"<std::sys::sync::mutex::", "waiting for a lock"},
        {"<std::sys::sync::rwlock::", "waiting for a lock"},
        {"std::sys::sync::mutex::", "waiting for a lock"},
        {"std::sys::sync::rwlock::", "waiting for a lock"},
        {"std::sys::pal::unix::futex::futex_wait", "waiting for another thread"},
        {"std::thread::functions::sleep", "sleeping"},
        {"std::thread::sleep", "sleeping"},
        {"sync.(*Mutex).lockSlow", "waiting for a lock"},
        {"sync.(*RWMutex).", "waiting for a lock"},
        {"sync.(*WaitGroup).Wait", "waiting for other goroutines"},
        {"sync.(*Cond).Wait", "waiting for a condition"},
        {"time.Sleep", "sleeping"},
        {"internal/poll.runtime_pollWait", "waiting for input or output"},
        {"runtime.Gosched", "yielding the processor"},
        {"runtime.goschedImpl", "yielding the processor"},
        {"runtime.gopark", "the goroutine waits"},
        {"runtime.gcWaitOnMark", "garbage collection"},
        {"runtime.GC", "garbage collection"},
        {"sync.runtime_Semacquire", "waiting for another goroutine"},
        {"runtime.chansend", "waiting for a channel"},
        {"runtime.chanrecv", "waiting for a channel"},
        {"runtime.selectgo", "waiting for a channel"},
        {"runtime.gcAssistAlloc", "garbage collection"},
        {"runtime.gcStart", "garbage collection"},
        {"runtime.growslice", "an array grows"},
        {"runtime.hashGrow", "a table grows"},
        {"gc_collect_main", "garbage collection"},
        {"take_gil", "waiting for the interpreter's lock"},
        {"sched_yield", "yielding the processor"},
        {"__sched_yield", "yielding the processor"},
        {"clock_nanosleep", "sleeping"},
        {"nanosleep", "sleeping"},
        {"fsync", "waiting for a disk"},
        {"fdatasync", "waiting for a disk"},
        {"asm_exc_page_fault", "page faults"},
        {"exc_page_fault", "page faults"},
        {"__cxa_throw", "an exception"},
        {"_Unwind_RaiseException", "an exception"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(function, known[i].beginning, strlen(known[i].beginning)) == 0)
            return known[i].work;
    return NULL;
}
