/* The path log from the writer's side: records, the ring's end, chunks, and when generated code looks at the limit next.
 *
 * The ring is a real one, in an arena of the test's own; nobody reads it but the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/translator/code/supplied_pages.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/copied_stacks.h"
#include "runtime/translator/log/disk_space.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/own_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    RING = 1 << 20,
    ARENA = 4 << 20,
    CHUNK = RING / TR_CHUNKS,
    NEAR_END = 2048,       /* too little for what may be written between two comparisons */
    WRITTEN_BY_STAMP = 12, /* by enter.S, and what it clears ahead, in whole cache lines */
    LINE = 64,
};

/* ---- stand-ins ---- */

static uint64_t now;

uint64_t tr_time(struct tr_thread *thread)
{
    return ++now;
}

static bool clock_stands;
static unsigned backed, backed_while_it_stands; /* calls of tr_backed_until */

void tr_clock_begin_work(struct tr_thread *thread)
{
    thread->works = clock_stands = true;
}

void tr_clock_end_work(struct tr_thread *thread)
{
    thread->works = clock_stands = false;
}

uint64_t tr_backed_until(uint64_t start, uint64_t end)
{
    backed++;
    backed_while_it_stands += clock_stands;
    return end;
}

/* All pages of these stacks are there. */
bool tr_page_is_awaited(uint64_t address)
{
    return false;
}

void *tr_own_map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* ---- a thread with a ring ---- */

static struct tr_process process;
static struct tr_thread *thread;
static uint64_t stack[4096]; /* the program's */

static int set_up(void **state)
{
    now = 0;
    memset(stack, 0, sizeof stack);
    process.arena = tr_own_map(ARENA);
    process.control = calloc(1, sizeof *process.control);
    process.control->slot_offset = TR_PAGE;
    process.control->slot_size = TR_SLOT_RING + RING + TR_SLOT_GUARD;
    process.control->slot_count = 1;
    process.control->options.ring_size = RING;
    process.control->options.stamp_ticks = 1000;
    thread = aligned_alloc(64, (sizeof *thread + 63) / 64 * 64);
    memset(thread, 0, sizeof *thread);
    thread->process = &process;
    thread->app.r[TR_RSP] = (uint64_t)stack;
    tr_log_begin(thread, 0, false);
    return 0;
}

static int tear_down(void **state)
{
    munmap(process.arena, ARENA);
    free(process.control);
    free(thread);
    return 0;
}

static uint64_t begin_of_ring(void)
{
    return (uint64_t)thread->ring;
}

static uint64_t end_of_ring(void)
{
    return (uint64_t)thread->ring_end;
}

static uint32_t word_at(uint64_t address)
{
    uint32_t word;
    memcpy(&word, (const void *)address, sizeof word);
    return word;
}

static void log_entry(uint32_t word)
{
    memcpy((void *)thread->hot.log, &word, sizeof word);
    thread->hot.log += sizeof word;
}

static void log_event(void)
{
    const uint64_t values[] = {7, 8};
    tr_log_event(thread, TR_SYSCALL, 5, values, 2);
}

/* ---- records ---- */

static void an_event_is_a_word_and_values(void **state)
{
    uint64_t at = thread->hot.log, values[2];
    log_event();
    assert_int_equal(word_at(at), TR_EVENT_WORD(TR_SYSCALL, 5));
    memcpy(values, (const void *)(at + 4), sizeof values);
    assert_int_equal(values[0], 7);
    assert_int_equal(values[1], 8);
    assert_int_equal(thread->hot.log, at + 4 + sizeof values);
    log_entry(42);
    assert_int_equal(tr_log_last(thread), 42);
}

static void what_comes_next_is_cleared(void **state)
{
    memset(thread->ring, 0xff, RING);
    thread->hot.cleared = thread->hot.log;
    log_event();
    for (uint64_t at = thread->hot.log; at < thread->hot.log + TR_CLEARED; at += 4)
        assert_int_equal(word_at(at), 0);
}

