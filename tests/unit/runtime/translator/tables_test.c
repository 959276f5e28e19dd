/* The tables of the runtime's own memory and of pages, against what plain arrays say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arena_stand_in.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/page_table.h"

#include <stdlib.h>
#include <string.h>

static void test_own_ranges(void **state)
{
    enum { RANGES = 1000, FIRST = 0x10000000, DISTANCE = 0x10000 };
    struct tr_own_range range;
    assert_false(tr_own_overlaps(FIRST, FIRST + 1));
    for (uint64_t i = 0; i < RANGES; i++) { /* from above and from below */
        uint64_t number = i % 2 ? i : RANGES - 2 - i;
        assert_true(tr_own_add(FIRST + number * DISTANCE, 0x1001));
    }
    for (uint64_t i = 0; i < RANGES; i++) {
        uint64_t start = FIRST + i * DISTANCE;
        assert_true(tr_own_next(start - 1, &range));
        assert_int_equal(range.start, start);
        assert_int_equal(range.end, start + 0x2000); /* whole pages */
        assert_true(tr_own_overlaps(start + 0x1fff, start + 0x9000));
        assert_false(tr_own_overlaps(start + 0x2000, start + 0x9000));
        assert_false(tr_own_overlaps(start - 0x100, start));
    }
    tr_own_remove(FIRST + 500 * DISTANCE);
    assert_false(tr_own_overlaps(FIRST + 500 * DISTANCE, FIRST + 500 * DISTANCE + 1));
    assert_true(tr_own_next(FIRST + 500 * DISTANCE, &range));
    assert_int_equal(range.start, FIRST + 501 * DISTANCE);
}

static void test_pages_in_any_order(void **state)
{
    enum { PAGES = 2000, SEED = 3 };
    struct tr_page_table table = {0};
    static bool known[PAGES];
    srandom(SEED);
    memset(known, 0, sizeof known);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t number = (uint64_t)random() % PAGES, count = (uint64_t)random() % 20;
        if (random() % 10 > 0) {
            struct tr_page *page = tr_page_get(&table, number * TR_PAGE);
            assert_int_equal(page->address, number * TR_PAGE);
            assert_int_equal(page->writes, known[number] ? number % 1000 + 1 : 0);
            page->writes = (uint16_t)(number % 1000 + 1);
            known[number] = true;
        } else {
            tr_page_forget(&table, number * TR_PAGE, (number + count) * TR_PAGE);
            for (uint64_t k = number; k < number + count && k < PAGES; k++)
                known[k] = false;
        }
    }
    uint64_t start = 100, end = PAGES - 100;
    const struct tr_page *page = NULL;
    for (uint64_t i = 0; i < PAGES; i++) {
        assert_int_equal(tr_page_find(&table, i * TR_PAGE) != NULL, known[i]);
        if (i < start || i >= end || !known[i])
            continue;
        page = tr_page_next(&table, page, start * TR_PAGE, end * TR_PAGE);
        assert_non_null(page);
        assert_int_equal(page->address, i * TR_PAGE);
    }
    assert_null(tr_page_next(&table, page, start * TR_PAGE, end * TR_PAGE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_ranges),
        cmocka_unit_test(test_pages_in_any_order),
    };
    stand_in_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
