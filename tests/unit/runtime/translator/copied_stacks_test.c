/* Which stack has come back where several are copied to the same addresses (copied_stacks.h): with memory of the test's own as
 * the program's stack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/translator/log/copied_stacks.h"
#include "runtime/translator/own_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    WORDS = 256,   /* of the stack, from where all are left */
    OWN = 64,      /* of these, what belongs to a stack that is copied */
    POPPED = 2,    /* by the code that runs when it is recognized */
    INNERMOST = 4, /* that all stacks have in common */
};

void *tr_own_map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static _Alignas(64) uint64_t stack[WORDS];
static struct tr_thread *thread;

struct copy {
    uint64_t words[OWN];
};

static int set_up(void **state)
{
    thread = calloc(1, sizeof *thread);
    thread->reports_switches = true;
    tr_copied_stacks_begin_chunk(thread, true);
    for (unsigned i = 0; i < WORDS; i++)
        stack[i] = i;
    return 0;
}

static int tear_down(void **state)
{
    if (thread->copied.left)
        munmap(thread->copied.left, TR_COPIED_STACKS * sizeof *thread->copied.left);
    free(thread);
    return 0;
}

static struct copy copy_of(unsigned seed)
{
    struct copy copy;
    for (unsigned i = 0; i < OWN; i++)
        copy.words[i] = i < INNERMOST ? i : 1000 * seed + i;
    return copy;
}

static uint64_t address(unsigned word)
{
    return (uint64_t)(stack + word);
}

/* The stack that lies there is left; the copy has not begun. */
static void leave(void)
{
    thread->hot.stack_before = address(0);
    thread->app.r[TR_RSP] = address(0);
    tr_copied_stack_begin(thread);
    assert_true(tr_copied_stack_is_awaited(thread));
}

/* `copy` is there. Returns the number with which it was left. */
static uint32_t arrive(const struct copy *copy, bool expected_known, uint32_t *left)
{
    struct tr_copied_numbers numbers;
    bool known;
    memcpy(stack, copy->words, sizeof copy->words);
    assert_false(tr_copied_stack_is_over(thread, &numbers, &known));
    thread->app.r[TR_RSP] = address(POPPED);
    assert_true(tr_copied_stack_is_over(thread, &numbers, &known));
    assert_false(tr_copied_stack_is_awaited(thread));
    assert_int_equal(known, expected_known);
    if (left)
        *left = numbers.left;
    return numbers.continues;
}

static uint32_t change_to(const struct copy *copy, bool expected_known, uint32_t *left)
{
    leave();
    return arrive(copy, expected_known, left);
}

/* Three stacks take turns, and are left with the numbers *one, *two and *three; the third runs. */
static void run_three(uint32_t numbers[3])
{
    const struct copy copies[] = {copy_of(1), copy_of(2), copy_of(3)};
    memcpy(stack, &copies[0], sizeof copies[0]);
    assert_int_equal(change_to(&copies[1], false, &numbers[0]), 0);
    tr_copied_stack_reported(thread);
    assert_int_equal(change_to(&copies[2], false, &numbers[1]), 0);
    tr_copied_stack_reported(thread);
    assert_int_not_equal(numbers[0], numbers[1]);
}

static void a_stack_is_known_by_what_lies_on_it(void **state)
{
    const struct copy first = copy_of(1), second = copy_of(2);
    uint32_t numbers[3];
    run_three(numbers);
    assert_int_equal(change_to(&first, true, &numbers[2]), numbers[0]);
    assert_int_equal(change_to(&second, true, NULL), numbers[1]);
}

static void what_the_copy_does_not_change_need_not_agree(void **state)
{
    const struct copy first = copy_of(1);
    uint32_t numbers[3];
    run_three(numbers);
    for (unsigned i = OWN; i < WORDS; i++)
        stack[i] = 5000 + i; /* another stack has run there */
    assert_int_equal(change_to(&first, true, NULL), numbers[0]);
}

