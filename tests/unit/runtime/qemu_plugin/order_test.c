#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/qemu_plugin/order.h"

#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { THREAD_FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD };

static const struct qemu_options default_clock = {.clock = RECORD_CLOCK_DEFAULT, .multi_thread = 1};

static void create_thread(struct order *order)
{
    order_before_system_call(order, &default_clock, SYS_clone, THREAD_FLAGS, 0);
}

static void moments_count_once_there_are_two_recorded_threads(void **state)
{
    struct order order = {.watched = false};
    order_before_system_call(&order, &default_clock, SYS_clone, CLONE_VM | CLONE_VFORK, 0);
    order_before_system_call(&order, &default_clock, SYS_mmap, 0, MAP_PRIVATE);
    assert_false(order.watched);
    create_thread(&order);
    assert_true(order.watched);
    assert_true(order.several);
}

static void sharing_memory_is_only_watched(void **state)
{
    struct order order = {.watched = false};
    order_before_system_call(&order, &default_clock, SYS_mmap, 0, MAP_SHARED | MAP_ANONYMOUS);
    assert_true(order.watched);
    assert_false(order.several);
    struct qemu_control control = {.latest = 100};
    struct qemu_clock clock = {.control = &control, .floor = 200};
    assert_int_equal(order_publish(&order, &clock, 0), 0);
    assert_false(order_has_news(&order, 0));
    assert_int_equal(control.latest, 100);
}

static void nothing_is_ordered_by_instructions_or_for_one_recorded_thread(void **state)
{
    struct order order = {.watched = false};
    struct qemu_options options = {.clock = RECORD_CLOCK_INSTRUCTIONS, .multi_thread = 1};
    order_before_system_call(&order, &options, SYS_clone, THREAD_FLAGS, 0);
    options = (struct qemu_options){.clock = RECORD_CLOCK_HOST, .multi_thread = 0};
    order_before_system_call(&order, &options, SYS_clone, THREAD_FLAGS, 0);
    assert_false(order.watched);
    assert_false(order.several);
}

static void who_takes_a_moment_goes_on_from_there(void **state)
{
    struct order order = {.watched = false};
    create_thread(&order);
    struct qemu_control control = {.latest = 100};
    struct qemu_clock sender = {.control = &control, .floor = 500};
    struct qemu_clock sink = {.control = &control, .floor = 300};
    assert_int_equal(order_publish(&order, &sender, 0), 1); /* its own moment is no news to it */
    assert_true(order_has_news(&order, 0));
    assert_int_equal(order_take(&order, &sink), 1);
    assert_false(order_has_news(&order, 1));
    assert_int_equal(sink.floor, 500);
}

static void a_moment_that_came_between_is_still_to_be_taken(void **state)
{
    struct order order = {.watched = false};
    create_thread(&order);
    struct qemu_control control = {.latest = 0};
    struct qemu_clock first = {.control = &control, .floor = 900};
    struct qemu_clock second = {.control = &control, .floor = 400};
    order_publish(&order, &first, 0);
    uint64_t seen = order_publish(&order, &second, 0); /* it has not looked since 0 */
    assert_true(order_has_news(&order, seen));
    assert_int_equal(control.latest, 900); /* never earlier than it was */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_count_once_there_are_two_recorded_threads),
        cmocka_unit_test(sharing_memory_is_only_watched),
        cmocka_unit_test(nothing_is_ordered_by_instructions_or_for_one_recorded_thread),
        cmocka_unit_test(who_takes_a_moment_goes_on_from_there),
        cmocka_unit_test(a_moment_that_came_between_is_still_to_be_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