/* A loop that does not look at the limit: what it logged stays. */
static void what_was_logged_is_not_cleared(void **state)
{
    for (uint32_t i = 0; i < 2 * TR_CLEARED / 4; i++)
        log_entry(i + 2);
    log_event();
    for (uint32_t i = 0; i < 2 * TR_CLEARED / 4; i++)
        assert_int_equal(word_at(begin_of_ring() + 4 * (uint64_t)i), i + 2);
}

static void nothing_is_logged_after_the_end(void **state)
{
    const struct tr_slot *slot = thread->slot;
    tr_log_stop(thread, TR_SLOT_LET_GO, 0x1234);
    uint64_t at = thread->hot.log;
    assert_int_equal(slot->ended, TR_SLOT_LET_GO);
    assert_int_equal(slot->head, at - begin_of_ring());
    assert_null(thread->slot); /* another thread may have it */
    log_event();
    assert_int_equal(thread->hot.log, at);
}

/* ---- the ring's end ---- */

static void an_event_wraps(void **state)
{
    uint64_t at = thread->hot.log = end_of_ring() - NEAR_END;
    log_event();
    assert_int_equal(word_at(at), TR_EVENT_WORD(TR_PAD, 0));
    assert_int_equal(word_at(begin_of_ring()), TR_EVENT_WORD(TR_SYSCALL, 5));
    assert_int_equal(thread->wraps, RING);
}

/* System calls alone fill rings: the limit must not stay where it was, or no chunk begins any more. */
static void after_wrapping_a_check_is_due(void **state)
{
    thread->hot.log = end_of_ring() - NEAR_END;
    thread->hot.limit = end_of_ring();
    log_event();
    assert_true(thread->hot.limit < thread->hot.log);
    assert_int_equal(thread->hot.run, 0);
    assert_true(tr_log_is_due(thread));
    assert_true(tr_log_check(thread, false));
    assert_false(tr_log_is_due(thread));
    assert_int_equal(thread->hot.run, 1);
    assert_in_range(thread->slot->chunks[0].position, RING, RING + CHUNK - 1);
}

static void the_guard_page_wraps(void **state)
{
    thread->hot.log = end_of_ring();
    assert_false(tr_log_is_guard(thread, begin_of_ring() - 1));
    assert_false(tr_log_is_guard(thread, end_of_ring() + TR_PAGE));
    assert_true(tr_log_is_guard(thread, end_of_ring() + 4));
    assert_int_equal(thread->hot.log, begin_of_ring());
    assert_int_equal(word_at(begin_of_ring()), 0);
}

/* Up to check_at, enter.S stamps the time and clears ahead by itself: nowhere beyond the ring, wherever a copy of the
 * stack has ended. */
static void generated_code_stays_in_the_ring(void **state)
{
    for (unsigned i = 0; i < 3000; i++) {
        log_entry(2);
        assert_true(tr_log_check(thread, true));
        assert_true(thread->hot.check_at + WRITTEN_BY_STAMP + TR_CLEARED + LINE - 1 <=
                    end_of_ring());
        thread->hot.log += 4 * (uint64_t)(i * 7919 % 4000);
    }
    assert_true(thread->wraps > 10 * (uint64_t)RING);
}

/* ---- the first use of the ring ---- */

/* Page faults of the ring, when nobody else could run in the time that they take. */
static void the_clock_stands_still_for_the_rings_pages(void **state)
{
    struct tr_thread other = {.state = TR_THREAD_USED, .in_syscall = true};
    process.threads = &other;
    backed = backed_while_it_stands = 0;
    thread->hot.log += TR_PAGE * 30;
    assert_true(tr_log_check(thread, false));
    assert_int_not_equal(backed, 0);
    assert_int_equal(backed_while_it_stands, backed);
    assert_false(clock_stands);

    other.in_syscall = false;
    backed = backed_while_it_stands = 0;
    thread->hot.log += TR_PAGE * 30;
    assert_true(tr_log_check(thread, false));
    assert_int_not_equal(backed, 0);
    assert_int_equal(backed_while_it_stands, 0);
    process.threads = NULL;
}

