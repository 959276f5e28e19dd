/* A thread's log, read in order. */
#include "engine/translator/transcode/log_cursor.h"

#include "made_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect_entry(struct log_cursor *cursor, uint32_t word)
{
    struct log_record record;
    assert_int_equal(log_cursor_next(cursor, &record), LOG_RECORD);
    assert_int_equal(record.word, word);
}

static void expect_end(struct log_cursor *cursor)
{
    struct log_record record;
    assert_int_equal(log_cursor_next(cursor, &record), LOG_END);
}

static void begin_ring(struct log_cursor *cursor, struct made_arena *made)
{
    assert_true(log_cursor_begin_ring(cursor, &made->arena, made->slot));
}

static void records_come_in_order(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    struct log_record record;
    made_arena_open(&made, NULL);
    made_word(&made, 10);
    MADE_EVENT(&made, TR_STAMP, 0, UINT64_C(0x123456789abcdef0));
    made_word(&made, 12);
    begin_ring(&cursor, &made);
    expect_entry(&cursor, 10);
    assert_int_equal(log_cursor_next(&cursor, &record), LOG_RECORD);
    assert_int_equal(TR_EVENT_KIND(record.word), TR_STAMP);
    assert_true(log_value(&record, 0) == UINT64_C(0x123456789abcdef0));
    expect_entry(&cursor, 12);
    expect_end(&cursor);
    made_arena_close(&made);
}

static void a_thread_that_runs_is_read_up_to_its_head(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    made_arena_open(&made, NULL);
    made_word(&made, 10);
    log_cursor_begin(&cursor, &made.arena, made.slot, 0);
    expect_end(&cursor);
    log_cursor_extend(&cursor);
    expect_entry(&cursor, 10);
    made_word(&made, 12);
    made_word(&made, 14);
    atomic_store(&made.slot->head, 8);
    expect_end(&cursor);
    log_cursor_extend(&cursor);
    expect_entry(&cursor, 12);
    expect_end(&cursor);
    log_cursor_extend_to_last_word(&cursor);
    expect_entry(&cursor, 14);
    expect_end(&cursor);
    made_arena_close(&made);
}

static void a_thread_that_was_killed_is_read_up_to_its_last_word(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    made_arena_open(&made, NULL);
    for (uint32_t word = 2; word < 20; word++)
        made_word(&made, word);
    atomic_store(&made.slot->head, 12); /* lags */
    begin_ring(&cursor, &made);
    for (uint32_t word = 2; word < 20; word++)
        expect_entry(&cursor, word);
    expect_end(&cursor);
    made_arena_close(&made);
}

/* Fills more than the ring, with an event now and then, and returns the last word. */
static uint32_t fill(struct made_arena *made, uint32_t words)
{
    uint32_t word = 2;
    for (; word < words; word++) {
        made_word(made, word);
        if (word % 100 == 0)
            MADE_EVENT(made, TR_HANDLER, 1, 1, 2, 3, 4, 5);
    }
    return word - 1;
}

/* Words that follow each other up to `last`, whatever the first is. Returns how many. */
static uint32_t expect_rest(struct log_cursor *cursor, uint32_t last)
{
    struct log_record record;
    uint32_t before = 0, count = 0;
    while (log_cursor_next(cursor, &record) == LOG_RECORD) {
        if (record.word >= TR_EVENT) {
            assert_int_equal(TR_EVENT_KIND(record.word), TR_HANDLER);
            assert_int_equal(log_value(&record, 8), 5);
            continue;
        }
        if (before)
            assert_int_equal(record.word, before + 1);
        before = record.word;
        count++;
    }
    assert_int_equal(before, last);
    return count;
}

static void a_ring_begins_with_its_oldest_chunk(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    made_arena_open(&made, NULL);
    for (uint32_t words = 5000; words < 60000; words += 3317) {
        uint32_t last = fill(&made, words);
        begin_ring(&cursor, &made);
        uint32_t count = expect_rest(&cursor, last);
        /* All but what is cleared, and a chunk. */
        uint32_t whole = words - 2;
        if (words > MADE_RING * 9 / 10 / 4)
            whole = (MADE_RING - TR_CLEARED - 2 * MADE_RING / TR_CHUNKS) * 9 / 10 / 4;
        assert_true(count >= whole);
        made_arena_close(&made);
        made_arena_open(&made, NULL);
    }
    made_arena_close(&made);
}

static void without_a_chunk_nothing_is_read(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    struct log_record record;
    made_arena_open(&made, NULL);
    fill(&made, 60000);
    for (unsigned i = 0; i < TR_CHUNKS; i++)
        atomic_store(&made.slot->chunks[i].position, UINT64_MAX);
    assert_false(log_cursor_begin_ring(&cursor, &made.arena, made.slot));
    assert_int_equal(log_cursor_next(&cursor, &record), LOG_END);
    made_arena_close(&made);
}

static void chunks_that_cannot_be_are_passed_over(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    made_arena_open(&made, NULL);
    uint32_t last = fill(&made, 3000);
    atomic_store(&made.slot->chunks[0].position, 1);               /* no word begins there */
    atomic_store(&made.slot->chunks[1].position, 0);               /* in another chunk */
    atomic_store(&made.slot->chunks[2].position, UINT64_MAX - 3);  /* no log comes that far */
    atomic_store(&made.slot->chunks[3].position, 100 * MADE_RING); /* not written yet */
    begin_ring(&cursor, &made);
    assert_int_equal(cursor.position / (MADE_RING / TR_CHUNKS), 4);
    expect_rest(&cursor, last);
    made_arena_close(&made);
}

