/* The tables of the runtime's own memory, of pages and of the fragments of pages, against what plain arrays say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arena_stand_in.h"
#include "runtime/translator/code/fragments_of_page.h"
#include "runtime/translator/code/page_table.h"
#include "runtime/translator/layout.h"
#include "runtime/translator/own_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

/* A program finds them when it maps there again. */
static void test_holes_stay_empty(void **state)
{
    enum { HOLE = 64 };
    for (size_t pages = 1; pages <= HOLE; pages *= 2) {
        size_t size = pages * TR_PAGE;
        uint8_t *between =
            mmap(NULL, size + 2 * (size_t)TR_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(between, MAP_FAILED);
        uint8_t *hole = between + TR_PAGE;
        assert_int_equal(munmap(hole, size), 0);
        uint8_t *own = tr_own_map(size);
        assert_non_null(own);
        assert_false(own >= hole && own < hole + size);
        own[size - 1] = 1;
        assert_ptr_equal(mmap(hole, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), hole);
        munmap(between, size + 2 * (size_t)TR_PAGE);
    }
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

enum { FRAGMENTS = 3000, CODE_PAGES = 64 };

struct made_fragment {
    uint64_t start, end;
    bool valid, visited;
};

static struct made_fragment made[FRAGMENTS];

static bool visit(void *context, uint32_t fragment)
{
    const struct made_fragment *changed = context;
    made[fragment].visited = true;
    if (made[fragment].start < changed->end && made[fragment].end > changed->start)
        made[fragment].valid = false;
    return made[fragment].valid;
}

/* As code is translated, changed and translated again: whatever overlaps a change is visited while it is valid; what is
 * visited without need lies in the same pages. */
static void test_fragments_of_changed_code(void **state)
{
    enum { SEED = 5, CHANGES_IN = 8 };
    static const uint64_t code = UINT64_C(0x7f0000000000);
    struct tr_fragments_of_page index = {0};
    srandom(SEED);
    for (uint32_t i = 0; i < FRAGMENTS; i++) {
        uint64_t start = code + (uint64_t)random() % ((uint64_t)CODE_PAGES * TR_PAGE);
        made[i] = (struct made_fragment){start, start + 1 + (uint64_t)random() % 6000, true, false};
        assert_true(tr_fragments_of_page_add(&index, made[i].start, made[i].end, i));
        if (random() % CHANGES_IN > 0)
            continue;
        struct made_fragment changed = {.start = code + (uint64_t)random() %
                                                            ((uint64_t)CODE_PAGES * TR_PAGE)};
        changed.end =
            random() % 50 == 0 ? UINT64_MAX : changed.start + (uint64_t)random() % (2 * TR_PAGE);
        bool expected[FRAGMENTS], allowed[FRAGMENTS];
        for (uint32_t k = 0; k <= i; k++) {
            expected[k] =
                made[k].valid && made[k].start < changed.end && made[k].end > changed.start;
            allowed[k] = made[k].start / TR_PAGE <= (changed.end - 1) / TR_PAGE &&
                         (made[k].end - 1) / TR_PAGE >= changed.start / TR_PAGE;
            made[k].visited = false;
        }
        tr_fragments_of_page_visit(&index, changed.start, changed.end, visit, &changed);
        for (uint32_t k = 0; k <= i; k++) {
            assert_true(made[k].visited || !expected[k] || changed.start == changed.end);
            assert_true(!made[k].visited || allowed[k]);
        }
    }
    assert_true(index.link_count <
                2 * FRAGMENTS); /* those of fragments that are gone are used again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_ranges),
        cmocka_unit_test(test_holes_stay_empty),
        cmocka_unit_test(test_pages_in_any_order),
        cmocka_unit_test(test_fragments_of_changed_code),
    };
    stand_in_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
