/* What a thread is remembered by: packed history, interned frames, counts of open functions. */
#include "stack/frame_tree.h"
#include "stack/history.h"
#include "stack/open_functions.h"

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

static void open_functions_count_each_function(void **state)
{
    struct open_functions open;
    open_functions_init(&open);
    for (function_id function = 0; function < 1000; function++)
        for (function_id i = 0; i < function % 3; i++)
            open_functions_add(&open, function);
    open_functions_remove(&open, 2);
    assert_int_equal(open_functions_count(&open, 0), 0);
    assert_int_equal(open_functions_count(&open, 2), 1);
    for (function_id function = 3; function < 1000; function++)
        assert_int_equal(open_functions_count(&open, function), function % 3);
    assert_int_equal(open_functions_count(&open, 123456), 0);
    open_functions_free(&open);
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
        cmocka_unit_test(open_functions_count_each_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
