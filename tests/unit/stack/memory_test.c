/* The memory of a thread's stacks: packed history, interned frames, counts of active functions; and
 * the cost of searches in it.
 */
#include "stack/active_functions.h"
#include "stack/frame_tree.h"
#include "stack/history.h"
#include "stack/rules/unwind_targets.h"
#include "stack/stack_moves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_step(struct history_cursor *cursor, uint64_t time, enum history_kind kind,
                        uint32_t frame)
{
    struct history_step step;
    assert_true(history_next(cursor, &step));
    assert_int_equal(step.time.value, time);
    assert_int_equal(step.kind, kind);
    assert_int_equal(step.frame, frame);
}

static void history_keeps_times_of_any_distance(void **state)
{
    struct history history;
    struct history_cursor cursor;
    struct history_step step;
    history_init(&history);
    history_add(&history, (struct ticks){5}, HISTORY_BEGIN, 1);
    history_add(&history, (struct ticks){5}, HISTORY_ENTER, UINT32_MAX);
    history_add(&history, (struct ticks){5 + 0xfffffff}, HISTORY_RETURN, 1);
    history_add(&history, (struct ticks){5 + 0x1fffffff}, HISTORY_ENTER, 2);
    history_add(&history, (struct ticks){UINT64_MAX}, HISTORY_END_TRACE, 0);

    cursor = history_cursor_of(&history);
    assert_step(&cursor, 5, HISTORY_BEGIN, 1);
    assert_step(&cursor, 5, HISTORY_ENTER, UINT32_MAX);
    assert_step(&cursor, 5 + 0xfffffff, HISTORY_RETURN, 1);
    assert_step(&cursor, 5 + 0x1fffffff, HISTORY_ENTER, 2);
    assert_step(&cursor, UINT64_MAX, HISTORY_END_TRACE, 0);
    assert_false(history_next(&cursor, &step));
    assert_int_equal(history.first.value, 5);
    assert_int_equal(history.last.value, UINT64_MAX);
    history_free(&history);
}

static void history_never_goes_backwards(void **state)
{
    struct history history;
    struct history_cursor cursor;
    history_init(&history);
    history_add(&history, (struct ticks){100}, HISTORY_BEGIN, 1);
    history_add(&history, (struct ticks){50}, HISTORY_ENTER, 2);
    cursor = history_cursor_of(&history);
    assert_step(&cursor, 100, HISTORY_BEGIN, 1);
    assert_step(&cursor, 100, HISTORY_ENTER, 2);
    history_free(&history);
}

static void history_spans_many_chunks(void **state)
{
    struct history history;
    struct history_cursor cursor;
    uint32_t count = 3 * HISTORY_CHUNK_SIZE + 1;
    history_init(&history);
    for (uint32_t i = 0; i < count; i++)
        history_add(&history, (struct ticks){i * 7}, HISTORY_ENTER, i);
    cursor = history_cursor_of(&history);
    for (uint32_t i = 0; i < count; i++)
        assert_step(&cursor, i * 7, HISTORY_ENTER, i);
    assert_int_equal(history.count, count);
    history_free(&history);
}

static void equal_activations_share_a_frame_and_others_do_not(void **state)
{
    const struct activation call = {.function = 9, .kind = FRAME_FUNCTION, .return_address = 0x100};
    const struct activation others[] = {
        {.function = 8, .kind = FRAME_FUNCTION, .return_address = 0x100},
        {.function = 9, .kind = FRAME_SIGNAL, .return_address = 0x100},
        {.function = 9, .kind = FRAME_FUNCTION, .return_address = 0x101},
        {.function = 9, .kind = FRAME_FUNCTION, .return_address = 0x100, .origin = 8},
    };
    struct frame_tree tree;
    bool added;
    frame_tree_init(&tree);
    frame_id root = frame_tree_add_placeholder(&tree);
    frame_id other_root = frame_tree_add_placeholder(&tree);
    frame_id first = frame_tree_child(&tree, root, &call, &added);
    assert_true(added);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_int_not_equal(frame_tree_child(&tree, root, &others[i], &added), first);
        assert_true(added);
    }
    assert_int_not_equal(frame_tree_child(&tree, other_root, &call, &added), first);
    assert_int_equal(frame_tree_child(&tree, root, &call, &added), first);
    assert_false(added);
    frame_tree_free(&tree);
}

