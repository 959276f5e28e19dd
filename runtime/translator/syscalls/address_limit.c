#include "runtime/translator/syscalls/address_limit.h"

#include "runtime/translator/fault_safe.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/resource.h>

/* Hard limits are so much higher than the program's: they can never grow again, and the runtime's memory can. No program has as much. */
static const uint64_t hard_extra = UINT64_C(1) << 47;

/* As the program knows it, while tr_own_limit_in_kernel() is its limit. */
static struct rlimit64 believed = {RLIM64_INFINITY, RLIM64_INFINITY};
static uint64_t in_kernel = RLIM64_INFINITY; /* the hard limit then */

bool tr_is_address_limit(const struct tr_thread *thread, int32_t number)
{
    const uint64_t *r = thread->app.r;
    if (number != __NR_prlimit64)
        return (uint32_t)r[TR_RDI] == RLIMIT_AS;
    int32_t pid = (int32_t)r[TR_RDI];
    return (uint32_t)r[TR_RSI] == RLIMIT_AS &&
           (pid == 0 || pid == thread->pid || pid == thread->tid);
}

static int64_t limit(struct rlimit64 *wanted, struct rlimit64 *before)
{
    return tr_syscall6(__NR_prlimit64, 0, RLIMIT_AS, (uint64_t)wanted, (uint64_t)before, 0, 0);
}

/* By the program's own call, where its filter forbids ours. */
static int64_t limit_by(int32_t number, struct rlimit64 *wanted)
{
    return number == __NR_prlimit64 ? limit(wanted, NULL)
                                    : tr_syscall(number, RLIMIT_AS, (uint64_t)wanted, 0);
}

/* What the kernel has got last; read where that is allowed. */
static int64_t read_limit(struct rlimit64 *limits)
{
    static const struct rlimit64 none = {RLIM64_INFINITY, RLIM64_INFINITY};
    if (!tr_own_limit_is_fixed())
        return limit(NULL, limits);
    *limits = none;
    if (tr_own_limit_in_kernel() != UINT64_MAX)
        *limits = (struct rlimit64){tr_own_limit_in_kernel(), in_kernel};
    return 0;
}

/* Whether the kernel's limit is one that the program sees as another. */
static bool is_raised(const struct rlimit64 *limits)
{
    return limits->rlim_cur != RLIM64_INFINITY && limits->rlim_cur == tr_own_limit_in_kernel();
}

static struct rlimit64 shown(const struct rlimit64 *limits)
{
    if (is_raised(limits))
        return believed;
    struct rlimit64 seen = *limits;
    if (seen.rlim_max != RLIM64_INFINITY && seen.rlim_max > hard_extra)
        seen.rlim_max -= hard_extra;
    return seen;
}

/* The hard limit that the kernel gets, which has `limits` now. */
static uint64_t hard_limit(const struct rlimit64 *limits, uint64_t wanted)
{
    uint64_t sum = wanted > RLIM64_INFINITY - hard_extra ? RLIM64_INFINITY : wanted + hard_extra;
    bool lowers = wanted <= shown(limits).rlim_max;
    return lowers && sum > limits->rlim_max ? limits->rlim_max : sum;
}

static int64_t change(int32_t number, const struct rlimit64 *limits, const struct rlimit64 *wanted)
{
    struct rlimit64 made = {0, hard_limit(limits, wanted->rlim_max)};
    if (wanted->rlim_cur > wanted->rlim_max)
        return -EINVAL;
    made.rlim_cur = tr_own_limit(wanted->rlim_cur);
    if (made.rlim_cur > made.rlim_max)
        made.rlim_cur = made.rlim_max;
    int64_t result = limit_by(number, &made);
    if (result == 0) {
        believed = *wanted;
        in_kernel = made.rlim_max;
    } else {
        tr_own_limit(believed.rlim_cur);
    }
    return result;
}

int64_t tr_sys_address_limit(struct tr_thread *thread, int32_t number)
{
    const uint64_t *r = thread->app.r;
    bool both = number == __NR_prlimit64;
    uint64_t to = both ? r[TR_R10] : number == __NR_getrlimit ? r[TR_RSI] : 0;
    uint64_t from = both ? r[TR_RDX] : number == __NR_setrlimit ? r[TR_RSI] : 0;
    struct rlimit64 limits, wanted, seen;
    int64_t result = read_limit(&limits);
    if (result != 0)
        return result;
    if ((from || number == __NR_setrlimit) && !tr_read_safely(&wanted, from, sizeof wanted))
        return -EFAULT;
    seen = shown(&limits);
    if (from)
        result = thread->vforked ? limit_by(number, &wanted) : change(number, &limits, &wanted);
    if (result == 0 && (to || number == __NR_getrlimit) && !tr_write_safely(to, &seen, sizeof seen))
        return -EFAULT;
    return result;
}

void tr_address_limit_before_exec(void)
{
    struct rlimit64 limits;
    if (tr_own_limit_in_kernel() == UINT64_MAX || tr_own_limit_is_fixed() ||
        limit(NULL, &limits) != 0 || !is_raised(&limits))
        return;
    limits.rlim_cur = believed.rlim_cur;
    limit(&limits, NULL);
}

void tr_address_limit_after_failed_exec(void)
{
    struct rlimit64 limits;
    if (tr_own_limit_in_kernel() == UINT64_MAX || tr_own_limit_is_fixed() ||
        limit(NULL, &limits) != 0 || limits.rlim_cur != believed.rlim_cur)
        return;
    limits.rlim_cur = tr_own_limit_in_kernel();
    limit(&limits, NULL);
}
