#include "runtime/translator/suspended_calls.h"

#include "runtime/translator/code/breakpoints.h"
#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/system.h"
#include "runtime/translator/thread.h"

enum {
    MOST = 1024,
    RETURN_ADDRESS = 8,
    LARGEST_ARGUMENTS = 1 << 10, /* bytes that RET takes off; goroutines have stacks of 2 KB */
    RECURSION = 1 << 20,         /* bytes of stack between a call and one within it */
};

/* The oldest first. Changed under the lock of the process; `count` is read without. */
static struct {
    struct tr_suspended_call calls[MOST];
    uint32_t count;
} all;

bool tr_suspended_any(void)
{
    return __atomic_load_n(&all.count, __ATOMIC_ACQUIRE) > 0;
}

static void forget(uint32_t at)
{
    memmove(&all.calls[at], &all.calls[at + 1], (all.count - at - 1) * sizeof *all.calls);
    __atomic_store_n(&all.count, all.count - 1, __ATOMIC_RELEASE);
    if (all.count == 0)
        tr_breakpoints_remove_added();
}

/* Whether a call ends at `address`: E8 with a displacement that leads to code, or FF /2 with an operand of memory or a register (SDM
 * volume 2). A word that only looks like a return address may point to data, which a breakpoint would change. */
static bool follows_call(uint64_t address)
{
    enum {
        LONGEST = 7,
        DIRECT = 5,
        SHORTEST = 2,
        CALL = 0xe8,
        INDIRECT = 0xff,
        REG = 0x38,
        CALLS = 0x10
    };
    uint8_t bytes[LONGEST];
    if (!tr_read_safely(bytes, address - LONGEST, sizeof bytes))
        return false;
    tr_breakpoints_hide(bytes, address - LONGEST, sizeof bytes);
    int32_t displacement;
    memcpy(&displacement, bytes + LONGEST - sizeof displacement, sizeof displacement);
    if (bytes[LONGEST - DIRECT] == CALL && tr_code_is_breakable(address + (uint64_t)displacement))
        return true;
    for (unsigned size = SHORTEST; size <= LONGEST; size++)
        if (bytes[LONGEST - size] == INDIRECT && (bytes[LONGEST - size + 1] & REG) == CALLS)
            return true;
    return false;
}

/* The innermost of its functions may be those of the library that changes stacks, and have left words of old calls. */
static void break_where_it_goes_on(const struct tr_suspended_call *call)
{
    enum { SEARCHED = 1 << 11, PLACES = 6 };
    unsigned places = 0;
    for (uint64_t at = call->left;
         at <= call->stack_pointer && at - call->left < SEARCHED && places < PLACES;
         at += sizeof(uint64_t)) {
        uint64_t word;
        if (!tr_read_safely(&word, at, sizeof word))
            return;
        if (!tr_code_is_breakable(word) || !follows_call(word))
            continue;
        tr_code_break_at(word);
        places++;
    }
}

void tr_suspended_add(const struct tr_suspended_call *call)
{
    tr_lock(&tr_process.lock);
    /* The only thread stays in the cache. */
    if (__atomic_load_n(&tr_process.running, __ATOMIC_RELAXED) > 1)
        break_where_it_goes_on(call);
    if (all.count == MOST)
        forget(0);
    all.calls[all.count] = *call;
    __atomic_store_n(&all.count, all.count + 1, __ATOMIC_RELEASE);
    atomic_fetch_add(&tr_process.control->suspended_calls, 1);
    tr_unlock(&tr_process.lock);
}

/* Code that changes stacks may have pushed something meanwhile. */
static bool goes_on_at(const struct tr_suspended_call *call, uint64_t stack_pointer)
{
    enum { PUSHED = 512 };
    return stack_pointer + PUSHED >= call->left &&
           stack_pointer <= call->stack_pointer + RETURN_ADDRESS;
}

bool tr_suspended_take(uint64_t stack_pointer, struct tr_suspended_call *call)
{
    bool found = false;
    if (!tr_suspended_any())
        return false;
    tr_lock(&tr_process.lock);
    for (uint32_t i = all.count; i-- > 0 && !found;) {
        found = goes_on_at(&all.calls[i], stack_pointer);
        if (found) {
            *call = all.calls[i];
            forget(i);
        }
    }
    tr_unlock(&tr_process.lock);
    return found;
}

/* Its index, or the count of calls. */
static uint32_t find_at(uint64_t stack_pointer)
{
    uint32_t at = 0;
    while (at < all.count && all.calls[at].stack_pointer != stack_pointer)
        at++;
    return at;
}

bool tr_suspended_at(uint64_t stack_pointer)
{
    tr_lock(&tr_process.lock);
    bool found = find_at(stack_pointer) < all.count;
    tr_unlock(&tr_process.lock);
    return found;
}

void tr_suspended_forget(uint64_t stack_pointer)
{
    if (!tr_suspended_any())
        return;
    tr_lock(&tr_process.lock);
    uint32_t at = find_at(stack_pointer);
    if (at < all.count)
        forget(at);
    tr_unlock(&tr_process.lock);
}

bool tr_call_has_lost_its_place(uint64_t stack_pointer, uint64_t return_address)
{
    uint64_t address;
    return !tr_read_safely(&address, stack_pointer, sizeof address) || address != return_address;
}

/* Stacks may lie next to each other: of the calls that return there, the one whose place is the nearest below. */
static uint32_t find_returned(uint64_t pc, uint64_t stack_pointer)
{
    uint32_t found = all.count;
    uint64_t nearest = LARGEST_ARGUMENTS;
    for (uint32_t i = 0; i < all.count; i++) {
        uint64_t taken = stack_pointer - all.calls[i].stack_pointer - RETURN_ADDRESS;
        if (all.calls[i].return_address == pc && taken < nearest) {
            nearest = taken;
            found = i;
        }
    }
    return found;
}

/* Where a stack has been moved, as Go does to make it larger, a call returns elsewhere: the oldest that cannot be still in progress outside of
 * what returns. */
static uint32_t find_moved(uint64_t pc, uint64_t stack_pointer)
{
    for (uint32_t i = 0; i < all.count; i++)
        if (all.calls[i].return_address == pc &&
            all.calls[i].stack_pointer - stack_pointer > RECURSION)
            return i;
    return all.count;
}

void tr_suspended_return(uint64_t pc, uint64_t stack_pointer)
{
    if (!tr_suspended_any())
        return;
    tr_lock(&tr_process.lock);
    uint32_t at = find_returned(pc, stack_pointer);
    if (at == all.count)
        at = find_moved(pc, stack_pointer);
    if (at < all.count)
        forget(at);
    tr_unlock(&tr_process.lock);
}

void tr_suspended_drop_left(void)
{
    if (!tr_suspended_any())
        return;
    tr_lock(&tr_process.lock);
    for (uint32_t i = all.count; i-- > 0;)
        if (tr_call_has_lost_its_place(all.calls[i].stack_pointer, all.calls[i].return_address))
            forget(i);
    tr_unlock(&tr_process.lock);
}
