/* From each way out of the cache back into it: finding or making the fragment that runs next, linking, and what else
 * is due at such a moment. Called by enter.S on the runtime's stack, with the program's state in thread->app; returns
 * the cache address to go on at.
 */
#include "runtime/translator/code/dispatch.h"

#include "runtime/translator/call_values.h"
#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/code/fragment.h"
#include "runtime/translator/code/hot_path.h"
#include "runtime/translator/code/superblock.h"
#include "runtime/translator/code/translation.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/copied_stacks.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/log/recorder.h"
#include "runtime/translator/log/shared_stacks.h"
#include "runtime/translator/selected_calls.h"
#include "runtime/translator/signals/signal.h"
#include "runtime/translator/syscalls/syscall.h"
#include "runtime/translator/system.h"
#include "runtime/translator/trigger.h"

#define OFFSET(field) __builtin_offsetof(struct tr_hot, field)

_Static_assert(OFFSET(limit) == 0x08 && OFFSET(r11) == 0x18 && OFFSET(log) == 0x20 &&
                   OFFSET(rcx) == 0x28 && OFFSET(rdx) == 0x30 && OFFSET(rax) == 0x38 &&
                   OFFSET(target) == 0x48 && OFFSET(stack) == 0x88 && OFFSET(clock) == 0x90 &&
                   OFFSET(check_at) == 0x58 && OFFSET(cleared) == 0x98 &&
                   OFFSET(stamp_interval) == 0xb8 && OFFSET(stamp_ticks) == 0xd0 &&
                   OFFSET(stamped) == 0xd8 && OFFSET(elapsed) == 0xe0 &&
                   OFFSET(stack_before) == 0xc0 && OFFSET(reports_switches) == 0xf0 &&
                   OFFSET(switched_at) == 0xf8 && OFFSET(seen_pages) == 0x100 &&
                   OFFSET(stack_copied) == 0x500 && OFFSET(last_time) == 0x508 &&
                   OFFSET(calling_stack) == 0x510 && OFFSET(watches_stacks) == 0x518,
               "enter.S knows these offsets");
_Static_assert(__builtin_offsetof(struct tr_thread, app) == 0x520,
               "enter.S knows where the registers are kept");
_Static_assert(__builtin_offsetof(struct tr_state, flags) == 16 * 8 &&
                   __builtin_offsetof(struct tr_state, pc) == 17 * 8,
               "and how");

_Noreturn void tr_escape(struct tr_thread *thread);

/* ---- going on ---- */

/* What is at app.pc faults. `entered`: as a fragment whose entry was logged. */
static _Noreturn void raise_fault(struct tr_thread *thread, bool entered)
{
    thread->escaped = !entered;
    tr_clock_end_locked_work(thread);
    tr_escape(thread);
}

/* Nothing can be translated any more: no memory. */
static _Noreturn void go_without(struct tr_thread *thread)
{
    tr_clock_end_locked_work(thread);
    tr_let_go(thread, TR_SLOT_NO_SPACE);
}

/* The instruction at app.pc is not translated. */
static _Noreturn void leave_untranslated(struct tr_thread *thread)
{
    tr_clock_end_locked_work(thread);
    tr_give_up(thread, tr_why_untranslated(thread->app.pc));
}

/* Sideband records of this moment, or another thread's since the last stamp, describe code that may run next. */
static void separate_from_new_code(struct tr_thread *thread)
{
    uint64_t newest = thread->process->newest_code;
    if (!thread->new_code && thread->code_seen == newest)
        return;
    thread->new_code = false;
    thread->code_seen = newest;
    uint64_t now = tr_time(thread);
    if (now <
        newest) /* the clock stands where it stood for the other thread: tr_clock_new_moment */
        now = thread->hot.last_time = newest;
    tr_log_event(thread, TR_STAMP, TR_STAMP_NEW_CODE, &now, 1);
}

/* Code at app.pc that another thread of the program supplies is waited for as the program would, without the lock. Returns whether the
 * lock was given back meanwhile. */
