/* Damaged text: whatever was done to it, reading ends, and each line is a record, skipped or
 * counted. */
#include "recording/perf_script/perf_text.h"
#include "text_mutant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* The sanitizer build finds texts that leave their buffer. */
static void touch(struct text_slice text)
{
    static volatile char sink;
    for (size_t i = 0; i < text.size; i++)
        sink = text.at[i];
    (void)sink;
}

static void read_all(const struct mutant *mutant)
{
    char *exact = malloc(mutant->size + 1);
    memcpy(exact, mutant->bytes, mutant->size);
    exact = realloc(exact, mutant->size ? mutant->size : 1);
    struct perf_text text;
    struct perf_text_record record;
    uint64_t records = 0;
    perf_text_open(&text, (struct text_slice){exact, mutant->size});
    while (perf_text_next(&text, &record)) {
        records++;
        touch(record.from.symbol);
        touch(record.from.object);
        touch(record.to.symbol);
        touch(record.to.object);
        touch(record.message);
        for (size_t i = 0; i < record.frame_count; i++)
            touch(record.frames[i].symbol);
    }
    const struct perf_text_statistics *statistics = &text.statistics;
    assert_int_equal(statistics->branches + statistics->samples + statistics->errors, records);
    assert_true(records + statistics->other + statistics->unreadable <= text.line);
    perf_text_close(&text);
    free(exact);
}

static void ten_thousand_mutants(void **state)
{
    uint64_t seed = 1;
    for (int i = 0; i < 10000; i++) {
        struct mutant mutant;
        text_mutate(&mutant, &seed);
        read_all(&mutant);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_thousand_mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
