/* The arena as the recorder makes and opens it. */
#include "made_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void expect_refusal(const struct made_arena *made, enum error_code code, const char *words)
{
    struct translator_arena opened;
    struct error error;
    assert_false(translator_arena_open(&opened, made->directory, &error));
    assert_int_equal(error.code, code);
    if (!strstr(error.text, words) || !strstr(error.text, "translator/arena"))
        fail_msg("not about %s: %s", words, error.text);
}

static void it_is_opened_as_it_was_made(void **state)
{
    struct made_arena made;
    struct translator_arena opened;
    struct error error;
    made_arena_open(&made, NULL);
    if (!translator_arena_open(&opened, made.directory, &error))
        fail_msg("%s", error.text);
    assert_int_equal(opened.size, made.arena.size);
    assert_memory_equal(&opened.geometry, &made.arena.geometry, sizeof opened.geometry);
    assert_memory_equal(&opened.options, &made.arena.options, sizeof opened.options);
    assert_non_null(translator_arena_slot(&opened, 0, NULL));
    translator_arena_close(&opened);
    made_arena_close(&made);
}

static void parts_lie_apart_from_each_other(void **state)
{
    struct made_arena made;
    struct tr_options options = {
        .ring_size = 32 << 20, .tsc_hz = 1, .follow = 1, .multi_thread = 1};
    made_arena_open(&made, &options);
    const struct tr_geometry *at = &made.arena.geometry;
    assert_true(at->log_offset >= TR_IMAGE_OFFSET + TR_IMAGE_LIMIT);
    assert_true(at->table_offset >= at->log_offset + at->log_size);
    assert_true(at->dump_offset >= at->table_offset + at->table_count * at->table_size);
    assert_true(at->slot_offset >= at->dump_offset + at->dump_size);
    assert_true(made.arena.size >= at->slot_offset + at->slot_count * at->slot_size);
    made_arena_close(&made);
}

static void it_takes_little_of_the_disk(void **state)
{
    struct made_arena made;
    struct stat status;
    made_arena_open(&made, NULL);
    assert_int_equal(stat(made.arena.path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_true(status.st_blocks * 512 < 4 << 20);
    made_arena_close(&made);
}

static void a_recording_that_was_not_finished_is_kept(void **state)
{
    struct made_arena made;
    struct translator_arena second;
    struct error error;
    made_arena_open(&made, NULL);
    assert_false(translator_arena_create(&second, made.directory, &made.arena.options, &error));
    assert_int_equal(error.code, ERROR_USAGE);
    assert_int_equal(access(made.arena.path, F_OK), 0);
    made_arena_close(&made);
}

static void there_is_none(void **state)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    assert_int_equal(unlink(made.arena.path), 0);
    expect_refusal(&made, ERROR_NOT_FOUND, "cannot open");
    made_arena_close(&made);
}

/* Sets a field, and puts it right again. */
#define EXPECT_DAMAGE(made, field, value, code, words)                                             \
    do {                                                                                           \
        __auto_type before = (made).arena.control->field;                                          \
        (made).arena.control->field = (value);                                                     \
        expect_refusal(&(made), code, words);                                                      \
        (made).arena.control->field = before;                                                      \
    } while (0)

static void damaged_headers_are_refused(void **state)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    EXPECT_DAMAGE(made, magic, 0, ERROR_FORMAT, "first word");
    EXPECT_DAMAGE(made, version, TR_VERSION + 1, ERROR_UNSUPPORTED, "another version");
    EXPECT_DAMAGE(made, options.tsc_hz, 0, ERROR_FORMAT, "0 ticks");
    EXPECT_DAMAGE(made, options.ring_size, 0, ERROR_FORMAT, "0 bytes per thread");
    EXPECT_DAMAGE(made, options.ring_size, 100000, ERROR_FORMAT, "power of two");
    EXPECT_DAMAGE(made, options.ring_size, UINT64_C(1) << 63, ERROR_FORMAT, "per thread");
    EXPECT_DAMAGE(made, options.ring_size, MADE_RING * 2, ERROR_FORMAT, "do not lie");
    EXPECT_DAMAGE(made, log_offset, 1, ERROR_FORMAT, "do not lie");
    EXPECT_DAMAGE(made, log_size, UINT64_MAX - TR_PAGE + 1, ERROR_FORMAT, "do not lie");
    EXPECT_DAMAGE(made, table_count, UINT32_MAX, ERROR_FORMAT, "do not lie");
    EXPECT_DAMAGE(made, table_size, 0, ERROR_FORMAT, "do not lie");
    EXPECT_DAMAGE(made, slot_count, UINT32_MAX - 1, ERROR_FORMAT, "do not lie");
    EXPECT_DAMAGE(made, slot_offset, UINT64_MAX - TR_PAGE + 1, ERROR_FORMAT, "do not lie");
    EXPECT_DAMAGE(made, dump_offset, made.arena.size, ERROR_FORMAT, "do not lie");
    assert_int_equal(truncate(made.arena.path, 100), 0);
    expect_refusal(&made, ERROR_FORMAT, "100 bytes");
    made_arena_close(&made);
}