static void what_it_changes_has_to_agree(void **state)
{
    struct copy first = copy_of(1);
    uint32_t numbers[3];
    run_three(numbers);
    first.words[OWN - 1]++;
    assert_int_equal(change_to(&first, false, NULL), 0);
}

static void of_two_that_look_alike_none_is_chosen(void **state)
{
    const struct copy first = copy_of(1), second = copy_of(2), third = copy_of(3);
    uint32_t number;
    memcpy(stack, &first, sizeof first);
    change_to(&second, false, NULL);
    memcpy(stack, &first, sizeof first); /* it has run, and looks like the other one now */
    change_to(&third, false, NULL);
    assert_int_equal(change_to(&first, false, NULL), 0);
    change_to(&second, false, &number); /* of the two, none is left that could be taken for it */
    assert_int_equal(change_to(&first, false, NULL), number);
}

static void another_pointer_is_another_stack(void **state)
{
    uint32_t numbers[3];
    struct tr_copied_numbers found;
    bool known;
    run_three(numbers);
    thread->hot.stack_before = address(0);
    thread->app.r[TR_RSP] = address(1);
    tr_copied_stack_begin(thread);
    thread->app.r[TR_RSP] = address(POPPED);
    assert_true(tr_copied_stack_is_over(thread, &found, &known));
    assert_int_equal(found.continues, 0);
}

static void readers_of_a_later_chunk_do_not_know_it(void **state)
{
    const struct copy first = copy_of(1), second = copy_of(2);
    uint32_t numbers[3];
    run_three(numbers);
    tr_copied_stacks_begin_chunk(thread, true);
    assert_int_equal(change_to(&first, false, &numbers[2]), numbers[0]);
    tr_copied_stack_reported(thread);
    assert_int_equal(change_to(&second, false, &numbers[0]), numbers[1]);
    assert_int_equal(change_to(&first, true, NULL), numbers[0]);
}

static void a_stack_that_nobody_knows_stays_unknown(void **state)
{
    const struct copy first = copy_of(1), second = copy_of(2);
    uint32_t number;
    memcpy(stack, &first, sizeof first);
    change_to(&second, false, NULL); /* and no room to report it */
    change_to(&first, true, &number);
    assert_int_equal(change_to(&second, false, NULL), number);
}

/* A signal handler begins in between: nothing can be said. */
static void a_copy_that_was_interrupted_is_forgotten(void **state)
{
    const struct copy first = copy_of(1), second = copy_of(2);
    struct tr_copied_numbers found;
    bool known;
    memcpy(stack, &first, sizeof first);
    leave();
    tr_copied_stack_forget(thread);
    assert_false(tr_copied_stack_is_awaited(thread));
    assert_false(tr_copied_stack_is_over(thread, &found, &known));
    memcpy(stack, &second, sizeof second);
    assert_int_equal(change_to(&first, false, NULL), 0);
}

static void of_more_stacks_than_numbers_the_oldest_is_forgotten(void **state)
{
    uint32_t numbers[TR_COPIED_STACKS + 1];
    struct copy copy = copy_of(1);
    memcpy(stack, &copy, sizeof copy);
    for (unsigned i = 0; i <= TR_COPIED_STACKS; i++) {
        copy = copy_of(i + 2);
        assert_int_equal(change_to(&copy, false, &numbers[i]), 0);
    }
    assert_int_equal(numbers[0], numbers[TR_COPIED_STACKS]);
    copy = copy_of(3); /* the third one that was left: another one is left now */
    assert_int_equal(change_to(&copy, false, NULL), numbers[2]);
}

#define STACKS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STACKS(a_stack_is_known_by_what_lies_on_it),
        STACKS(what_the_copy_does_not_change_need_not_agree),
        STACKS(what_it_changes_has_to_agree),
        STACKS(of_two_that_look_alike_none_is_chosen),
        STACKS(another_pointer_is_another_stack),
        STACKS(readers_of_a_later_chunk_do_not_know_it),
        STACKS(a_stack_that_nobody_knows_stays_unknown),
        STACKS(a_copy_that_was_interrupted_is_forgotten),
        STACKS(of_more_stacks_than_numbers_the_oldest_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
