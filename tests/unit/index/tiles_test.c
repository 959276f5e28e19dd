/* Tiles, stacks and facts of random traces against the oracle. */
#include "index/file/index_reader.h"
#include "index_test.h"
#include "oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TRACES = 1500, QUESTIONS = 30 };

static struct tiles_request random_request(struct indexed_trace *indexed)
{
    uint64_t *random = &indexed->random;
    bool all_rows = made_random(random, 2) == 0;
    return (struct tiles_request){
        .track = (uint32_t)made_random(random, indexed->trace->track_count),
        .range = random_range(indexed),
        .resolution = UINT64_C(1) << made_random(random, made_random(random, 8) ? 14 : 64),
        .depth = all_rows ? 0 : (uint32_t)made_random(random, 6),
        .rows = all_rows ? UINT32_MAX : (uint32_t)made_random(random, 8),
        .limit = made_random(random, 4) ? SIZE_MAX / 4 : 1 + made_random(random, 30),
    };
}

static void check_tile(const struct indexed_trace *indexed, const struct index_tile *tile,
                       const struct oracle_tile *expected)
{
    assert_int_equal(tile->start, expected->start);
    assert_int_equal(tile->end, expected->end);
    assert_int_equal(tile->depth, expected->depth);
    assert_int_equal(tile->spans, expected->spans);
    assert_int_equal(name_of(indexed, tile->function), expected->name);
    assert_int_equal(tile->flags, expected->flags);
    assert_int_equal(tile->ending, expected->ending);
}

static void check_tiles(struct indexed_trace *indexed)
{
    const struct tiles_request request = random_request(indexed);
    struct array expected = array_of(sizeof(struct oracle_tile));
    struct array tiles = array_of(sizeof(struct index_tile));
    struct error error = {0};
    bool more;
    oracle_tiles(indexed->trace, &request, &expected);
    assert_true(index_tiles(indexed->index, &request, &tiles, &more, &error));
    assert_int_equal(more, expected.count > request.limit);
    assert_int_equal(tiles.count, more ? request.limit : expected.count);
    for (size_t i = 0; i < tiles.count; i++)
        check_tile(indexed, array_at(&tiles, i), array_at(&expected, i));
    array_free(&expected);
    array_free(&tiles);
}

static void check_span(const struct indexed_trace *indexed, const struct index_span *span,
                       const struct made_span *expected)
{
    assert_int_equal(span->start, expected->start);
    assert_int_equal(span->end, expected->end);
    assert_int_equal(span->depth, expected->depth);
    assert_int_equal(span->flags, expected->flags);
    assert_int_equal(span->ending, expected->ending);
    assert_int_equal(name_of(indexed, span->function), expected->name);
}

static void check_stack(struct indexed_trace *indexed)
{
    struct array expected = array_of(sizeof(size_t));
    struct array stack = array_of(sizeof(struct index_span));
    struct error error = {0};
    uint32_t track = (uint32_t)made_random(&indexed->random, indexed->trace->track_count);
    uint64_t time = random_time(indexed);
    oracle_stack(indexed->trace, track, time, &expected);
    assert_true(index_stack_at(indexed->index, track, time, &stack, &error));
    assert_int_equal(stack.count, expected.count);
    for (size_t i = 0; i < stack.count; i++)
        check_span(indexed, array_at(&stack, i),
                   made_trace_span(indexed->trace, *(size_t *)array_at(&expected, i)));
    array_free(&expected);
    array_free(&stack);
}

/* The stored items of a resolution are exactly its tiles; and they are few enough, compared with
 * the next higher resolution, to be worth their space. */
static void check_levels(const struct indexed_trace *indexed)
{
    for (uint32_t track = 0; track < indexed->trace->track_count; track++) {
        uint64_t below = trace_index_track(indexed->index, track).spans;
        for (unsigned shift = 1; shift < INDEX_SHIFT_MAX; shift++) {
            const struct chunk_run run = index_level_of(indexed->index, track, shift);
            if (run.is_spans || run.shift != shift)
                continue;
            const struct tiles_request whole = {
                .track = track,
                .range = {0, UINT64_MAX},
                .resolution = UINT64_C(1) << shift,
                .rows = UINT32_MAX,
            };
            struct array expected = array_of(sizeof(struct oracle_tile));
            oracle_tiles(indexed->trace, &whole, &expected);
            size_t stored = 0;
            for (size_t i = 0; i < run.count; i++)
                stored += run.chunks[i].count;
            assert_int_equal(stored, expected.count);
            assert_true(stored <= below / indexed->level_ratio);
            below = stored;
            array_free(&expected);
        }
    }
}

static void test_random_traces(void **state)
{
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        struct indexed_trace indexed = indexed_trace_new(seed);
        check_levels(&indexed);
        for (int i = 0; i < QUESTIONS; i++) {
            check_tiles(&indexed);
            check_stack(&indexed);
        }
        indexed_trace_free(&indexed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