static bool await_code(struct tr_thread *thread)
{
    uint8_t byte;
    uint64_t awaited;
    bool waited = false, readable = true;
    while (readable && (awaited = tr_superblock_awaits(thread, thread->app.pc)) != 0) {
        tr_clock_end_locked_work(thread);
        readable = tr_probe_read(&byte, awaited, sizeof byte);
        tr_clock_begin_locked_work(thread);
        waited = true;
    }
    return waited;
}

/* The fragment at app.pc, which an indirect branch leads to or not. The lock is held. */
static struct tr_translation *find(struct tr_thread *thread, bool indirect)
{
    uint64_t pc = thread->app.pc;
    bool nothing = false;
    struct tr_translation *translation = tr_fragment_find(pc);
    if (!translation && await_code(thread))
        translation = tr_fragment_find(pc);
    if (!translation) {
        tr_clock_begin_translation(thread);
        translation = tr_translate(thread, pc, NULL, indirect, &nothing);
        tr_clock_end_translation(thread);
    }
    if (!translation && tr_sys_vsyscall(thread, pc))
        return find(thread, indirect);
    if (!translation && nothing)
        raise_fault(thread, false);
    if (!translation)
        go_without(thread);
    separate_from_new_code(thread);
    return translation;
}

static uint64_t go_on(struct tr_thread *thread)
{
    tr_clock_begin_locked_work(thread);
    uint64_t body = tr_fragment_body(find(thread, false));
    tr_clock_end_locked_work(thread);
    return body;
}

/* Of a thread that is outside of selected calls. Returns when a signal came first. */
static void run_natively(struct tr_thread *thread)
{
    thread->escaped = true;
    tr_selected_run_natively(thread);
    thread->escaped = false;
}

/* At a place where the program's state is whole and app.pc runs next: signals and the end of tracing come first. */
static void settle(struct tr_thread *thread, bool in_fragment)
{
    if (!(thread->signals.pending && tr_signal_deliver(thread, in_fragment)) && in_fragment)
        tr_log_partial(thread, thread->app.pc);
    if (thread->let_go || tr_recording_is_over(thread->process->control))
        tr_let_go(thread, TR_SLOT_LET_GO);
    /* A loop around a system call may have no other place where the limit is compared. */
    if (tr_log_is_due(thread) && !tr_log_check(thread, false))
        tr_let_go(thread, TR_SLOT_LET_GO);
}

static uint64_t go_on_from_safe_point(struct tr_thread *thread, bool in_fragment)
{
    settle(thread, in_fragment);
    while (tr_is_outside(thread) && !tr_selected_join(thread)) {
        run_natively(thread);
        settle(thread, false);
    }
    return go_on(thread);
}

static void set_table(struct tr_thread *thread, struct tr_translation *translation)
{
    uint64_t *table = (uint64_t *)((uint8_t *)thread + TR_TABLE_OFFSET);
    uint64_t entry = tr_fragment_indirect_entry(translation);
    if (entry)
        table[translation->pc % TR_TABLE_ENTRIES] = entry;
}

/* ---- exits ---- */

uint64_t tr_dispatch_direct(struct tr_thread *thread)
{
    const struct tr_exit *exit = tr_cold_place(thread->hot.exit);
    struct tr_region *region = &tr_cache.regions[thread->hot.exit >> TR_REGION_SHIFT];
    thread->app.pc = exit->target;
    tr_clock_begin_locked_work(thread);
    if (exit->kind == TR_EXIT_TRAP)
        raise_fault(thread, true);
    if (exit->kind > TR_EXIT_TRAP)
        leave_untranslated(thread);
    bool indirect = exit->kind == TR_EXIT_INDIRECT;
    struct tr_translation *translation = find(thread, indirect);
    uint64_t body =
        indirect ? tr_fragment_indirect_body(translation) : tr_fragment_body(translation);
    if (exit->patch)
        tr_link(region, (uint64_t)region->hot.start + exit->patch, body);
    tr_clock_end_locked_work(thread);
    return body;
}

static void open_guard(struct tr_guard *guard, struct tr_region *region,
                       const struct tr_translation *translation, uint64_t body)
{
    if (guard->target_expected)
        return;
    guard->target_expected = translation->pc;
    guard->constant = -translation->pc;
    tr_link(region, guard->patch, body);
    __atomic_store_n((uint64_t *)guard->site, guard->enable, __ATOMIC_RELEASE);
}