static void a_hundred_thousand_frames_are_found_again(void **state)
{
    struct frame_tree tree;
    struct activation call = {.function = 9, .kind = FRAME_FUNCTION};
    bool added;
    frame_tree_init(&tree);
    frame_id root = frame_tree_add_placeholder(&tree);
    for (uint64_t i = 0; i < 100000; i++) {
        call.return_address = 0x1000 + i * 8;
        frame_tree_child(&tree, root, &call, &added);
        assert_true(added);
    }
    for (uint64_t i = 0; i < 100000; i++) {
        call.return_address = 0x1000 + i * 8;
        frame_id id = frame_tree_child(&tree, root, &call, &added);
        assert_false(added);
        assert_int_equal(frame_tree_at(&tree, id)->return_address, call.return_address);
    }
    frame_tree_free(&tree);
}

static void a_discovered_caller_is_above_all_that_was_recorded(void **state)
{
    struct frame_tree tree;
    struct activation call = {.function = 9, .kind = FRAME_FUNCTION};
    bool added;
    frame_tree_init(&tree);
    frame_id placeholder = frame_tree_add_placeholder(&tree);
    frame_id root = frame_tree_child(&tree, placeholder, &call, &added);
    frame_tree_discover(&tree, placeholder, 5, 0x5010, 0x5000);

    const struct frame *caller = frame_tree_at(&tree, frame_tree_at(&tree, root)->parent);
    assert_int_equal(caller->function, 5);
    assert_int_equal(frame_tree_start(&tree, placeholder), 0x5000);
    assert_int_equal(caller->kind, FRAME_FUNCTION);
    assert_int_equal(frame_tree_at(&tree, caller->parent)->kind, FRAME_PLACEHOLDER);
    frame_tree_free(&tree);
}

/* Many frames with few children each and some with many, in an order in which parents take turns.
 */
static void families_of_all_sizes_are_found_again(void **state)
{
    enum { PARENTS = 40 };
    struct frame_tree tree;
    struct activation call = {.function = 9, .kind = FRAME_FUNCTION};
    frame_id parents[PARENTS], children[PARENTS][PARENTS];
    bool added;
    frame_tree_init(&tree);
    for (int i = 0; i < PARENTS; i++)
        parents[i] = frame_tree_add_placeholder(&tree);
    for (int child = 0; child < PARENTS; child++)
        for (int i = child; i < PARENTS; i++) {
            call.return_address = (uint64_t)child;
            children[i][child] = frame_tree_child(&tree, parents[i], &call, &added);
            assert_true(added);
        }
    for (int round = 0; round < 2; round++)
        for (int child = 0; child < PARENTS; child++)
            for (int i = child; i < PARENTS; i++) {
                call.return_address = (uint64_t)child;
                frame_id found = frame_tree_child(&tree, parents[i], &call, &added);
                assert_int_equal(found, children[i][child]);
                assert_false(added);
            }
    frame_tree_free(&tree);
}

static void frames_of_a_function_begin_where_each_was_said_to(void **state)
{
    enum { FRAMES = 1000 };
    struct frame_tree tree;
    frame_id frames[FRAMES];
    bool added;
    frame_tree_init(&tree);
    frame_id root = frame_tree_add_placeholder(&tree);
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct activation call = {.function = i % 100, .kind = FRAME_FUNCTION, .return_address = i};
        frames[i] = frame_tree_child(&tree, root, &call, &added);
    }
    /* Ten addresses for each function, and not in the order of the frames. */
    for (uint32_t i = FRAMES; i-- > 0;)
        frame_tree_set_start(&tree, frames[i], (i % 100) * 0x1000 + i / 100);
    for (uint32_t i = 0; i < FRAMES; i++)
        assert_int_equal(frame_tree_start(&tree, frames[i]), (i % 100) * 0x1000 + i / 100);
    frame_tree_free(&tree);
}

static void frames_keep_their_origin(void **state)
{
    enum { FRAMES = 100 };
    struct frame_tree tree;
    frame_id frames[FRAMES];
    bool added;
    frame_tree_init(&tree);
    frame_id root = frame_tree_add_placeholder(&tree);
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct activation call = {.function = 9,
                                  .kind = FRAME_FUNCTION,
                                  .return_address = i,
                                  .origin = i % 3 ? FUNCTION_FIRST + i : FUNCTION_UNKNOWN};
        frames[i] = frame_tree_child(&tree, root, &call, &added);
    }
    for (uint32_t i = 0; i < FRAMES; i++)
        assert_int_equal(frame_tree_origin(&tree, frames[i]),
                         i % 3 ? FUNCTION_FIRST + i : FUNCTION_UNKNOWN);
    frame_tree_free(&tree);
}

