/* perf's clock, read from the kernel that runs. */
#include "perf_event/perf_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#include <cmocka.h>

enum { TOLERANCE_NS = 200 * 1000 * 1000 }; /* the test may be held up anywhere */

static void assert_near(uint64_t left, uint64_t right)
{
    assert_in_range(left + TOLERANCE_NS - right, 0, 2 * (uint64_t)TOLERANCE_NS);
}

static void clocks_run_alike(void **state)
{
    struct perf_clock first, second;
    struct error error = {0};
    if (!perf_clock_read(&first, &kernel_real, &error)) {
        print_message("%s\n", error.text);
        skip();
    }
    assert_true(perf_clock_read(&second, &kernel_real, &error));
    assert_true(second.wall_clock_at > first.wall_clock_at);
    assert_near(second.wall_clock_ns - first.wall_clock_ns,
                second.wall_clock_at - first.wall_clock_at);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    uint64_t converted = clock_to_nanoseconds(&second.conversion, (struct ticks){__rdtsc()}).value;
    assert_near(now_ns - second.wall_clock_ns, converted - second.wall_clock_at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clocks_run_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