/* ---- checks ---- */

static void a_chunk_begins_with_a_copy_of_the_stack(void **state)
{
    log_entry(2);
    thread->hot.log += CHUNK;
    log_entry(4);
    uint64_t entry = thread->hot.log - 4, at = entry + 4 + 8;
    assert_true(tr_log_check(thread, true));
    /* The time until which the program ran comes before what the check takes. */
    assert_int_equal(word_at(entry), TR_EVENT_WORD(TR_STAMP, TR_STAMP_NEXT));
    assert_int_equal(thread->slot->chunks[1].position, at - begin_of_ring());
    assert_int_equal(TR_EVENT_KIND(word_at(at)), TR_CALLS);
    /* The entry comes again after it, then the time. */
    uint64_t words = TR_EVENT_PAYLOAD(word_at(at));
    uint64_t again = at + 4 + 8 * (uint64_t)tr_event_words[TR_CALLS] / 2 + 8 * words;
    assert_int_equal(word_at(again), 4);
    assert_int_equal(word_at(again + 4), TR_EVENT_WORD(TR_STAMP, TR_STAMP_ENTRY));
    assert_int_equal(thread->slot->head, thread->hot.log - begin_of_ring());
}

/* The fragment that asks at its head begins again after the check, and logs its entry again. */
static void a_check_that_takes_long_lets_the_next_fragment_run(void **state)
{
    for (unsigned i = 0; i < 20; i++) {
        log_entry(2);
        thread->hot.log -= 4;
        thread->hot.stamped -= UINT64_C(1) << 40;
        assert_true(tr_log_check(thread, false));
        assert_true(thread->hot.log + 4 <= thread->hot.limit);
        thread->hot.stamped -= UINT64_C(1) << 40;
        tr_log_resume(thread);
        assert_true(thread->hot.log + 4 <= thread->hot.limit);
    }
    assert_int_equal(thread->hot.stamp_interval, 0);
}

/* What enter.S does when the stack pointer was loaded. */
static void load_stack(void)
{
    const uint64_t values[] = {1, 2};
    tr_log_event(thread, TR_STACK, 0, values, 2);
    thread->hot.switched_at = thread->hot.log;
    thread->hot.limit = 0;
}

/* Only after the return that ends the switch the registers are those of the other stack. */
static void another_stack_is_copied_when_the_switch_is_over(void **state)
{
    log_entry(2);
    load_stack();
    log_entry(4);
    tr_log_switch(thread);
    assert_int_equal(tr_log_last(thread), 4);
    assert_int_not_equal(thread->hot.switched_at, 0);
    log_entry(6 | TR_INDIRECT);
    uint64_t at = thread->hot.log - 4;
    tr_log_switch(thread);
    assert_int_equal(TR_EVENT_KIND(word_at(at)), TR_SWITCHED);
    assert_int_equal(word_at(at + 4 + 4 * (uint64_t)tr_payload_words(word_at(at))),
                     6 | TR_INDIRECT);
    assert_int_equal(tr_log_last(thread), 6 | TR_INDIRECT);
    assert_int_equal(thread->hot.switched_at, 0);
    assert_int_equal(thread->hot.limit, thread->hot.log);
}