static void a_function_with_too_great_an_id_is_unknown(void **state)
{
    struct frame_tree tree;
    struct activation call = {.function = FRAME_FUNCTION_MAXIMUM, .kind = FRAME_FUNCTION};
    bool added;
    frame_tree_init(&tree);
    frame_id root = frame_tree_add_placeholder(&tree);
    frame_id last = frame_tree_child(&tree, root, &call, &added);
    assert_int_equal(frame_tree_at(&tree, last)->function, FRAME_FUNCTION_MAXIMUM);
    call.function++;
    frame_id beyond = frame_tree_child(&tree, root, &call, &added);
    assert_int_equal(frame_tree_at(&tree, beyond)->function, FUNCTION_UNKNOWN);
    assert_int_equal(frame_tree_child(&tree, root, &call, &added), beyond);
    frame_tree_free(&tree);
}

static uint64_t no_function_start(void *context, struct ticks time, uint64_t address)
{
    return 0;
}

static enum go_role no_go(void *context, function_id function)
{
    return GO_ROLE_NONE;
}

/* Every unwind target at another address, as with exceptions after gaps. */
static void unwind_targets_anywhere_examine_each_frame_a_few_times_only(void **state)
{
    enum { FRAMES = 1000, ADDRESSES = 10000 };
    struct code_view code = {.function_start = no_function_start, .go_role = no_go};
    struct thread_stack stack;
    struct activation call = {.function = 9, .kind = FRAME_FUNCTION};
    thread_stack_init(&stack, &code);
    stack_moves_begin(&stack, &call, 0, false);
    for (uint64_t i = 1; i < FRAMES; i++) {
        call.return_address = i;
        stack_moves_enter(&stack, &call, 0);
    }
    frame_id caller = thread_stack_parent(&stack, stack.leaf);
    assert_true(unwind_targets_may_have_called(&stack, caller, FRAMES - 1));
    assert_false(unwind_targets_may_have_called(&stack, caller, FRAMES - 2));
    for (uint64_t i = 0; i < ADDRESSES; i++)
        unwind_targets_may_have_called(&stack, caller, FRAMES + i);
    assert_true(stack.rules.unwind_targets->looks < (uint64_t)100 * FRAMES);
    assert_true(stack.rules.unwind_targets->sites.count <= 64);
    thread_stack_free(&stack);
}

static void active_functions_count_each_function(void **state)
{
    struct active_functions open;
    active_functions_init(&open);
    for (function_id function = 0; function < 1000; function++) {
        assert_false(active_functions_knows(&open, function));
        active_functions_add_new(&open, function, function == 4);
        assert_true(active_functions_knows(&open, function));
        assert_int_equal(open.has_gogo, function >= 4);
        for (function_id i = 0; i < function % 3; i++)
            active_functions_add(&open, function);
    }
    active_functions_remove(&open, 2);
    assert_int_equal(active_functions_count(&open, 0), 0);
    assert_int_equal(active_functions_count(&open, 2), 1);
    for (function_id function = 3; function < 1000; function++)
        assert_int_equal(active_functions_count(&open, function), function % 3);
    assert_int_equal(active_functions_count(&open, 123456), 0);
    assert_true(active_functions_slot(&open, 4)->is_gogo);
    assert_false(active_functions_slot(&open, 5)->is_gogo);
    active_functions_free(&open);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history_keeps_times_of_any_distance),
        cmocka_unit_test(history_never_goes_backwards),
        cmocka_unit_test(history_spans_many_chunks),
        cmocka_unit_test(equal_activations_share_a_frame_and_others_do_not),
        cmocka_unit_test(a_hundred_thousand_frames_are_found_again),
        cmocka_unit_test(a_discovered_caller_is_above_all_that_was_recorded),
        cmocka_unit_test(families_of_all_sizes_are_found_again),
        cmocka_unit_test(frames_of_a_function_begin_where_each_was_said_to),
        cmocka_unit_test(frames_keep_their_origin),
        cmocka_unit_test(a_function_with_too_great_an_id_is_unknown),
        cmocka_unit_test(unwind_targets_anywhere_examine_each_frame_a_few_times_only),
        cmocka_unit_test(active_functions_count_each_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
