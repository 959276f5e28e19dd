#include "runtime/translator/syscalls/memory_calls.h"

#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

#include <asm/mman.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/mman.h>
#include <linux/shm.h>

/* Under process->lock, so that no thread translates code from a mapping that is being removed; before_waiting says when not. */

static uint64_t end_of(uint64_t start, uint64_t size)
{
    uint64_t end = (start + size + TR_PAGE - 1) & ~(uint64_t)(TR_PAGE - 1);
    return end < start ? UINT64_MAX : end;
}

static bool is_error(int64_t result)
{
    return result < 0 && result > -TR_PAGE;
}

static int64_t call_kernel(const struct tr_thread *thread, int32_t number)
{
    const uint64_t *r = thread->app.r;
    return tr_syscall6(number, r[TR_RDI], r[TR_RSI], r[TR_RDX], r[TR_R10], r[TR_R8], r[TR_R9]);
}

/* A call on [start, end) may wait for another thread that has the kernel report it to itself (UFFD_FEATURE_EVENT_REMAP and the like), or
 * supplies pages: then the lock is given back for so long, and what was translated meanwhile is forgotten. */
static void before_waiting(struct tr_thread *thread)
{
    if (thread->process->supplies_pages)
        tr_unlock(&thread->process->lock);
}

static void after_waiting(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    if (!thread->process->supplies_pages)
        return;
    tr_lock(&thread->process->lock);
    tr_code_changed(thread, start, end);
}

static void note_mapping(struct tr_thread *thread, uint64_t start)
{
    const uint64_t *r = thread->app.r;
    uint64_t end = end_of(start, r[TR_RSI]), flags = r[TR_R10];
    if ((flags & MAP_SHARED) && (r[TR_RDX] & PROT_WRITE) && !(flags & MAP_ANONYMOUS))
        tr_code_mapped_shared(thread, start, end, (int32_t)r[TR_R8], r[TR_R9]);
    else
        tr_code_mapped(thread, start, end);
    if ((r[TR_RDX] & PROT_EXEC) && !(flags & MAP_ANONYMOUS))
        tr_code_break(thread, start, end);
}

/* At an address that the kernel chooses, nothing is executed before the call has returned. The call itself may wait,
 * with MAP_POPULATE for what another thread of the program does (userfaultfd, FUSE). */
static int64_t map_anywhere(struct tr_thread *thread)
{
    int64_t start = call_kernel(thread, __NR_mmap);
    if (is_error(start))
        return start;
    tr_lock(&thread->process->lock);
    note_mapping(thread, (uint64_t)start);
    tr_unlock(&thread->process->lock);
    return start;
}

static int64_t map_fixed(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    uint64_t end = end_of(r[TR_RDI], r[TR_RSI]);
    if (tr_own_overlaps(r[TR_RDI], end))
        return -ENOMEM;
    tr_code_changed(thread, r[TR_RDI], end);
    before_waiting(thread);
    int64_t start = call_kernel(thread, __NR_mmap);
    after_waiting(thread, r[TR_RDI], end);
    if (!is_error(start))
        note_mapping(thread, (uint64_t)start);
    return start;
}

/* The runtime's own memory in the range stays. */
static int64_t unmap(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    uint64_t start = r[TR_RDI], end = end_of(start, r[TR_RSI]);
    struct tr_own_range own;
    if (start % TR_PAGE != 0 || start >= end)
        return call_kernel(thread, __NR_munmap);
    tr_code_changed(thread, start, end);
    int64_t result = 0;
    before_waiting(thread);
    while (result == 0 && tr_own_next(start, &own) && own.start < end) {
        if (own.start > start)
            result = tr_syscall(__NR_munmap, start, own.start - start, 0);
        start = own.end;
    }
    if (result == 0 && start < end)
        result = tr_syscall(__NR_munmap, start, end - start, 0);
    after_waiting(thread, r[TR_RDI], end);
    return result;
}