static void damage_is_skipped_up_to_the_next_chunk(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    struct log_record record;
    made_arena_open(&made, NULL);
    uint32_t last = fill(&made, 3000);
    uint32_t *words = (uint32_t *)((uint8_t *)made.slot + TR_SLOT_RING);
    const uint32_t damage[] = {0, TR_EVENT_WORD(TR_EVENT_KINDS, 0), UINT32_MAX};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t before = words[20];
        words[20] = damage[i];
        begin_ring(&cursor, &made);
        while (log_cursor_next(&cursor, &record) == LOG_RECORD)
            ;
        assert_int_equal(cursor.position, 80);
        assert_int_equal(log_cursor_next(&cursor, &record), LOG_DAMAGED);
        log_cursor_skip(&cursor);
        assert_int_equal(cursor.position, atomic_load(&made.slot->chunks[1].position));
        expect_rest(&cursor, last);
        words[20] = before;
    }
    made_arena_close(&made);
}

static void damage_without_another_chunk_ends_the_log(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    struct log_record record;
    made_arena_open(&made, NULL);
    made_word(&made, UINT32_MAX);
    begin_ring(&cursor, &made);
    assert_int_equal(log_cursor_next(&cursor, &record), LOG_DAMAGED);
    log_cursor_skip(&cursor);
    expect_end(&cursor);
    made_arena_close(&made);
}

static void no_record_reaches_beyond_the_rings_end(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    struct log_record record;
    made_arena_open(&made, NULL);
    uint32_t *words = (uint32_t *)((uint8_t *)made.slot + TR_SLOT_RING);
    uint64_t last = MADE_RING - 8;
    words[last / 4] = TR_EVENT_WORD(TR_CALLS, 0xfffff);
    atomic_store(&made.slot->head, MADE_RING);
    log_cursor_begin(&cursor, &made.arena, made.slot, last);
    log_cursor_extend_to_last_word(&cursor);
    assert_int_equal(log_cursor_next(&cursor, &record), LOG_DAMAGED);
    made_arena_close(&made);
}

static void a_record_that_is_being_written_is_waited_for(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    struct log_record record;
    made_arena_open(&made, NULL);
    MADE_EVENT(&made, TR_STAMP, 0, 1);
    atomic_store(&made.slot->head, 8);
    log_cursor_begin(&cursor, &made.arena, made.slot, 0);
    log_cursor_extend(&cursor);
    expect_end(&cursor);
    atomic_store(&made.slot->head, 12);
    log_cursor_extend(&cursor);
    assert_int_equal(log_cursor_next(&cursor, &record), LOG_RECORD);
    made_arena_close(&made);
}

static void a_head_that_cannot_be_is_not_believed(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    made_arena_open(&made, NULL);
    made_word(&made, 10);
    atomic_store(&made.slot->head, UINT64_MAX);
    log_cursor_begin(&cursor, &made.arena, made.slot, 0);
    log_cursor_extend(&cursor);
    expect_end(&cursor);
    made_arena_close(&made);
}

static void padding_that_leads_beyond_the_end_ends_the_log(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    const uint32_t *words;
    made_arena_open(&made, NULL);
    made_word(&made, 10);
    made_event(&made, TR_PAD, 0, NULL, 0);
    made_word(&made, 12);
    log_cursor_begin(&cursor, &made.arena, made.slot, 0);
    log_cursor_extend(&cursor);
    expect_entry(&cursor, 10);
    expect_end(&cursor);
    assert_int_equal(log_cursor_words(&cursor, &words), 0);
    log_cursor_extend(&cursor);
    expect_end(&cursor);
    made_arena_close(&made);
}

static void words_are_counted_up_to_the_end_and_to_the_rings_end(void **state)
{
    struct made_arena made;
    struct log_cursor cursor;
    const uint32_t *words;
    made_arena_open(&made, NULL);
    for (uint32_t word = 2; word < 6; word++)
        made_word(&made, word);
    log_cursor_begin(&cursor, &made.arena, made.slot, 4);
    log_cursor_extend(&cursor);
    assert_int_equal(log_cursor_words(&cursor, &words), 3);
    assert_int_equal(words[0], 3);
    cursor.position = MADE_RING - 8;
    cursor.end = MADE_RING + 16;
    assert_int_equal(log_cursor_words(&cursor, &words), 2);
    made_arena_close(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_in_order),
        cmocka_unit_test(a_thread_that_runs_is_read_up_to_its_head),
        cmocka_unit_test(a_thread_that_was_killed_is_read_up_to_its_last_word),
        cmocka_unit_test(a_ring_begins_with_its_oldest_chunk),
        cmocka_unit_test(without_a_chunk_nothing_is_read),
        cmocka_unit_test(chunks_that_cannot_be_are_passed_over),
        cmocka_unit_test(damage_is_skipped_up_to_the_next_chunk),
        cmocka_unit_test(damage_without_another_chunk_ends_the_log),
        cmocka_unit_test(no_record_reaches_beyond_the_rings_end),
        cmocka_unit_test(a_record_that_is_being_written_is_waited_for),
        cmocka_unit_test(a_head_that_cannot_be_is_not_believed),
        cmocka_unit_test(padding_that_leads_beyond_the_end_ends_the_log),
        cmocka_unit_test(words_are_counted_up_to_the_end_and_to_the_rings_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
