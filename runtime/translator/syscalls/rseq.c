#include "runtime/translator/syscalls/rseq.h"

#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/errno.h>

enum { UNREGISTER = 1 }; /* RSEQ_FLAG_UNREGISTER of linux/rseq.h */

static void call(const struct tr_rseq *rseq, uint64_t flags)
{
    if (rseq->address)
        tr_syscall6(__NR_rseq, rseq->address, rseq->size, flags, rseq->signature, 0, 0);
}

void tr_rseq_suspend(const struct tr_thread *thread)
{
    call(&thread->rseq, UNREGISTER);
}

void tr_rseq_resume(const struct tr_thread *thread)
{
    call(&thread->rseq, 0);
}

/* As sys_rseq of kernel/rseq.c. */
static int64_t unregister(struct tr_thread *thread, const struct tr_rseq *wanted)
{
    if (thread->rseq.address == 0 || thread->rseq.address != wanted->address ||
        thread->rseq.size != wanted->size)
        return -EINVAL;
    if (thread->rseq.signature != wanted->signature)
        return -EPERM;
    thread->rseq = (struct tr_rseq){0};
    return 0;
}

int64_t tr_sys_rseq(struct tr_thread *thread)
{
    enum { SMALLEST = 32 };
    const uint64_t *r = thread->app.r;
    struct tr_rseq wanted = {r[TR_RDI], (uint32_t)r[TR_RSI], (uint32_t)r[TR_R10]};
    uint32_t flags = (uint32_t)r[TR_RDX];
    if (!thread->process->control->options.attached)
        return -ENOSYS;
    if (flags == UNREGISTER)
        return unregister(thread, &wanted);
    if (flags != 0 || wanted.size < SMALLEST || wanted.address == 0 ||
        wanted.address % SMALLEST != 0)
        return -EINVAL;
    if (thread->rseq.address != 0)
        return thread->rseq.address == wanted.address ? -EBUSY : -EINVAL;
    thread->rseq = wanted;
    return 0;
}
