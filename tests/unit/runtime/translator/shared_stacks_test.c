/* Which stack continues where several are copied to the memory that they share (shared_stacks.h): with memory of the test's own as
 * that memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/translator/log/shared_stacks.h"
#include "runtime/translator/own_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    WORDS = 512,  /* of the memory that is shared, and of what lies beyond it */
    TOP = 256,    /* where stacks begin */
    LEFT_AT = 64, /* where they are left */
    PAGE = 4096
};

void *tr_own_map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Far enough apart to be different memory, and `shared` in the middle of what is taken for one region. */
static _Alignas(64 << 10) struct {
    uint64_t resumer[WORDS], other[WORDS];
    uint8_t unused[160 << 10];
    uint64_t shared[WORDS];
} stacks;
static const uint64_t *resumer;
static struct tr_thread *thread;
static struct tr_copied_numbers numbers;

static int set_up(void **state)
{
    thread = calloc(1, sizeof *thread);
    thread->process = calloc(1, sizeof *thread->process);
    thread->process->control = calloc(1, sizeof *thread->process->control);
    thread->process->running = 1;
    thread->reports_switches = true;
    thread->hot.reports_switches = 1;
    thread->hot.log = PAGE;
    resumer = stacks.resumer;
    tr_shared_stacks_begin(thread);
    return 0;
}

static int tear_down(void **state)
{
    if (thread->shared)
        munmap(thread->shared, sizeof *thread->shared);
    free(thread->process->control);
    free(thread->process);
    free(thread);
    return 0;
}

static void change(const uint64_t *from, const uint64_t *to)
{
    thread->hot.stack_before = (uint64_t)from;
    thread->hot.switched_at = 0;
    thread->app.r[TR_RSP] = (uint64_t)to;
    numbers = tr_shared_stack_change(thread);
}

/* The stack with that seed lies there. */
static void put(unsigned seed)
{
    for (unsigned i = LEFT_AT; i < TOP; i++)
        stacks.shared[i] = 1000 * seed + i;
}

static void begin_and_leave(unsigned seed)
{
    change(resumer, stacks.shared + TOP);
    put(seed);
    change(stacks.shared + LEFT_AT, resumer);
}

/* Returns its number. */
static uint32_t resume(unsigned seed)
{
    put(seed);
    change(resumer, stacks.shared + LEFT_AT);
    return numbers.continues;
}

static uint32_t leave(void)
{
    change(stacks.shared + LEFT_AT, resumer);
    return numbers.left;
}

static void memory_that_one_stack_has_is_not_shared(void **state)
{
    begin_and_leave(1);
    assert_int_equal(resume(1), 0);
    assert_int_equal(leave(), 0);
    stacks.shared[LEFT_AT + 8] = 7; /* by who waits for it */
    change(resumer, stacks.shared + LEFT_AT);
    assert_int_equal(numbers.continues, 0);
}

static void a_stack_that_was_away_shows_that_memory_is_shared(void **state)
{
    begin_and_leave(1);
    begin_and_leave(2);
    uint32_t first = resume(1);
    assert_int_not_equal(first, 0);
    assert_int_equal(leave(), first);
    uint32_t second = resume(2);
    assert_int_not_equal(second, first);
    assert_int_equal(leave(), second);
    assert_int_equal(resume(1), first);
    assert_int_equal(numbers.left, 0); /* the resumer has its stack for itself */
}

static void numbers_are_of_all_that_lies_on_the_stack_and_nothing_else(void **state)
{
    begin_and_leave(1);
    begin_and_leave(2);
    uint32_t first = resume(1);
    stacks.shared[TOP + 8] = 1; /* another's memory */
    assert_int_equal(leave(), first);
    put(1);
    stacks.shared[TOP - 1]++;
    change(resumer, stacks.shared + LEFT_AT);
    assert_int_not_equal(numbers.continues, first);
}

/* The code that leaves a stack pushes more than what the one that resumes it finds. */
static void a_stack_may_continue_a_little_further_in(void **state)
{
    begin_and_leave(1);
    begin_and_leave(2);
    put(1);
    change(resumer, stacks.shared + LEFT_AT + 2);
    uint32_t first = numbers.continues;
    assert_int_not_equal(first, 0);
    assert_int_equal(leave(), first);
}