/* Where a stack is small, and nothing was written beyond it. */
static void memory_that_was_never_written_to_is_not_copied(void **state)
{
    enum { WRITTEN = 60, KEPT_ZEROS = 32 };
    uint64_t *words = (uint64_t *)thread->app.r[TR_RSP];
    memset(words, 0xff, WRITTEN * sizeof *words);
    log_entry(2);
    load_stack();
    log_entry(4 | TR_INDIRECT);
    uint64_t at = thread->hot.log - 4;
    tr_log_switch(thread);
    assert_int_equal(TR_EVENT_KIND(word_at(at)), TR_SWITCHED);
    assert_int_equal(TR_EVENT_PAYLOAD(word_at(at)), WRITTEN + KEPT_ZEROS);
    memset(words, 0, WRITTEN * sizeof *words);
}

static void copies_of_other_stacks_are_a_small_part_of_the_log(void **state)
{
    uint64_t copied = 0;
    for (unsigned i = 0; i < 20000; i++) {
        log_entry(2);
        if (thread->hot.reports_switches) {
            load_stack();
            log_entry(4 | TR_INDIRECT);
            uint64_t before = thread->wraps + thread->hot.log;
            tr_log_switch(thread);
            copied += thread->wraps + thread->hot.log - before;
        }
        thread->hot.log += 100;
        log_entry(6);
        assert_true(tr_log_check(thread, true));
    }
    uint64_t logged = thread->wraps + thread->hot.log - begin_of_ring();
    assert_in_range(copied, logged / 32, logged / 4);
}

enum {
    OWN = 24,
    LEFT_AT = 128
}; /* words of `stack`: of the code that copies, and where stacks are left */

/* The program changes to a stack that it is about to copy to where the running one lies, and its code that copies runs. */
static void begin_copy(void)
{
    thread->hot.stack_before = thread->app.r[TR_RSP] = (uint64_t)(stack + LEFT_AT);
    log_entry(2);
    tr_copied_stack_begin(thread);
    thread->app.r[TR_RSP] = (uint64_t)(stack + LEFT_AT - OWN);
    log_entry(4);
}

/* And has come back; the code that changes stacks has returned. */
static void end_copy(uint64_t look)
{
    for (unsigned i = 0; i < OWN; i++)
        stack[LEFT_AT + i] = look;
    thread->app.r[TR_RSP] = (uint64_t)(stack + LEFT_AT + 1);
    log_entry(6 | TR_INDIRECT);
    tr_log_copied_stack(thread);
    assert_int_equal(tr_log_last(thread), 6 | TR_INDIRECT);
}

static uint64_t record_after(uint64_t at)
{
    return at + 4 + 4 * (uint64_t)tr_payload_words(word_at(at));
}

/* What belongs to neither stack yet is no caller of what runs there. */
static void a_chunk_that_begins_in_a_copy_has_the_callers_after_it(void **state)
{
    begin_copy();
    thread->hot.log += CHUNK;
    log_entry(4);
    assert_true(tr_log_check(thread, true));
    uint64_t at = begin_of_ring() + thread->slot->chunks[1].position;
    assert_int_equal(word_at(at), TR_EVENT_WORD(TR_CALLS, OWN));
    at = thread->hot.log;
    thread->switch_credit = thread->hot.reports_switches = 0;
    end_copy(1);
    /* Its number belongs to what lies in another chunk. */
    assert_int_equal(TR_EVENT_KIND(word_at(at)), TR_SWITCHED);
    assert_in_range(TR_EVENT_PAYLOAD(word_at(at)), OWN - 1, sizeof stack / sizeof *stack);
    assert_int_equal(word_at(record_after(at)), 6 | TR_INDIRECT);
}

/* The stack that was left has a number that no log has. */
static void what_was_left_before_such_a_chunk_is_reported_when_it_continues(void **state)
{
    for (unsigned i = 0; i < OWN; i++)
        stack[LEFT_AT + i] = 1;
    begin_copy();
    thread->hot.log += CHUNK;
    log_entry(4);
    assert_true(tr_log_check(thread, true));
    end_copy(2);
    begin_copy();
    thread->switch_credit = thread->hot.reports_switches = 0;
    uint64_t at = thread->hot.log, numbers[2];
    end_copy(1);
    assert_int_equal(word_at(at), TR_EVENT_WORD(TR_COPIED, 0));
    memcpy(numbers, (const void *)(at + 4), sizeof numbers);
    assert_int_not_equal(numbers[0], 0);
    assert_int_equal(numbers[1], 0);
    at = record_after(at);
    assert_int_equal(TR_EVENT_KIND(word_at(at)), TR_SWITCHED);
    assert_int_equal(word_at(record_after(at)), 6 | TR_INDIRECT);
}

