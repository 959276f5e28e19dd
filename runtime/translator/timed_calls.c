#include "runtime/translator/timed_calls.h"

#include "runtime/translator/code/fragment.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>

enum {
    PLACES =
        1
        << 17, /* open addressing; calls that return elsewhere are not timed when half of them are used */
    PUSHED = 8,
};

/* Of the process; changed under its lock, read without. fork copies them. */
static struct {
    struct {
        uint64_t pc; /* 0: free */
        uint32_t number;
    } places[PLACES];
    uint32_t count;
} all;

/* ---- places ---- */

static uint32_t find(uint64_t pc)
{
    uint32_t at = (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 47);
    while (all.places[at].pc != 0 && all.places[at].pc != pc)
        at = (at + 1) % PLACES;
    return at;
}

_Static_assert(PLACES == 1 << (64 - 47), "the hash has as many values");

uint32_t tr_return_places(void)
{
    return __atomic_load_n(&all.count, __ATOMIC_ACQUIRE);
}

bool tr_is_return_place(uint64_t pc, uint32_t known)
{
    uint32_t at = find(pc);
    return all.places[at].pc == pc && all.places[at].number < known;
}

static bool add_place(struct tr_thread *thread, uint64_t pc)
{
    tr_clock_begin_locked_work(thread);
    uint32_t at = find(pc);
    bool is_new = all.places[at].pc == 0, ok = !is_new || all.count < PLACES / 2;
    if (is_new && ok) {
        all.places[at].number = all.count;
        __atomic_store_n(&all.places[at].pc, pc, __ATOMIC_RELEASE);
        __atomic_store_n(&all.count, all.count + 1, __ATOMIC_RELEASE);
        tr_invalidate(thread, pc, pc + 1);
    }
    tr_clock_end_locked_work(thread);
    return ok;
}

bool tr_return_place_add(struct tr_thread *thread, uint64_t pc)
{
    return tr_is_return_place(pc, UINT32_MAX) || add_place(thread, pc);
}

/* ---- calls ---- */

/* The thread's time on processors, read again only when the last reading is old: it takes system calls. */
static uint64_t recent_processor_time(struct tr_thread *thread, uint64_t now)
{
    enum { PARTS = 16 };
    struct tr_timed_calls *calls = &thread->timed_calls;
    uint64_t age = now - calls->read_at;
    if (calls->read_at == 0 || age > thread->process->control->options.longer_than / PARTS) {
        calls->read_at = now;
        calls->processor_time = tr_processor_time(thread);
        age = 0;
    }
    return calls->processor_time + age;
}

uint64_t tr_timed_call_duration(struct tr_thread *thread, const struct tr_timed_call *call,
                                uint64_t now)
{
    const struct tr_options *options = &thread->process->control->options;
    uint64_t passed = now - call->began;
    if (!options->on_cpu || passed <= options->longer_than)
        return passed;
    uint64_t now_on_cpu = tr_processor_time(thread);
    uint64_t time = now_on_cpu > call->processor_time ? now_on_cpu - call->processor_time : 0;
    return time < passed ? time : passed;
}

/* Whether its return address is still there: a call that was left otherwise has lost its place on the stack. */
static bool is_in_progress(const struct tr_timed_call *call)
{
    uint64_t address;
    return tr_read_safely(&address, call->stack_pointer, sizeof address) &&
           address == call->return_address;
}

static void drop_left_calls(struct tr_timed_calls *calls)
{
    unsigned count = 0;
    for (unsigned i = 0; i < calls->count; i++)
        if (is_in_progress(&calls->calls[i]))
            calls->calls[count++] = calls->calls[i];
    calls->count = count;
}

/* The call whose return address lay at `stack_pointer`; its index, or the count of calls. */
static unsigned find_call(const struct tr_timed_calls *calls, uint64_t stack_pointer)
{
    for (unsigned i = calls->count; i-- > 0;)
        if (calls->calls[i].stack_pointer == stack_pointer)
            return i;
    return calls->count;
}

static void remove_call(struct tr_timed_calls *calls, unsigned at)
{
    calls->count--;
    for (; at < calls->count; at++)
        calls->calls[at] = calls->calls[at + 1];
}

void tr_timed_call_begin(struct tr_thread *thread, uint64_t now)
{
    struct tr_timed_calls *calls = &thread->timed_calls;
    struct tr_timed_call call = {.function = thread->app.pc,
                                 .stack_pointer = thread->app.r[TR_RSP]};
    if (!tr_read_safely(&call.return_address, call.stack_pointer, sizeof call.return_address) ||
        !tr_return_place_add(thread, call.return_address))
        return;
    /* An older call with its return address in the same place has been left. */
    unsigned left = find_call(calls, call.stack_pointer);
    if (left < calls->count)
        remove_call(calls, left);
    if (calls->count == TR_TIMED_CALLS)
        drop_left_calls(calls);
    if (calls->count == TR_TIMED_CALLS)
        return;
    call.began = now;
    if (thread->process->control->options.on_cpu)
        call.processor_time = recent_processor_time(thread, call.began);
    calls->calls[calls->count++] = call;
}

bool tr_timed_call_end(struct tr_thread *thread, struct tr_timed_call *call)
{
    struct tr_timed_calls *calls = &thread->timed_calls;
    unsigned at = find_call(calls, thread->app.r[TR_RSP] - PUSHED);
    if (at == calls->count || calls->calls[at].return_address != thread->app.pc)
        return false;
    *call = calls->calls[at];
    remove_call(calls, at);
    return true;
}
