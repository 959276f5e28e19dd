/* Sorting by numbers, against a simple, slow sort. */
#include "base/number_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void sort_slowly(struct numbered *elements, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t at = i; at > 0 && elements[at - 1].number > elements[at].number; at--) {
            struct numbered moved = elements[at];
            elements[at] = elements[at - 1];
            elements[at - 1] = moved;
        }
}

static void check(const uint64_t *numbers, size_t count)
{
    struct numbered *elements = malloc((count + 1) * sizeof *elements);
    struct numbered *expected = malloc((count + 1) * sizeof *expected);
    for (size_t i = 0; i < count; i++)
        elements[i] = expected[i] = (struct numbered){numbers[i], i};
    sort_slowly(expected, count);
    number_order(elements, count);
    assert_memory_equal(elements, expected, count * sizeof *elements);
    free(elements);
    free(expected);
}

static void few(void **state)
{
    check((uint64_t[]){0}, 0);
    check((uint64_t[]){7}, 1);
    check((uint64_t[]){7, 7, 7}, 3);
    check((uint64_t[]){1, 2, 2, UINT64_MAX}, 4);
    check((uint64_t[]){UINT64_MAX, 0}, 2);
    check((uint64_t[]){0x100, 0x001, 0x101, 0x000}, 4);
}

/* Elements with equal numbers keep their order, whichever bytes the numbers differ in. */
static void many(void **state)
{
    enum { COUNT = 500 };
    uint64_t numbers[COUNT], random = 88172645463325252u;
    for (unsigned shift = 0; shift < 64; shift++) {
        for (size_t i = 0; i < COUNT; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            numbers[i] = random % 200 << shift;
        }
        check(numbers, COUNT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few),
        cmocka_unit_test(many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
