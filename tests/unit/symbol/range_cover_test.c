/* Overlapping ranges, settled by rank. */
#include "symbol/range_cover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void check(const struct array *covered, const struct covered_range *expected, size_t count)
{
    assert_int_equal(covered->count, count);
    for (size_t i = 0; i < count; i++) {
        const struct covered_range *range = array_at(covered, i);
        assert_int_equal(range->start, expected[i].start);
        assert_int_equal(range->end, expected[i].end);
        assert_int_equal(range->owner, expected[i].owner);
    }
}

static void nothing_covers_nothing(void **state)
{
    struct array covered = range_cover(NULL, 0);
    assert_int_equal(covered.count, 0);
    array_free(&covered);
}

static void inner_range_splits_the_outer(void **state)
{
    struct ranked_range ranges[] = {{0, 100, 0, 0}, {40, 60, 1, 1}, {100, 100, 2, 2}};
    struct array covered = range_cover(ranges, 3);
    const struct covered_range expected[] = {{0, 40, 0}, {40, 60, 1}, {60, 100, 0}};
    check(&covered, expected, 3);
    array_free(&covered);
}

static void weaker_range_shows_only_where_nothing_covers_it(void **state)
{
    struct ranked_range ranges[] = {{0, 50, 9, 0}, {20, 80, 1, 1}, {25, 30, 0, 2}, {80, 90, 1, 1}};
    struct array covered = range_cover(ranges, 4);
    const struct covered_range expected[] = {{0, 50, 0}, {50, 90, 1}};
    check(&covered, expected, 2);
    array_free(&covered);
}

static void random_ranges_agree_with_a_look_at_every_address(void **state)
{
    enum { ADDRESSES = 200, RANGES = 60, ROUNDS = 50 };
    uint32_t random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        struct ranked_range ranges[RANGES];
        int64_t owner_at[ADDRESSES], rank_at[ADDRESSES];
        for (int i = 0; i < ADDRESSES; i++)
            owner_at[i] = rank_at[i] = -1;
        for (uint32_t i = 0; i < RANGES; i++) {
            random = random * 1103515245 + 12345;
            uint64_t start = (random >> 8) % (ADDRESSES - 20);
            uint64_t rank = (i * 37) % RANGES; /* distinct: 37 and 60 share no divisor */
            ranges[i] = (struct ranked_range){start, start + (random >> 20) % 20, rank, i};
            for (uint64_t at = start; at < ranges[i].end; at++)
                if ((int64_t)rank > rank_at[at]) {
                    rank_at[at] = (int64_t)rank;
                    owner_at[at] = i;
                }
        }
        struct array covered = range_cover(ranges, RANGES);
        assert_true(covered.count <= 2 * RANGES);
        uint64_t at = 0;
        for (size_t i = 0; i < covered.count; i++) {
            const struct covered_range *range = array_at(&covered, i);
            assert_true(range->start >= at);
            for (; at < range->start; at++)
                assert_int_equal(owner_at[at], -1);
            for (; at < range->end; at++)
                assert_int_equal(owner_at[at], range->owner);
        }
        for (; at < ADDRESSES; at++)
            assert_int_equal(owner_at[at], -1);
        array_free(&covered);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_covers_nothing),
        cmocka_unit_test(inner_range_splits_the_outer),
        cmocka_unit_test(weaker_range_shows_only_where_nothing_covers_it),
        cmocka_unit_test(random_ranges_agree_with_a_look_at_every_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