static uint64_t enter_indirectly(struct tr_thread *thread, struct tr_guard *guard,
                                 struct tr_region *region)
{
    thread->app.pc = thread->hot.target;
    tr_selected_jumps(thread);
    tr_clock_begin_locked_work(thread);
    struct tr_translation *translation = find(thread, true);
    uint64_t body = tr_fragment_indirect_body(translation);
    if (!body)
        go_without(thread);
    if (guard)
        open_guard(guard, region, translation, body);
    set_table(thread, translation);
    tr_clock_end_locked_work(thread);
    return body;
}

uint64_t tr_dispatch_indirect(struct tr_thread *thread)
{
    return enter_indirectly(thread, NULL, NULL);
}

uint64_t tr_dispatch_first(struct tr_thread *thread)
{
    uint32_t name = (uint32_t)thread->hot.exit;
    return enter_indirectly(thread, tr_cold_place(name),
                            &tr_cache.regions[name >> TR_REGION_SHIFT]);
}

uint64_t tr_dispatch_syscall(struct tr_thread *thread)
{
    memcpy(&thread->app.pc, tr_cold_place(thread->hot.exit), sizeof thread->app.pc);
    tr_syscall_run(thread);
    tr_selected_look(thread);
    return go_on_from_safe_point(thread, false);
}

/* The log's last word is the entry of a fragment that has not begun. */
static void take_back_entry(struct tr_thread *thread)
{
    thread->hot.log -= sizeof(uint32_t);
    *(uint32_t *)thread->hot.log = 0;
}

/* Makes the fragment at app.pc the next one, whose entry had been logged and was taken back. */
static uint64_t enter_again(struct tr_thread *thread, bool indirect)
{
    tr_clock_begin_locked_work(thread);
    struct tr_translation *translation = find(thread, indirect);
    uint64_t body =
        indirect ? tr_fragment_indirect_body(translation) : tr_fragment_body(translation);
    tr_clock_end_locked_work(thread);
    return body;
}

/* Reports the stack that runs if one is awaited, and it is known now. Whether that is why the head has asked. */
static bool look_for_stack(struct tr_thread *thread)
{
    bool asked = tr_copied_stack_is_asked(thread) || thread->hot.switched_at;
    if (tr_copied_stack_is_awaited(thread))
        tr_log_copied_stack(thread);
    else if (thread->hot.switched_at)
        tr_log_switch(thread);
    return asked;
}

/* Signals come first, at app.pc, which is in `block` of the fragment that was entered last. Whether a handler runs next. */
static bool deliver_in_block(struct tr_thread *thread, unsigned block)
{
    thread->partial_block = block + 1;
    bool handled = thread->signals.pending && tr_signal_deliver(thread, true);
    thread->partial_block = 0;
    return handled;
}

/* The fragment was left at app.pc, in `block`. */
static void log_left_in_block(struct tr_thread *thread, unsigned block)
{
    thread->partial_block = block + 1;
    tr_log_partial(thread, thread->app.pc);
}

static _Noreturn void let_go_in_block(struct tr_thread *thread, unsigned block)
{
    log_left_in_block(thread, block);
    tr_let_go(thread, TR_SLOT_LET_GO);
}

/* In the fragment that was entered last. */
uint64_t tr_dispatch_check(struct tr_thread *thread)
{
    uint64_t resume = thread->hot.target;
    const struct tr_translation *translation = tr_fragment_translation(tr_log_last(thread) >> 1);
    thread->app.pc = translation->pc + (uint64_t)(int64_t)(int32_t)thread->hot.exit;
    if (deliver_in_block(thread, translation->check_block))
        return go_on(thread);
    tr_selected_stack_runs(thread);
    if (!thread->let_go && look_for_stack(thread) && !tr_log_is_due(thread))
        return resume; /* it is where switches follow each other closely */
    tr_hot_path_look(thread);
    if (thread->let_go || !tr_log_check(thread, true))
        let_go_in_block(thread, translation->check_block);
    return resume;
}

/* After the instruction that has changed the stack pointer. */
uint64_t tr_dispatch_copied(struct tr_thread *thread)
{
    tr_copied_stack_begin(thread);
    return thread->hot.target;
}