static void slots_are_handed_out_while_there_are_any(void **state)
{
    struct made_arena made;
    uint32_t serial, count = 1;
    made_arena_open(&made, NULL);
    while (translator_arena_reserve_slot(&made.arena, &serial))
        assert_int_equal(serial, count++);
    assert_int_equal(count, made.arena.geometry.slot_count);
    assert_int_equal(translator_arena_slots(&made.arena), count);
    assert_int_equal(atomic_load(&made.arena.control->lost_slots), 1);
    assert_false(translator_arena_reserve_slot(&made.arena, &serial));
    assert_int_equal(atomic_load(&made.arena.control->lost_slots), 2);
    atomic_store(&made.arena.control->next_slot, UINT32_MAX); /* damaged */
    assert_int_equal(translator_arena_slots(&made.arena), count);
    made_arena_close(&made);
}

static void damaged_slots_and_tables_are_refused(void **state)
{
    struct made_arena made;
    struct error error;
    made_arena_open(&made, NULL);
    assert_null(translator_arena_slot(&made.arena, 1, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_null(translator_arena_slot(&made.arena, UINT32_MAX, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    made.slot->size *= 2;
    assert_null(translator_arena_slot(&made.arena, 0, &error));
    assert_int_equal(error.code, ERROR_FORMAT);
    made.table->serial = 7;
    assert_null(translator_arena_table(&made.arena, 0, &error));
    assert_int_equal(error.code, ERROR_FORMAT);
    assert_null(translator_arena_table(&made.arena, 1, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_null(translator_arena_table(&made.arena, UINT32_MAX, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    made_arena_close(&made);
}

static void it_is_frozen_once(void **state)
{
    struct made_arena made;
    made_arena_open(&made, NULL);
    translator_arena_freeze(&made.arena);
    uint64_t at = atomic_load(&made.arena.control->frozen_at);
    assert_int_not_equal(at, 0);
    translator_arena_freeze(&made.arena);
    assert_int_equal(atomic_load(&made.arena.control->frozen_at), at);
    translator_arena_settle(&made.arena); /* its thread does not live */
    made_arena_close(&made);
}

static void it_is_removed_but_for_images(void **state)
{
    struct made_arena made;
    char image[128];
    made_arena_open(&made, NULL);
    snprintf(image, sizeof image, "%s/images/kept", made.directory);
    assert_int_equal(mkdir(image, 0700), 0);
    translator_arena_remove(made.directory);
    assert_int_not_equal(access(made.arena.path, F_OK), 0);
    assert_int_equal(access(image, F_OK), 0);
    made_arena_close(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_opened_as_it_was_made),
        cmocka_unit_test(parts_lie_apart_from_each_other),
        cmocka_unit_test(it_takes_little_of_the_disk),
        cmocka_unit_test(a_recording_that_was_not_finished_is_kept),
        cmocka_unit_test(there_is_none),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(slots_are_handed_out_while_there_are_any),
        cmocka_unit_test(damaged_slots_and_tables_are_refused),
        cmocka_unit_test(it_is_frozen_once),
        cmocka_unit_test(it_is_removed_but_for_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
