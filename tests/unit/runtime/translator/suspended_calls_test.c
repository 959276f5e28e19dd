#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arena_stand_in.h"
#include "runtime/translator/suspended_calls.h"

enum { WORDS = 1 << 10, PLACE = 700, LEFT = 600, OTHER = 100 };

static uint64_t stack[WORDS];

static uint64_t at(unsigned word)
{
    return (uint64_t)&stack[word];
}

/* As if `pc` had been pushed at `word` by a call that is suspended with the stack pointer at `left`. */
static void suspend(unsigned word, uint64_t pc, unsigned left)
{
    stack[word] = pc;
    tr_suspended_add(&(struct tr_suspended_call){at(word), pc, at(left)});
}

static void ends_where_it_returns(void **state)
{
    stand_in_begin();
    assert_false(tr_suspended_any());
    suspend(PLACE, 0x1000, LEFT);
    suspend(OTHER, 0x1000, OTHER - 10);
    assert_int_equal(atomic_load(&tr_process.control->suspended_calls), 2);
    assert_true(tr_suspended_at(at(PLACE)));
    tr_suspended_return(0x2000, at(PLACE) + 8); /* another place */
    assert_true(tr_suspended_at(at(PLACE)) && tr_suspended_at(at(OTHER)));
    tr_suspended_return(0x1000, at(PLACE) + 8 + 16); /* ret 16 */
    assert_false(tr_suspended_at(at(PLACE)));
    assert_true(tr_suspended_at(at(OTHER)));
    tr_suspended_return(0x1000, at(OTHER) - 8); /* a call within it */
    assert_true(tr_suspended_at(at(OTHER)));
    tr_suspended_return(0x1000, at(OTHER) + 8);
    assert_false(tr_suspended_any());
    stand_in_end();
}

static void a_call_on_a_moved_stack_returns_elsewhere(void **state)
{
    stand_in_begin();
    suspend(PLACE, 0x1000, LEFT);
    tr_suspended_return(0x1000, at(PLACE) + (8 << 20));
    assert_false(tr_suspended_any());
    stand_in_end();
}

static void is_taken_up_where_its_stack_was_left(void **state)
{
    struct tr_suspended_call call;
    stand_in_begin();
    suspend(PLACE, 0x1000, LEFT);
    assert_false(tr_suspended_take(at(OTHER), &call));
    assert_false(tr_suspended_take(at(PLACE) + 16, &call));
    assert_true(tr_suspended_take(at(LEFT) - 48, &call));
    assert_int_equal(call.stack_pointer, at(PLACE));
    assert_int_equal(call.return_address, 0x1000);
    assert_false(tr_suspended_any());
    stand_in_end();
}

static void a_call_that_was_left_has_lost_its_place(void **state)
{
    stand_in_begin();
    suspend(PLACE, 0x1000, LEFT);
    tr_suspended_drop_left();
    assert_true(tr_suspended_any());
    stack[PLACE] = 5;
    tr_suspended_drop_left();
    assert_false(tr_suspended_any());
    suspend(PLACE, 0x1000, LEFT);
    tr_suspended_forget(at(PLACE));
    assert_false(tr_suspended_any());
    stand_in_end();
}

static void there_is_room_for_the_newest(void **state)
{
    enum { MANY = 5000 };
    stand_in_begin();
    for (uint64_t i = 1; i <= MANY; i++)
        tr_suspended_add(&(struct tr_suspended_call){i << 20, i, i << 20});
    assert_true(tr_suspended_at((uint64_t)MANY << 20));
    assert_false(tr_suspended_at(1 << 20));
    tr_suspended_drop_left();
    assert_false(tr_suspended_any());
    stand_in_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_where_it_returns),
        cmocka_unit_test(a_call_on_a_moved_stack_returns_elsewhere),
        cmocka_unit_test(is_taken_up_where_its_stack_was_left),
        cmocka_unit_test(a_call_that_was_left_has_lost_its_place),
        cmocka_unit_test(there_is_room_for_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