/* A time between would keep readers from binding the numbers to the stack pointer. */
static void a_check_in_a_copy_stamps_no_time(void **state)
{
    begin_copy();
    uint64_t at = thread->hot.log;
    assert_true(tr_log_check(thread, true));
    assert_int_equal(thread->hot.log, at);
    assert_int_equal(thread->hot.limit, 0);
    end_copy(1);
    assert_int_equal(word_at(at), TR_EVENT_WORD(TR_COPIED, 0));
}

static void a_time_in_a_copy_takes_its_numbers(void **state)
{
    begin_copy();
    log_event();
    uint64_t at = thread->hot.log;
    end_copy(1);
    assert_int_equal(TR_EVENT_KIND(word_at(at)), TR_SWITCHED);
}

/* A handler on a stack of its own, further out, does not end the copy. */
static void a_copy_that_a_handler_interrupts_is_not_over(void **state)
{
    begin_copy();
    uint64_t handler = (uint64_t)(stack + sizeof stack / sizeof *stack) + TR_SAME_STACK;
    thread->signals.other_stack_from = thread->app.r[TR_RSP];
    thread->signals.other_stack_entry = thread->app.r[TR_RSP] = handler;
    thread->signals.other_stack_room = TR_SAME_STACK;
    tr_log_copied_stack(thread);
    assert_true(tr_copied_stack_is_awaited(thread));
    thread->app.r[TR_RSP] = thread->signals.other_stack_from;
    tr_log_copied_stack(thread);
    assert_true(tr_copied_stack_is_awaited(thread));
    end_copy(1);
    assert_false(tr_copied_stack_is_awaited(thread));
}

static uint64_t outer_words(uint64_t at)
{
    uint64_t words;
    memcpy(&words, (const void *)(at + 4 + 10 * sizeof words), sizeof words);
    return words;
}

/* The alternate stack and the one that a handler there has interrupted may lie side by side. */
static void what_a_handler_has_interrupted_is_copied_too(void **state)
{
    enum { INTERRUPTED = 1000, ENTRY = 500, ROOM = 200 };
    memset(stack, 0xff, sizeof stack);
    thread->signals.other_stack_from = (uint64_t)(stack + INTERRUPTED);
    thread->signals.other_stack_entry = (uint64_t)(stack + ENTRY);
    thread->signals.other_stack_room = ROOM * sizeof *stack;
    thread->app.r[TR_RSP] = (uint64_t)(stack + ENTRY - ROOM / 2);
    uint64_t at = thread->hot.log;
    tr_log_calls(thread);
    assert_int_not_equal(outer_words(at), 0);
    thread->app.r[TR_RSP] = (uint64_t)(stack + ENTRY - ROOM);
    at = thread->hot.log;
    tr_log_calls(thread);
    assert_int_equal(outer_words(at), 0);
}

/* Of a copy by a loop for each byte: heads do not ask for ever, and a check finds that it is over. */
static void a_copy_that_takes_long_is_asked_for_by_checks(void **state)
{
    begin_copy();
    thread->hot.log += 8 << 10;
    log_entry(4);
    tr_log_copied_stack(thread);
    assert_false(tr_copied_stack_is_asked(thread));
    assert_true(tr_copied_stack_is_awaited(thread));
    assert_true(tr_log_check(thread, true));
    assert_int_not_equal(thread->hot.limit, 0);
    uint64_t at = thread->hot.log;
    end_copy(1);
    assert_int_equal(TR_EVENT_KIND(word_at(at)), TR_SWITCHED);
}