static int64_t remap(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    uint64_t start = r[TR_RDI], size = r[TR_RSI], new_size = r[TR_RDX], wanted = r[TR_R8];
    bool fixed = r[TR_R10] & MREMAP_FIXED;
    if (tr_own_overlaps(start, end_of(start, size)) ||
        (fixed && tr_own_overlaps(wanted, end_of(wanted, new_size))))
        return -EFAULT;
    tr_code_changed(thread, start, end_of(start, size));
    if (fixed)
        tr_code_changed(thread, wanted, end_of(wanted, new_size));
    before_waiting(thread);
    int64_t result = call_kernel(thread, __NR_mremap);
    after_waiting(thread, start, end_of(start, size));
    if (fixed && thread->process->supplies_pages)
        tr_code_changed(thread, wanted, end_of(wanted, new_size));
    if (!is_error(result))
        tr_code_moved(thread, (uint64_t)result, end_of((uint64_t)result, new_size));
    return result;
}

static bool takes_content_away(int32_t advice)
{
    switch (advice) {
    case MADV_DONTNEED:
    case MADV_FREE:
    case MADV_REMOVE:
    case MADV_DONTNEED_LOCKED:
    case MADV_DONTFORK:
    case MADV_WIPEONFORK:
        return true;
    default:
        return false;
    }
}

static int64_t advise(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    uint64_t start = r[TR_RDI], end = end_of(start, r[TR_RSI]);
    if (tr_own_overlaps(start, end))
        return -EINVAL;
    before_waiting(thread);
    int64_t result = call_kernel(thread, __NR_madvise);
    after_waiting(thread, start, end);
    tr_code_changed(thread, start, end);
    return result;
}

/* Returns the end of the heap, whether or not it moved. */
static int64_t set_break(struct tr_thread *thread)
{
    uint64_t before = (uint64_t)tr_syscall(__NR_brk, 0, 0, 0);
    before_waiting(thread);
    uint64_t after = (uint64_t)call_kernel(thread, __NR_brk);
    after_waiting(thread, after < before ? after : before, before);
    if (after < before)
        tr_code_changed(thread, after, end_of(before, 0));
    return (int64_t)after;
}

static int64_t attach(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    if ((r[TR_RDX] & SHM_REMAP) && tr_own_overlaps(r[TR_RSI], r[TR_RSI] + 1))
        return -EINVAL;
    int64_t result = call_kernel(thread, __NR_shmat);
    tr_code_unknown(thread);
    return result;
}

static int64_t change(struct tr_thread *thread, int32_t number)
{
    const uint64_t *r = thread->app.r;
    int64_t result;
    switch (number) {
    case __NR_mmap:
        return map_fixed(thread);
    case __NR_mprotect:
    case __NR_pkey_mprotect:
        return tr_code_mprotect(thread, number, r[TR_RDI], r[TR_RSI], r[TR_RDX], r[TR_R10]);
    case __NR_munmap:
        return unmap(thread);
    case __NR_mremap:
        return remap(thread);
    case __NR_madvise:
        return advise(thread);
    case __NR_brk:
        return set_break(thread);
    case __NR_shmat:
        return attach(thread);
    default: /* shmdt, remap_file_pages */
        result = call_kernel(thread, number);
        tr_code_unknown(thread);
        return result;
    }
}

int64_t tr_sys_memory(struct tr_thread *thread, int32_t number)
{
    const uint64_t *r = thread->app.r;
    bool fixed = (r[TR_R10] & MAP_FIXED) && !(r[TR_R10] & MAP_FIXED_NOREPLACE);
    if (number == __NR_mmap && !fixed)
        return map_anywhere(thread);
    if (number == __NR_madvise && !takes_content_away((int32_t)r[TR_RDX]))
        return call_kernel(thread, number);
    tr_lock(&thread->process->lock);
    int64_t result = change(thread, number);
    tr_unlock(&thread->process->lock);
    return result;
}
