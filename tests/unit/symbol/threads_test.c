/* Several threads ask one `struct symbols` at the same time and get the same answers. */
#include "symbol_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { THREADS = 4, STEP = 64 };

struct asker {
    struct symbols *symbols;
    const struct mapping *mapping;
    function_id *answers; /* one per STEP bytes of the mapping */
    size_t count;
    int number;
};

/* Every thread goes through the addresses in another order. */
static void *ask(void *context)
{
    struct asker *asker = context;
    for (size_t i = 0; i < asker->count; i++) {
        size_t at = asker->number % 2 ? asker->count - 1 - i : i;
        struct function_bounds bounds =
            symbols_find(asker->symbols, asker->mapping, asker->mapping->start + at * STEP);
        asker->answers[at] = bounds.function;
        if (at % 128 == 0)
            symbols_line(asker->symbols, bounds.function);
    }
    return NULL;
}

static void all_threads_get_the_same_ids(void **state)
{
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){"/lib/x86_64-linux-gnu/libc.so.6", NULL});
    const struct mapping *mapping = &fixture.cursor.mappings[0];
    struct asker askers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        size_t count = (mapping->end - mapping->start) / STEP;
        askers[i] =
            (struct asker){fixture.symbols, mapping, calloc(count, sizeof(function_id)), count, i};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < THREADS; i++)
        assert_memory_equal(askers[0].answers, askers[i].answers,
                            askers[0].count * sizeof(function_id));
    for (size_t i = 0; i < askers[0].count; i++)
        assert_non_null(symbols_function(fixture.symbols, askers[0].answers[i])->name);
    for (int i = 0; i < THREADS; i++)
        free(askers[i].answers);
    symbol_fixture_close(&fixture);
}

/* Each begins with another object, so that they are opened at the same time. */
static const char *const objects[] = {
    "/lib/x86_64-linux-gnu/libc.so.6",     "/lib/x86_64-linux-gnu/libm.so.6",
    "/lib64/ld-linux-x86-64.so.2",         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/usr/lib/x86_64-linux-gnu/libz.so.1", NULL};

enum { OBJECTS = sizeof objects / sizeof *objects - 1 };

struct opener {
    struct symbol_fixture *fixture;
    function_id answers[OBJECTS];
    size_t first;
};

static void *open_all(void *context)
{
    struct opener *opener = context;
    for (size_t i = 0; i < OBJECTS; i++) {
        size_t object = (opener->first + i) % OBJECTS;
        const struct mapping *mapping = &opener->fixture->cursor.mappings[object];
        uint64_t middle = mapping->start + (mapping->end - mapping->start) / 2;
        opener->answers[object] = symbols_find(opener->fixture->symbols, mapping, middle).function;
        symbols_line(opener->fixture->symbols, opener->answers[object]);
    }
    return NULL;
}

static void objects_are_opened_side_by_side(void **state)
{
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, objects);
    struct opener openers[OBJECTS];
    pthread_t threads[OBJECTS];
    for (size_t i = 0; i < OBJECTS; i++) {
        openers[i] = (struct opener){.fixture = &fixture, .first = i};
        assert_int_equal(pthread_create(&threads[i], NULL, open_all, &openers[i]), 0);
    }
    for (size_t i = 0; i < OBJECTS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < OBJECTS; i++) {
        assert_int_not_equal(openers[0].answers[i], FUNCTION_UNKNOWN);
        for (size_t other = 1; other < OBJECTS; other++)
            assert_int_equal(openers[other].answers[i], openers[0].answers[i]);
    }
    symbol_fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_get_the_same_ids),
        cmocka_unit_test(objects_are_opened_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