static void the_log_of_everything_has_no_copies_of_other_stacks(void **state)
{
    process.control->options.full_execution = true;
    tr_log_begin(thread, 0, false);
    assert_int_equal(thread->hot.reports_switches, 0);
}

static void a_signal_keeps_the_limit_at_0(void **state)
{
    thread->signals.pending = 1;
    assert_true(tr_log_check(thread, false));
    assert_int_equal(thread->hot.limit, 0);
    assert_int_equal(thread->hot.run, 0);
    thread->hot.log = end_of_ring() - NEAR_END;
    log_event();
    assert_int_equal(thread->hot.limit, 0);
}

static void a_frozen_recording_ends(void **state)
{
    process.control->frozen = 1;
    assert_false(tr_log_check(thread, false));
}

static void the_recording_freezes_when_it_is_time(void **state)
{
    process.control->freeze_at = 1;
    now = 10;
    assert_false(tr_log_check(thread, false));
    assert_int_equal(process.control->frozen, 1);
    assert_true(process.control->frozen_at > 10);
}

/* Full execution: what was not read is not overwritten, and nobody is waited for who is dead. */
static void a_dead_reader_is_not_waited_for(void **state)
{
    process.control->options.full_execution = 1;
    thread->slot->read_to = 0;
    for (unsigned i = 0; i < TR_CHUNKS - 4; i++) {
        assert_true(tr_log_check(thread, false));
        thread->hot.log = begin_of_ring() + (uint64_t)(i + 1) * CHUNK;
    }
    process.control->recorder_stopped = 1;
    thread->hot.log = end_of_ring() - NEAR_END;
    assert_false(tr_log_check(thread, false));
}

static void untraced_threads_have_a_ring_of_their_own(void **state)
{
    tr_log_begin(thread, 0, true);
    assert_null(thread->slot);
    assert_true(thread->stops);
    for (unsigned i = 0; i < 1000; i++) {
        thread->hot.log += 2048;
        assert_true(tr_log_check(thread, false));
    }
    munmap(thread->private_ring, (size_t)(thread->ring_end - thread->ring) + TR_PAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_event_is_a_word_and_values),
        TEST(what_comes_next_is_cleared),
        TEST(what_was_logged_is_not_cleared),
        TEST(nothing_is_logged_after_the_end),
        TEST(an_event_wraps),
        TEST(after_wrapping_a_check_is_due),
        TEST(the_guard_page_wraps),
        TEST(generated_code_stays_in_the_ring),
        TEST(the_clock_stands_still_for_the_rings_pages),
        TEST(a_chunk_begins_with_a_copy_of_the_stack),
        TEST(a_check_that_takes_long_lets_the_next_fragment_run),
        TEST(another_stack_is_copied_when_the_switch_is_over),
        TEST(memory_that_was_never_written_to_is_not_copied),
        TEST(copies_of_other_stacks_are_a_small_part_of_the_log),
        TEST(a_chunk_that_begins_in_a_copy_has_the_callers_after_it),
        TEST(what_was_left_before_such_a_chunk_is_reported_when_it_continues),
        TEST(a_check_in_a_copy_stamps_no_time),
        TEST(a_time_in_a_copy_takes_its_numbers),
        TEST(a_copy_that_a_handler_interrupts_is_not_over),
        TEST(a_copy_that_takes_long_is_asked_for_by_checks),
        TEST(what_a_handler_has_interrupted_is_copied_too),
        TEST(the_log_of_everything_has_no_copies_of_other_stacks),
        TEST(a_signal_keeps_the_limit_at_0),
        TEST(a_frozen_recording_ends),
        TEST(the_recording_freezes_when_it_is_time),
        TEST(a_dead_reader_is_not_waited_for),
        TEST(untraced_threads_have_a_ring_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