/* enter.S */
extern const char tr_stack_loaded[], tr_stack_changed[];

/* Code has loaded the stack pointer, and another stack may run that shares memory with others. Goes on with tr_stack_changed. */
uint64_t tr_dispatch_changed(struct tr_thread *thread)
{
    struct tr_copied_numbers numbers = tr_shared_stack_change(thread);
    if (numbers.left != 0 || numbers.continues != 0)
        tr_log_stack_numbers(thread, numbers.left, numbers.continues);
    thread->app.r[TR_RAX] = thread->hot.target;
    return (uint64_t)tr_stack_changed;
}

/* The call in progress may have left its stack. Goes on with tr_stack_loaded, which takes the address after it in rax; hot.rax is the
 * program's. */
uint64_t tr_dispatch_loaded(struct tr_thread *thread)
{
    tr_selected_stack_loaded(thread);
    thread->hot.limit = 0; /* the next head looks which stack runs */
    thread->app.r[TR_RAX] = thread->hot.target;
    return (uint64_t)tr_stack_loaded;
}

uint64_t tr_dispatch_run(struct tr_thread *thread)
{
    uint32_t word = tr_log_last(thread);
    bool at_end = thread->hot.exit == TR_RUN_AT_END;
    /* At its end, app.pc is the branch that has not run. */
    unsigned block = at_end ? tr_fragment_description(word >> 1)->block_count - 1u : 0;
    thread->app.pc = at_end ? thread->hot.target : tr_fragment_pc(word >> 1);
    if (thread->hot.exit == TR_RUN_CODE_CHANGED) {
        take_back_entry(thread);
        tr_lock(&thread->process->lock);
        struct tr_translation *translation = tr_fragment_find(thread->app.pc);
        if (translation)
            tr_invalidate(thread, translation->pc - translation->low,
                          translation->pc + translation->high);
        tr_unlock(&thread->process->lock);
        return enter_again(thread, word & TR_INDIRECT);
    }
    if (deliver_in_block(thread, block))
        return go_on(thread);
    if (thread->let_go)
        let_go_in_block(thread, block);
    if (!at_end)
        look_for_stack(thread);
    thread->hot.switched_at = 0; /* asked once: the fragment begins again, and would ask for ever */
    tr_copied_stack_ask_no_more(thread);
    if (at_end)
        log_left_in_block(thread, block);
    else
        take_back_entry(thread);
    if (!tr_log_check(thread, false))
        tr_let_go(thread, TR_SLOT_LET_GO);
    return at_end ? go_on(thread) : enter_again(thread, word & TR_INDIRECT);
}

/* The fragment's entry is the newest record: it has no other place where the limit is compared. */
uint64_t tr_dispatch_trigger(struct tr_thread *thread)
{
    uint64_t resume = thread->hot.target;
    const struct tr_translation *translation = tr_fragment_translation((uint32_t)thread->hot.exit);
    thread->app.pc = translation->pc;
    if (thread->signals.pending && tr_signal_deliver(thread, true))
        return go_on(thread);
    /* Of the end of a call, the log has a time of its own: a stamp of the entry before it would say that the code there ran. */
    bool ends = translation->is_return_place && tr_selected_is_over(thread);
    bool due = thread->hot.log > thread->hot.limit && !ends;
    if (thread->let_go || (due && !tr_log_check(thread, true)) ||
        !tr_trigger_reached(thread, translation))
        tr_let_go(thread, TR_SLOT_LET_GO);
    if (translation->value_place || translation->is_return_place)
        tr_call_values_record(thread, translation);
    if (!ends)
        return resume;
    tr_selected_end(thread);
    return go_on_from_safe_point(thread, false);
}

uint64_t tr_dispatch_enter(struct tr_thread *thread)
{
    return go_on_from_safe_point(thread, false);
}

uint64_t tr_dispatch_resume(struct tr_thread *thread)
{
    bool in_fragment = !thread->escaped;
    thread->escaped = false;
    tr_selected_resume(thread);
    uint64_t body = go_on_from_safe_point(thread, in_fragment);
    thread->partial_block = 0;
    return body;
}