static void it_does_not_matter_where_the_resumer_has_its_stack(void **state)
{
    enum { PLACES = 1024, APART = 64 << 10 };
    uint8_t *places = tr_own_map((size_t)PLACES * APART);
    for (unsigned i = 0; i < PLACES; i++) {
        resumer = (uint64_t *)(places + (size_t)i * APART);
        tr_shared_stacks_begin(thread);
        begin_and_leave(1);
        begin_and_leave(2);
        assert_int_not_equal(resume(1), 0);
    }
    munmap(places, (size_t)PLACES * APART);
}

static void once_there_were_threads_no_memory_is_found_to_be_shared(void **state)
{
    begin_and_leave(1);
    begin_and_leave(2);
    thread->process->running = 2;
    assert_int_equal(resume(1), 0);
    assert_int_equal(leave(), 0);
    thread->process->running = 1;
    assert_int_equal(resume(2), 0);
}

static void what_is_unwound_in_shared_memory_is_no_other_stack(void **state)
{
    begin_and_leave(1);
    begin_and_leave(2);
    resume(1);
    change(stacks.shared + LEFT_AT, stacks.shared + LEFT_AT + 64);
    assert_int_equal(numbers.left, 0);
    assert_int_equal(numbers.continues, 0);
}

static void stacks_that_readers_do_not_know_are_copied(void **state)
{
    begin_and_leave(1);
    begin_and_leave(2);
    resume(1);
    assert_int_not_equal(thread->hot.switched_at, 0);
    leave(); /* no copy was numbers */
    resume(1);
    assert_int_not_equal(thread->hot.switched_at, 0);
    tr_shared_stack_reported(thread);
    leave();
    resume(1);
    assert_int_equal(thread->hot.switched_at, 0);
    tr_shared_stacks_begin_chunk(thread, true); /* which has a copy of it */
    leave();
    resume(2);
    assert_int_not_equal(thread->hot.switched_at, 0);
    leave();
    resume(1);
    assert_int_equal(thread->hot.switched_at, 0);
}

static void where_stacks_began_before_the_log_more_than_they_may_have_counts(void **state)
{
    thread->has_unseen_stacks = true;
    put(1);
    change(stacks.shared + LEFT_AT, resumer);
    put(2);
    change(stacks.shared + LEFT_AT, resumer);
    uint32_t first = resume(1);
    assert_int_not_equal(first, 0);
    stacks.shared[LEFT_AT + 100]++;
    assert_int_not_equal(leave(), first);
}

static void many_changes(void)
{
    enum { MANY = 10000 };
    for (unsigned i = 0; i < MANY && thread->hot.watches_stacks; i++)
        change(resumer, stacks.other);
}

static void only_some_changes_in_each_chunk_are_watched(void **state)
{
    begin_and_leave(1);
    many_changes();
    assert_int_equal(thread->hot.watches_stacks, 0);
    tr_shared_stacks_begin_chunk(thread, false);
    assert_int_not_equal(thread->hot.watches_stacks, 0);
    begin_and_leave(2);
    assert_int_equal(resume(1), 0); /* it may have been left once more, unseen */
    leave();
    begin_and_leave(3);
    assert_int_not_equal(resume(1), 0);
    many_changes();
    assert_int_not_equal(thread->hot.watches_stacks, 0);
}

static void with_other_threads_none_are_watched(void **state)
{
    thread->process->running = 2;
    begin_and_leave(1);
    assert_int_equal(thread->hot.watches_stacks, 0);
    tr_shared_stacks_begin_chunk(thread, true);
    assert_int_equal(thread->hot.watches_stacks, 0);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(memory_that_one_stack_has_is_not_shared),
        TEST(a_stack_that_was_away_shows_that_memory_is_shared),
        TEST(numbers_are_of_all_that_lies_on_the_stack_and_nothing_else),
        TEST(a_stack_may_continue_a_little_further_in),
        TEST(it_does_not_matter_where_the_resumer_has_its_stack),
        TEST(once_there_were_threads_no_memory_is_found_to_be_shared),
        TEST(what_is_unwound_in_shared_memory_is_no_other_stack),
        TEST(stacks_that_readers_do_not_know_are_copied),
        TEST(only_some_changes_in_each_chunk_are_watched),
        TEST(with_other_threads_none_are_watched),
        TEST(where_stacks_began_before_the_log_more_than_they_may_have_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
