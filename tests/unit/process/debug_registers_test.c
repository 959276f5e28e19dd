#include "process/debug_registers.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static __attribute__((noinline)) void place(void)
{
    __asm__ volatile("" ::: "memory");
}

/* How often a breakpoint of perf_event_open(2) there counts one call; -1: it cannot be asked. */
static long counted_by_perf(void)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof attributes,
        .bp_type = HW_BREAKPOINT_X,
        .bp_addr = (uintptr_t)place,
        .bp_len = sizeof(long),
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    uint64_t count = 0;
    int event = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (event < 0)
        return -1;
    place();
    assert_int_equal(read(event, &count, sizeof count), sizeof count);
    close(event);
    return (long)count;
}

static void they_fire_where_those_of_perf_do(void **state)
{
    (void)state;
    long counted = counted_by_perf();
    if (counted < 0)
        skip();
    assert_int_equal(debug_registers_fire(), counted);
}

static void nothing_of_the_attempt_is_left(void **state)
{
    (void)state;
    debug_registers_fire();
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_fire_where_those_of_perf_do),
        cmocka_unit_test(nothing_of_the_attempt_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
